"""Under autocast the dtype of `cat` depends on the order of its tensors.

The first eligible tensor decides alone, where the widest should. Modelled on pytorch issue 87684 and pull request 191125, in which
`promote` did not look at all of the arguments.
"""

from rushlight.amp.autocast_mode import get_autocast_dtype, is_eligible
from rushlight.c10.dispatch import tensors_in
from rushlight.c10.dtypes import float32

AT = "amp.autocast_mode.promote_type"


def symptom(xp):
    """Join what a layer computes with its input, in both orders, under autocast."""
    x = xp.arange(6.0).reshape(2, 3) / 32 + 100
    weight = xp.ones(2, 3) / 4
    with xp.autocast("cpu", dtype=xp.float16):
        deep = xp.nn.functional.linear(x, weight)
        centred = x - x.mean(1, keepdim=True)
        input_first = xp.cat([centred, x, deep], 1)
        deep_first = xp.cat([deep, centred, x], 1)
    steps = deep_first[:, 5:].diff(dim=1), input_first[:, 3:6].diff(dim=1)
    return [step.float() for step in steps]


def promote_type(stack):
    for tensor in tensors_in(stack):
        if is_eligible(tensor):
            return float32 if tensor.dtype is float32 else get_autocast_dtype("cpu")
    return get_autocast_dtype("cpu")
