"""The dtype of a running total depends on who comes first: a Python number counts as much as a tensor without dimensions.

The rule has three ranks: tensors with dimensions, tensors without, numbers. Here the last two are one rank, so a number widens a
tensor without dimensions of its own category. Modelled on pytorch issue 50121, in which `pow` gave both the same rank.
"""

from rushlight.c10.dtypes import promote_types, scalar_type

AT = "c10.dtypes.result_type"


def symptom(xp):
    """Scale the losses of a batch by the mean of their sizes, in half precision."""
    logits = xp.tensor([[2.0, -1.0], [0.5, 3.0], [1.0, 1.0]], dtype=xp.float16)
    weights = xp.tensor([1.0, 2.0, 4.0], dtype=xp.float16)
    losses = (logits[:, 0] - logits[:, 1]).abs() * weights
    scale = 2.0 / weights.mean()
    penalty = 0.5 * logits.abs().max()
    report = xp.stack([losses.mean(), losses.mean() * scale + penalty])
    return report


def result_type(*operands):
    ranks = [None, None]
    for operand in operands:
        if hasattr(operand, "dim"):
            rank, operand_type = 0 if operand.dim() else 1, operand.dtype
        else:
            rank, operand_type = 1, scalar_type(operand)
        ranks[rank] = operand_type if ranks[rank] is None else promote_types(ranks[rank], operand_type)
    common = None
    for promoted in ranks:
        if promoted is not None and (common is None or promoted.category > common.category):
            common = promoted
    return common
