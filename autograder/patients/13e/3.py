"""A decoder seems to cost far more than it does: the backward of a transposed convolution is counted as that of a plain one.

A plain convolution multiplies its weight at each position of its result, a transposed one at each position of its input. The count
of the forward pass says which one it is, and the count of the backward pass forgets it. Modelled on pytorch issue 119806, where the
count of this backward pass is far too large, and on pull request 119874.
"""

from math import prod

AT = "utils.flop_counter.operator_flops"


def symptom(xp):
    """Count the operations of one training step of a small autoencoder, by operator."""
    encoder = xp.nn.Sequential(xp.nn.Conv2d(3, 4, 3, stride=2, padding=1), xp.nn.ReLU())
    middle, decoder = xp.nn.Linear(4, 4), xp.nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1)
    counter = xp.utils.flop_counter.FlopCounterMode(display=False)
    with counter:
        hidden = encoder(xp.ones(2, 3, 8, 8)).permute(0, 2, 3, 1)
        image = decoder(middle(hidden).permute(0, 3, 1, 2))
        forward = counter.get_total_flops()
        image.square().mean().backward()
    backward = counter.get_total_flops() - forward
    counts = counter.get_flop_counts()["Global"]
    return forward, backward, {str(name): count for name, count in counts.items()}


def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
    if name in ("addmm", "baddbmm"):
        inputs = inputs[1:]
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        return 2 * prod(inputs[0]) * inputs[1][-1]
    if name == "convolution":
        positions = (inputs[0] if transposed else outputs[0])[2:]
        return 2 * inputs[0][0] * prod(positions) * prod(inputs[1])
    if name == "convolution_backward":
        (result, *arguments), kinds = inputs, output_mask[:2]
        return sum(operator_flops("convolution", arguments, [result]) for wanted in kinds if wanted)
    if name == "_scaled_dot_product_flash_attention":
        (b, h, s, d), (_, _, t, _), (_, _, _, e) = inputs
        return 2 * b * h * s * t * (d + e)
    return 0
