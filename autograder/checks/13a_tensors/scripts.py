"""Checks of lab 13a: the patients on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import apart, copied, drawn, explained, first_of, numbers, several, when, with_layout

# Copies --------------------------------------------------------------------------------------------------------------

SCRIPTS = [  # the lines of a function of two matrices of equal sizes. In a nested function the line is the outer one's
    ["total = x + y.t().t()", "return total.sum()"],
    ["rows = x.contiguous()", "columns = y.t().contiguous()", "return rows.sum() + columns.sum()"],
    ["flat = x.reshape(-1)", "turned = y.t().reshape(-1)", "flat = flat + 1", "return flat @ turned"],
    ["total = 0", "for row in y:", "    total = total + x.t().flatten()[:1]", "    kept = row.clone()", "return total"],
    ["wide = x.double()", "same = x.to(x.dtype)", "z = wide.new_zeros(wide.shape)", "z.copy_(y)", "return z, same"],
    [
        "def copy_of(z):",
        "    w = z * 2",
        "    return w.clone()",
        "first = copy_of(x)",
        "return [copy_of(y), y.clone()]",
    ],
    [
        "three = x.unsqueeze(0).expand(2, -1, -1)",
        "product = three.transpose(1, 2) @ y",
        "return product.permute(1, 0, 2).flatten(1)",
    ],
    ["z = x.clone()", "z[:, :1] = y[:, :1]", "z[y > 0] = 1", "x.add_(1)", "return z"],
    ["first = x.clone()", "def script(z):", "    w = z * 2", "    return w.clone()", "return first, script(y)"],
    [
        "first = x.clone()",
        "second = [first, script(x, y[:1])] if len(y) > 1 else y.t().clone()",
        "return first, x.double()",
    ],
    [
        "with torch.inference_mode():",
        "    rows = x.t().contiguous()",
        "    wide = x.double()",
        "    return rows.clone()",
    ],
    ["z = x.masked_fill(x > 0, 0.0)", "return z.repeat(2, 1).clone()"],
    ["z = x.clone()", "raise ValueError(z.shape)"],
    ["z = x.clone()", "return z @ torch.ones(7, 7)"],
]
LAYOUTS = ["", "gaps", "backwards"]


def _script(torch, lines):
    """A new function with these lines."""
    space = {"torch": torch}
    exec("\n    ".join(["def script(x, y):", *lines]), space)
    return space["script"]


def _matrices(torch, rows, columns, layout, kind):
    return [with_layout(torch, numbers(torch, [rows, columns], start, kind), layout) for start in (1, 4)]


def _copies(lines, rows=2, columns=3, layout="", kind="float32"):
    return {"lines": lines, "rows": rows, "columns": columns, "layout": layout, "kind": kind}


@program(
    "clinic.tensors.find_copies",
    cases=drawn(
        lines=SCRIPTS, rows=(0, 4), columns=(0, 4), layout=LAYOUTS, kind=["float32", "float64"]
    ),
    edges=[
        *(_copies(lines) for lines in SCRIPTS), *(_copies(lines, layout="backwards") for lines in SCRIPTS),
        *(_copies(lines, 0) for lines in SCRIPTS), _copies(SCRIPTS[2], 1, 4), _copies(SCRIPTS[3], 4, 1, "gaps", "float64"),
    ],
    hint=explained(
        copies="a line and the bytes of the result for each call of clone, copy_ or _to_copy that a mode sees, in order. `lines` "
        "are those of the function, and the line with `def` is line 0",
        writes="the function is called once",
        modes="a mode is still on after an error of the function",
    ),
)  # fmt: skip
def find_copies(xp, lines, rows, columns, layout, kind):
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    torch = xp.clinic.tensors.torch
    x, y = _matrices(torch, rows, columns, layout, kind)
    try:
        copies = [
            [int(number) for number in pair] for pair in xp.clinic.tensors.find_copies(_script(torch, lines), x, y)
        ]
    except (ValueError, RuntimeError) as error:
        copies = str(error)
    return {"copies": copies, "writes": copied(x), "modes": _get_current_dispatch_mode() is None}


@find_copies.oracle
def copies_seen(torch, lines, rows, columns, layout, kind):
    import sys

    from torch.utils._python_dispatch import TorchDispatchMode

    x, y = _matrices(torch, rows, columns, layout, kind)
    script, copies = _script(torch, lines), []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func.__name__ in ("clone.default", "copy_.default", "_to_copy.default"):
                frame = sys._getframe()
                while frame.f_code is not script.__code__:
                    frame = frame.f_back
                copies.append([frame.f_lineno - script.__code__.co_firstlineno, result.numel() * result.element_size()])
            return result

    try:
        with Watch():
            script(x, y)
    except (ValueError, RuntimeError) as error:
        copies = str(error)
    return {"copies": copies, "writes": copied(x), "modes": True}


# A step of attention -------------------------------------------------------------------------------------------------


def _cache(torch, tokens, heads, width, layout, kind):
    cache, query = numbers(torch, [tokens, 2, heads, width], 2, kind), numbers(torch, [heads, width], 5, kind)
    if layout == "same":  # the result is the query, and still a new tensor
        return torch.stack([query, query]).expand(tokens, -1, -1, -1), query
    if layout == "large":  # the scores of a head are equal, far above 0, far below it, or 0
        cache[:, 0] = 8.0
        return cache, torch.tensor([16.0, -16.0, 0.0])[:heads, None].expand(heads, width).contiguous().to(cache.dtype)
    if layout == "opposite":  # large values whose sum with these weights is small, but not with weights of float32
        weights, large = _weights(torch, cache, query), 2**20 if kind == "float64" else 1
        cache[0, 1] += large / weights[:, :1]
        cache[-1, 1] -= large / weights[:, -1:]
    if layout == "longer":
        longer = torch.cat([cache, cache.neg()])
        return longer[:tokens], query
    if layout == "heads first":
        return cache.permute(1, 2, 0, 3).contiguous().permute(2, 0, 1, 3), query
    return cache, query


def _weights(torch, cache, query):
    return (torch.einsum("thw,hw->ht", cache[:, 0], query) / query.shape[-1] ** 0.5).softmax(1)


def _attention(tokens=3, heads=2, width=4, layout="", kind="float32"):
    return {"tokens": tokens, "heads": heads, "width": width, "layout": layout, "kind": kind}


def _largest_made(torch, call):
    """The result of a call, and the number of elements of the largest new tensor that an operator makes in it."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    sizes = [0]

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = {
                x.untyped_storage().data_ptr() for x in tree_leaves([args, kwargs]) if isinstance(x, torch.Tensor)
            }
            result = func(*args, **(kwargs or {}))
            for x in tree_leaves(result):
                if isinstance(x, torch.Tensor) and x.untyped_storage().data_ptr() not in before:
                    sizes.append(x.numel())
            return result

    with Watch():
        result = call()
    return result, max(sizes)


@program(
    "clinic.tensors.attend",
    cases=drawn(
        tokens=(1, 6), heads=(1, 3), width=(1, 5), layout=["", "longer", "heads first", "same", "large", "opposite"],
        kind=["float32", "float64"],
    ),
    edges=[
        *(_attention(layout=layout) for layout in ("", "longer", "heads first", "large")), _attention(5, 3, 4, "large"),
        _attention(1, 1, 1), _attention(5, 1, 2), _attention(1, layout="same"),
        _attention(5, 3, 1), _attention(1, 3, 5), _attention(kind="float64"),
        _attention(layout="opposite", kind="float64"),
    ],
    hint=explained(
        result="softmax(query . key / sqrt(width)) over the tokens, of any scores, and the sum of the values "
        "with these weights, for each head, in their dtype",
        fits="an operator makes a tensor that is larger than the scores and the result: a copy, which find_copies finds, or a "
        "product of all keys or values, which a TorchDispatchMode that prints the size of each result finds",
        only_read="the cache and the query are only read",
    ),
)  # fmt: skip
def attend(xp, tokens, heads, width, layout, kind):
    torch = xp.clinic.tensors.torch
    cache, query = _cache(torch, tokens, heads, width, layout, kind)
    before = copied(cache), copied(query)
    result, largest = _largest_made(torch, lambda: xp.clinic.tensors.attend(cache, query))
    return {
        "result": copied(result),
        "fits": largest <= heads * max(tokens, width),
        "only read": all(map(torch.equal, (cache, query), before)),
        "new": result is not query,
    }


@attend.oracle
def attention_of_a_step(torch, tokens, heads, width, layout, kind):
    cache, query = _cache(torch, tokens, heads, width, layout, kind)
    return {
        "result": copied(torch.einsum("ht,thw->hw", _weights(torch, cache, query), cache[:, 1])),
        "fits": True,
        "only read": True,
        "new": True,
    }


# Shared memory -------------------------------------------------------------------------------------------------------

VIEWS = {  # by name, a tensor that is made of a matrix
    "whole": lambda torch, x: x,
    "rows": lambda torch, x: x[1:],
    "first row": lambda torch, x: x[0],
    "first column": lambda torch, x: x[:, 0],
    "last column": lambda torch, x: x[:, -1],
    "even columns": lambda torch, x: x[:, ::2],
    "odd columns": lambda torch, x: x[:, 1::2],
    "turned": lambda torch, x: x.t(),
    "one": lambda torch, x: x[:1, :1].expand(2, 3),
    "none": lambda torch, x: x[:0],
    "number": lambda torch, x: x[-1, -1],
    "copy": lambda torch, x: x.clone(),
    "row of the copy": lambda torch, x: x.clone()[0],
    "integers": lambda torch, x: x[0].view(torch.int32),
    "second bytes": lambda torch, x: x.view(torch.uint8)[:, 1::4],
    "third bytes": lambda torch, x: x.view(torch.uint8)[:, 2::4],
    "detached": lambda torch, x: x.detach()[-1],
    "another storage": lambda torch, x: torch.from_numpy(x.numpy()[:, 1:]),
}


def _tensors(torch, rows, columns, *chosen):
    """Two or more dicts of tensors that are made of one matrix."""
    x = numbers(torch, [rows, columns], 1, "float32")
    return [{f"{i} {name}": VIEWS[name](torch, x) for i, name in enumerate(names)} for names in chosen]


@program(
    "clinic.tensors.aliased",
    cases=drawn(rows=(1, 3), columns=(1, 4), kept=several(sorted(VIEWS), 1, 6), live=several(sorted(VIEWS), 1, 3)),
    edges=[
        *({"rows": 3, "columns": 4, "kept": sorted(VIEWS), "live": [name]} for name in VIEWS),
        {"rows": 1, "columns": 1, "kept": sorted(VIEWS), "live": ["whole"]},
        {"rows": 3, "columns": 4, "kept": ["whole"], "live": []},
        {"rows": 3, "columns": 4, "kept": [], "live": ["whole"]},
        {
            "rows": 3,
            "columns": 4,
            "kept": ["number", "last column", "first column"],
            "live": ["first column", "number"],
        },
    ],
    hint="two tensors share memory if an element of one has a byte of an element of the other",
)
def aliased(xp, rows, columns, kept, live):
    tensors = _tensors(xp.clinic.tensors.torch, rows, columns, kept, live)
    return list(xp.clinic.tensors.aliased(*tensors))


@aliased.oracle
def changed_by_a_write(torch, rows, columns, kept, live):
    """Write to the tensors one at a time, and look at which of the others change."""
    kept, live = _tensors(torch, rows, columns, kept, live)
    changed = set()
    for y in live.values():
        before = {name: _bytes(torch, tensor) for name, tensor in kept.items()}
        one_each = y[
            tuple(slice(0, 1) if stride == 0 else slice(None) for stride in y.stride())
        ]  # torch refuses overlap
        one_each.view(torch.int32 if y.dtype == torch.float32 else y.dtype).bitwise_not_()
        changed |= {name for name in kept if _bytes(torch, kept[name]) != before[name]}
    return [name for name in kept if name in changed]


def _bytes(torch, x):
    return copied(x).reshape(-1).view(torch.uint8).tolist()


# The best state ------------------------------------------------------------------------------------------------------


def _model(torch, kind, dtype):
    """A model with parameters and buffers, of which a part is not trained. In a tied one, two names are one parameter."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 2))
    if kind == "tied":
        model[2].weight = model[0].weight
    if kind == "views":
        flat = torch.zeros(4)
        model[0].weight.data, model[2].weight.data = flat.view(2, 2), flat.view(2, 2).t()
    for i, parameter in enumerate(model.parameters()):
        parameter.data.copy_(numbers(torch, list(parameter.shape), i, "float32"))
    model[0].bias.requires_grad_(False)
    model[1].eval()
    return model.to(getattr(torch, dtype))


def _step(torch, way, log):
    """A step of training that changes the model, in one of three ways."""

    def step(model):
        log.append("step")
        for parameter in model.parameters():  # the numbers are exact in every order of the operations
            parameter.grad = numbers(torch, list(parameter.shape), len(log), "float32").to(parameter.dtype)
            if way == "in place":
                parameter.data.sub_(parameter.grad)
            elif way == "new data":
                parameter.data = parameter.data - parameter.grad
        if way == "optimizer":
            torch.optim.SGD(model.parameters(), lr=0.5).step()
        for buffer in model.buffers():
            buffer.add_(len(log))

    return step


def _score(torch, scores, log):
    def score(model):
        number = scores[min(log.count("score"), len(scores) - 1)]
        log.append("score" if isinstance(model, torch.nn.Module) else "score of something else")
        return number

    return score


def _as_left(model):
    """What a training has left of a model: its state, its gradients, and its modes."""
    state = {name: copied(value) for name, value in model.state_dict().items()}
    gradients = [[x.requires_grad, copied(x.grad)] for x in model.parameters()]
    return [state, gradients, [module.training for module in model.modules()]]


def _trained(torch, kind, dtype, way, scores, keep_best):
    """What is observed of a training whose best state `keep_best` returns."""
    model, log = _model(torch, kind, dtype), []
    best = keep_best(model, _step(torch, way, log), _score(torch, scores, log), len(scores))
    after = _as_left(model)
    if not isinstance(best, dict):
        return {"state": str(best), "calls": log, "model": after, "still": None, "gradients": None}
    state = {name: copied(value) for name, value in best.items()}
    _step(torch, "in place", log)(model)
    with torch.no_grad():
        for value in model.state_dict().values():
            value.fill_(7)
    return {
        "state": state,
        "calls": log,
        "model": after,
        "still": [name for name, value in best.items() if torch.equal(value, state[name])],
        "gradients": [name for name, value in best.items() if value.requires_grad],
    }


def _training(kind="plain", way="in place", scores=(1, 3, 2), dtype="float32"):
    return {"kind": kind, "dtype": dtype, "way": way, "scores": list(scores)}


@program(
    "clinic.tensors.keep_best",
    cases=drawn(
        kind=["plain", "tied", "views"], dtype=["float32", "float64"], way=["in place", "new data", "optimizer"],
        scores=several([-2, -1, -0.5, 0, 0.25, 0.75, 1], 1, 5),
    ),
    edges=[
        *(_training(kind, way) for kind in ("plain", "tied", "views") for way in ("in place", "new data", "optimizer")),
        _training(scores=[0, -1]), _training(scores=[1, 1, 0]), _training(scores=[-3, -1, -2]), _training(scores=[3, 2, 1]),
        _training(scores=[1, 2, 3]), _training(scores=[float("-inf"), float("-inf")]), _training(scores=[-1e30, -2e30]),
        _training(scores=[2**53, 2**53 + 1]),  # whole numbers that no float tells apart
        *(_training(scores=[0.25, 0.75, -0.5], dtype=dtype) for dtype in ("float32", "float64")),
    ],
    hint=first_of(when(apart("still"), "a later change of the model changes these tensors"), explained(
        state="the values of the state dict after the step with the highest score, the first one of equals",
        calls="each of the steps calls step and then score, once",
        model="the model is left as the last step left it, with its gradients and its mode",
        gradients="the tensors of a state dict require no gradient",
    )),
)  # fmt: skip
def keep_best(xp, kind, dtype, way, scores):
    return _trained(xp.clinic.tensors.torch, kind, dtype, way, scores, xp.clinic.tensors.keep_best)


@keep_best.oracle
def best_by_training_again(torch, kind, dtype, way, scores):
    """Train anew for as many steps as the best state needs."""
    best = scores.index(max(scores)) + 1

    def train(steps):
        model, log = _model(torch, kind, dtype), []
        for _ in range(steps):
            _step(torch, way, log)(model)
            log.append("score")
        return _as_left(model), log

    ((state, *_), _), (after, log) = train(best), train(len(scores))
    return {"state": state, "calls": [*log, "step"], "model": after, "still": [*state], "gradients": []}
