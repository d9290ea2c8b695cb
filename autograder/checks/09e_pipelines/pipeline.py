"""Lab 09, pipelines: the orders of GPipe and of 1F1B, the times of their actions, and running a stage."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawing, drawn, numbers, rows
from ..shared_09 import explained_by_rank, on_ranks, recorded_sends, recorded_traffic, time_limit


def _stages(st):
    return st.integers(1, 7).flatmap(lambda n: drawn(stage=(0, n - 1), stages=[n], microbatches=(1, 12))(st))


_STAGES = [
    {"stage": stage, "stages": stages, "microbatches": m}
    for stages, m in ((1, 1), (1, 3), (2, 2), (3, 5), (4, 4), (4, 2))
    for stage in range(stages)
]


class RecordedStage:
    """A stage without a module: it records when torch's schedule calls it for a forward or a backward."""

    def __init__(self, torch, name, stage, stages, microbatches):
        from torch.distributed import pipelining

        self.stage_index, self.num_stages, self.has_backward, self.order = stage, stages, True, []
        self.device = torch.device("cpu")
        schedule = getattr(pipelining, name)(self, max(stages, microbatches))
        schedule._n_microbatches = microbatches  # the constructor refuses fewer than stages, but the steps do not
        schedule._step_microbatches([()] * microbatches, [{}] * microbatches)

    def forward_one_chunk(self, i, *args, **kwargs):
        self.order.append(["F", i])

    def backward_one_chunk(self, i, *args, **kwargs):
        self.order.append(["B", i])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: []


@program(
    "distributed.pipeline.gpipe_order",
    cases=_stages,
    edges=_STAGES,
    hint="all forwards, then all backwards, each from 0 on",
    draws=20,
)
def gpipe_orders(xp, stage, stages, microbatches):
    return xp.distributed.pipeline.gpipe_order(stage, stages, microbatches)


@gpipe_orders.oracle
def torch_gpipe_orders(torch, stage, stages, microbatches):
    return RecordedStage(torch, "ScheduleGPipe", stage, stages, microbatches).order


def _about_1f1b(case, mine, theirs):
    if isinstance(mine, list) and sorted(map(str, mine)) != sorted(map(str, theirs)):
        return "each micro-batch goes forward once and backward once"
    later = case["stages"] - 1 - case["stage"]
    return f"{later} stages come after this one: so many forwards first, as far as there are micro-batches; then one F, one B"


@program("distributed.pipeline.one_f_one_b_order", cases=_stages, edges=_STAGES, hint=_about_1f1b, draws=30)
def one_f_one_b_orders(xp, stage, stages, microbatches):
    return xp.distributed.pipeline.one_f_one_b_order(stage, stages, microbatches)


@one_f_one_b_orders.oracle
def torch_one_f_one_b_orders(torch, stage, stages, microbatches):
    return RecordedStage(torch, "Schedule1F1B", stage, stages, microbatches).order


def _an_order(schedule, stage, stages, microbatches):
    """Orders by rule, for checks that are not about orders."""
    ahead = microbatches if schedule == "gpipe" else min(microbatches, stages - stage)
    order = [["F", i] for i in range(ahead)]
    for i in range(microbatches):
        order += [["B", i]] + [["F", ahead + i]] * (ahead + i < microbatches)
    return order


@drawing
def _times(draw, st):
    stages, microbatches = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    orders = []
    for stage in range(stages):
        order = _an_order(draw(st.sampled_from(["gpipe", "1f1b"])), stage, stages, microbatches)
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):  # neighbours that are exchanged may make a deadlock
            i = draw(st.integers(0, len(order) - 1))
            order[i : i + 2] = order[i : i + 2][::-1]
        orders.append(order[: len(order) - draw(st.sampled_from([0, 0, 0, 0, 1]))])
    time = st.integers(1, 8).map(lambda each: each / 2)
    times = st.lists(time, min_size=stages, max_size=stages)
    transfer = draw(st.sampled_from([0, 0, 0.25, 2.0]))
    return {"orders": orders, "forward": draw(times), "backward": draw(times), "transfer": transfer}


def _timed(orders, forward=None, backward=None, transfer=0):
    n = len(orders)
    return {"orders": orders, "forward": forward or [1] * n, "backward": backward or [2] * n, "transfer": transfer}


def _schedule(name, stages, microbatches):
    return [_an_order(name, stage, stages, microbatches) for stage in range(stages)]


_F0, _F1, _B0, _B1 = ["F", 0], ["F", 1], ["B", 0], ["B", 1]


@program(
    "distributed.pipeline.start_times",
    cases=_times,
    edges=[
        *[_timed([[_F0, _B0]]), _timed(_schedule("gpipe", 2, 3)), _timed(_schedule("1f1b", 3, 4))],
        _timed(_schedule("1f1b", 3, 4), [1, 3, 2], [2, 1, 4], 0.5),
        _timed([_an_order("gpipe", 0, 2, 4), _an_order("1f1b", 1, 2, 4)], transfer=3),
        *[_timed([[_F0, _F1], [_F1, _F0]]), _timed([[_F0], [_F0], []]), _timed([[_F0, _B0]], transfer=5)],
        _timed([[_F0, _F1, _B0, _B1], [_F0, _F1, _B1, _B0]], [2, 1], [1, 2]),
        *[_timed([[_B0, _F0]]), _timed([[_F1, _F0], [_F0, _B1, _F1, _B0]]), _timed([[_F0, _B0], [_F0]])],
        _timed([[], [_F0]]),
    ],
    hint=lambda case, mine, theirs: (
        "something here waits for ever: ValueError"
        if isinstance(theirs, dict)
        else "an action starts when its stage is free and its inputs are there: `transfer` after another stage's action ended"
    ),
    draws=60,
)
def times(xp, orders, forward, backward, transfer):
    orders = [[tuple(action) for action in order] for order in orders]
    given = [list(order) for order in orders]
    with time_limit("start_times"):
        times = xp.distributed.pipeline.start_times(given, [*forward], [*backward], transfer)
    assert given == orders, "the orders have changed"
    return [[float(time) for time in times[stage]] for stage in range(len(times))]


@times.oracle
def longest_ways(torch, orders, forward, backward, transfer):
    """The longest path to each action, by trying for as long as one gets longer."""
    last = len(orders) - 1
    starts = {(stage, kind, i): 0.0 for stage, order in enumerate(orders) for kind, i in order}
    needs = []
    for stage, order in enumerate(orders):
        for position, (kind, i) in enumerate(order):
            here = stage, kind, i
            if position:
                needs.append((here, (stage, *order[position - 1]), 0))
            if kind == "B":
                needs.append((here, (stage, "F", i), 0))
            if kind == "F" and stage > 0:
                needs.append((here, (stage - 1, "F", i), transfer))
            if kind == "B" and stage < last:
                needs.append((here, (stage + 1, "B", i), transfer))
    for _ in range(len(starts) + 1):
        before = dict(starts)
        for here, needed, late in needs:
            if needed not in starts:
                raise ValueError("no stage does that")
            time = (forward if needed[1] == "F" else backward)[needed[0]]
            starts[here] = max(starts[here], starts[needed] + time + late)
        if starts == before:
            return [[starts[stage, kind, i] for kind, i in order] for stage, order in enumerate(orders)]
    raise ValueError("they wait for each other")


def _runs(st):
    def of(ranks):
        more = {"rows": (1, 4), "first": ["numbers", "tokens"], "transposed": bool}
        return drawn(ranks=[ranks], part=[False], schedule=["gpipe", "1f1b"], microbatches=(ranks, 7), **more)(st)

    return st.integers(2, 3).flatmap(of)


def _width(stage):
    """The size of a row that goes into a stage."""
    return 3 + stage % 2


def _no_calls():
    return {"order": [], "most kept": 0, "each": 1, "left": 0, "received": [], "kept after": 0}


def _recorded_stage(torch, stage, first, transposed, calls):
    """A stage of a model that records in `calls` its forwards and backwards, and the tensors kept between them."""
    from torch.multiprocessing.reductions import StorageWeakRef

    functional = torch.nn.functional

    class Kept:
        alive = 0

        def __init__(self, x):
            self.x = x.detach()
            Kept.alive += 1

        def __del__(self):
            Kept.alive -= 1

    def note_received():
        """Record how many received inputs are in memory besides those of micro-batches that wait for their backward."""
        waiting = calls["order"].count("F") - calls["order"].count("B")
        in_memory = sum(not reference.expired() for reference in calls["received"])
        calls["kept after"] = max(calls["kept after"], in_memory - waiting)

    def unpacked(kept):
        if calls["order"][-1:] != ["B"] or calls["left"] == 0:
            note_received()
            calls["order"].append("B")
            calls["left"] = calls["each"]
        calls["left"] -= 1
        return kept.x

    class Stage(torch.nn.Module):
        def __init__(self):
            super().__init__()
            shape = [_width(stage + 1), _width(stage)]
            self.weight = torch.nn.Parameter(numbers(torch, shape, stage + 1, "float64"))

        def forward(self, x):
            calls["order"].append("F")
            if stage:  # the first one's inputs are the caller's
                calls["received"].append(StorageWeakRef(x.untyped_storage()))
            note_received()
            if stage == 0 and first == "tokens":
                x = functional.one_hot(x, _width(0)).to(torch.float64)
            before = Kept.alive
            with torch.autograd.graph.saved_tensors_hooks(Kept, unpacked):
                y = torch.tanh(functional.linear(x, self.weight))
            calls["each"] = Kept.alive - before
            calls["most kept"] = max(calls["most kept"], Kept.alive / calls["each"])
            return y.t().contiguous().t() if transposed else y

    return Stage()


def _whole_run(torch, stages, microbatches, rows, first):
    """Micro-batches and targets."""
    if first == "tokens":
        inputs = torch.arange(microbatches * rows).reshape(microbatches, rows) % _width(0)
    else:
        inputs = numbers(torch, [microbatches, rows, _width(0)], 2)
    return inputs, numbers(torch, [microbatches, rows, _width(stages)], 7)


def _squared_difference(output, target):
    return ((output - target) ** 2 + output).mean()


@program(
    "distributed.pipeline.run_stage",
    cases=_runs,
    edges=rows(
        "ranks part schedule microbatches rows first transposed",
        (2, False, "gpipe", 4, 2, "numbers", False), (2, False, "1f1b", 4, 2, "numbers", False),
        (3, False, "1f1b", 5, 2, "numbers", False), (3, True, "1f1b", 3, 1, "numbers", False),
        (2, False, "1f1b", 2, 2, "tokens", False), (3, False, "gpipe", 3, 2, "numbers", True),
        (4, False, "1f1b", 6, 2, "numbers", False),
    ),
    hint=explained_by_rank(
        losses="the loss of each micro-batch as it is, on the last stage only",
        graph="a loss that still has its graph keeps all tensors that the forward saved",
        gradient="the gradient of the mean of the losses, added to the gradient that is there",
        order="forwards and backwards in the order that is given",
        most_kept="the tensors of a forward are kept until its backward, and no longer",
        sends_finished="wait for each send at the end",
        kept_too_long="drop a received input, and what has a graph from it, after its backward, at the latest in the next action",
        sent="one message for each forward and each backward between two stages",
    ),
    draws=4,
)  # fmt: skip
@on_ranks
def stage_runs(xp, torch, group, schedule, microbatches, rows, first, transposed):
    stage, stages, calls = group.rank(), group.size(), _no_calls()
    module = _recorded_stage(torch, stage, first, transposed, calls)
    inputs, targets = _whole_run(torch, stages, microbatches, rows, first)
    module.weight.grad = torch.ones_like(module.weight)
    order = [tuple(action) for action in _an_order(schedule, stage, stages, microbatches)]
    ends, kind = {"received": torch.empty(rows, _width(stage), dtype=torch.float64)}, list if rows == 2 else tuple
    if stage == 0:
        ends = {"inputs": kind(inputs)}
    if stage == stages - 1:
        ends |= {"targets": kind(targets), "loss": _squared_difference}
    with recorded_traffic(["send", "recv"]) as seen, recorded_sends() as sends:
        losses = xp.distributed.pipeline.run_stage(order, module, **ends, group=group)
    shown = {"losses": [copied(loss) for loss in losses], "graph": any(loss.requires_grad for loss in losses)}
    shown["gradient"] = copied(module.weight.grad) - 1
    shown |= {"order": calls["order"], "most kept": calls["most kept"]}
    shown["sends finished"] = all(work.is_completed() for _, work in sends)
    return shown | {"kept too long": calls["kept after"] > 1, **seen}  # one may be a variable until the next action


@stage_runs.oracle
@on_ranks
def torch_stage_runs(torch, group, schedule, microbatches, rows, first, transposed):
    from torch.distributed import pipelining

    stage, stages, calls = group.rank(), group.size(), _no_calls()
    module = _recorded_stage(torch, stage, first, False, calls)
    inputs, targets = _whole_run(torch, stages, microbatches, rows, first)
    received, returned = (torch.empty(rows, _width(stage + i), dtype=torch.float64).requires_grad_() for i in range(2))
    like = {"input_args": inputs[0] if stage == 0 else received, "output_args": returned}
    theirs = pipelining.PipelineStage(module, stage, stages, torch.device("cpu"), group=group, **like)
    kind = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B}[schedule]
    schedule = kind(theirs, microbatches, loss_fn=_squared_difference)
    losses, last = [], stage == stages - 1
    args = [inputs.flatten(0, 1)] if stage == 0 else []
    kwargs = {"target": targets.flatten(0, 1), "losses": losses} if last else {}
    schedule.step(*args, **kwargs)  # the first step sends more, to connect neighbours
    module.weight.grad = None
    calls.update(_no_calls())
    with recorded_traffic(["send", "recv"]) as seen:
        schedule.step(*args, **kwargs)
    shown = {"losses": [copied(loss) for loss in losses], "graph": False, "gradient": copied(module.weight.grad)}
    shown |= {"order": calls["order"], "most kept": calls["most kept"]}
    return shown | {"sends finished": True, "kept too long": False, **seen}


# All together --------------------------------------------------------------------------------------------------------


def _stages_of(torch, stages):
    """The stages of a model, the same on all ranks."""
    torch.manual_seed(0)
    return [
        torch.nn.Sequential(torch.nn.Linear(_width(i), _width(i + 1), dtype=torch.float64), torch.nn.Tanh())
        for i in range(stages)
    ]


def _batch(torch, stages, microbatches, step):
    inputs, targets = numbers(torch, [2 * microbatches, 3], step), numbers(torch, [2 * microbatches, _width(stages)], 5)
    return inputs, targets


@program(
    "together.pipeline",
    cases=lambda st: st.integers(2, 3).flatmap(
        lambda n: drawn(
            ranks=[n], part=[False], schedule=["gpipe_order", "one_f_one_b_order"], microbatches=(n, 9), start=(0, 10)
        )(st)
    ),
    edges=rows(
        "ranks part schedule microbatches start",
        (2, False, "gpipe_order", 2, 0), (3, False, "one_f_one_b_order", 5, 0), (3, True, "one_f_one_b_order", 4, 0),
    ),
    draws=3,
)  # fmt: skip
@on_ranks
def pipelined(xp, torch, group, schedule, microbatches, start):
    own, stage, stages = xp.distributed.pipeline, group.rank(), group.size()
    module = _stages_of(torch, stages)[stage]
    received = torch.empty(2, _width(stage), dtype=torch.float64)
    pipeline = own.Pipeline(module, microbatches, received, getattr(own, schedule), group)
    optimizer, seen = torch.optim.SGD(module.parameters(), lr=0.5), []
    with recorded_traffic(["send", "recv"]) as traffic:
        for step in range(3):
            optimizer.zero_grad()
            losses = pipeline.step(*_batch(torch, stages, microbatches, start + step), _squared_difference)
            optimizer.step()
            seen.append([copied(loss) for loss in losses])
    return {
        "losses": seen,
        "weights": [copied(parameter) for parameter in module.parameters()],
        "beyond": traffic["beyond"],
    }


@pipelined.oracle
@on_ranks
def one_process(torch, group, schedule, microbatches, start):
    """The whole model on the whole batch, and the weights of this rank's stage."""
    stage, stages = group.rank(), group.size()
    modules = _stages_of(torch, stages)
    model = torch.nn.Sequential(*modules)
    optimizer, seen = torch.optim.SGD(model.parameters(), lr=0.5), []
    for step in range(3):
        optimizer.zero_grad()
        inputs, targets = _batch(torch, stages, microbatches, start + step)
        pairs = zip(model(inputs).chunk(microbatches), targets.chunk(microbatches))
        losses = torch.stack([_squared_difference(*pair) for pair in pairs])
        losses.mean().backward()
        optimizer.step()
        seen.append([copied(loss) for loss in losses] if stage == stages - 1 else [])
    return {"losses": seen, "weights": [copied(parameter) for parameter in modules[stage].parameters()], "beyond": []}
