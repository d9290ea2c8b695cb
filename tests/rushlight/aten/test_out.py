"""An `out` that torch refuses is refused, with an error of the same type: of another dtype, or on the memory of an input.

On torch's own sample inputs. `make test-all` tries every operator with an out= form.
"""

from functools import cache

import pytest
import torch
from sweep import hold_each, sweep

import rushlight as rl
from bench import parity
from bench.parity import Carrier, attempt

DTYPES = torch.float64, torch.float32, torch.int32, torch.int64, torch.bool
PARTS = 30  # of the operators, of which `make test` takes the first
pytestmark = [
    pytest.mark.usefixtures("database"),
    pytest.mark.parametrize("part", sweep(range(PARTS), every=PARTS)),
]


@cache
def entries():
    """By name, the names and the entries of torch's database that have an out= form."""
    return [
        (name, (name, entry))
        for name in parity.compared_names()
        for entry in parity.database()[name]
        if entry.supports_out and any(form.out for form in parity.forms(entry, name, parity.Report()))
    ]


def outs_of_other_dtypes(results):
    """Tensors for these results, one of them of another dtype, and once all of theirs."""
    plain = [torch.ones_like(result) for result in results]
    yield plain
    for i, result in enumerate(results):
        for dtype in DTYPES:
            yield [*plain[:i], torch.ones(result.shape, dtype=dtype), *plain[i + 1 :]]


def attempts(form, args, kwargs, out):
    for xp, function in (rl, form.ours), (torch, form.theirs):
        carry = Carrier(xp)
        moved, named = [carry(argument) for argument in args], carry(kwargs | {"out": out})
        yield attempt(lambda function=function, moved=moved, named=named: function(*moved, **named))


def one_sample(name, entry):
    """A form with `out`, its arguments, and the results, for a small sample of each kind of dtype."""
    form = next(form for form in parity.forms(entry, name, parity.Report()) if form.out)
    for dtype in (torch.float32, torch.int64):
        if dtype in entry.dtypes:
            for input, args, kwargs, _ in parity.samples(entry, dtype, 1):
                carry = Carrier(torch)
                moved, named = [carry(argument) for argument in (input, *args)], carry(kwargs)
                results = attempt(lambda moved=moved, named=named: form.theirs(*moved, **named))
                if isinstance(results, (torch.Tensor, tuple)):
                    yield form, (input, *args), kwargs, results


def test_an_out_of_another_dtype_is_refused_as_in_torch(part, seeded):
    hold_each(refuses_other_dtypes, entries()[part::PARTS], seeded)


def refuses_other_dtypes(case):
    name, entry = case
    for form, args, kwargs, results in one_sample(name, entry):
        is_one = isinstance(results, torch.Tensor)
        for outs in outs_of_other_dtypes([results] if is_one else results):
            ours, theirs = attempts(form, args, kwargs, outs[0] if is_one else tuple(outs))
            error = type(theirs) if isinstance(theirs, Exception) else None
            told = f"{[out.dtype for out in outs]}: {ours!r}, not {theirs!r}"
            assert isinstance(ours, Exception) == (error is not None), told
            assert error in (None, type(ours)), told


def test_an_out_that_overlaps_partly_with_the_input_is_refused_where_torch_refuses_it(part, seeded):
    hold_each(refuses_overlaps, entries()[part::PARTS], seeded)


def refuses_overlaps(case):
    name, entry = case
    for form, (input, *rest), kwargs, results in one_sample(name, entry):
        if not isinstance(results, torch.Tensor) or not isinstance(input, torch.Tensor):
            continue
        if input.dtype is not results.dtype or not input.numel() or not results.numel():
            continue
        memory = torch.zeros(max(input.numel(), results.numel()) + 1, dtype=input.dtype)
        moved = memory[: input.numel()].view(input.shape).copy_(input)
        ours, theirs = attempts(form, (moved, *rest), kwargs, memory[1 : results.numel() + 1].view(results.shape))
        assert not isinstance(theirs, Exception) or type(ours) is type(theirs), f"{ours!r}, not {theirs!r}"
