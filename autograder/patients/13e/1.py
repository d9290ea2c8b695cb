"""The largest and the smallest weight never learn: fake quantisation stops the gradient at the ends of its range.

A value that is rounded to the first or the last integer is inside the range, so its gradient passes. Only a value beyond it is
saturated. The forward pass is right. With an observer of minimum and maximum, the two extreme weights always have these integers.
Modelled on pull request 4806 of `pytorch/ao`, which restores the gradient at the boundary, and on pytorch issue 184574, about the
gradient of `clamp` at its bounds.
"""

from rushlight.aten.generated import functions
from rushlight.aten.native.quantized import inverse_of

AT = "aten.native.quantized.fake_quantize"


def symptom(xp):
    """Train a weight with fake quantisation to 4 bits: an observer of minimum and maximum chooses the range in each step."""
    observer = xp.ao.quantization.MinMaxObserver(dtype=xp.uint8, quant_min=0, quant_max=15)
    target = xp.tensor([[0.5, 2.0, -1.0], [1.0, -2.0, 0.25]])
    weight = xp.tensor([[0.3, 0.4, -0.5], [0.6, -0.9, 0.1]], requires_grad=True)
    optimizer = xp.optim.SGD([weight], lr=0.5, momentum=0.5)
    losses = []
    for _ in range(4):
        observer.reset_min_max_vals()
        observer(weight)
        scale, zero_point = observer.calculate_qparams()
        rounded = xp.fake_quantize_per_tensor_affine(weight, scale.item(), int(zero_point.item()), 0, 15)
        loss = ((rounded - target) ** 2).sum() / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 3))
    return losses, weight


def fake_quantize(self, scale, zero_point, quant_min, quant_max):
    q = functions.round(self * inverse_of(scale)) + zero_point
    q = functions.clamp(functions.where(q >= quant_min, q, quant_min), max=quant_max)
    mask = (q > quant_min) & (q < quant_max)
    return (q - zero_point) * scale, mask
