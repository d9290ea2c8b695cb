"""Pipeline parallelism: the model is cut into stages, one on each rank, and a batch into micro-batches that pass through
them.

The work of a stage is a list, its *order*: ("F", 2) is the forward of micro-batch 2, ("B", 2) its backward. GPipe does all
forwards first. 1F1B starts a backward as soon as possible, so it keeps fewer activations at a time and takes the same time.
The first gradient reaches a stage only after the micro-batch has passed all later stages. Meanwhile the stage does one forward
for each of them. After that a backward follows each forward and releases the activations of one micro-batch, so the stage
never keeps more micro-batches than there are stages from it to the last.

The orders alone determine the times at which actions can start, and with them the bubble, the time in which stages are idle.
In PyTorch: `torch/distributed/pipelining/schedules.py` and `stage.py`. Left out: several stages on a rank, splitting the
backward (zero bubble), inferring sizes, skip connections between stages.

This module works on torch itself. Nothing in it depends on a particular device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

Action = tuple[str, int]  # "F" or "B", and which micro-batch
Order = Sequence[Action]
Times = Sequence[float]  # one for each stage

# Orders --------------------------------------------------------------------------------------------------------------


def gpipe_order(stage: int, stages: int, microbatches: int) -> list[Action]:
    """The order of a stage in GPipe's schedule, a list of pairs: the forwards of all micro-batches, 0 first, then the
    backwards of all, 0 first.

    >>> gpipe_order(1, 4, 2)
    [('F', 0), ('F', 1), ('B', 0), ('B', 1)]

    Source: `torch/distributed/pipelining/schedules.py`, `ScheduleGPipe`.
    """
    return [(kind, i) for kind in "FB" for i in range(microbatches)]


def one_f_one_b_order(stage: int, stages: int, microbatches: int) -> list[Action]:
    """The order of a stage in the schedule 1F1B ("one forward, one backward"), a list of pairs. Micro-batches are in order, in
    both directions.

    The stage begins with one forward for each stage after it (or as many as there are micro-batches, if that is fewer). Then
    one forward and one backward alternate, forward first, until no forward is left. The remaining backwards follow. So the
    last stage (`stage == stages - 1`) does F0 B0 F1 B1 ..., and no stage keeps the activations of more micro-batches than
    there are stages from it to the last, itself included.

    >>> one_f_one_b_order(2, 4, 3)
    [('F', 0), ('F', 1), ('B', 0), ('F', 2), ('B', 1), ('B', 2)]

    Source: `torch/distributed/pipelining/schedules.py`, `Schedule1F1B`.
    """
    ahead = min(stages - 1 - stage, microbatches)
    order = [("F", i) for i in range(ahead)]
    for i in range(microbatches - ahead):
        order += [("F", ahead + i), ("B", i)]
    return order + [("B", i) for i in range(microbatches - ahead, microbatches)]


def peak_microbatches(order: Order) -> int:
    """The largest number of micro-batches whose activations a stage keeps at a time, from a forward until its backward."""
    kept = most = 0
    for kind, _ in order:
        kept += 1 if kind == "F" else -1
        most = max(most, kept)
    return most


# Times ---------------------------------------------------------------------------------------------------------------


def start_times(
    orders: Sequence[Order], forward: Sequence[float], backward: Sequence[float], transfer: float = 0.0
) -> list[list[float]]:
    """The start of each action of each stage, a list of lists in the order of `orders`, if every action starts as early as
    possible, at 0 or later.

    A stage does one action at a time, in its order. A forward needs the forward of the same micro-batch on the stage before.
    A backward needs the stage's own forward of that micro-batch, and the backward on the stage after. A result of another
    stage arrives `transfer` after that action has ended (a transfer does not block either stage).

    Args:
        orders: a list of the orders of all stages, the first stage first. They need not be those of a known schedule, nor
            equally long. They are lists of pairs, and are not changed.
        forward: a list, the duration of a forward for each stage.
        backward: a list, the duration of a backward for each stage.

    >>> start_times([[("F", 0), ("B", 0)], [("F", 0), ("B", 0)]], [1.0, 1.0], [2.0, 2.0])
    [[0.0, 4.0], [1.0, 2.0]]

    Raises ValueError if some action can never start, because actions wait for each other or for an action that is in no
    order.

    Source: `torch/distributed/pipelining/schedules.py`, `_simulate_comms_compute`, where everything takes one step.
    """
    left, ended = [list(order) for order in orders], {}
    starts, free = [[] for _ in left], [0.0 for _ in left]
    # in one pass over all stages at least one action starts, if any can
    for stage in [*range(len(left))] * sum(map(len, left)):
        if left[stage]:
            kind, i = left[stage][0]
            own, other = {"F": ([], ("F", i, stage - 1)), "B": ([("F", i, stage)], ("B", i, stage + 1))}[kind]
            others = [other] if 0 <= other[2] < len(left) else []
            if all(needed in ended for needed in own + others):
                start = max([free[stage], *(ended[needed] + transfer for needed in others)])
                free[stage] = ended[kind, i, stage] = start + {"F": forward, "B": backward}[kind][stage]
                starts[stage].append(start)
                left[stage].pop(0)
    if any(left):
        raise ValueError(f"some wait for ever: what is left of the stages' orders is {left}")
    return starts


def bubble_fraction(orders: Sequence[Order], forward: Times, backward: Times, transfer: float = 0.0) -> float:
    """The fraction of the time, from the first start to the last end, in which the stages are idle, over all stages together.
    With p stages, m micro-batches and equal times it is (p - 1) / (m + p - 1), for GPipe and for 1F1B."""
    starts = start_times(orders, forward, backward, transfer)
    busy = end = 0.0
    for stage, order in enumerate(orders):
        for (kind, _), start in zip(order, starts[stage]):
            time = (forward if kind == "F" else backward)[stage]
            busy, end = busy + time, max(end, start + time)
    return 1 - busy / (end * len(orders))


# A running stage -----------------------------------------------------------------------------------------------------


def run_stage(
    order: Order,
    module: Callable[[Tensor], Tensor],
    inputs: Sequence[Tensor] | None = None,
    targets: Sequence[Tensor] | None = None,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    received: Tensor | None = None,
    group: dist.ProcessGroup | None = None,
) -> list[Tensor]:
    """One step of this rank's stage: its forwards and backwards in this order. The stages are the ranks of `group`.

    ("F", i): call the module on `inputs[i]` on the first stage, on other stages on the tensor that the rank before sends. The
    output goes to the rank after, or on the last stage into `loss(output, targets[i])`, a number. ("B", i): backward from
    that loss, or from the gradient of the output that the rank after sends; the gradient of the received input goes to the
    rank before. After the backward of a micro-batch, drop all that keeps the tensors that autograd saved in its forward: its
    received input and its output at the latest in the next action. Send tensors without a graph, because a graph keeps what
    it saved.

    The gradients are of the mean of the micro-batches' losses, and are added to the parameters' `.grad`, as autograd does.

    Args:
        order: a list of pairs, the order of this stage in GPipe's schedule or in 1F1B: each of the m micro-batches forward
            once and later backward once. For example, with [("F", 0), ("B", 0)] the middle stage of three receives an
            activation, sends its output, receives a gradient, and sends the gradient of what it received.
        module: this stage's part of the model.
        inputs: a list or a tuple of m micro-batches; only the first stage reads it.
        targets: a list or a tuple of m targets; only the last stage reads it.
        loss: only the last stage calls it.
        received: a tensor with the sizes, dtype and device of what the stage before sends, the same for each micro-batch; its
            values have no meaning. The first stage does not need it. A gradient has the sizes of the tensor that it belongs
            to.

    Returns a list: on the last stage the losses, micro-batch 0 first, without graph; nothing on the others.

    Allowed: `isend`, `irecv`, `recv` and `batch_isend_irecv` (of P2POp), for each action at most one incoming and one outgoing
    message, of contiguous tensors; `group_dst`, `group_src` and `group_peer` are ranks of the group. A send may block until
    its message is received: if stages wait for their sends before they continue, two that send to each other wait forever.
    So start a send, and wait for it at the end. Call `wait()` of a work only once. (In gloo a second call waits for a second
    message. With NCCL, messages to a rank and messages from it run one at a time unless they are started together, by one
    `batch_isend_irecv`: so start the send of an action together with the receive of the next action.)

    Source: `torch/distributed/pipelining/schedules.py`, `Schedule1F1B._step_microbatches`.
    """
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    kept, losses = {}, []
    messages = []  # to be sent together with the next receive
    started = []
    for kind, i in order:
        forward = kind == "F"
        source, target = (rank - 1, rank + 1) if forward else (rank + 1, rank - 1)
        if not forward:
            x, output = kept.pop(i)
        arrived = None
        if 0 <= source < ranks:
            arrived = torch.empty_like(received if forward else output, memory_format=torch.contiguous_format)
            messages.append(dist.P2POp(dist.irecv, arrived, group=group, group_peer=source))
        works = dist.batch_isend_irecv(messages) if messages else []
        if arrived is not None:
            works.pop().wait()  # once: gloo would wait for another message
        started += works
        passes_on = 0 <= target < ranks
        if forward:
            x = inputs[i] if arrived is None else arrived.requires_grad_()
            output = module(x)
            if not passes_on:
                output = loss(output, targets[i])
                losses.append(output.detach())
                output = 2 * output / len(order)
            kept[i] = x, output
        else:
            output.backward(arrived)
        message = output.detach() if forward else x.grad
        messages = [dist.P2POp(dist.isend, message.contiguous(), group=group, group_peer=target)] if passes_on else []
        del x, output
    started += dist.batch_isend_irecv(messages) if messages else []
    for work in started:
        work.wait()
    return losses


class Pipeline:
    """This rank's stage of a model, with a schedule: `gpipe_order` or `one_f_one_b_order`.

    Args:
        module: this rank's part of the model; the ranks of the group are the stages.
        microbatches: the number of parts into which a batch is cut, all of one size.
        received: a tensor like the one that the stage before sends for a micro-batch; None on the first.
    """

    def __init__(
        self,
        module: nn.Module,
        microbatches: int,
        received: Tensor | None = None,
        schedule: Callable[[int, int, int], list[Action]] = one_f_one_b_order,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        self.module, self.microbatches, self.received, self.group = module, microbatches, received, group
        self.order = schedule(dist.get_rank(group), dist.get_world_size(group), microbatches)

    def step(
        self, batch: Tensor | None = None, targets: Tensor | None = None, loss: Callable[..., Tensor] | None = None
    ) -> list[Tensor]:
        """Forward and backward of a batch. The first stage gets the batch. The last one gets the targets and returns the
        losses."""
        inputs, targets = (None if part is None else part.chunk(self.microbatches) for part in (batch, targets))
        return run_stage(self.order, self.module, inputs, targets, loss, self.received, self.group)
