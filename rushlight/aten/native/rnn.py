"""Recurrent layers: the same cell at each step of a sequence, on the step's input and on the hidden state of the step before.

A cell is a function of two sums, the *gates*: of the input times its weights, and of the hidden state times its weights. The
gates of all inputs are one product of matrices. Those of the hidden state need the step before. A hidden state is a tuple here:
one tensor, or two for an LSTM, the output and the cell state. The layers of gated cells run each step as one operator, as PyTorch
does on CUDA. In PyTorch: `aten/src/ATen/native/RNN.cpp`, `cuda/RNN.cu`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.elementary import logistic
from rushlight.aten.native.pointwise import SIMPLE_DTYPES
from rushlight.aten.strided import META, Tensor, wrap_contiguous
from rushlight.c10.dispatch import local
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.library import is_overridden

State = tuple[Tensor, ...]

# One step: the gates of the input, those of the hidden state, and the hidden state, to the next hidden state -------------


def plain_step(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor, State], State]:
    """The step of a plain RNN, `activation(hidden + input)`, where both terms are products with weights already."""
    return lambda input, hidden, state: (activation(hidden + input),)


rnn_tanh_step = plain_step(functions.tanh)
"""The step of `rnn_tanh`: see `plain_step`. Source: `aten/src/ATen/native/RNN.cpp`, `tanh_f`."""
rnn_relu_step = plain_step(functions.relu)
"""The step of `rnn_relu`: see `plain_step`. Source: `aten/src/ATen/native/RNN.cpp`, `relu_f`."""


def lstm_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """The cell state keeps what the forget gate lets through, and gains what the input gate lets in.
    Source: `aten/src/ATen/native/RNN.cpp`, `LSTMCell`."""
    return lstm_gates((hidden + input).chunk(4, 1), state[1], functions.sigmoid, functions.tanh)[:2]


def lstm_gates(gates: Sequence, cx: Any, sigmoid: Callable, tanh: Callable) -> tuple:
    """The next hidden state and cell state, and the gates for input, forgetting, cell and output, from tensors or from arrays."""
    ingate, forgetgate, outgate, cellgate = *(sigmoid(gates[i]) for i in (0, 1, 3)), tanh(gates[2])
    cy = forgetgate * cx + ingate * cellgate
    return outgate * tanh(cy), cy, ingate, forgetgate, cellgate, outgate


def lstm_gradients(grad_hy: Any, grad_cy: Any, cx: Any, active: Any, ingate, forgetgate, cellgate, outgate) -> tuple:
    """The gradients of the four gates, and that of `cx`, from tensors or from arrays. `active` is tanh(cy)."""
    to_cell = grad_hy * outgate * (1 - active * active) + grad_cy
    to_in, to_forget = to_cell * cellgate * (1 - ingate) * ingate, to_cell * cx * (1 - forgetgate) * forgetgate
    to_out, to_new = grad_hy * active * (1 - outgate) * outgate, to_cell * ingate * (1 - cellgate * cellgate)
    return (to_in, to_forget, to_new, to_out), to_cell * forgetgate


def gru_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """A mean of the old state and of a new one, weighted by the update gate. The reset gate chooses what of the old state the
    new one sees.
    Source: `aten/src/ATen/native/RNN.cpp`, `GRUCell`."""
    return gru_gates(input.chunk(3, 1), hidden.chunk(3, 1), state[0], functions.sigmoid, functions.tanh)[:1]


def gru_gates(input: Sequence, hidden: Sequence, hx: Any, sigmoid: Callable, tanh: Callable) -> tuple:
    """The next state, the reset gate, the update gate and the new state, from tensors or from arrays."""
    reset, update = sigmoid(hidden[0] + input[0]), sigmoid(hidden[1] + input[1])
    new = tanh(input[2] + hidden[2] * reset)
    return (hx - new) * update + new, reset, update, new


def gru_gradients(grad: Any, reset: Any, update: Any, new: Any, hx: Any, hidden_new: Any) -> tuple:
    """The gradients of the gates of the input, of those of the hidden state, and of the state, from tensors or from arrays."""
    to_state = grad * update
    to_new = (grad - to_state) * (1 - new * new)
    to_update = grad * (hx - new) * (1 - update) * update
    to_reset = to_new * hidden_new * (1 - reset) * reset
    return (to_reset, to_update, to_new), (to_reset, to_update, to_new * reset), to_state


# The same steps as one operator ------------------------------------------------------------------------------------------


def _parts(array: np.ndarray, count: int) -> list[np.ndarray]:
    """The gates of an array of (batch, count * hidden)."""
    width = array.shape[1] // count
    return [array[:, i * width : (i + 1) * width] for i in range(count)]


def _joined(parts: Sequence[np.ndarray], like: Tensor) -> Tensor:
    return wrap_contiguous(np.concatenate(parts, 1), like.dtype)


def _with_bias(gates: Tensor, bias: Tensor | None) -> np.ndarray:
    return gates._array if bias is None else gates._array + bias._array


def _of_bias(to_gates: Tensor, has_bias: bool) -> Tensor | None:
    return wrap_contiguous(to_gates._array.sum(0), to_gates.dtype) if has_bias else None


def _thnn_fused_lstm_cell(
    input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, input_bias=None, hidden_bias=None
) -> tuple[Tensor, Tensor, Tensor]:
    """The next hidden state and cell state, (batch, hidden), and a workspace for backward, (batch, 4 * hidden): the gates.
    Source: `aten/src/ATen/native/cuda/RNN.cu`, `_thnn_fused_lstm_cell_cuda`."""
    sums = _parts(_with_bias(hidden_gates, hidden_bias) + _with_bias(input_gates, input_bias), 4)
    hy, cy, *gates = lstm_gates(sums, cx._array, logistic, np.tanh)
    return wrap_contiguous(hy, cx.dtype), wrap_contiguous(cy, cx.dtype), _joined(gates, cx)


def _thnn_fused_lstm_cell_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """The gradients of `input_gates`, `hidden_gates`, `cx` and the biases.
    Source: `aten/src/ATen/native/cuda/RNN.cu`, `_thnn_fused_lstm_cell_backward_cuda`."""
    of_hy, of_cy = (0 if grad is None else grad._array for grad in (grad_hy, grad_cy))
    to_sums, to_cx = lstm_gradients(of_hy, of_cy, cx._array, np.tanh(cy._array), *_parts(workspace._array, 4))
    to_gates = _joined(to_sums, cx)
    to_bias = _of_bias(to_gates, has_bias)
    return to_gates, to_gates, wrap_contiguous(to_cx, cx.dtype), to_bias, to_bias


def _thnn_fused_gru_cell(
    input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, input_bias=None, hidden_bias=None
) -> tuple[Tensor, Tensor]:
    """The next state, (batch, hidden), and a workspace for backward, (batch, 5 * hidden): the reset gate, the update gate, the new
    state, the state before, and what the hidden state adds to the new one.
    Source: `aten/src/ATen/native/cuda/RNN.cu`, `_thnn_fused_gru_cell_cuda`."""
    before, hidden = hx._array, _parts(_with_bias(hidden_gates, hidden_bias), 3)
    after, *gates = gru_gates(_parts(_with_bias(input_gates, input_bias), 3), hidden, before, logistic, np.tanh)
    return wrap_contiguous(after, hx.dtype), _joined((*gates, before, hidden[2]), hx)


def _thnn_fused_gru_cell_backward(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    """The gradients of `input_gates`, `hidden_gates`, `hx` and the biases.
    Source: `aten/src/ATen/native/cuda/RNN.cu`, `_thnn_fused_gru_cell_backward_cuda`."""
    *of_gates, to_hx = gru_gradients(grad_hy._array, *_parts(workspace._array, 5))
    to_gates = [_joined(gates, grad_hy) for gates in of_gates]
    return *to_gates, wrap_contiguous(to_hx, grad_hy.dtype), *(_of_bias(gates, has_bias) for gates in to_gates)


def _can_fuse(input: Tensor, hidden: Tensor, state: State) -> bool:
    if local.modes or input._key_set & META or is_overridden("aten::sigmoid", "aten::tanh"):
        return False
    return input.dtype in SIMPLE_DTYPES and all(tensor.dtype is input.dtype for tensor in (hidden, *state))


@fast_form_of(lstm_step, "autograd")
def fused_lstm_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """`lstm_step` as one operator. Autograd then records one node, so this is a fast form of autograd too."""
    fused = functions._thnn_fused_lstm_cell
    return fused(input, hidden, state[1])[:2] if _can_fuse(input, hidden, state) else lstm_step(input, hidden, state)


@fast_form_of(gru_step, "autograd")
def fused_gru_step(input: Tensor, hidden: Tensor, state: State) -> State:
    """`gru_step` as one operator, as for an LSTM."""
    fused = functions._thnn_fused_gru_cell
    return fused(input, hidden, *state)[:1] if _can_fuse(input, hidden, state) else gru_step(input, hidden, state)


# Cells: one step -----------------------------------------------------------------------------------------------------


def cell(step: Callable, input: Tensor, state: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih, b_hh) -> State:
    """One step of a recurrent layer, after a check of all sizes.
    Source: `aten/src/ATen/native/RNN.cpp`, `check_rnn_cell_forward_input` and `check_rnn_cell_forward_hidden`."""
    if step is lstm_step and len(state) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")
    gates = {lstm_step: 4, gru_step: 3}.get(step, 1)
    for number, hidden in enumerate(state):
        if input.size(0) != hidden.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{number} batch size {hidden.size(0)}"
            )
        if hidden.size(1) != w_hh.size(1):
            sizes = f"got {hidden.size(1)}, expected {w_hh.size(1)}"
            raise RuntimeError(f"hidden{number} has inconsistent hidden_size: {sizes}")
        for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
            if weight.size(0) != gates * hidden.size(1):
                first = f"{gates} * hidden_size = {gates * hidden.size(1)}"
                raise RuntimeError(f"{name} first dim must be {first}, but got {weight.size(0)}")
    return step(functions.linear(input, w_ih, b_ih), functions.linear(state[0], w_hh, b_hh), tuple(state))


# Layers: all steps, in one direction or in both, one layer on the other -----------------------------------------------


def _layer(step: Callable, input: Tensor, state: State, params: Sequence, has_biases: bool, reverse: bool, sizes):
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
            output, state = _layer(fastest[step], input, states[number], own, has_biases, direction == 1, sizes)
            outputs.append(output)
            last.append(state)
        input = functions.cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and layer < num_layers - 1:
            input = functions.dropout(input, dropout, True)
    if batch_first:
        input = input.transpose(0, 1)
    return input, *(functions.stack(final) for final in zip(*last))
