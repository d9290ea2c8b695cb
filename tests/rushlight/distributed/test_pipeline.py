"""Schedules of pipelines against torch's own, their times, and stages that run on ranks."""

import pytest
import torch

from rushlight.distributed import run_ranks
from rushlight.distributed.pipeline import (
    Pipeline,
    bubble_fraction,
    gpipe_order,
    one_f_one_b_order,
    peak_microbatches,
    run_stage,
    start_times,
)

SCHEDULES = {"ScheduleGPipe": gpipe_order, "Schedule1F1B": one_f_one_b_order}


def stages_of(ranks):
    torch.manual_seed(3)
    return [torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()) for _ in range(ranks)]


def batch_of(microbatches):
    torch.manual_seed(4)
    return torch.randn(2 * microbatches, 4), torch.randn(2 * microbatches, 4)


def both(name, schedule, microbatches):
    """A step of ours and one of torch's: losses, gradients, and the orders in which torch's stage was called."""
    import torch.distributed as dist
    from torch.distributed import pipelining

    rank, ranks = dist.get_rank(), dist.get_world_size()
    batch, targets = batch_of(microbatches)
    module = stages_of(ranks)[rank]
    pipeline = Pipeline(module, microbatches, torch.empty(2, 4), schedule)
    losses = pipeline.step(batch, targets, torch.nn.functional.mse_loss)
    grads = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    stage = pipelining.PipelineStage(module, rank, ranks, torch.device("cpu"))
    order, theirs = [], []
    forward, backward = stage.forward_one_chunk, stage.backward_one_chunk

    def noted(kind, call):
        def wrapped(i, *args, **kwargs):
            order.append((kind, i))
            return call(i, *args, **kwargs)

        return wrapped

    stage.forward_one_chunk, stage.backward_one_chunk = noted("F", forward), noted("B", backward)
    runner = getattr(pipelining, name)(stage, microbatches, loss_fn=torch.nn.functional.mse_loss)
    first, last = ([batch] if rank == 0 else []), ({"target": targets, "losses": theirs} if rank == ranks - 1 else {})
    runner.step(*first, **last)
    same = all(torch.allclose(a, p.grad) for a, p in zip(grads, module.parameters()))
    return pipeline.order == order, same, losses, [each.detach() for each in theirs], grads


@pytest.mark.parametrize(("name", "ranks", "microbatches"), [("ScheduleGPipe", 2, 3), ("Schedule1F1B", 3, 5)])
def test_a_running_pipeline_is_torchs_in_order_losses_and_gradients(name, ranks, microbatches):
    results = run_ranks(both, ranks, name, SCHEDULES[name], microbatches)
    for order, same, losses, theirs, _ in results:
        assert order and same
        assert torch.allclose(torch.tensor(losses), torch.tensor(theirs))
    whole = torch.nn.Sequential(*stages_of(ranks))
    batch, targets = batch_of(microbatches)
    torch.nn.functional.mse_loss(whole(batch), targets).backward()
    mine = [grad for *_, grads in results for grad in grads]
    assert all(torch.allclose(a, p.grad, atol=1e-6) for a, p in zip(mine, whole.parameters(), strict=True))


def test_a_stage_may_run_ahead_of_its_neighbour():
    """The sends wait for ever if a stage waits for them before it goes on."""

    def ahead():
        import torch.distributed as dist

        rank, orders = dist.get_rank(), [gpipe_order(0, 2, 4), one_f_one_b_order(1, 2, 4)]
        module = torch.nn.Linear(3, 3)
        return run_stage(orders[rank], module, [torch.ones(1, 3)] * 4, [0] * 4, lambda y, _: y.sum(), torch.empty(1, 3))

    assert [len(losses) for losses in run_ranks(ahead, 2, timeout=600)] == [0, 4]


@pytest.mark.parametrize("schedule", [gpipe_order, one_f_one_b_order])
def test_the_bubble_is_the_formulas_and_1f1b_keeps_less(schedule):
    for stages in range(1, 5):
        for microbatches in range(stages, 9):
            orders = [schedule(stage, stages, microbatches) for stage in range(stages)]
            bubble = bubble_fraction(orders, [1] * stages, [2] * stages)
            assert bubble == pytest.approx((stages - 1) / (microbatches + stages - 1))
            kept = [peak_microbatches(order) for order in orders]
            if schedule is gpipe_order:
                assert kept == [microbatches] * stages
            else:
                assert kept == [min(microbatches, stages - stage) for stage in range(stages)]


def test_what_waits_for_each_other_is_an_error():
    with pytest.raises(ValueError, match="wait for ever"):
        start_times([[("F", 1), ("F", 0)], [("B", 0), ("F", 0)]], [1, 1], [1, 1])


def test_a_message_takes_its_time_and_a_slow_stage_holds_up_the_others():
    orders = [gpipe_order(stage, 2, 2) for stage in range(2)]
    assert start_times(orders, [1, 3], [2, 2], 0.5) == [[0, 1, 10, 12], [1.5, 4.5, 7.5, 9.5]]
