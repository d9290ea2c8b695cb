"""Lab 12d, the MiniGPT on several ranks: a block in parts, and the gradients of ranks with different numbers of tokens."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import (
    attempt,
    beyond_single,
    copied,
    defaults,
    drawing,
    explained,
    field,
    first_apart,
    numbers,
    rows,
)

_part = defaults(heads=2, d=2, hidden=8, ranks=2, rank=0, backwards=False)


WHOLE = "the results of all ranks are added up, so what is whole on each rank counts as often as there are ranks"


def _about_part(case, mine, theirs):
    part = field(theirs, "part")
    name = str(first_apart(field(mine, "part"), part))
    if name in ("projection.bias", "down.bias"):
        return WHOLE
    if name.startswith("attention"):
        return "the rows of the queries, the keys and the values of the rank's heads are not neighbours"
    return None if isinstance(part, str) else _about_all_ranks(case, mine, theirs)


_about_all_ranks = explained(
    changed="a tensor of `state` has changed", keys="the keys are those of `state`, in its order", sum=WHOLE,
    gradients="gradients go through the parts to the tensors of `state`: detach nothing",
)  # fmt: skip


@drawing
def _parts(draw, st):
    ranks = draw(st.integers(1, 3))
    heads, hidden = (ranks * draw(st.integers(1, 2)) + draw(st.sampled_from([0, 0, 0, 0, 1])) for _ in range(2))
    return _part(heads, draw(st.integers(1, 3)), hidden, ranks, draw(st.integers(0, ranks - 1)), draw(st.booleans()))


@program(
    "course.sharding.shard_block",
    cases=_parts,
    edges=[
        *[_part(2, 2, 8, 2, rank) for rank in (0, 1)],
        *[_part(3, 1, 6, 3, rank) for rank in (0, 1, 2)],
        _part(4, 3, 2, 2, 1), _part(1, 2, 3, 1), _part(4, 2, 4, 2, 0), _part(3, 2, 8, 2, 1), _part(2, 2, 7, 2),
        _part(6, 1, 9, 3, 1), _part(2, 2, 8, 4, 3), _part(2, 2, 8, 3, 2), _part(backwards=True),
    ],
    draws=10,
    show=lambda torch, heads, d, hidden, ranks, rank, backwards: (
        f"width, hidden = {heads * d}, {hidden}\n"
        f"shard_block({'dict(reversed(state.items()))' if backwards else 'state'}, {heads}, rank={rank}, ranks={ranks})"
    ),
    hint=_about_part,
)  # fmt: skip
def shards(rl, heads, d, hidden, ranks, rank, backwards):
    sharding, state = rl.course.sharding, _state(rl, heads * d, hidden, backwards)
    part = attempt(sharding.shard_block, state, heads, rank, ranks)
    before = _state(rl, heads * d, hidden)
    changed = [name for name in state if not rl.equal(state[name], before[name])]
    shown = {"keys": None, "part": part, "changed": changed, "sum": None, "gradients": None}
    if not isinstance(part, str):
        parts = [sharding.shard_block(state, heads, rank_of_part, ranks) for rank_of_part in range(ranks)]
        total = sharding.run_block(
            parts, heads, numbers(rl, [2, 3, heads * d], 1, "float64"), sharding.Ranks(rl, ranks)
        )
        shown |= {
            "keys": [*part],
            "part": {name: copied(tensor) for name, tensor in part.items()},
            "sum": copied(total),
        }
        shown["gradients"] = _gradients_through(rl, parts, state)
    return shown


@shards.oracle
def _(torch, heads, d, hidden, ranks, rank, backwards):
    """Head by head, with indices. The sum is the whole block's output."""
    state, F = _state(torch, heads * d, hidden, backwards), torch.nn.functional
    if heads % ranks or hidden % ranks:
        return {"keys": None, "part": "raises ValueError", "changed": [], "sum": None, "gradients": None}
    parts = [_part_by_indices(state, heads, d, hidden, ranks, rank_of_part) for rank_of_part in range(ranks)]

    def linear(name, x):
        return F.linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    def norm(name, x):
        return F.layer_norm(x, [heads * d], state[f"{name}.weight"], state[f"{name}.bias"])

    x = numbers(torch, [2, 3, heads * d], 1, "float64")
    q, k, v = (
        tensor.reshape(2, 3, heads, d).transpose(1, 2) for tensor in linear("attention", norm("norm_1", x)).chunk(3, -1)
    )
    mask = torch.ones(3, 3).triu(1) * -math.inf
    mixed = torch.softmax(q @ k.mT / d**0.5 + mask.nan_to_num(0, 0, -math.inf), -1) @ v
    x = x + linear("projection", mixed.transpose(1, 2).reshape(2, 3, -1))
    x = x + linear("down", F.gelu(linear("up", norm("norm_2", x)), approximate="tanh"))
    shown = {"keys": [*state], "part": {name: copied(tensor) for name, tensor in parts[rank].items()}, "changed": []}
    return shown | {"sum": copied(x), "gradients": _gradients_through(torch, parts, state)}


def _part_by_indices(state, heads, d, hidden, ranks, rank):
    mine = [i for i in range(heads * d) if i // d * ranks // heads == rank]
    inside = [i for i in range(hidden) if i * ranks // hidden == rank]
    qkv = [i + j * heads * d for j in range(3) for i in mine]
    part = dict(state)
    for name, rows_of in (("attention", qkv), ("up", inside)):
        part |= {f"{name}.{kind}": state[f"{name}.{kind}"][rows_of] for kind in ("weight", "bias")}
    part |= {
        "projection.weight": state["projection.weight"][:, mine],
        "down.weight": state["down.weight"][:, inside],
    }
    return part | {name: state[name] * (rank == 0) for name in ("projection.bias", "down.bias")}


def _gradients_through(xp, parts, state):
    """The gradients of a sum in which each number of each part has a factor of its own."""
    for rank, part in enumerate(parts):
        for i, name in enumerate(sorted(part)):
            if part[name].requires_grad:
                (part[name] * numbers(xp, [*part[name].shape], rank + i, "float64")).sum().backward(retain_graph=True)
    return {name: copied(tensor.grad) for name, tensor in state.items()}


def _state(xp, width, hidden, backwards=False):
    """The parameters of a block by rule, also in another order. In float32, a norm of two features shows rounding."""
    shapes = {"norm_1.weight": [width], "norm_1.bias": [width], "norm_2.weight": [width], "norm_2.bias": [width]}
    for name, outs, features in (
        ("attention", 3 * width, width), ("projection", width, width), ("up", hidden, width), ("down", width, hidden),
    ):  # fmt: skip
        shapes |= {f"{name}.weight": [outs, features], f"{name}.bias": [outs]}
    state = {name: numbers(xp, shape, i, "float64").requires_grad_() for i, (name, shape) in enumerate(shapes.items())}
    return dict(reversed(state.items())) if backwards else state


# Gradients of ranks --------------------------------------------------------------------------------------------------


@drawing
def _counted(draw, st):
    """The numbers of tokens, the sizes of the parameters, and for each parameter the ranks that have no gradient of it."""
    counts = draw(st.lists(st.sampled_from([0, 1, 2, 3, 8]), min_size=1, max_size=3).filter(any))
    with_tokens = [rank for rank, count in enumerate(counts) if count]
    shapes = draw(st.lists(st.sampled_from([[], [2], [2, 3]]), min_size=1, max_size=2))
    missing = [draw(st.lists(st.integers(0, len(counts) - 1), unique=True)) for _ in shapes]
    missing = [[] if {*with_tokens} <= {*ranks} else ranks for ranks in missing]
    return {
        "counts": counts,
        "shapes": shapes,
        "missing": missing,
        "kind": draw(st.sampled_from(["float32", "float64"])),
    }


@program(
    "course.sharding.average_gradients",
    cases=_counted,
    edges=rows("counts shapes missing kind", *(
        ([1], [[2]], [[]], "float32"), ([3, 1], [[2], [2, 3]], [[], []], "float32"), ([2, 2], [[]], [[]], "float64"),
        ([0, 5], [[2]], [[]], "float32"), ([5, 0, 3], [[2]], [[]], "float32"), ([4, 1], [[2], [3]], [[0], [1]], "float32"),
        ([1, 2, 5], [[2, 3]], [[1]], "float32"), ([1, 0, 2], [[2]], [[1]], "float64"), ([0, 7], [[2]], [[0]], "float32"),
    )),
    draws=12,
    show=lambda torch, counts, shapes, missing, kind: (
        f"average_gradients({[[None if rank in ranks else 'grad' for ranks in missing] for rank in range(len(counts))]}, {counts})"
    ),
    hint=explained(
        averages="a rank counts as often as it has tokens, also where it has no gradient; one without a token is left "
        "out, because 0 times nan is nan",
        digits="only the last digits differ: float64 is computed in float64",
        new="a tensor of the result is one of the arguments", changed="one of the arguments has changed",
    ),
)  # fmt: skip
def averages(rl, **case):
    given, before, counts = _gradients(rl, **case), _gradients(rl, **case), [*case["counts"]]
    averages = rl.course.sharding.average_gradients(given, counts)
    known = {grad.untyped_storage().data_ptr() for one in given for grad in one if grad is not None}
    same = all(
        a is b or str(a.tolist()) == str(b.tolist()) for x, y in zip(given, before) for a, b in zip(x, y)
    )  # nan equals nan
    same = same and [*map(len, given)] == [*map(len, before)]
    new = not any(average.untyped_storage().data_ptr() in known for average in averages)
    changed = not same or counts != [*case["counts"]]
    digits = [beyond_single(rl, copied(average)) for average in averages]
    return {
        "averages": [*map(copied, averages)], "digits": digits, "new": new, "changed": changed
    }  # fmt: skip


@averages.oracle
def _(torch, counts, **case):
    """Each token has a copy of its rank's gradient, and the mean is over tokens."""
    gradients, averages = _gradients(torch, counts, **case), []
    for grads in zip(*gradients):
        like = next(grad for grad, count in zip(grads, counts) if grad is not None and count)
        whole = [torch.zeros_like(like) if grad is None else grad for grad in grads]
        averages.append(torch.stack([grad for grad, count in zip(whole, counts) for _ in range(count)]).mean(0))
    digits = [beyond_single(torch, average) for average in averages]
    return {"averages": averages, "digits": digits, "new": True, "changed": False}


def _gradients(xp, counts, shapes, missing, kind):
    """For each rank its gradients. Those of a rank without a token are nan."""
    made = []
    for rank, count in enumerate(counts):
        mine = [numbers(xp, shape, rank + i, kind) * (1.0 if count else math.nan) for i, shape in enumerate(shapes)]
        made.append([None if rank in without else grad for grad, without in zip(mine, missing)])
    return made
