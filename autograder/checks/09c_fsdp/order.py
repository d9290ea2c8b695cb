"""Lab 09, fully sharded: cases of a student for the order of work."""

from __future__ import annotations

from contextlib import contextmanager

from ...engine.check import program
from ..cases import breaking, no_cases
from ..shared_09 import on_ranks

BREAKS, BODIES = "course.breaks.breaks_order_of_work", "09c.order_of_work"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.course.breaks.breaks_order_of_work()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.course.breaks.breaks_order_of_work()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_order_of_work(xp, **case):
    """The cases, or the order of work on the chain of one of them."""
    if not case:
        return xp.course.breaks.breaks_order_of_work()
    assert _is_chain(**case)
    return xp.distributed.fsdp.order_of_work(**case)


def torch_order(torch, **case):
    """The order in which torch works on a chain."""
    if not _is_chain(**case):
        raise ValueError("it has no unit, more than 4, or a number that is not from 0 to 3")
    return _torch_order_by_rank(torch, ranks=2, **case)[0]


def together(torch, cases):
    """The chains of all cases on the same ranks, because it takes most of the time to start them."""
    numbers = [number for number, case in enumerate(cases) if _is_chain(**case)]
    chains = _torch_order_by_rank.for_cases(torch, [{"ranks": 2, **cases[number]} for number in numbers])
    programs = dict(zip(numbers, chains, strict=True))

    def program(number):
        return lambda torch, **case: programs[number](torch, ranks=2, **case)[0]

    return [program(number) if number in programs else torch_order for number in range(len(cases))]


torch_order.for_cases = together
breaks_order_of_work.oracle(torch_order)


def _is_chain(reshard, forward_prefetch, backward_prefetch):
    return 1 <= len(reshard) <= 4 and {forward_prefetch, backward_prefetch} <= {0, 1, 2, 3}


@on_ranks
def _torch_order_by_rank(torch, group, reshard, forward_prefetch, backward_prefetch):
    from torch.distributed.fsdp import fully_shard

    done = []
    chain = _chain(torch, len(reshard), done)
    for i, module in enumerate(chain):
        fully_shard(module, reshard_after_forward=reshard[i])
    fully_shard(chain)
    for i, module in enumerate(chain):
        module.set_modules_to_forward_prefetch([*chain[i + 1 : i + 1 + forward_prefetch]])
        before = [chain[j] for j in range(i - 1, i - 1 - backward_prefetch, -1) if j >= 0]
        module.set_modules_to_backward_prefetch(before or [module])  # without any it prefetches one
    with _recorded_work(torch, done):
        chain(torch.ones(())).backward()
    return done


def _chain(torch, count, done):
    """Modules that record their forwards and backwards. Unit i is known by its size, i + 1 rows for each of two ranks."""

    class Scale(torch.nn.Module):
        def __init__(self, i):
            super().__init__()
            self.i, self.weight = i, torch.nn.Parameter(torch.ones(2 * (i + 1)))

        def forward(self, x):
            done.append(["forward", self.i])
            y = x * self.weight.sum()
            y.register_hook(lambda _: done.append(["backward", self.i]))
            return y.clone()

    return torch.nn.Sequential(*[Scale(i) for i in range(count)])


@contextmanager
def _recorded_work(torch, done):
    """Within: records which unit torch gathers, reduces and frees."""
    from torch.distributed.fsdp._fully_shard import _fsdp_param
    from torch.utils._python_dispatch import TorchDispatchMode

    class Collectives(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.name()
            if "allgather" in name:
                done.append(["gather", args[1].numel() - 1])
            if "reduce_scatter" in name:
                done.append(["reduce", args[0].numel() - 1])
            return func(*args, **(kwargs or {}))

    def freed(tensor):
        if tensor.untyped_storage().size():
            done.append(["free", tensor.numel() // 2 - 1])
        free(tensor)

    free, _fsdp_param.free_storage = _fsdp_param.free_storage, freed
    try:
        with Collectives():
            yield
    finally:
        _fsdp_param.free_storage = free
