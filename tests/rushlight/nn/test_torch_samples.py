"""On torch's own samples for its modules, layers with torch's weights give torch's numbers, gradients and state."""

import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

import rushlight as rl

sys.path.append(str(Path(__file__).parents[3] / "bench"))  # behind tests/, where a name may be the same
from gradients import results  # noqa: E402
from parity import Carrier, in_torch  # noqa: E402

NAMES = [
    "BCELoss", "KLDivLoss", "RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell", "MultiheadAttention", "TransformerEncoderLayer",
]  # fmt: skip


def database():
    from torch.testing._internal.common_modules import module_db

    return {each.name.removeprefix("nn."): each for each in module_db}


def samples(name, training):
    entry = database()[name]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = entry.module_inputs_func(entry, "cpu", torch.float64, requires_grad=True, training=training)
    return found


def made(xp, name, sample, carry):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, kwargs = carry(list(sample.constructor_input.args)), carry(dict(sample.constructor_input.kwargs))
        if xp is rl:
            args, kwargs = (
                [counterpart(each) for each in args],
                {key: counterpart(each) for key, each in kwargs.items()},
            )
        return getattr(xp.nn, name)(*args, **kwargs).to(carry(torch.float64))


def counterpart(value):
    """The function of rushlight that does what torch's does."""
    functions = torch.nn.functional.relu, torch.nn.functional.gelu
    return getattr(rl.nn.functional, value.__name__) if value in functions else value


def run(xp, module, sample, carry):
    before = len(carry.tensors)
    args, kwargs = carry(list(sample.forward_input.args)), carry(dict(sample.forward_input.kwargs))
    given = list(carry.tensors.values())[before:]
    inputs = [tensor.requires_grad_() for tensor in given if tensor.dtype.is_floating_point]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = results(module(*args, **kwargs))
    sum((each * each).sum() for each in found).backward()
    return found, [x.grad for x in (*inputs, *module.parameters())]


@pytest.mark.sweep
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_module_agrees_with_torch_on_its_samples(name, training):
    for sample in samples(name, training):
        carriers = Carrier(torch), Carrier(rl)
        modules = [made(xp, name, sample, carry) for xp, carry in zip((torch, rl), carriers)]
        modules[1].load_state_dict(carriers[1](dict(modules[0].state_dict())))
        found = [
            run(xp, module.train(training), sample, carry) for xp, module, carry in zip((torch, rl), modules, carriers)
        ]
        assert repr(modules[0]) == repr(modules[1])
        for theirs, ours in zip(*(results([*outputs, *grads]) for outputs, grads in found), strict=True):
            assert theirs.stride() == ours.stride()
            assert_close(in_torch(ours.detach()), theirs.detach(), equal_nan=True)
