"""Recurrent layers: the same cell at each step of a sequence, on the step's input and on the hidden state of the step before.

A cell is a function of two sums, the *gates*: of the input times its weights, and of the hidden state times its weights. The
gates of all inputs are one product of matrices. Those of the hidden state need the step before. A hidden state is a tuple here:
one tensor, or two for an LSTM, the output and the cell state. In PyTorch: `aten/src/ATen/native/RNN.cpp`. Left out:
the fused kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor

State = tuple[Tensor, ...]

# One step: the gates of the input, those of the hidden state, and the hidden state, to the next hidden state -------------


def rnn_tanh_step(input: Tensor, hidden: Tensor, state: State) -> State:
    return (functions.tanh(hidden + input),)


def rnn_relu_step(input: Tensor, hidden: Tensor, state: State) -> State:
    return (functions.relu(hidden + input),)


def lstm_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """The cell state keeps what the forget gate lets through, and gains what the input gate lets in.
    Source: `aten/src/ATen/native/RNN.cpp`, `LSTMCell`."""
    ingate, forgetgate, cellgate, outgate = (hidden + input).chunk(4, 1)
    cell = forgetgate.sigmoid() * state[1] + ingate.sigmoid() * cellgate.tanh()
    return outgate.sigmoid() * cell.tanh(), cell


def gru_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """A mean of the old state and of a new one, weighted by the update gate. The reset gate chooses what of the old state the
    new one sees.
    Source: `aten/src/ATen/native/RNN.cpp`, `GRUCell`."""
    input_reset, input_update, input_new = input.chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = hidden.chunk(3, 1)
    reset, update = (hidden_reset + input_reset).sigmoid(), (hidden_update + input_update).sigmoid()
    new = (input_new + hidden_new * reset).tanh()
    return ((state[0] - new) * update + new,)


# Cells: one step -----------------------------------------------------------------------------------------------------


def cell(step: Callable, input: Tensor, state: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih, b_hh) -> State:
    """Source: `aten/src/ATen/native/RNN.cpp`, `check_rnn_cell_forward_input` and `check_rnn_cell_forward_hidden`."""
    if step is lstm_step and len(state) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")
    for hidden in state:
        if input.size(0) != hidden.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden batch size {hidden.size(0)}")
        if hidden.size(1) != w_hh.size(1):
            raise RuntimeError(f"hidden has inconsistent hidden_size: got {hidden.size(1)}, expected {w_hh.size(1)}")
    return step(functions.linear(input, w_ih, b_ih), functions.linear(state[0], w_hh, b_hh), tuple(state))


# Layers: all steps, in one direction or in both, one layer on the other -----------------------------------------------


def _layer(
    step: Callable, input: Tensor, state: State, params: Sequence[Tensor], has_biases: bool, reverse: bool, sizes
):
    """The outputs of all steps, (steps, batch, hidden), and the last state. An LSTM with projections has one more parameter, by
    which its output is multiplied. A packed sequence has a batch of another of the `sizes` at each step."""
    w_ih, w_hh, *rest = params
    b_ih, b_hh = rest[:2] if has_biases else (None, None)
    projection = rest[2:] if has_biases else rest
    of_inputs, outputs, first = functions.linear(input, w_ih, b_ih), [], state
    gates = of_inputs.split(sizes) if sizes else of_inputs.unbind(0)
    ended: list[list[Tensor]] = []
    if sizes and reverse:
        state = tuple(tensor.narrow(0, 0, sizes[-1]) for tensor in state)
    for of_input in reversed(gates) if reverse else gates:
        size, before = of_input.size(0), state[0].size(0)
        if size < before:
            ended.insert(0, [tensor.narrow(0, size, before - size) for tensor in state])
            state = tuple(tensor.narrow(0, 0, size) for tensor in state)
        elif size > before:  # sequences that end here begin in the reverse direction
            begun = [tensor.narrow(0, before, size - before) for tensor in first]
            state = tuple(map(functions.cat, zip(state, begun)))
        state = step(of_input, functions.linear(state[0], w_hh, b_hh), state)
        if projection:
            state = (functions.linear(state[0], projection[0]), *state[1:])
        outputs.append(state[0])
    state = tuple(map(functions.cat, zip(state, *ended))) if ended else state
    return (functions.cat if sizes else functions.stack)(outputs[::-1] if reverse else outputs), state


def layers(
    step, batch_sizes, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=False
) -> tuple[Tensor, ...]:
    """The outputs of the last layer, and the last states of all layers and directions, (layers * directions, batch, hidden).
    With `batch_sizes`, the sequence is packed.
    Source: `aten/src/ATen/native/RNN.cpp`, `_rnn_impl_with_concat` and `apply_layer_stack`."""
    if step is lstm_step and len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    sizes = None if batch_sizes is None else batch_sizes._array.tolist()
    if batch_first:
        input = input.transpose(0, 1)
    if input.size(0) == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    directions = 2 if bidirectional else 1
    count = len(params) // (num_layers * directions)
    states, last = list(zip(*(tensor.unbind(0) for tensor in hx))), []
    for layer in range(num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            own = params[number * count : (number + 1) * count]
            output, state = _layer(step, input, states[number], own, has_biases, direction == 1, sizes)
            outputs.append(output)
            last.append(state)
        input = functions.cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            input = functions.dropout(input, dropout, True)
    if batch_first:
        input = input.transpose(0, 1)
    return input, *(functions.stack(final) for final in zip(*last))
