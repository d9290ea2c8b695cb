"""Lab 10b: which weights become 0, and how many at a step."""

from __future__ import annotations

from importlib import import_module

from ...check import program
from ..cases import drawing, drawn, rows, when


@drawing
def _masks(draw, st):
    block = draw(st.sampled_from([[1, 1], [1, 2], [1, 4], [2, 2], [3, 1], [2, 3]]))
    zeros = draw(st.integers(1, block[0] * block[1]))
    height, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    spare = [0, 0] if zeros < block[0] * block[1] else draw(st.sampled_from([[0, 0], [1, 0], [0, 1], [1, 1]]))
    sizes = [height * block[0] + spare[0] * (block[0] > 1), width * block[1] + spare[1] * (block[1] > 1)]
    level = draw(st.sampled_from([0.1, 0.25, 0.5, 0.5, 0.6, 0.75, 0.9, 0.99, 1.0, 1.5]))
    most = draw(st.sampled_from([3, 1000, 1000, 1000]))
    values = draw(st.lists(st.integers(0, most), min_size=sizes[0] * sizes[1], max_size=sizes[0] * sizes[1]))
    return {"sizes": sizes, "values": values, "level": level, "block": block, "zeros": zeros}


def _case(sizes, level, block, zeros, values=None):
    count = sizes[0] * sizes[1]
    values = [(7 * i * i + 5 * i) % 101 + i for i in range(count)] if values is None else values
    return {"sizes": sizes, "values": values, "level": level, "block": block, "zeros": zeros}


@program(
    "ao.pruning.sparsifier.weight_norm_mask",
    cases=_masks,
    edges=[
        _case([2, 4], 0.5, [2, 2], 3), _case([2, 4], 0.5, [2, 2], 4), _case([4, 4], 0.5, [1, 4], 2), _case([4, 4], 1.0, [1, 4], 2),
        _case([4, 4], 1.0, [1, 4], 4), _case([4, 4], 0.99, [2, 2], 4), _case([4, 6], 0.25, [2, 3], 5), _case([3, 4], 0.4, [1, 1],
        1), _case([5, 4], 0.5, [2, 2], 4), _case([4, 5], 0.5, [2, 2], 4), _case([5, 5], 0.6, [2, 3], 6), _case([6, 2], 0.5, [3, 1],
        1), _case([1, 1], 0.9, [1, 1], 1), _case([1, 1], 1.0, [1, 1], 1), _case([2, 5], 0.25, [1, 1], 1), _case([5, 2], 0.35, [1,
        1], 1), _case([2, 4], 0.5, [1, 4], 2, [1, 1, 1, 1, 2, 2, 2, 2]), _case([2, 4], 0.5, [1, 2], 2, [1] * 8),
        _case([2, 4], 2.0, [2, 2], 1), _case([2, 6], 0.5, [1, 4], 4, [9, 9, 9, 9, 5, 5, 1, 1, 1, 1, 6, 6]),
        _case([2, 4], 0.1, [2, 2], 2), _case([4, 4], 0.62, [2, 2], 3), _case([4, 2], 0.5, [3, 1], 3),
        _case([4, 4], 0.5, [2, 3], 6), _case([4, 12], 0.4, [2, 3], 5), _case([9, 4], 0.4, [3, 2], 4),
    ],
    hint=when(lambda case: case["level"] < 1, "below a level of 1, at least one block stays as it is"),
)  # fmt: skip
def masked(rl, sizes, values, level, block, zeros):
    norms = rl.tensor([float(each) for each in values]).reshape(sizes)
    mask = rl.ao.pruning.sparsifier.weight_norm_mask(norms, level, tuple(block), zeros)
    return [
        str(mask.dtype).partition(".")[2],
        list(mask.shape),
        _judged(mask.tolist(), values, sizes, block, level, zeros),
    ]


@masked.oracle
def _(torch, sizes, values, level, block, zeros):
    layer = torch.nn.Linear(sizes[1], sizes[0], bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([float(each) for each in values]).reshape(sizes))
    pruning = import_module("torch.ao.pruning")
    sparsifier = pruning.WeightNormSparsifier(level, tuple(block), zeros, norm=lambda weight: weight)
    sparsifier.prepare(layer, [{"tensor_fqn": "weight"}])
    sparsifier.step()
    mask = layer.parametrizations.weight[0].mask.bool()
    return ["bool", list(mask.shape), _judged(mask.tolist(), values, sizes, block, level, zeros)]


def _judged(mask, values, sizes, block, level, zeros):
    """The mask; or, where equal norms leave a choice, what all right choices have in common."""
    found = []
    for top in range(0, sizes[0], block[0]):
        for left in range(0, sizes[1], block[1]):
            places = [
                (i, j)
                for i in range(top, min(top + block[0], sizes[0]))
                for j in range(left, min(left + block[1], sizes[1]))
            ]
            norms = [values[i * sizes[1] + j] for i, j in places]
            found.append(
                (
                    sum(norms) / len(norms),
                    sorted(norms),
                    sorted(n for n, (i, j) in zip(norms, places) if not mask[i][j]),
                )
            )
    means = [mean for mean, _, _ in found]
    tie_of_blocks = len({*means}) < len(means)
    tie_inside = any(len({*norms}) < len(norms) for _, norms, _ in found)
    if not (tie_of_blocks or tie_inside):
        return mask
    return [
        "a tie",
        [all(removed in ([], norms[:zeros]) for _, norms, removed in found)],
        sorted([mean, len(removed) > 0] for mean, _, removed in found),
    ]


@program(
    "ao.pruning.scheduler.cubic_sparsity",
    cases=drawn(
        levels=lambda st: st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]), min_size=2, max_size=2), t=(0, 40),
        t_0=(0, 12), dt=(1, 5), n=(1, 6), initially_zero=bool,
    ),
    edges=rows("levels t t_0 dt n initially_zero", *((levels, t, 10, 5, 4, zero) for levels in ([0.0, 0.8], [0.3, 0.8], [0.8, 0.3])
        for t in (0, 9, 10, 11, 20, 30, 31, 99) for zero in (False, True)), ([0.0, 0.5], 3, 0, 1, 5, False)),
    hint=when(lambda case: case["levels"][0] > case["levels"][1], "first limit from above by s_f, then from below by s_0"),
)  # fmt: skip
def cubic(xp, levels, t, t_0, dt, n, initially_zero):
    if xp.__name__ == "torch":
        sparsity = import_module("torch.ao.pruning").CubicSL.sparsity_compute_fn
    else:
        sparsity = xp.ao.pruning.scheduler.cubic_sparsity
    return sparsity(*levels, t, t_0, dt, n, initially_zero)
