"""Lab 10b: which weights become 0, and how many at a step."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import drawing, drawn, explained, rows, when


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
    hint=explained(
        chosen_blocks="the number of chosen blocks is Python's round(level * blocks), which rounds half to even. "
        "Below a level of 1 at least one block is not chosen; it may be that none is chosen",
        means_of_the_chosen_blocks="other blocks have a smaller mean. At the edge, it is the mean of the elements that are there",
        the_norms_changed="the norms are an argument: they may not change",
    ),
)  # fmt: skip
def masked(rl, sizes, values, level, block, zeros):
    norms = rl.tensor([float(number) for number in values]).reshape(sizes)
    before = norms.tolist()
    mask = rl.ao.pruning.sparsifier.weight_norm_mask(norms, level, tuple(block), zeros)
    judged = _judged(mask.tolist(), values, sizes, block, zeros) | {"the norms changed": norms.tolist() != before}
    return {"dtype": str(mask.dtype).partition(".")[2], "sizes": list(mask.shape)} | judged


@masked.oracle
def _(torch, sizes, values, level, block, zeros):
    layer = torch.nn.Linear(sizes[1], sizes[0], bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([float(number) for number in values]).reshape(sizes))
    pruning = import_module("torch.ao.pruning")
    sparsifier = pruning.WeightNormSparsifier(level, tuple(block), zeros, norm=lambda weight: weight)
    sparsifier.prepare(layer, [{"tensor_fqn": "weight"}])
    sparsifier.step()
    mask = layer.parametrizations.weight[0].mask.bool()
    judged = _judged(mask.tolist(), values, sizes, block, zeros)
    return {"dtype": "bool", "sizes": list(mask.shape)} | judged | {"the norms changed": False}


def _judged(mask, values, sizes, block, zeros):
    """Return the facts that all right masks share, because equal means or norms leave a choice. Without these, return the mask."""
    blocks = []
    for top in range(0, sizes[0], block[0]):
        for left in range(0, sizes[1], block[1]):
            places = [
                (i, j)
                for i in range(top, min(top + block[0], sizes[0]))
                for j in range(left, min(left + block[1], sizes[1]))
            ]
            norms = [values[i * sizes[1] + j] for i, j in places]
            removed = sorted(norm for norm, (i, j) in zip(norms, places) if not mask[i][j])
            blocks.append((sum(norms) / len(norms), sorted(norms), removed))
    means = [mean for mean, _, _ in blocks]
    is_tie = len({*means}) < len(means) or any(len({*norms}) < len(norms) for _, norms, _ in blocks)
    chosen = sorted(mean for mean, _, removed in blocks if removed)
    return {
        "chosen blocks": len(chosen),
        "means of the chosen blocks": chosen,
        "norms that became 0, by block": [removed for _, _, removed in blocks] if not is_tie else "a tie",
        "only the smallest became 0": all(removed in ([], norms[:zeros]) for _, norms, removed in blocks),
        "mask": mask if not is_tie else "a tie",
    }


@program(
    "ao.pruning.scheduler.cubic_sparsity",
    cases=drawn(
        levels=lambda st: st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]), min_size=2, max_size=2), t=(0, 40),
        t_0=(0, 12), dt=(1, 5), n=(1, 6), initially_zero=bool,
    ),
    edges=rows("levels t t_0 dt n initially_zero", *((levels, t, 10, 5, 4, zero) for levels in ([0.0, 0.8], [0.3, 0.8], [0.8, 0.3])
        for t in (0, 9, 10, 11, 20, 30, 31, 99) for zero in (False, True)), ([0.0, 0.5], 3, 0, 1, 5, False)),
    hint=when(
        lambda case: case["levels"][0] > case["levels"][1] and (case["t"] >= case["t_0"] or not case["initially_zero"]),
        "s_0 is above s_f: first limit from above by s_f, then from below by s_0",
    ),
)  # fmt: skip
def cubic(xp, levels, t, t_0, dt, n, initially_zero):
    if xp.__name__ == "torch":
        sparsity = import_module("torch.ao.pruning").CubicSL.sparsity_compute_fn
    else:
        sparsity = xp.ao.pruning.scheduler.cubic_sparsity
    return sparsity(*levels, t, t_0, dt, n, initially_zero)
