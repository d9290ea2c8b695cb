"""Lab 09, data parallel: buckets of gradients, the reducer, unused parameters, and DistributedDataParallel as a whole."""

from __future__ import annotations

from ...engine.check import program
from ...engine.observe import difference
from ...engine.recorder import called
from ..cases import copied, drawing, drawn, error_name, explained, field, first_apart, listed, numbers, rows, several
from ..shared_09 import (
    WatchedWork,
    explained_by_rank,
    global_ranks,
    on_ranks,
    on_ranks_quietly,
    recorded_traffic,
    recorded_waits,
    time_limit,
    with_strides,
)

# Buckets -------------------------------------------------------------------------------------------------------------


_PLACES = {"float32 on meta": ("float32", "meta")}
_KINDS = ["float32", "float32", "float64", "int64", "float32 on meta"]


def _to_assign(torch, tensors):
    """Tensors of one row each, within a larger storage."""
    made = []
    for numel, kind in tensors:
        dtype, device = _PLACES.get(kind, (kind, "cpu"))
        made.append(torch.empty(numel + 9, dtype=getattr(torch, dtype), device=device)[9:].view(1, numel))
    return made


@program(
    "distributed.ddp.assign_buckets",
    cases=drawn(tensors=several(listed((0, 6), _KINDS), 1, 9), limits=several((0, 80), 1, 3)),
    edges=rows(
        "tensors limits",
        ([[4, "float32"]], [16]), ([[4, "float32"], [4, "float32"]], [16]), ([[4, "float32"], [4, "float32"]], [17]),
        ([[4, "float32"]] * 7, [16, 48]), ([[4, "float32"]] * 7, [16, 32, 48]),
        ([[1, "float32"], [20, "float32"], [1, "float32"]], [40]), ([[4, "float32"], [4, "float64"]] * 4, [16, 60]),
        ([[4, "float32"], [4, "float32 on meta"]] * 4, [8, 32]),
        ([[1, "float64"], [2, "float32"], [2, "float32"], [9, "float64"]], [16, 64]),
        ([[0, "float32"], [0, "float32"], [4, "float32"]], [16]),
        ([[2, "float32 on meta"], [2, "float64"], [2, "float32"], [2, "float64"]], [1]), ([[4, "float32"]] * 2, [0]),
        ([[0, "float32"]] * 2, [0]), ([[2, "float64"], [2, "int64"]] * 2, [40]),
    ),
    hint=explained(
        buckets="a tensor with which a bucket reaches its limit closes it; each kind has its own buckets and its own limits"
    ),
)  # fmt: skip
def buckets(xp, tensors, limits):
    import torch

    kind = list if len(limits) == 1 else tuple
    with called(["torch.distributed._compute_bucket_assignment_by_size"]) as beyond:
        result = xp.distributed.ddp.assign_buckets(_to_assign(torch, tensors), kind(limits))
    return {"buckets": result, "beyond": beyond}


@buckets.oracle
def torch_buckets(torch, tensors, limits):
    made = _to_assign(torch, tensors)
    return {"buckets": torch.distributed._compute_bucket_assignment_by_size(made, limits)[0], "beyond": []}


# Broadcasting --------------------------------------------------------------------------------------------------------


def _to_broadcast(torch, tensors):
    return [with_strides(torch, *form, torch.distributed.get_rank() + i) for i, form in enumerate(tensors)]


def _to_draw(st):
    lists = listed(several((0, 3), 0, 3), ["float64", "float32", "int64"], ["", "backwards", "gaps"])
    parameter = several((1, 3), 0, 2)(st).map(lambda shape: [shape, "float32", "parameter"])
    return st.one_of(lists(st), parameter)


_several = [
    [[2, 3], "float64", "backwards"], [[], "int64", ""], [[3], "float64", "gaps"], [[2], "float32", "parameter"],
]  # fmt: skip
_BROADCASTS = rows(
    "ranks tensors source members",
    (2, _several, 0, []), (3, _several, 2, []), (3, _several, 0, [1, 2]), (3, _several[::-1], 1, [1, 2]),
    (2, [], 0, []), (2, [[[0, 2], "float32", ""], [[2, 2], "float32", "parameter"]], 1, []),
)  # fmt: skip


@program(
    "distributed.ddp.broadcast_coalesced",
    cases=drawn(ranks=(2, 3), tensors=several(_to_draw, 0, 5), source=(0, 1), members=[[], [], [0, 1]]),
    edges=_BROADCASTS,
    hint="one broadcast for each dtype; source is a rank of the group (group_src); the tensors keep their strides",
    draws=8,
)
@on_ranks
def broadcasts(xp, torch, group, tensors, source):
    mine = _to_broadcast(torch, tensors)
    strides, memory = [tensor.stride() for tensor in mine], [tensor.detach() for tensor in mine]
    leaves = [[tensor.is_leaf, tensor.requires_grad] for tensor in mine]
    recorded = torch.distributed.get_rank(group) == 0
    traffic = recorded_traffic(["broadcast"], ["torch.distributed._broadcast_coalesced"])
    with traffic as seen, torch.set_grad_enabled(recorded):
        xp.distributed.ddp.broadcast_coalesced([*mine], group, source)
        stays = torch.is_grad_enabled() == recorded
    now = [tensor.stride() for tensor in mine]
    kept = [[tensor.is_leaf, tensor.requires_grad] for tensor in mine]
    shown = {"tensors": [copied(tensor) for tensor in memory], "strides afterwards": None if now == strides else now}
    shown["is a leaf, requires grad"] = kept if kept != leaves else None
    return shown | {"grad mode afterwards": None if stays else not recorded, **seen}


@broadcasts.oracle
@on_ranks
def torch_broadcasts(torch, group, tensors, source):
    dist, mine = torch.distributed, _to_broadcast(torch, tensors)
    with recorded_traffic(["broadcast"]) as seen:
        if mine:
            dist._broadcast_coalesced(group or dist.group.WORLD, [tensor.detach() for tensor in mine], 1 << 30, source)
    shown = {"tensors": [copied(tensor) for tensor in mine], "strides afterwards": None}
    return shown | {"is a leaf, requires grad": None, "grad mode afterwards": None, **seen}


# The reducer ---------------------------------------------------------------------------------------------------------


def _loss_in_order(torch, parameters, order):
    """A loss to whose gradient the parameters contribute in this order."""
    y = torch.ones((), dtype=torch.float64)
    for i in reversed(order):
        y = y * (parameters[i] * numbers(torch, parameters[i].shape, i + 1)).sum().add(2).sigmoid()
    return y


def _parameters(torch, sizes, start=0):
    return [torch.nn.Parameter(numbers(torch, shape, start + i)) for i, shape in enumerate(sizes)]


def _model(torch, sizes, loss):
    """A module with parameters of these sizes, whose forward is `loss(parameters, ...)`."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(_parameters(torch, sizes))

        def forward(self, *args):
            return loss([*self.parts], *args)

    return Model()


def _assignment(torch, parameters, limit):
    """Buckets as DistributedDataParallel has them while it looks for unused parameters."""
    return torch.distributed._compute_bucket_assignment_by_size(parameters, [limit])[0][::-1]


class Arrivals:
    """Records each parameter whose gradient is ready, and how many operations had been sent by then."""

    def __init__(self, parameters, traffic, arrived=lambda i: None):
        self.traffic, self.seen, self.arrived = traffic, [], arrived
        for i, parameter in enumerate(parameters):
            parameter.register_post_accumulate_grad_hook(lambda _, i=i: self.ready(i))

    def ready(self, i):
        self.seen.append([i, len(self.traffic.operations)])
        self.arrived(i)

    def sent(self, leave_out=0):
        return [[operation.kind, operation.nbytes, operation.ranks] for operation in self.traffic.operations][
            : -leave_out or None
        ]


@drawing
def _marks(draw, st):
    sizes = draw(several(several((1, 4), 1, 2), 1, 5)(st))
    limit, numbers = draw(st.integers(8, 120)), [*range(len(sizes))]
    orders = [draw(several(numbers, 1, len(sizes), unique=True)(st)) for _ in range(2)]
    case = {"ranks": 2, "sizes": sizes, "limit": limit, "orders": orders}
    return case | {"earlier": draw(several(numbers, 0, 2, unique=True)(st)), "members": []}


_four = {"ranks": 2, "sizes": [[2, 3], [3], [4], [2, 2]], "limit": 40, "earlier": [], "members": []}


_ORDER = "do all ranks call the same collectives in the same order, if their gradients arrive in different orders?"


_LAUNCHED = "every bucket whose turn it is is launched now, and no other one: at the end each bucket has a work"


@program(
    "distributed.ddp.mark_ready",
    cases=_marks,
    edges=[
        _four | {"orders": [[3, 2, 1, 0], [3, 2, 1, 0]]}, _four | {"orders": [[0, 1, 2, 3], [3, 2, 1, 0]]},
        _four | {"orders": [[2, 0, 1, 3], [1, 3, 2, 0]], "limit": 8}, _four | {"orders": [[3, 1, 0], [3, 2, 1]]},
        _four | {"orders": [[1], [1, 0]], "earlier": [1, 2]},
        _four | {"orders": [[0, 1, 2, 3], [3, 2, 1, 0]], "limit": 1000, "earlier": [0]},
        _four | {"orders": [[2, 3], [3, 0, 2]], "limit": 1000, "earlier": [0]},
        _four | {"orders": [[3, 0, 2, 1], [0, 1, 3, 2]], "ranks": 3, "members": [1, 2], "limit": 20},
    ],
    hint=explained_by_rank(
        raised={"NoneType": _LAUNCHED, "died": _ORDER, "wait": _ORDER},
        arrivals=_LAUNCHED,
        sent="compare the launches with the order of `reducer.buckets`",
        works="the work that `all_reduce` returns belongs to the bucket whose buffer it reduces",
        waits="backward goes on at once: nothing is waited for here",
        launched_and_sent="`reducer.launched` counts the launched buckets",
        pending="`pending` counts the parameters of a bucket that have not arrived",
        averages="what the all-reduce adds up is the average only if each rank divides its gradient; the buffer gets it "
        "in the place of what it had, and zeros for a gradient of None",
        own="`parameter.grad` itself does not change",
    ),
    draws=8,
)  # fmt: skip
@on_ranks
def marks(xp, torch, group, sizes, limit, orders, earlier):
    ddp, rank = xp.distributed.ddp, torch.distributed.get_rank()
    order, parameters = orders[torch.distributed.get_rank(group)], _parameters(torch, sizes)
    reducer = ddp.make_reducer(parameters, _assignment(torch, parameters, limit), group)
    for bucket in reducer.buckets:
        bucket.buffer.fill_(7.0)  # of an earlier backward
    for i in earlier:
        parameters[i].grad = numbers(torch, sizes[i], rank + 5)

    views, counted = [reducer.buckets[a].views[b].detach() for a, b in map(reducer.places.get, parameters)], []

    def arrived(i):
        first = len(arrivals.seen) == 1
        for index in [unused for unused in range(len(sizes)) if first and unused not in order] + [i]:
            ddp.mark_ready(reducer, parameters[index])
            counted.append([reducer.launched, len(traffic.operations)])

    with xp.distributed.Traffic() as traffic, recorded_waits("all_reduce") as waited:
        arrivals = Arrivals(parameters, traffic, arrived)
        _loss_in_order(torch, parameters, order).backward()
        sent, waits = arrivals.sent(), [*waited]
        works = len({id(bucket.work) for bucket in reducer.buckets if bucket.work is not None})
    for bucket in reducer.buckets:
        bucket.work.wait()
    shown = {"arrivals": arrivals.seen, "sent": sent, "works": works, "waits": waits}
    shown["launched and sent"] = next((pair for pair in counted if pair[0] != pair[1]), None)
    shown["pending"] = [bucket.pending for bucket in reducer.buckets]
    return shown | {"averages": [*map(copied, views)], "own": [copied(parameter.grad) for parameter in parameters]}


@marks.oracle
@on_ranks_quietly
def torch_marks(torch, group, sizes, limit, orders, earlier):
    from torch.nn.parallel import DistributedDataParallel

    from rushlight.distributed import Traffic

    order, members = orders[torch.distributed.get_rank(group)], global_ranks(group)
    alone, model = (_model(torch, sizes, lambda each, order: _loss_in_order(torch, each, order)) for _ in range(2))
    for module in (alone, model):
        for i in earlier:
            module.parts[i].grad = numbers(torch, sizes[i], torch.distributed.get_rank() + 5)
    alone(order).backward()
    count, looks = len(_assignment(torch, [*model.parts], limit)), {"find_unused_parameters": True}
    parallel = DistributedDataParallel(model, process_group=group, bucket_cap_mb=limit / 2**20, **looks)
    loss = parallel(order)
    with Traffic() as traffic:
        arrivals = Arrivals(model.parts, traffic)
        loss.backward()
    grads = [torch.zeros_like(part) if part.grad is None else part.grad for part in model.parts]
    for i in earlier:  # a parameter that no rank has used keeps its gradient, but the bucket holds the average
        if all(i not in order for order in orders):
            grads[i] = sum(numbers(torch, sizes[i], rank + 5) for rank in members) / len(members)
    sent = arrivals.sent(leave_out=1)  # the last operation asks which parameters were used
    shown = {"arrivals": arrivals.seen, "sent": sent, "works": count, "waits": []}
    shown |= {"launched and sent": None, "pending": [0] * count}
    return shown | {"averages": [*map(copied, grads)], "own": [copied(part.grad) for part in alone.parts]}


# Unused parameters ---------------------------------------------------------------------------------------------------


def _repeated(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def _graph(torch, count, steps, outputs):
    """Parameters, and outputs that are computed from them: each step is an operation on two values, by their numbers."""
    operations = {
        "add": lambda x, y: x + y,
        "both": lambda x, y: torch.stack([x, y]).unbind()[0],
        "stop": lambda x, y: x.detach() + 1,
        "alias": lambda x, y: x.view(()),
        "long": lambda x, y: _repeated(lambda z: z + 1, x, 3000),
        "wide": lambda x, y: _repeated(lambda z: z + z, x, 60) + y,
    }
    memory = torch.ones(())  # of all parameters
    parameters = [torch.nn.Parameter(memory) for _ in range(count)]
    values = [*parameters]
    for operation, a, b in steps:
        values.append(operations[operation](values[a % len(values)], values[b % len(values)]))
    return parameters, _chosen(values, outputs)


def _chosen(values, outputs):
    if isinstance(outputs, int):
        return values[outputs % len(values)]
    if isinstance(outputs, dict):
        return {name: _chosen(values, part) for name, part in outputs.items()}
    if isinstance(outputs, (list, tuple)):
        made = [_chosen(values, part) for part in outputs]
        return tuple(made) if len(made) == 2 else made
    return outputs


def _tensors(torch, outputs):
    if isinstance(outputs, dict):
        outputs = [*outputs.values()]
    if isinstance(outputs, (list, tuple)):
        return [inner for part in outputs for inner in _tensors(torch, part)]
    return [outputs] if isinstance(outputs, torch.Tensor) else []


def _outputs(st):
    return st.recursive(
        st.one_of(st.integers(0, 12), st.none()),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
        max_leaves=4,
    )


_OPERATIONS = ["add", "add", "add", "both", "stop", "alias"]
_CODE = {
    "add": "{x} + {y}", "both": "torch.stack([{x}, {y}]).unbind()[0]", "stop": "{x}.detach() + 1",
    "alias": "{x}.view(())", "long": "{x} + 1 + 1 + ...  # 3000 times", "wide": "{x}, doubled 60 times by z = z + z, + {y}",
}  # fmt: skip


def _graph_as_code(torch, count, steps, outputs):
    names = [f"p{i}" for i in range(count)] + [f"y{i}" for i in range(len(steps))]
    lines = [f"parameters = {', '.join(names[:count])}  # all without dimensions"]
    for i, (operation, a, b) in enumerate(steps):
        known = names[: count + i]
        lines.append(f"y{i} = " + _CODE[operation].format(x=known[a % len(known)], y=known[b % len(known)]))
    return "\n".join([*lines, f"outputs = {_named(names, outputs)}"])


def _named(names, outputs):
    """The outputs of a case as code."""
    if isinstance(outputs, int):
        return names[outputs % len(names)]
    if isinstance(outputs, dict):
        return "{" + ", ".join(f"{key!r}: {_named(names, part)}" for key, part in outputs.items()) + "}"
    if isinstance(outputs, (list, tuple)):
        text = ", ".join(_named(names, part) for part in outputs)
        return f"({text})" if len(outputs) == 2 else f"[{text}]"
    return repr(outputs)


def _about_unused(case, mine, theirs):
    if isinstance(mine, dict) and "error" in mine:
        return {
            "TimeoutError": "there are many paths through this graph: how often is each node visited?",
            "RecursionError": "this graph is deeper than Python's stack" if "long" in str(case["steps"]) else None,
        }.get(mine["error"][0])
    return "which node of the graph belongs to a parameter, and which of them can be reached from the outputs?"


@program(
    "distributed.ddp.find_unused",
    cases=drawn(count=(1, 5), steps=several(listed(_OPERATIONS, (0, 9), (0, 9)), 0, 6), outputs=_outputs),
    edges=rows(
        "count steps outputs",
        (3, [["add", 0, 2]], 3), (3, [["add", 0, 1], ["add", 3, 1]], [3, None]),
        (3, [["add", 0, 1], ["stop", 3, 3], ["add", 4, 2]], {"a": 5, "b": [4]}),
        (4, [["add", 0, 0], ["add", 2, 2]], [4, {"a": 5}]), (2, [], 1), (2, [], []), (2, [["stop", 0, 0]], 2),
        (3, [["both", 0, 1]], [3]), (3, [["alias", 1, 1]], [[3], 0]),
        (2, [["add", 1, 1], ["long", 2, 2]], {"a": {"b": 3}}), (3, [["add", 1, 1], ["wide", 3, 2]], 4),
        (4, [["add", 3, 3], ["add", 4, 1]], [4, 5, 5]), (2, [["add", 0, 0]], [2, "y", 0.5]),
    ),
    hint=_about_unused,
    show=_graph_as_code,
)  # fmt: skip
def unused(xp, count, steps, outputs):
    import torch

    parameters, made = _graph(torch, count, steps, outputs)
    engine = ["torch.autograd.grad", "torch.autograd.backward", "torch.autograd.graph._engine_run_backward"]
    with called(engine) as beyond, time_limit("find_unused"):
        result = xp.distributed.ddp.find_unused(made, parameters)
    return {"unused": result, "grads": [parameter.grad for parameter in parameters], "beyond": beyond}


@unused.oracle
def torch_unused(torch, count, steps, outputs):
    parameters, made = _graph(torch, count, steps, outputs)
    ends = [tensor for tensor in _tensors(torch, made) if tensor.requires_grad]
    gradients = torch.autograd.grad(ends, parameters, allow_unused=True) if ends else [None] * count
    none = [None] * count
    return {"unused": [i for i, gradient in enumerate(gradients) if gradient is None], "grads": none, "beyond": []}


# The end of a backward -----------------------------------------------------------------------------------------------


def _gradients(torch, sizes, used, earlier, rank):
    """The gradients of the parameters on a rank before the ranks average them."""
    grads = []
    for i, shape in enumerate(sizes):
        parts = [numbers(torch, shape, rank + i)] * used[i] + [numbers(torch, shape, 2 * rank + i + 3)] * (i in earlier)
        grads.append(sum(parts[1:], parts[0]) if parts else None)
    return grads


@drawing
def _finishes(draw, st):
    n, ranks = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    looks = draw(st.sampled_from([True, True, False]))
    used = [[not looks or draw(st.booleans()) for _ in range(n)] for _ in range(ranks)]
    for flags in used:
        flags[draw(st.integers(0, n - 1))] = True
    sizes = [draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)) for _ in range(n)]
    case = {"ranks": ranks, "sizes": sizes, "buckets": draw(st.integers(1, 3)), "used": used}
    case["earlier"] = draw(st.lists(st.sampled_from(range(n)), max_size=2, unique=True))
    return case | {"looks": looks, "late": False, "members": []}


_three = {"members": [], "ranks": 2, "sizes": [[2, 2], [3], [1, 4]], "buckets": 2, "earlier": []}


_three |= {"looks": True, "late": False}


_Y, _N = True, False


def _about_ends(case, mine, theirs):
    for yours, wanted in zip(mine, theirs) if isinstance(mine, list) else ():
        if difference(yours, wanted):
            return _about_end(yours, wanted)
    return _ABOUT_ENDS(case, mine, theirs)


def _about_end(mine, theirs):
    """The hint for the first rank whose results differ."""
    if field(mine, "error") and not field(theirs, "error"):
        return "only a bucket that has not been launched is refused"
    pairs = [*zip(field(mine, "grads") or [], field(theirs, "grads") or [])]
    if any((yours is None) != (wanted is None) for yours, wanted in pairs):
        return "a parameter that any rank has used gets its average; one that none has used keeps what it has, a gradient or None"
    if first_apart(mine, theirs) == "grads":
        return (
            "each gradient is a copy of the parameter's view after the wait: not the view, because the bucket is reused"
        )
    return _ABOUT_ENDS({}, [mine], [theirs])


_ABOUT_ENDS = explained_by_rank(
    raised={"wait": "do all ranks call the same collectives, in the same order?"},
    error="a bucket that was not launched is refused before anything else",
    replaced="other references to a gradient must see the average",
    state="the next backward begins with `pending` and `work` as a new bucket has them",
    launched="the next backward begins with no launched bucket",
    not_waited_for="each bucket has a work of its own, and each of them is waited for",
    gradients_as_they_were="a backward that is refused changes nothing",
    reducer_as_it_was="a backward that is refused changes nothing",
    sent="the ranks ask each other only if `used` is given, once, in int32",
)


@program(
    "distributed.ddp.finish",
    cases=_finishes,
    edges=[
        _three | {"used": [[_Y, _Y, _Y], [_Y, _Y, _Y]]},
        _three | {"used": [[_Y, _Y, _Y], [_Y, _Y, _Y]], "looks": False},
        _three | {"used": [[_Y, _N, _N], [_Y, _Y, _N]]},
        _three | {"used": [[_N, _N, _Y], [_Y, _N, _N]], "earlier": [1]},
        _three | {"used": [[_N, _N, _Y], [_Y, _N, _N]], "earlier": [0, 2]},
        _three | {"used": [[_Y, _N, _N]] * 3, "earlier": [0, 1], "ranks": 3, "buckets": 1},
        _three | {"used": [[_Y, _Y, _N]] * 2, "looks": False, "late": True},
        _three | {"used": [[_N, _N, _Y]] * 2, "looks": False, "late": True},
        _three | {"used": [[_Y, _Y, _N]] * 2, "late": True},
        _three | {"used": [[_Y, _N, _N], [_N, _Y, _N]], "ranks": 3, "members": [0, 2], "buckets": 3},
        _three | {"used": [[_Y, _Y, _Y]] * 2, "looks": False, "buckets": 1, "earlier": [0, 1, 2]},
    ],
    hint=_about_ends,
    draws=8,
)
@on_ranks
def finishes(xp, torch, group, sizes, buckets, used, earlier, looks, late):
    ddp, rank = xp.distributed.ddp, torch.distributed.get_rank(group)
    parameters = _parameters(torch, sizes)
    cuts = range(0, len(sizes), buckets)
    reducer = ddp.make_reducer(parameters, [[*range(len(sizes))][i : i + buckets] for i in cuts][::-1], group)
    grads = _gradients(torch, sizes, used[rank], earlier, rank)
    for parameter, grad in zip(parameters, grads):
        parameter.grad = grad
    works = _launched(torch, reducer, reducer.buckets[: -1 if late else None], group)
    before, refused, state = [*map(copied, grads)], None, _state(reducer)
    memory = [None if grad is None else grad.data_ptr() for grad in grads]
    with recorded_traffic(["all_reduce"]) as seen:
        try:
            ddp.finish(reducer, [*used[rank]] if looks else None)
        except RuntimeError as error:
            refused = error_name(error)
    if refused:
        same = [b is a if b is None else torch.equal(b, a) for a, b in zip(before, grads)]
        kept = {"gradients as they were": all(same), "reducer as it was": _state(reducer) == state and not any(works)}
        return {"error": refused, **kept, **seen}
    state = [[b.pending - len(b.parameters), b.work is None] for b in reducer.buckets]
    for bucket in reducer.buckets:
        bucket.buffer.fill_(99)
    now = [parameter.grad for parameter in parameters]
    return {
        "grads": [*map(copied, now)],
        "replaced": [i for i, each in enumerate(zip(now, grads, memory)) if _is_replaced(*each)] or None,
        "state": [[0, True]] if all(entry == [0, True] for entry in state) else state,
        "launched": reducer.launched,
        "not waited for": [i for i, waits in enumerate(works) if not waits] or None,
        **seen,
    }


def _is_replaced(new, old, memory):
    """Whether a gradient is another tensor than the `old` one, or is no longer in its memory."""
    return old is not None and not (new is old and new.data_ptr() == memory)


def _state(reducer):
    """The state of a reducer that changes between a launch and the next backward."""
    return reducer.launched, [(bucket.pending, bucket.work) for bucket in reducer.buckets]


class AskedWork(WatchedWork):
    """A work that also records if its future is taken, which can be waited for too."""

    def __getattr__(self, name):
        self.waits.append(name)
        return super().__getattr__(name)


def _launched(torch, reducer, buckets, group):
    """Launch these buckets of a reducer, with the gradients that their parameters have. It returns a list for each bucket,
    which grows when its work is waited for."""
    works = [[] for _ in buckets]
    for bucket, waits in zip(buckets, works):
        for parameter, view in zip(bucket.parameters, bucket.views):
            view.zero_() if parameter.grad is None else view.copy_(
                parameter.grad / torch.distributed.get_world_size(group)
            )
        work = torch.distributed.all_reduce(bucket.buffer, group=group, async_op=True)
        bucket.work, bucket.pending, reducer.launched = AskedWork(work, waits), 0, reducer.launched + 1
    return works


@finishes.oracle
@on_ranks_quietly
def torch_finishes(torch, group, sizes, buckets, used, earlier, looks, late):
    from torch.nn.parallel import DistributedDataParallel

    rank = torch.distributed.get_rank(group)

    def loss(parameters):
        pairs = zip(parameters, used[rank])
        return sum((p * numbers(torch, p.shape, rank + i)).sum() for i, (p, needed) in enumerate(pairs) if needed)

    model = _model(torch, sizes, loss)
    for i in earlier:
        model.parts[i].grad = numbers(torch, sizes[i], 2 * rank + i + 3)
    looks = looks and not late  # what is late is refused in either case
    parallel = DistributedDataParallel(model, process_group=group, find_unused_parameters=looks)
    loss = parallel()
    with recorded_traffic(["all_reduce"]) as seen:
        loss.backward()
    if not looks:
        try:
            parallel()
        except RuntimeError as error:
            kept = {"gradients as they were": True, "reducer as it was": True}
            return {"error": error_name(error), **kept, "sent": {}, "beyond": []}
    size = sum(part.nbytes for part in model.parts)  # of its only bucket
    count, nbytes = seen["sent"]["all_reduce"]
    sent = {"all_reduce": [count - 1, nbytes - size]} if count > 1 else {}
    shown = {"grads": [copied(part.grad) for part in model.parts], "replaced": None}
    return shown | {"state": [[0, True]], "launched": 0, "not waited for": None, "sent": sent, "beyond": []}


# All together --------------------------------------------------------------------------------------------------------


def _train(torch, wrapped, layers, left_out, alone):
    """Some steps with a module that `wrapped` has made parallel; the loss, gradients and weights of each."""

    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4, bias=False) for _ in range(layers)])

        def forward(self, x, without):
            for i, layer in enumerate(self.layers):
                x = x if i in without else torch.tanh(layer(x))
            return {"y": [x]}

    rank = torch.distributed.get_rank()
    torch.manual_seed(rank)  # so that the ranks begin with other weights
    module = Layers().double()
    model = wrapped(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    seen = []
    for step in range(3):
        x = numbers(torch, [2, 4], rank + step)
        if step in alone:
            with model.no_sync():
                model(x, left_out[rank])["y"][0].square().sum().backward()
        with recorded_traffic(["all_reduce"]) as traffic:
            loss = model(x + 1, left_out[rank])["y"][0].square().sum()
            loss.backward()
        grads = [copied(parameter.grad) for parameter in module.parameters()]
        optimizer.step()
        optimizer.zero_grad()
        seen.append(
            {"loss": copied(loss), "grads": grads, "weights": [copied(parameter) for parameter in module.parameters()]}
        )
    return {"steps": seen, **traffic}


@drawing
def _trainings(draw, st):
    layers, ranks = draw(st.integers(2, 5)), draw(st.integers(2, 3))
    some = st.lists(st.integers(1, layers - 1), max_size=layers - 1, unique=True)
    left_out = [draw(some) if draw(st.booleans()) else [] for _ in range(ranks)]
    limit, alone = draw(st.integers(100, 500)), draw(st.lists(st.integers(0, 2), max_size=2, unique=True))
    return {"ranks": ranks, "layers": layers, "limit": limit, "left_out": left_out, "alone": alone}


@program(
    "together.data_parallel",
    cases=_trainings,
    edges=rows(
        "ranks layers limit left_out alone", (2, 4, 200, [[], []], []), (2, 4, 200, [[1], [1, 2]], [1]),
        (3, 5, 128, [[], [2], []], [0, 2]),
    ),
    draws=4,
)  # fmt: skip
@on_ranks
def data_parallel(xp, torch, group, layers, limit, left_out, alone):
    def wrapped(module):
        looks = any(left_out)
        return xp.distributed.ddp.DistributedDataParallel(module, limits=[limit], find_unused_parameters=looks)

    return _train(torch, wrapped, layers, left_out, alone)


@data_parallel.oracle
@on_ranks_quietly
def torch_data_parallel(torch, group, layers, limit, left_out, alone):
    def wrapped(module):
        parallel, looks = torch.nn.parallel.DistributedDataParallel, any(left_out)
        return parallel(module, bucket_cap_mb=limit / 2**20, find_unused_parameters=looks)

    return _train(torch, wrapped, layers, left_out, alone)
