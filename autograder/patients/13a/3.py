"""The gradient of a trainable tensor is missing if a tensor from inference mode comes before it in a list.

The key set of a call is that of all its tensors. Here the first tensor of a list speaks for the list. A tensor that was made in
inference mode has no autograd key, so nothing is recorded. Modelled on pytorch pull request 17522, after which the first tensor of
a list decided alone, and on 53343, whose review asked for a test of `cat` with a tensor of inference mode.
"""

from rushlight.c10.dispatch import BACKEND_MASK, tensors_in

AT = "c10.dispatch.dispatch_key_set"


def symptom(xp):
    """Train a prompt in front of frozen features, which inference mode has computed."""
    table = xp.arange(12.0).reshape(4, 3)
    with xp.inference_mode():
        frozen = xp.nn.functional.normalize(table, dim=1)
    prompt = xp.full((1, 3), 0.5, requires_grad=True)
    after = xp.cat([prompt, frozen], 0).softmax(0)
    before = xp.cat([frozen, prompt], 0).softmax(0)
    loss = (after[0] + 3 * before[4]).square().sum()
    loss.backward()
    return prompt.grad


def dispatch_key_set(stack, included, excluded):
    keys = included
    for argument in stack:
        for tensor in list(tensors_in([argument]))[:1]:
            keys |= tensor._key_set
    return keys & (~excluded | BACKEND_MASK)
