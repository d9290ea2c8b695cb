"""Recurrent layers and cells give torch's numbers and gradients with torch's weights, and refuse what torch refuses."""

import warnings

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test
from torch.testing import assert_close

import rushlight as rl
from rushlight.aot.proxy_tensor import make_fx
from rushlight.aten.native import rnn

LAYERS = {  # a layer of 3 inputs and 4 hidden features, the sizes of its input, and those of its hidden state if one is given
    "RNN(3, 4)": ((5, 2, 3), None),
    "RNN(3, 4, 2, 'relu', bias=False)": ((5, 2, 3), (2, 2, 4)),
    "RNN(3, 4, nonlinearity='tanh', batch_first=True, bidirectional=True)": ((2, 5, 3), (2, 2, 4)),
    "LSTM(3, 4)": ((5, 2, 3), None),
    "LSTM(3, 4, 2, batch_first=True, dropout=1.0)": ((2, 5, 3), (2, 2, 4)),
    "LSTM(3, 4, num_layers=2, bidirectional=True, bias=False)": ((5, 2, 3), (4, 2, 4)),
    "LSTM(3, 4, bidirectional=True)": ((5, 3), (2, 4)),
    "LSTM(3, 4, 2, proj_size=2, bidirectional=True)": ((5, 2, 3), None),
    "GRU(3, 4)": ((5, 2, 3), None),
    "GRU(3, 4, 2, True, True, 0.0, True)": ((2, 5, 3), (4, 2, 4)),
    "GRU(3, 4, batch_first=True)": ((5, 3), (1, 4)),
    "RNNCell(3, 4)": ((2, 3), None),
    "RNNCell(3, 4, bias=False, nonlinearity='relu')": ((2, 3), (2, 4)),
    "LSTMCell(3, 4)": ((2, 3), (2, 4)),
    "LSTMCell(3, 4, bias=False)": ((3,), None),
    "GRUCell(3, 4)": ((2, 3), (2, 4)),
    "GRUCell(3, 4, True)": ((3,), (4,)),
}


def numbers(xp, *sizes, seed=0):
    return xp.from_numpy(np.random.default_rng(seed).standard_normal(sizes))


def make(xp, layer):
    """With the same parameters in both frameworks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = eval(f"nn.{layer}", {"nn": xp.nn}).double()
    module.load_state_dict(
        {name: numbers(xp, *x.shape, seed=i) for i, (name, x) in enumerate(module.state_dict().items())}
    )
    return module


def tensors(value):
    return [value] if hasattr(value, "shape") else [each for item in value for each in tensors(item)]


def run(xp, layer, through=lambda module: module):
    """The results, the gradients, and what can be seen of the layer."""
    module, (sizes, hidden) = make(xp, layer), LAYERS[layer]
    input = numbers(xp, *sizes, seed=50).requires_grad_()
    states = [numbers(xp, *hidden, seed=51 + i).requires_grad_() for i in range(2)] if hidden else []
    state = tuple(states) if layer.startswith("LSTM") else states[:1] and states[0]
    results = tensors(through(module)(input, *([state] if hidden else [])))
    sum((each.square() * (i + 1)).sum() for i, each in enumerate(results)).backward()
    leaves = [input, *(state if isinstance(state, tuple) else [state] if hidden else []), *module.parameters()]
    return [repr(module), list(module.state_dict()), [each.stride() for each in results]], [
        torch.from_numpy(each.detach().numpy())
        for each in (*results, *(leaf.grad for leaf in leaves if leaf is not None))
    ]


@in_one_test
@pytest.mark.parametrize("layer", LAYERS)
def test_a_recurrent_layer_gives_torchs_numbers_and_gradients(layer):
    ours, theirs = (run(xp, layer) for xp in FRAMEWORKS)
    assert ours[0] == theirs[0]
    assert_close(ours[1], theirs[1])


@pytest.mark.parametrize(
    "fused, in_parts, gates", [(rnn.fused_lstm_step, rnn.lstm_step, 4), (rnn.fused_gru_step, rnn.gru_step, 3)]
)
def test_a_gated_step_is_one_operator_with_the_same_bits_as_its_parts(fused, in_parts, gates):
    def bits(step):
        input, hidden = (numbers(rl, 2, 3 * gates, seed=i).float().requires_grad_() for i in (1, 2))
        state = [numbers(rl, 2, 3, seed=i).float().requires_grad_() for i in range(3, 1 + gates)]
        results = step(input, hidden, tuple(state))
        assert len({result.grad_fn.name() for result in results}) == (1 if step is fused else len(results))
        sum((result.sin() * i).sum() for i, result in enumerate(results, 1)).backward()
        return [result.numpy().tobytes() for result in (*(each.detach() for each in results), input.grad, hidden.grad)]

    assert bits(fused) == bits(in_parts)


@pytest.mark.parametrize("name, gates, states", [("_thnn_fused_lstm_cell", 4, 2), ("_thnn_fused_gru_cell", 3, 1)])
def test_a_gated_step_adds_its_biases(name, gates, states):
    leaves = [
        numbers(rl, *sizes, seed=i) for i, sizes in enumerate([(2, 3 * gates)] * 2 + [(2, 3)] + [(3 * gates,)] * 2)
    ]
    assert rl.autograd.gradcheck(
        lambda *args: getattr(rl, name)(*args)[:states], [each.requires_grad_() for each in leaves]
    )
    assert rl.autograd.gradgradcheck(lambda *args: getattr(rl, name)(*args)[:states], leaves)


@pytest.mark.parametrize("layer", ["LSTM(3, 4)", "GRU(3, 4, 2, True, True, 0.0, True)"])
def test_the_gradient_of_a_gated_layers_gradient_is_torchs(layer):
    def second(xp):
        module, input = make(xp, layer), numbers(xp, 2, 2, 3, seed=50).requires_grad_()
        loss = sum((each * each).sum() for each in tensors(module(input)))
        (grad,) = xp.autograd.grad(loss, input, create_graph=True)
        (grad * grad).sum().backward()
        return [torch.from_numpy(each.grad.numpy()) for each in (input, *module.parameters()) if each.grad is not None]

    assert_close(second(rl), second(torch))


def test_a_gated_step_calls_operators_that_a_library_or_a_graph_must_see():
    module, input = make(rl, "GRU(3, 4)"), numbers(rl, 2, 2, 3)
    names = {str(node.target) for node in make_fx(lambda input: module(input)[0])(input).graph.nodes}
    assert "aten.sigmoid.default" in names and not any("fused" in name for name in names)


@pytest.mark.parametrize("layer, backend", [("LSTM(3, 4)", "aot_eager"), ("GRUCell(3, 4, True)", "inductor")])
def test_a_recurrent_layer_is_compiled(layer, backend):
    assert_close(run(rl, layer, lambda module: rl.compile(module, backend=backend))[1], run(rl, layer)[1])


@in_one_test
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, nn: nn.LSTM(0, 2),
        lambda xp, nn: nn.LSTM(2, -1),
        lambda xp, nn: nn.LSTM(2.0, 2),
        lambda xp, nn: nn.LSTM(2, 2, 0),
        lambda xp, nn: nn.LSTM(2, 2, bias=1),
        lambda xp, nn: nn.LSTM(2, 2, dropout=1.5),
        lambda xp, nn: nn.LSTM(2, 2, dropout=True),
        lambda xp, nn: nn.LSTM(2, 2, proj_size=2),
        lambda xp, nn: nn.LSTM(2, 2, proj_size=-1),
        lambda xp, nn: nn.GRU(2, 2, proj_size=1),
        lambda xp, nn: nn.RNN(2, 2, nonlinearity="elu"),
        lambda xp, nn: nn.RNNBase("CNN", 2, 2),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(2)),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(2, 3)),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(0, 3, 2)),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(2, 3, 2).double()),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(3, 1, 2), (xp.ones(1, 2), xp.ones(1, 2))),
        lambda xp, nn: nn.LSTM(2, 2)(xp.ones(3, 1, 2), (xp.ones(1, 2, 2), xp.ones(1, 1, 2))),
        lambda xp, nn: nn.GRU(2, 2)(xp.ones(3, 2), xp.ones(1, 1, 2)),
        lambda xp, nn: nn.GRU(2, 2)(xp.ones(3, 1, 2), xp.ones(2, 1, 2)),
        lambda xp, nn: nn.GRUCell(2, 2)(xp.ones(1, 1, 2)),
        lambda xp, nn: nn.GRUCell(2, 2)(xp.ones(1, 3)),
        lambda xp, nn: nn.GRUCell(2, 2)(xp.ones(1, 2), xp.ones(2, 2)),
        lambda xp, nn: nn.GRUCell(2, 2)(xp.ones(1, 2), xp.ones(1, 3)),
        lambda xp, nn: nn.LSTMCell(2, 2)(xp.ones(1, 2), (xp.ones(1, 2), xp.ones(1, 1, 2))),
        lambda xp, nn: nn.RNNCell(2, 2, nonlinearity="elu")(xp.ones(1, 2)),
        lambda xp, nn: nn.RNNCell(2, 2, nonlinearity="elu"),
        lambda xp, nn: [[p.shape for p in layer] for layer in nn.GRU(2, 3, 2, bidirectional=True).all_weights],
        lambda xp, nn: nn.LSTM(2, 2).flatten_parameters(),
        lambda xp, nn: [
            nn.LSTM(2, 2, device="meta").weight_hh_l0.is_meta,
            nn.GRU(2, 2, dtype=xp.float64).bias_ih_l0.dtype,
        ],
        lambda xp, nn: [p.abs().max().item() <= 0.5 for p in nn.LSTM(2, 4).parameters()],
    ],
)
def test_what_recurrent_layers_do_otherwise_is_torchs(program):
    agree(lambda xp: program(xp, xp.nn))


PACKED = {
    "RNN(3, 4)": None,
    "GRU(3, 4, 2, bidirectional=True)": (4, 5, 4),
    "LSTM(3, 4, batch_first=True)": (1, 5, 4),
    "LSTM(3, 4, 2, bidirectional=True)": None,
    "LSTM(3, 4, proj_size=2, bidirectional=True)": None,
}


@in_one_test
@pytest.mark.parametrize("lengths", [[5, 5, 3, 1, 1], [2, 5, 1, 3, 4]])
@pytest.mark.parametrize("layer", PACKED)
def test_a_packed_sequence_gives_torchs_numbers_and_gradients(layer, lengths):
    def program(xp):
        rnn, module, sizes = xp.nn.utils.rnn, make(xp, layer), PACKED[layer]
        x, first = numbers(xp, 5, 5, 3).requires_grad_(), module.batch_first
        packed = rnn.pack_padded_sequence(x, lengths, first, enforce_sorted=lengths[0] == 5).double()
        state = None if sizes is None else numbers(xp, *sizes)
        state = (state, state * 2) if state is not None and "LSTM" in layer else state
        output, state = module(packed, state)
        padded, known = rnn.pad_packed_sequence(output, first, 7.0, 6)
        results = [*(t for t in packed if t is not None), padded, known, *tensors(state)]
        (padded.square().sum() + sum(t.sum() for t in tensors(state))).backward()
        grads = [x.grad, *(parameter.grad for parameter in module.parameters())]
        return [torch.from_numpy(each.detach().numpy()) for each in (*results, *grads)]

    assert_close(program(rl), program(torch))


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, rnn: rnn.pad_sequence([xp.ones(2, 3), xp.zeros(4, 3)], True, -1.0),
        lambda xp, rnn: rnn.pad_sequence([xp.ones(2), xp.zeros(4)], padding_side="left"),
        lambda xp, rnn: rnn.pad_sequence([xp.ones(2)], padding_side="top"),
        lambda xp, rnn: rnn.pad_sequence([]),
        lambda xp, rnn: rnn.pad_sequence(3),
        lambda xp, rnn: rnn.unpack_sequence(rnn.pack_sequence([xp.arange(2), xp.arange(4)], enforce_sorted=False)),
        lambda xp, rnn: rnn.unpad_sequence(xp.ones(3, 2), xp.tensor([3, 1])),
        lambda xp, rnn: rnn.pack_sequence([xp.arange(2), xp.arange(4)]),
        lambda xp, rnn: rnn.pack_padded_sequence(xp.ones(3, 2), [3]),
        lambda xp, rnn: rnn.pack_padded_sequence(xp.ones(3, 2), [3, 0]),
        lambda xp, rnn: rnn.pack_padded_sequence(xp.ones(3, 0), []),
        lambda xp, rnn: rnn.pad_packed_sequence(rnn.pack_sequence([xp.ones(3)]), total_length=2),
        lambda xp, rnn: [p := rnn.pack_sequence([xp.ones(3), xp.ones(1)]), p.to(xp.float32) is p, p.long().data.dtype],
        lambda xp, rnn: rnn.invert_permutation(xp.tensor([2, 0, 1])),
    ],
)
def test_sequences_are_padded_and_packed_as_torchs(program):
    agree(lambda xp: program(xp, xp.nn.utils.rnn))
