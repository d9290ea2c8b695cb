"""Lab 09, tensor parallel: ways into and out of the ranks' own parts, column and row layers, and the loss of tokens."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ..cases import (
    beyond_single,
    copied,
    defaults,
    drawing,
    drawn,
    error_name,
    first_of,
    numbers,
    rows,
    several,
    when,
    with_layout,
)
from ..shared_09 import explained_by_rank, on_ranks, recorded_traffic

DTENSOR = ["torch.distributed.tensor.DTensor.from_local", "torch.distributed.tensor.distribute_tensor"]  # has it all


def _turned(torch, x, layout):
    """The same numbers with the strides of `with_layout`, or with the first dimension as the innermost one; or zeros."""
    if layout == "zeros":
        return torch.zeros_like(x)
    if layout == "turned" and x.dim():
        return x.movedim(0, -1).contiguous().movedim(-1, 0)
    return with_layout(torch, x, layout)


def _local(x):
    """This rank's part of a DTensor; any other tensor as it is."""
    return x.to_local() if hasattr(x, "to_local") else x


def _recorded(torch, call, x, gradient, allowed, watched=()):
    """The result of a function on this rank after a forward and a backward, and the traffic of either. Other code uses x, too."""
    with recorded_traffic(allowed, watched) as forward:
        y = call(x)
    roots = [(y, gradient), (x * 2, x.detach())][: 1 + x.requires_grad]
    with recorded_traffic(allowed, watched) as backward:
        torch.autograd.backward(*zip(*roots))
    beyond = sorted({*forward["beyond"], *backward["beyond"]})
    return y, {"sent forward": forward["sent"], "sent backward": backward["sent"], "beyond": beyond}


def _both_directions(torch, call, way_in, shape, kind, layout, back, watched=()):
    """Return the results of a function and of its derivative on this rank, and the traffic of both. On the way in, all ranks have
    the same input. On the way out, they have the same gradient."""
    rank = torch.distributed.get_rank()
    x = _turned(torch, numbers(torch, shape, 1 + 2 * rank * (not way_in), kind), layout)
    gradient = _turned(torch, numbers(torch, shape, 4 + 2 * rank * way_in, kind), back)
    before = copied(x), copied(gradient)
    x = x.detach().requires_grad_()
    y, traffic = _recorded(torch, call, x, gradient, ["all_reduce"], watched)
    result = copied(y)
    if not way_in:
        y.detach().add_(1)  # its memory is its own
    written = [name for name, now, was in zip(("x", "gradient"), (x, gradient), before) if not torch.equal(now, was)]
    return {"result": result, "gradient": copied(x.grad), "written to": written or None, **traffic}


_LAYOUTS = ["", "turned", "equal", "zeros"]
_ways = drawn(
    ranks=(2, 3), part=[False], shape=several((1, 3), 0, 3), kind=["float32", "float64"], layout=_LAYOUTS,
    back=_LAYOUTS,
)  # fmt: skip
_WAYS = rows(
    "ranks part shape kind layout back",
    (2, False, [2, 3], "float32", "", ""), (3, False, [2, 3], "float32", "", ""),
    (3, True, [2, 3], "float32", "", ""), (3, False, [2, 3], "float64", "turned", "turned"),
    (2, False, [2, 3], "float32", "equal", "equal"), (4, False, [], "float32", "", ""),
    (2, False, [2, 3], "float32", "zeros", ""),
)  # fmt: skip

_ABOUT_WAYS = explained_by_rank(
    result="on the way in x stays as it is; the way out returns the sum of the ranks' tensors",
    gradient="on the way in the ranks' gradients are summed; the gradient of a sum is the gradient of each summand; "
    "other code uses x, too, and what that adds to the gradient is not summed over ranks",
    sent_forward="one of the two directions sends nothing",
    sent_backward="one of the two directions sends nothing",
    written_to="other code may use x, and the gradient that arrives, too: the sum goes into a new tensor",
)


@program("distributed.tensor_parallel.copy_to_ranks", cases=_ways, edges=_WAYS, hint=_ABOUT_WAYS, draws=5)
@on_ranks
def ways_in(xp, torch, group, **case):
    copy_to_ranks = xp.distributed.tensor_parallel.copy_to_ranks
    return _both_directions(torch, lambda x: copy_to_ranks(x, group), True, **case, watched=DTENSOR)


@ways_in.oracle
@on_ranks
def torch_ways_in(torch, group, **case):
    from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate

    def call(x):
        mesh = DeviceMesh.from_group(group, "cpu")
        return DTensor.from_local(x, mesh, [Replicate()], run_check=False).to_local(grad_placements=[Partial()])

    return _both_directions(torch, call, True, **case)


@program("distributed.tensor_parallel.reduce_from_ranks", cases=_ways, edges=_WAYS, hint=_ABOUT_WAYS, draws=5)
@on_ranks
def ways_out(xp, torch, group, **case):
    reduce_from_ranks = xp.distributed.tensor_parallel.reduce_from_ranks
    return _both_directions(torch, lambda x: reduce_from_ranks(x, group), False, **case, watched=DTENSOR)


@ways_out.oracle
@on_ranks
def torch_ways_out(torch, group, **case):
    from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate

    def call(x):
        mesh = DeviceMesh.from_group(group, "cpu")
        return DTensor.from_local(x, mesh, [Partial()], run_check=False).redistribute(mesh, [Replicate()]).to_local()

    return _both_directions(torch, call, False, **case)


_sizes = {"lead": several((1, 3), 1, 2), "features": (3, 7), "outs": (3, 7)}
_layers = drawn(ranks=(2, 3), part=[False], **_sizes, bias=bool, gather=bool, frozen=bool)
_layer = defaults(ranks=2, part=False, lead=[2], features=4, outs=6, bias=True, gather=False, frozen=False)


def _whole_layer(torch, lead, features, outs, bias):
    """The layer that all ranks have together, its input, and the gradient of its output."""
    linear = torch.nn.Linear(features, outs, bias=bias, dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(numbers(torch, [outs, features], 2))
        if bias:
            linear.bias.copy_(numbers(torch, [outs], 3))
    return linear, numbers(torch, [*lead, features], 1), numbers(torch, [*lead, outs], 5)


def _layer_seen(torch, call, x, parameters, gradient, allowed, watched=()):
    """A layer's output and gradients on this rank, and the traffic of its forward and its backward."""
    y, traffic = _recorded(torch, call, x, gradient, allowed, watched)
    gradients = [copied(_local(tensor.grad)) for tensor in (x, *parameters)]
    return {"result": copied(_local(y)), "gradients": gradients, **traffic}


_ABOUT_LAYERS = {
    "sent_forward": "the contract says which collectives the forward calls",
    "sent_backward": "the gradient of a tensor that all ranks have is summed over them once, if it is needed; no other one is",
}


@program(
    "distributed.tensor_parallel.column_parallel_linear",
    cases=_layers,
    edges=[
        *[_layer(), _layer(bias=False), _layer(3, lead=[2, 2], outs=7), _layer(3, gather=True, outs=7)],
        *[_layer(3, part=True, gather=True), _layer(4, outs=5, gather=True), _layer(frozen=True)],
        _layer(lead=[0], features=3),  # the result has the sizes of x
        *[_layer(lead=[]), _layer(lead=[], gather=True)],
        _layer(outs=1, gather=True),  # the first rank has it all
    ],
    hint=explained_by_rank(
        result="each rank computes its own outputs; with `size` they are put side by side",
        gradients="each rank's outputs give x a part of its gradient, and only that part is summed",
        **_ABOUT_LAYERS,
    ),
    draws=5,
)
@on_ranks
def column_layers(xp, torch, group, lead, features, outs, bias, gather, frozen):
    tp = xp.distributed.tensor_parallel
    linear, x, gradient = _whole_layer(torch, lead, features, outs, bias)
    parameters = [tp.shard(parameter, 0, group).requires_grad_() for parameter in linear.parameters()]
    weight, own_bias = parameters if bias else (*parameters, None)
    gradient = gradient if gather else tp.shard(gradient, -1, group)
    x.requires_grad_(not frozen)
    rest = weight, own_bias, outs if gather else None, group
    layer = tp.column_parallel_linear
    return _layer_seen(torch, lambda x: layer(x, *rest), x, parameters, gradient, ["all_reduce", "all_gather"], DTENSOR)


@column_layers.oracle
@on_ranks
def torch_column_layers(torch, group, lead, features, outs, bias, gather, frozen):
    from torch.distributed.tensor import DeviceMesh, Replicate, Shard
    from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

    linear, x, gradient = _whole_layer(torch, lead, features, outs, bias)
    mesh = DeviceMesh.from_group(group, "cpu")
    parallelize_module(linear, mesh, ColwiseParallel(output_layouts=Replicate() if gather else Shard(-1)))
    if not gather:
        chunks = gradient.chunk(group.size(), -1)
        gradient = chunks[group.rank()] if group.rank() < len(chunks) else gradient[..., :0]
    x.requires_grad_(not frozen)
    seen = _layer_seen(torch, linear, x, [*linear.parameters()], gradient.contiguous(), ["all_reduce", "all_gather"])
    if outs == 1:  # then torch gathers the weight, too, and each rank has all of its gradient
        shards = [parameter.grad.redistribute(placements=parameter.placements) for parameter in linear.parameters()]
        seen["gradients"][1:] = [copied(_local(gradient)) for gradient in shards]
        seen["sent forward"] = {"all_gather": [1, gradient.nbytes]}
        seen["sent backward"] = {"all_reduce": [1, x.nbytes]}
    return seen


@program(
    "distributed.tensor_parallel.row_parallel_linear",
    cases=_layers,
    edges=[
        *[_layer(), _layer(bias=False), _layer(3, lead=[2, 2], features=7), _layer(3, part=True)],
        *[_layer(4, features=5, outs=3), _layer(lead=[0], features=6, outs=3, bias=False)],
        _layer(lead=[]),
    ],
    hint=explained_by_rank(
        result="the output is the sum over ranks; the bias counts once",
        gradients="each rank has the whole bias, and so its whole gradient; the gradient of its part of x is its own",
        **_ABOUT_LAYERS,
    ),
    draws=5,
)
@on_ranks
def row_layers(xp, torch, group, lead, features, outs, bias, gather, frozen):
    tp = xp.distributed.tensor_parallel
    linear, x, gradient = _whole_layer(torch, lead, features, outs, bias)
    weight = tp.shard(linear.weight, 1, group).requires_grad_()
    x = tp.shard(x, -1, group).clone(memory_format=torch.contiguous_format).requires_grad_()

    parameters, layer = [weight, linear.bias] if bias else [weight], tp.row_parallel_linear
    return _layer_seen(
        torch, lambda x: layer(x, weight, linear.bias, group), x, parameters, gradient, ["all_reduce"], DTENSOR
    )


@row_layers.oracle
@on_ranks
def torch_row_layers(torch, group, lead, features, outs, bias, gather, frozen):
    from torch.distributed.tensor import DeviceMesh, Shard, distribute_tensor
    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

    linear, x, gradient = _whole_layer(torch, lead, features, outs, bias)
    mesh = DeviceMesh.from_group(group, "cpu")
    x = distribute_tensor(x, mesh, [Shard(x.dim() - 1)]).requires_grad_()
    parallelize_module(linear, mesh, RowwiseParallel())
    return _layer_seen(torch, linear, x, [*linear.parameters()], gradient, ["all_reduce"])


@drawing
def _losses(draw, st):
    ranks = draw(st.integers(2, 3))
    tokens = draw(st.sampled_from([5, 6, 7, 8]))  # of these each rank has at least one
    targets = draw(st.lists(st.integers(0, tokens - 1), min_size=1, max_size=5))
    ignored = draw(st.sampled_from([-100, -100, 0, 2, -1]))
    if ignored < 0:
        targets = [ignored if draw(st.integers(0, 4)) == 0 else target for target in targets]
    reduction, scale = draw(st.sampled_from(["none", "sum", "mean"])), draw(st.sampled_from([1, 1, 1000]))
    return _loss(ranks, False, tokens, targets, ignored, reduction, scale)


_loss = defaults(
    ranks=2, part=False, tokens=6, targets=[0, 5, 3], ignored=-100, reduction="mean", scale=1, kind="float64"
)


def _whole_loss(torch, ranks, tokens, targets, reduction, scale, kind):
    """Logits, targets, and the gradient of the loss."""
    logits = numbers(torch, [len(targets), tokens], 1, kind)
    if scale != "all logits of rank 0 are -inf":
        logits = logits * scale
    else:
        logits[:, : -(-tokens // ranks)] = -float("inf")
    gradient = numbers(torch, [len(targets)], 2, kind)
    return logits, torch.tensor(targets), gradient if reduction == "none" else gradient.new_tensor(2.0)


def _loss_seen(torch, call, logits, gradient, watched=()):
    """A loss and its gradient on this rank, and whether more was sent than three numbers for each row."""
    with recorded_traffic(["all_reduce"], watched) as forward:
        try:
            loss = call(logits)
        except Exception as error:
            loss = error_name(error)
    shown = {"loss": loss, "gradient": None, "digits": None}
    with recorded_traffic() as backward:
        if not isinstance(loss, str):
            loss.backward(gradient)
            shown = {"loss": copied(_local(loss)), "gradient": copied(_local(logits.grad))}
            shown["digits"] = [beyond_single(torch, x) for x in shown.values()]
    calls, nbytes = forward["sent"].get("all_reduce", (0, 0))
    sent = {"something": calls > 0, "too often": calls > 3}
    sent["too much"] = nbytes > 3 * len(logits) * logits.element_size()
    return shown | {"sent forward": sent, "sent backward": backward["sent"], "beyond": forward["beyond"]}


_of_numbers = explained_by_rank(
    loss="the largest logit, the sum of exponentials and the target's logit are those of the whole row, over all ranks",
    gradient="each rank's part of the loss is a summand; the gradient of the sum comes back to it unchanged",
)
_about_losses = first_of(
    explained_by_rank(
        digits="only the last digits differ: no step computes in a narrower dtype than that of the logits",
        sent_forward="three numbers for each row; and nothing if the reduction is refused",
        written_to="the logits and the targets are the caller's: they are not written to",
    ),
    when(
        lambda case, mine, theirs: _of_numbers(case, mine, theirs) and "inf" in str(case["scale"]),
        "a logit of -inf is a token with probability 0; 0 * -inf and -inf - -inf are nan, in the gradient too",
    ),
    when(
        lambda case, mine, theirs: _of_numbers(case, mine, theirs) and {*case["targets"]} == {case["ignored"]},
        "no row counts: the mean is nan, and the gradient of ignored rows is 0, not nan",
    ),
    _of_numbers,
)


@program(
    "distributed.tensor_parallel.vocabulary_parallel_cross_entropy",
    cases=_losses,
    edges=[
        *[
            _loss(),
            _loss(3, False, 7, [6, 0, 2, 3], reduction="sum"),
            _loss(3, False, 7, [4, -100, 2], reduction="none"),
        ],
        *[_loss(3, False, 8, [1, 2, 2, 5], ignored=2), _loss(targets=[-100] * 5), _loss(scale=1000, kind="float32")],
        *[_loss(scale=-1000, targets=[1, 4]), _loss(scale=1e300), _loss(3, True, targets=[0, 1, 5])],
        *[
            _loss(scale="all logits of rank 0 are -inf", targets=[3, 4, 3, 4, 5]),
            _loss(reduction="average"),
            _loss(reduction=""),
        ],
    ],
    hint=_about_losses,
    draws=6,
)
@on_ranks
def losses_of_tokens(xp, torch, group, tokens, targets, ignored, reduction, scale, kind):
    tp, ranks = xp.distributed.tensor_parallel, torch.distributed.get_world_size()
    logits, targets, gradient = _whole_loss(torch, ranks, tokens, targets, reduction, scale, kind)
    _, first = xp.distributed.shards.shard_sizes(tokens, group.size())[group.rank()]
    logits = tp.shard(logits, 1, group).requires_grad_()

    rest, loss = (targets, first, ignored, reduction, group), tp.vocabulary_parallel_cross_entropy
    before = copied(logits), copied(targets)
    seen = _loss_seen(torch, lambda logits: loss(logits, *rest), logits, gradient, DTENSOR)
    after = {"logits": (logits, before[0]), "targets": (targets, before[1])}
    return seen | {"written to": [name for name, pair in after.items() if not torch.equal(*pair)] or None}


@losses_of_tokens.oracle
@on_ranks
def torch_losses_of_tokens(torch, group, tokens, targets, ignored, reduction, scale, kind):
    from torch.distributed.tensor import DeviceMesh, DTensor, Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.parallel import loss_parallel

    ranks = torch.distributed.get_world_size()
    logits, targets, gradient = _whole_loss(torch, ranks, tokens, targets, reduction, scale, kind)
    mesh = DeviceMesh.from_group(group, "cpu")
    logits = distribute_tensor(logits, mesh, [Shard(1)]).requires_grad_()
    gradient = DTensor.from_local(gradient, mesh, [Replicate()], run_check=False)

    call = partial(torch.nn.functional.cross_entropy, target=targets, ignore_index=ignored, reduction=reduction)
    with loss_parallel():
        return _loss_seen(torch, call, logits, gradient) | {"written to": None}


# All together --------------------------------------------------------------------------------------------------------


def _two_layers_and_head(torch, features, hidden, tokens):
    """Two layers and a head, the same on all ranks."""
    torch.manual_seed(0)
    sizes = (features, hidden), (hidden, features), (features, tokens)
    return [torch.nn.Linear(*size, dtype=torch.float64) for size in sizes]


def _train(torch, parameters, loss_of, steps, features, tokens):
    """The losses of some steps of SGD. All ranks have the same batch."""
    optimizer, losses = torch.optim.SGD(parameters, lr=0.5), []
    for step in range(steps):
        x, targets = numbers(torch, [4, features], step), torch.arange(step, step + 4) % tokens
        optimizer.zero_grad()
        loss = loss_of(x, targets)
        loss.backward()
        optimizer.step()
        losses.append(copied(loss))
    return losses


@program(
    "together.tensor_parallel",
    cases=drawn(ranks=(2, 3), part=[False], features=(3, 5), hidden=(3, 8), tokens=(5, 8), steps=(1, 3)),
    edges=rows("ranks part features hidden tokens steps", (2, False, 4, 6, 6, 2), (3, False, 4, 7, 8, 3), (3, True, 3, 5, 5, 2)),
    draws=3,
)  # fmt: skip
@on_ranks
def tensor_parallel(xp, torch, group, features, hidden, tokens, steps):
    tp, (first, second, head) = xp.distributed.tensor_parallel, _two_layers_and_head(torch, features, hidden, tokens)
    one, two, three = (
        tp.ColumnParallelLinear(first, group=group), tp.RowParallelLinear(second, group), tp.ColumnParallelLinear(head, group=group)
    )  # fmt: skip
    _, begin = xp.distributed.shards.shard_sizes(tokens, group.size())[group.rank()]
    parameters = [parameter for layer in (one, two, three) for parameter in layer.parameters()]

    def loss_of(x, targets):
        logits = three(torch.tanh(two(torch.relu(one(x)))))
        return tp.vocabulary_parallel_cross_entropy(logits, targets, begin, group=group)

    with recorded_traffic(["all_reduce"]) as seen:
        losses = _train(torch, parameters, loss_of, steps, features, tokens)
    return {"losses": losses, "weights": [*map(copied, parameters)], "beyond": seen["beyond"]}


@tensor_parallel.oracle
@on_ranks
def one_process(torch, group, features, hidden, tokens, steps):
    """The whole model, and of its weights this rank's parts."""
    first, second, head = _two_layers_and_head(torch, features, hidden, tokens)

    def loss_of(x, targets):
        logits = head(torch.tanh(second(torch.relu(first(x)))))
        return torch.nn.functional.cross_entropy(logits, targets)

    parameters = [parameter for layer in (first, second, head) for parameter in layer.parameters()]
    losses, parts = _train(torch, parameters, loss_of, steps, features, tokens), []
    for parameter, dim in zip(parameters, (0, 0, 1, None, 0, 0)):
        chunks = [] if dim is None else parameter.detach().chunk(group.size(), dim)
        part = parameter.detach() if dim is None else parameter.detach().narrow(dim, 0, 0)
        parts.append(chunks[group.rank()] if group.rank() < len(chunks) else part)
    return {"losses": losses, "weights": [*map(copied, parts)], "beyond": []}
