"""Custom functions, second derivatives of a formula, numerical gradients, and checkpoints."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.observe import difference, show
from ..cases import apart, attempt, drawing, drawn, explained, field, first_apart, first_of, is_torch, several, when
from ..shared_04 import Graph, described, grad_mode, node_name, outcome, plain, start

# A custom function ---------------------------------------------------------------------------------------------------


def vector(xp, requires_grad=True):
    return start(xp, [[[3], requires_grad]])[0]


ARGUMENTS = {
    "leaf": vector, "computed": lambda xp: vector(xp) * 2, "plain": lambda xp: vector(xp, False),
    "integers": lambda xp: xp.arange(3), "number": lambda xp: 2.0, "none": lambda xp: None,
    "list": lambda xp: [vector(xp)], "parameter": lambda xp: xp.nn.Parameter(vector(xp, False)),
}  # fmt: skip


def made_from(xp, kinds):
    """Arguments of these kinds. Two kinds depend on the first argument."""
    args = [ARGUMENTS[kind](xp) if kind in ARGUMENTS else None for kind in kinds]
    return [{"same": args[0], "view": args[0].view(3)}.get(kind, arg) for kind, arg in zip(kinds, args)]


class Results(tuple):
    """The results of a forward in a subclass of tuple, which is made as a named tuple is."""

    def __new__(cls, *results):
        return super().__new__(cls, results)


OUTPUTS = {
    "new": lambda xp, tensors, dirty: sum(x.to(xp.float64) * (i + 2) for i, x in enumerate(tensors)),
    "short": lambda xp, tensors, dirty: sum(x.to(xp.float64).sum() for x in tensors),
    "same": lambda xp, tensors, dirty: tensors[0], "written": lambda xp, tensors, dirty: dirty(tensors[0].add_(1)),
    "integers": lambda xp, tensors, dirty: xp.arange(3), "number": lambda xp, tensors, dirty: 5,
    "none": lambda xp, tensors, dirty: None, "raise": lambda xp, tensors, dirty: {}["of the forward"],
}  # fmt: skip
ANSWERS = {  # what a backward returns, from the right gradients
    "right": lambda found: tuple(found), "twice": lambda found: tuple(x if x is None else x * 2 for x in found),
    "nothing": lambda found: (None,) * len(found), "fewer": lambda found: tuple(found[:-1]),
    "more of nothing": lambda found: (*found, None), "more": lambda found: (*found, found[0]),
    "one for all": lambda found: tuple(next(y for y in found if y is not None) if x is None else x for x in found),
    "alone": lambda found: found[0], "list": lambda found: list(found),
    "wider": lambda found: tuple(x if x is None else x.expand(2, 3) for x in found),
}  # fmt: skip


def forward(xp, ctx, log, tensors, outputs, several, saves, nondifferentiable, materialize, **_):
    needs = ctx.needs_input_grad
    said = {"needs_input_grad": [type(needs).__name__, *needs], "grad mode": xp.is_grad_enabled()}
    log.append({"forward": said | {"tensors require grad": [x.requires_grad for x in tensors]}})

    def dirty(x):
        ctx.mark_dirty(x)
        return x

    made = [OUTPUTS[kind](xp, tensors, dirty) for kind in outputs]
    marked = [made[i % len(made)] for i in nondifferentiable]
    ctx.mark_non_differentiable(*(x for x in marked if isinstance(x, xp.Tensor)))
    if not materialize:
        ctx.set_materialize_grads(False)
    kept = {"args": tensors, "outputs": made, "between": [tensors[0] * 3], "none": [None, tensors[0]]}
    if saves:
        ctx.save_for_backward(*(x for x in kept[saves] if x is None or isinstance(x, xp.Tensor)))
    ctx.number = 7
    if several == "subclass":
        return Results(*made)
    return {"list": list, True: tuple, False: lambda made: made[0]}[several](made)


def backward(xp, ctx, log, args, tensors, results, grads, answer):
    saved = []
    for x in ctx.saved_tensors:
        one = [any(x is y for y in group) for group in (tensors, results)]
        flag = x is not None and x.requires_grad
        saved.append({"tensor": plain(x), "requires_grad": flag, "is an argument, a result": one})
    said = {"gradients": [*map(plain, grads)], "saved_tensors": saved, "number": ctx.number}
    log.append({"backward": said | {"grad mode": xp.is_grad_enabled()}})
    one = next((grad.to(xp.float64).sum() for grad in grads if grad is not None), None)
    gradients = []
    for x, needed in zip(args, ctx.needs_input_grad):
        gradients.append(one * (x.detach() * 0 + 3) if needed and one is not None else None)
    return ANSWERS[answer](gradients)


def result_shown(xp, x, tensors):
    if not isinstance(x, xp.Tensor):
        return x
    node = x.grad_fn and node_name(x.grad_fn)
    return {"tensor": plain(x), "node": node, "is an argument": [x is y for y in tensors]} | described(x)


def _well_defined(case):
    """One argument at most is written or returned, and then no result is marked as not differentiable."""
    written = case["outputs"].count("written") + case["outputs"].count("same")
    return written == 0 or written == 1 and not case["nondifferentiable"]


_FUNCTION = {
    "args": ["leaf"], "outputs": ["new"], "several": False, "saves": "", "nondifferentiable": [], "materialize": True,
    "answer": "right", "enabled": True, "roots": [0], "twice": False, "written": False,
}  # fmt: skip


def _function(**others):
    """A case that differs from the usual one. Its arguments and outputs are words."""
    return _FUNCTION | {name: x.split() if name in ("args", "outputs") else x for name, x in others.items()}


ONE_OR_SEVERAL = "the caller gets a tuple if the forward returned a tuple, and a list is one result"
OF_THE_RESULTS = explained(
    results="`attach` is called once for each result, in order, and returns the result for the caller",
    several=ONE_OR_SEVERAL,
    graph="each argument that is a tensor has an edge, to the history that it had before the forward ran",
)  # hints, by the entry of the result
OF_THE_LOG = {
    "forward": "the forward can read `needs_input_grad`, and its operators are not recorded",
    "kept": "`saved` has what the forward has put into `to_save`. Without a graph the node saves nothing, and `to_save` is empty",
    "edges": "without a graph the node has no edges. Look at the arguments that have one in the outputs above the exercise",
    "backward": "a tensor that is a result is saved as an output, the others as inputs",
}  # hints, by the entry of the log


def entry_apart(mine, theirs):
    """The name of the first entry in which two logs differ, or None."""
    logs = mine if isinstance(mine, list) else [], theirs if isinstance(theirs, list) else []
    entries = next((both[1] for both in zip(*logs) if difference(*both)), None)
    return next(iter(dict(entries["dict"])), None) if isinstance(entries, dict) and "dict" in entries else None


@program(
    "autograd.function.apply",
    cases=lambda st: drawn(
        args=st.builds(
            lambda first, rest: [first, *rest], st.sampled_from(["leaf", "computed", "computed", "plain"]),
            st.lists(st.sampled_from(list(ARGUMENTS)), max_size=2),
        ),
        outputs=several([*OUTPUTS, "new", "new", "short"], 1, 3), several=[False, True, "subclass"],
        saves=["", "args", "outputs", "between", "none"], nondifferentiable=[[], [], [], [0], [1]],
        materialize=[True, True, False], answer=["right"] * 6 + list(ANSWERS), enabled=[True] * 5 + [False],
        roots=several((0, 2), 1, 2, unique=True), twice=bool, written=[False, False, False, True],
    )(st).filter(_well_defined),
    edges=[
        _function(), _function(args="plain"), _function(enabled=False), _function(args="computed leaf"),
        _function(args="leaf number computed none"), _function(args="plain number leaf"),
        _function(args="leaf integers"), _function(args="plain list"), _function(outputs="new short", several=True),
        _function(outputs="new short", several=True, roots=[1]),
        _function(outputs="new short", several=True, roots=[1], materialize=False),
        _function(outputs="new", several=True), _function(outputs="number new none short", several=True, roots=[0, 1]),
        _function(outputs="integers new", several=True, roots=[1]),
        _function(outputs="integers new", several=True, roots=[1], materialize=False), _function(outputs="number"),
        _function(outputs="none"), _function(outputs="new short", several=True, nondifferentiable=[0], roots=[1]),
        _function(outputs="new short", several=True, nondifferentiable=[1], roots=[0]),
        _function(outputs="new", nondifferentiable=[0]), _function(outputs="same"),
        _function(outputs="same", args="computed"), _function(outputs="same", args="plain leaf"),
        _function(outputs="same", args="plain"), _function(outputs="same", args="computed", enabled=False),
        _function(outputs="same new", several=True, roots=[0, 1]), _function(outputs="written"),
        *[_function(outputs="same", args=args, written=True) for args in ("leaf", "computed", "plain leaf")],
        _function(outputs="same new", args="computed", several=True, roots=[1], written=True),
        _function(outputs="written", args="computed"), _function(outputs="written", args="plain leaf"),
        _function(outputs="written", args="plain"), _function(outputs="written", args="computed", enabled=False),
        _function(outputs="new written", args="computed"), _function(outputs="written", args="computed view"),
        _function(args="computed view same"),
        _function(outputs="new written short", args="computed", several=True, roots=[0, 1]),
        _function(saves="args", args="plain"), _function(saves="args", args="leaf", enabled=False),
        _function(outputs="new written", args="computed", several=True, roots=[1], saves="outputs"),
        *[_function(outputs=output, args="computed leaf", saves="args", twice=True) for output in ("same", "written")],
        _function(outputs="short same", args="computed leaf", several=True, saves="args", roots=[0, 1]),
        _function(saves="args", args="leaf plain computed", twice=True),
        _function(saves="outputs", args="computed", twice=True),
        _function(saves="outputs", args="computed", outputs="new short", several=True, roots=[0, 1]),
        _function(saves="between"), _function(saves="args", args="computed", written=True),
        _function(saves="args", args="leaf plain", written=True),
        _function(saves="outputs", args="computed", written=True),
        _function(saves="between", args="computed", written=True), _function(saves="none", twice=True),
        _function(twice=True), *[_function(args="leaf number", answer=answer) for answer in ANSWERS],
        *[_function(args="leaf plain computed", answer=answer) for answer in ANSWERS], _function(answer="alone"),
        _function(answer="list"), _function(args="parameter"), _function(args="plain parameter", saves="args"),
        _function(several="subclass"), _function(outputs="raise"), _function(outputs="raise", enabled=False),
        _function(outputs="new short", several="list"),
        _function(outputs="new short", several="subclass", roots=[0, 1]),
    ],
    hint=first_of(
        when(
            lambda case, mine, theirs: {field(mine, "raises"), field(theirs, "raises")} == {None, "raises RuntimeError"},
            "`check_dirty` gets all results of the forward",
        ),
        when(
            lambda case, mine, theirs: not case["enabled"] and "MineBackward" in show(field(mine, "results")),
            "a graph is recorded only if `any_requires_grad(args)` is true",
        ),
        when(lambda case, mine, theirs: case["several"] == "list" and first_apart(mine, theirs) == "results", ONE_OR_SEVERAL),
        OF_THE_RESULTS,
        lambda case, mine, theirs: OF_THE_LOG.get(entry_apart(field(mine, "log"), field(theirs, "log"))),
    ),
)  # fmt: skip
def custom_function(xp, args, enabled, roots, twice, written, answer, **case):
    log, contexts, results = [], [], []
    args = made_from(xp, args)
    tensors = [x for x in args if isinstance(x, xp.Tensor)]

    class Mine(xp.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            made = forward(xp, ctx, log, tensors, **case)
            contexts.append(ctx)
            return made

        @staticmethod
        def backward(ctx, *grads):
            return backward(xp, ctx, log, args, tensors, results, grads, answer)

    with grad_mode(xp, enabled):
        result = attempt(lambda: Mine.apply(*args))
    if isinstance(result, str):
        return dict.fromkeys(("results", "several", "graph", "passes")) | {"raises": result, "log": log}
    (ctx,) = contexts
    log.append({"kept": len(ctx.saved_tensors), "nothing left to save": not getattr(ctx, "to_save", None)})
    log.append({"edges": len(ctx.next_functions)})
    results += list(result) if isinstance(result, tuple) else [result]
    shown = [result_shown(xp, x, tensors) for x in results]
    ends = [x for x in results if isinstance(x, xp.Tensor)]
    graph = Graph(*(x.grad_fn for x in ends))
    ends = [x for x in (ends[index % len(ends)] for index in roots) if x.requires_grad] if ends else []
    if written:
        for x in [*tensors[:1], *ends[:1]]:
            x.detach().add_(1)

    def back():
        wanted = [x for x in tensors if x.requires_grad]
        grads = [xp.ones_like(x) * (i + 1) for i, x in enumerate(ends)]
        if wanted and ends:
            return [*map(plain, xp.autograd.grad(ends, wanted, grads, allow_unused=True))]

    passes = [outcome(attempt(back)) for _ in range(2 if twice else 1)]
    report = {"results": shown, "several": isinstance(result, tuple), "graph": graph.shown(), "passes": passes}
    return report | {"raises": None, "log": log}


# A formula, differentiated again -------------------------------------------------------------------------------------


@drawing
def exponent_cases(draw, st):
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    dims = draw(st.lists(st.sampled_from(range(-len(shape), len(shape))), max_size=2)) if shape else []
    dims = list({d % len(shape): d for d in dims}.values())
    dims = dims[0] if len(dims) == 1 and draw(st.booleans()) else dims
    infinite = draw(st.sampled_from([None, None, None, [0, "inf"], [0, "-inf"], [1, "-inf"], [1, 1000.0]]))
    keepdim = draw(st.booleans()) or bool(shape) and dims == []  # without it torch fails
    return {"shape": shape, "dims": dims, "keepdim": keepdim, "infinite": infinite}


def second_derivative(xp, gradient, shape, dims, keepdim, infinite):
    """The gradient of `logsumexp` that the function `gradient` gives, and the gradients of this gradient."""
    x = xp.arange(xp.ones(shape).numel(), dtype=xp.float64).reshape(shape) * 0.25 - 1
    if infinite and x.numel():
        index, value = infinite
        x.view(-1)[index % x.numel()] = float(value)
    x = x.requires_grad_()
    result = x.logsumexp(dims, keepdim)
    grad = (xp.arange(result.numel(), dtype=xp.float64).reshape(result.shape) + 1).requires_grad_()
    given = list(dims) if keepdim and isinstance(dims, tuple) else dims
    first, twice = gradient(grad, x, result, given, keepdim), []
    if first.requires_grad:
        twice = xp.autograd.grad(first, [x, grad, result], xp.ones_like(first) * 2, allow_unused=True)
    return {
        "gradient": plain(first),
        "requires_grad": first.requires_grad,
        "differentiated again": [*map(plain, twice)],
    }


@program(
    "autograd.derivatives.logsumexp_backward",
    cases=exponent_cases,
    edges=[
        {"shape": shape, "dims": dims, "keepdim": keepdim, "infinite": infinite}
        for shape, dims, infinite in (
            ([3], [0], None), ([2, 3], [1], None), ([2, 3], [0], None), ([2, 3], [-2], None),
            *((sizes, dim, None) for sizes in ([2, 3], [3, 2, 4]) for dim in (0, 1, -1, -2)),
            ([2, 3], [0, 1], None), ([2, 3], [-1, 0], None), ([2, 3, 4], [-1, -2], None), ([3, 3], [0], None),
            ([2, 3, 2], [2, 0], None), ([2, 3, 2], [1], None), ([], [], None), ([], [0], None), ([2, 3], [], None),
            ([1], [0], [0, "-inf"]), ([3], [0], [1, "-inf"]), ([3], [0], [0, "inf"]), ([2, 1], [1], [0, "-inf"]),
            ([2, 1], [1], [1, "inf"]), ([3], [0], [1, 1000.0]), ([2, 3], [1], [4, 1000.0]),
        )
        for keepdim in (False, True) if dims != [] or keepdim or not shape
    ],
)  # fmt: skip
def exponents(xp, **case):
    return second_derivative(xp, xp.derivatives.logsumexp_backward, **case)


@exponents.oracle
def _(torch, **case):
    grad_of = partial(torch.autograd.grad, create_graph=True)
    return second_derivative(torch, lambda grad, x, result, *_: grad_of(result, x, grad)[0], **case)


# Numerical gradients -------------------------------------------------------------------------------------------------

CURVES = {
    "square": lambda xp, x: x * x, "cube": lambda xp, x: x * x * x + x, "sum": lambda xp, x: (x * x).sum(),
    "rows": lambda xp, x: (x * x * x).sum(0) if x.dim() else x * 3, "sigmoid": lambda xp, x: x.sigmoid(),
    "both": lambda xp, x: x.t() * x.sum() if x.dim() < 3 else x.sum(), "times itself": lambda xp, x: x.detach() * x,
    "flat": lambda xp, x: x * 0 + 1, "itself": lambda xp, x: x,
    "cumulative": lambda xp, x: (x * x).view(-1).cumsum(0)[:2] if x.is_contiguous() else x + x,
    "in float32": lambda xp, x: x.to(xp.float32) * 2, "slope": lambda xp, x: slope(xp, x),
}  # fmt: skip


def slope(xp, x):
    x = x.detach().requires_grad_()
    with grad_mode(xp, True):
        return xp.autograd.grad((x * x * x).sum(), x)[0]


def lengths(rows):
    return [len(row) if isinstance(row, list) else None for row in rows] if isinstance(rows, list) else None


def curve(xp, name, shape, layout, wanted):
    """A point, a function of it, and the log of the calls."""
    x = xp.arange(xp.ones(shape).numel(), dtype=xp.float64).reshape(shape) * 0.5 - 1
    x = x.t().contiguous().t() if layout == "columns" and x.dim() == 2 else x
    if layout == "gaps":
        wide = xp.zeros([*shape, 2], dtype=xp.float64)
        wide.select(-1, 0).copy_(x)
        x = wide.select(-1, 0)
    x, log = x.requires_grad_(wanted), []

    def function(*_):
        y = CURVES[name](xp, x)
        log.append({"requires_grad": y.requires_grad, "version of x": x._version})
        return y

    return x, function, log


def _about_differences(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    yours, wanted = field(mine, wrong), field(theirs, wrong)
    if wrong == "calls" and len(yours) != len(wanted):
        return "the function is called twice for each element"
    if wrong == "calls" and any(apart("requires_grad")(case, *calls) for calls in zip(yours, wanted)):
        return "the function is called in the current grad mode, and `x` requires grad or not, as before"
    if wrong in ("calls", "version of x"):
        return "the writes are not counted: the version counter of x does not change"
    if wrong == "x is as it was":
        return "each element gets its old value back, to the last bit"
    if wrong != "rows":
        return None
    if lengths(yours) != lengths(wanted):
        return "one row for each element of x, one number for each element of the result"
    if any(map(any, yours)):
        return "the two results are those at x + eps and x - eps, 2 * eps apart"
    if case["name"] == "itself":
        return "both results share memory with x: read a result before the next write, and write to x itself"
    return "the function reads x itself: write there, not to a copy (`reshape` and `flatten` copy some layouts)"


@program(
    "autograd.gradcheck.numerical_gradient",
    cases=drawn(
        name=list(CURVES), shape=several((1, 3), 0, 2), layout=["rows", "columns", "gaps"], wanted=bool,
        eps=[0.5, 0.125, 1e-3], enabled=[True, True, False],
    ),
    edges=[
        {"name": name, "shape": shape, "layout": layout, "wanted": wanted, "eps": eps, "enabled": True}
        for name in CURVES
        for shape, layout, wanted, eps in (([2, 3], "rows", True, 0.5), ([3], "rows", False, 0.125))
    ]
    + [
        {"name": "cube", "shape": shape, "layout": layout, "wanted": True, "eps": 0.25, "enabled": shape != [3]}
        for shape, layout in (([], "rows"), ([2, 3], "columns"), ([2, 3], "gaps"), ([3], "gaps"), ([0], "rows"))
    ]
    + [{"name": "cube", "shape": [2, 3], "layout": "rows", "wanted": True, "eps": 1e-3, "enabled": True}],
    hint=_about_differences,
)  # fmt: skip
def differences(xp, name, shape, layout, wanted, eps, enabled):
    x, function, log = curve(xp, name, shape, layout, wanted)
    before = x.detach().clone()
    with grad_mode(xp, enabled):
        rows = xp.gradcheck.numerical_gradient(function, x, eps)
        return moved(xp, rows, log, x, before)


def moved(xp, found, log, x, before):
    return {
        "calls": log,
        "rows": found,
        "x is as it was": bool((x == before).all()),
        "version of x": x._version,
        "x.requires_grad": x.requires_grad,
        "grad mode afterwards": xp.is_grad_enabled(),
    }


@differences.oracle
def _(torch, name, shape, layout, wanted, eps, enabled):
    from torch.autograd.gradcheck import get_numerical_jacobian_wrt_specific_input

    x, function, log = curve(torch, name, shape, layout, wanted)
    before = x.detach().clone()
    example = function().detach()
    log.clear()
    with_grad = x.detach().requires_grad_()  # the function computes with x, which shares this memory
    with grad_mode(torch, enabled):
        (jacobian,) = get_numerical_jacobian_wrt_specific_input(
            lambda *_: [function()], 0, (with_grad,), [example], eps
        )
        return moved(torch, jacobian.tolist(), log, x, before)


# Checkpoints ---------------------------------------------------------------------------------------------------------


def checkpoint_of(xp):
    if not is_torch(xp):
        return xp.checkpoint.checkpoint
    import torch.utils.checkpoint

    return torch.utils.checkpoint.checkpoint


CHECKPOINTED = {
    "product": lambda xp, x, y, z: x.sigmoid() * x * (y if y is not None else 2),
    "two": lambda xp, x, y, z: (x * 2, x.tanh() * x), "with a number": lambda xp, x, y, z: (x.sum(), 3.0),
    "cut": lambda xp, x, y, z: (x.detach() * 2, x * 3), "all cut": lambda xp, x, y, z: x.detach() * 2,
    "not used": lambda xp, x, y, z: x.exp(), "integers": lambda xp, x, y, z: (x.argmax(), x * x),
    "subclass": lambda xp, x, y, z: Results(x * 2, x.tanh() * x), "outside": lambda xp, x, y, z: (x * z, x.tanh() * z),
    "shared": lambda xp, x, y, z: two_uses(x.exp()), "itself": lambda xp, x, y, z: (x, x * 2),
    "one twice": lambda xp, x, y, z: (x * 3,) * 2, "raises again": lambda xp, x, y, z: x * 3,
}  # fmt: skip


def two_uses(y):
    return y * y, y.tanh() * y


def kept_by(xp, results):
    """The arguments that the node of these results keeps. None stands for a tensor."""
    node = next((x.grad_fn for x in results if x.grad_fn is not None), None)
    return node and [*(node.inputs if is_torch(xp) else node.args)]


def _about_second_runs(case, mine, theirs):
    """The log first: what the second run does decides what comes after it."""
    calls = [*zip(field(mine, "calls"), field(theirs, "calls"))]
    yours, wanted = next(((one, other) for one, other in calls if difference(one, other)), (None, None))
    in_run = first_apart(yours, wanted)
    if in_run == "grad mode":
        return "grad mode is on during the second run, and afterwards what it was before, also if the function raises"
    if in_run == "require grad, are leaves, share memory":
        return "the second run is on leaves that share memory with the saved tensors, and require grad if these do now"
    if in_run:
        return "`ctx.args` has the arguments that are no tensors, with None instead of each tensor"
    run = next((pair for pair in zip(field(mine, "runs"), field(theirs, "runs")) if difference(*pair)), (None, None))
    if first_apart(*run) == "backward" and "raises RuntimeError" in field(run[1], "backward"):
        return "with no result that requires grad it is a RuntimeError"
    if first_apart(*run) == "backward" or difference(field(mine, "calls"), field(theirs, "calls")):
        return "one run and one backward pass, from all results that require grad together"
    if first_apart(*run) == "grad":
        return "return None for the function, then the gradient of each detached tensor in the order of the arguments"
    return None


@program(
    "utils.checkpoint.recompute",
    cases=drawn(
        function=[name for name in CHECKPOINTED if name != "itself"],  # a view of what is turned later is undefined
        args=several(["leaf", "leaf", "computed", "plain"], 1, 2), number=bool,
        roots=several((0, 1), 1, 2, unique=True), times=(1, 2), turned=[[], [], [], [0], [1]],
        create_graph=[False, False, True],
    ),
    edges=[
        {"function": function, "args": args, "number": number, "roots": roots, "times": times, "turned": []}
        | {"create_graph": create_graph}
        for function in CHECKPOINTED
        for args, number, roots, times, create_graph in (
            (["leaf", "computed"], False, [0, 1], 1, False), (["computed"], True, [1], 2, False),
            (["leaf", "computed"], False, [0, 1], 1, True),
        )
    ]
    + [
        {"function": "product", "args": args, "number": False, "roots": [0], "times": 1, "turned": turned}
        | {"create_graph": False}
        for args, turned in (
            (["leaf", "plain"], []), (["plain", "leaf"], []), (["plain", "plain"], []), (["leaf"], [0]),
            (["leaf", "leaf"], [0]), (["leaf", "leaf"], [1]), (["leaf", "plain"], [1]), (["leaf", "leaf"], [0, 1]),
            (["parameter"], []), (["plain", "parameter"], []), (["leaf", "same"], []), (["computed", "same"], []),
            (["computed", "view"], []),
        )
    ],
    hint=_about_second_runs,
)  # fmt: skip
def again(xp, function, args, number, roots, times, turned, create_graph):
    log, outside = [], vector(xp)
    outside.register_hook(lambda grad: log.append(["outside", plain(grad)]))
    args = made_from(xp, args)

    def run(x, y=None):
        pairs = [(tensor, given) for tensor, given in zip((x, y), args) if isinstance(tensor, xp.Tensor)]
        flags = [
            [tensor.requires_grad, tensor.is_leaf, tensor.data_ptr() == given.data_ptr()] for tensor, given in pairs
        ]
        number = y if isinstance(y, float) else None
        shown = {"require grad, are leaves, share memory": flags, "x": plain(x), "number": number}
        log.append({"grad mode": xp.is_grad_enabled()} | shown)
        if function == "raises again" and len(log) > 1:
            raise KeyError("of the second run")
        return CHECKPOINTED[function](xp, x, y, outside)

    given = [*args[:1], 2.5] if number else args
    runs = []
    for _ in range(times):
        result = attempt(lambda: checkpoint_of(xp)(run, *given, use_reentrant=True))
        if isinstance(result, str):
            runs.append({"raises": result})
            continue
        many = [x for x in (result if isinstance(result, tuple) else (result,)) if isinstance(x, xp.Tensor)]
        graph = Graph(*(x.grad_fn for x in many))
        ends = [x for x in (many[index % len(many)] for index in roots) if x.requires_grad]
        grads = [xp.ones_like(x) * (i + 2) for i, x in enumerate(ends)]

        for index in turned:  # between the two passes
            if index < len(args) and args[index].is_leaf:
                args[index].requires_grad_(not args[index].requires_grad)
        report = [attempt(xp.autograd.backward, ends, grads, retain, create_graph) for retain in (True, False) if ends]
        log.append("back")
        shown = [x if not isinstance(x, xp.Tensor) else [plain(x), x.requires_grad] for x in many]
        report = {"results": shown, "graph": graph.shown(), "backward": report, "kept": kept_by(xp, many)}
        runs.append(report | {"grad": [plain(x.grad) if x.is_leaf else None for x in [*args, outside]]})
    return {"runs": runs, "calls": log}
