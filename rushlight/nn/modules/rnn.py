"""Recurrent layers and their cells: the parameters of `aten/native/rnn.py`, and the checks of what they are called with.

In PyTorch: `torch/nn/modules/rnn.py`. Left out: weights in one piece of memory for cuDNN.
"""

import math
from typing import Any

from rushlight.amp.autocast_mode import is_autocast_enabled
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.exception import warn
from rushlight.nn import init
from rushlight.nn.modules.module import Module, unusual
from rushlight.nn.parameter import Device, Dtype, Parameter
from rushlight.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}  # how many a cell has


class _Recurrent(Module):
    """Initial values are uniform between -1 / sqrt(hidden_size) and 1 / sqrt(hidden_size)."""

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)


# Layers --------------------------------------------------------------------------------------------------------------


class RNNBase(_Recurrent):
    """A recurrent layer over (steps, batch, input_size), or (batch, steps, input_size) if `batch_first`, or (steps, input_size)
    without a batch. It returns the output of each step, and the last hidden state, (layers * directions, batch, hidden_size).

    The parameters of layer k are `weight_ih_lk`, `weight_hh_lk`, `bias_ih_lk`, `bias_hh_lk`, and `weight_hr_lk` with projections;
    those of the other direction end in `_reverse`. `dropout` is between layers.

    Source: `torch/nn/modules/rnn.py`, `RNNBase`.
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check_settings(dropout)
        self._all_weights = []
        gate_size, output_size = GATES[mode] * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            layer_input_size = output_size * self.num_directions if layer else input_size
            for suffix in ("", "_reverse")[: self.num_directions]:
                sizes = {"weight_ih": (gate_size, layer_input_size), "weight_hh": (gate_size, output_size)}
                if bias:
                    sizes |= {"bias_ih": (gate_size,), "bias_hh": (gate_size,)}
                if proj_size:
                    sizes |= {"weight_hr": (proj_size, hidden_size)}
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in sizes])
                for name, size in zip(self._all_weights[-1], sizes.values()):
                    setattr(self, name, Parameter(functions.empty(size, device=device, dtype=dtype)))
        self.reset_parameters()

    def _check_settings(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1]: the probability of an element being zeroed")
        if dropout > 0 and self.num_layers == 1:
            warn(f"dropout is between layers: dropout={dropout} has no effect on one layer")
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(getattr(self, name)).__name__}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in GATES:
            raise ValueError(f"Unrecognized RNN mode: {self.mode}")

    num_directions: int = property(lambda self: 2 if self.bidirectional else 1)
    all_weights: list[list[Parameter]] = property(
        lambda self: [[getattr(self, name) for name in names] for names in self._all_weights]
    )

    _flat_weights_names: list[str] = property(lambda self: [name for names in self._all_weights for name in names])
    _flat_weights: list[Parameter] = property(lambda self: [getattr(self, name) for name in self._flat_weights_names])

    def __getstate__(self) -> dict[str, Any]:  # PyTorch keeps a list of all parameters, too
        return self.__dict__ | {name: getattr(self, name) for name in ("_flat_weights_names", "_flat_weights")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        lists = {"_flat_weights_names", "_flat_weights"}
        super().__setstate__({"proj_size": 0} | {name: value for name, value in state.items() if name not in lists})

    def flatten_parameters(self) -> None:
        """Has no effect: for cuDNN, PyTorch moves all parameters into one piece of memory."""

    def forward(self, input: Tensor | PackedSequence, hx: Any = None) -> tuple[Tensor | PackedSequence, Any]:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        is_batched, batch_dim = input.dim() == 3, 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        batch = input.size(batch_dim)
        states = self._initial_states(input, batch) if hx is None else self._given_states(hx, is_batched)
        output, states = self._run(input, (), states, batch, (self.batch_first,))
        if not is_batched:
            output, states = output.squeeze(batch_dim), [state.squeeze(1) for state in states]
        return output, tuple(states) if self.mode == "LSTM" else states[0]

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        """The states are in the first order of the sequences, before they were sorted."""
        data, batch_sizes, order, inverse = input
        batch = int(batch_sizes[0])
        states = self._initial_states(data, batch) if hx is None else list(hx) if self.mode == "LSTM" else [hx]
        if hx is not None and order is not None:
            states = [state.index_select(1, order) for state in states]
        output, states = self._run(data, (batch_sizes,), states, batch, ())
        states = states if inverse is None else [state.index_select(1, inverse) for state in states]
        output = PackedSequence(output, batch_sizes, order, inverse)
        return output, tuple(states) if self.mode == "LSTM" else states[0]

    def _run(self, input: Tensor, sizes: tuple, states: list[Tensor], batch: int, last: tuple) -> tuple[Tensor, list]:
        self._check(input, states, batch)
        settings = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional, *last
        operator = getattr(functions, self.mode.lower())
        output, *states = operator(
            input, *sizes, states if self.mode == "LSTM" else states[0], self._flat_weights, *settings
        )
        return output, states

    def _state_sizes(self) -> list[int]:
        """The hidden sizes of the tensors of a state: of an LSTM also that of the cell state."""
        return [self.proj_size or self.hidden_size, self.hidden_size][: 2 if self.mode == "LSTM" else 1]

    def _initial_states(self, input: Tensor, batch: int) -> list[Tensor]:
        sizes = self.num_layers * self.num_directions, batch
        options = {"dtype": input.dtype, "device": input.device}
        return [functions.zeros((*sizes, size), **options) for size in self._state_sizes()]

    def _given_states(self, hx: Any, is_batched: bool) -> list[Tensor]:
        states = list(hx) if self.mode == "LSTM" else [hx]
        dims = 3 if is_batched else 2
        for state in states:
            if state.dim() != dims:
                raise RuntimeError(f"For {dims}-D input, hx should also be {dims}-D but got {state.dim()}-D tensor")
        return states if is_batched else [state.unsqueeze(1) for state in states]

    def _check(self, input: Tensor, states: list[Tensor], batch: int) -> None:
        """Source: `torch/nn/modules/rnn.py`, `RNNBase.check_forward_args`."""
        weight = self._flat_weights[0]
        if input.dtype is not weight.dtype and not is_autocast_enabled("cpu"):
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype})")
        if self.input_size != input.size(-1):
            expected = f"Expected {self.input_size}, got {input.size(-1)}"
            raise RuntimeError(f"input.size(-1) must be equal to input_size. {expected}")
        for size, state in zip(self._state_sizes(), states):
            expected = (self.num_layers * self.num_directions, batch, size)
            if tuple(state.shape) != expected:
                raise RuntimeError(f"Expected hidden size {expected}, got {list(state.shape)}")

    def extra_repr(self) -> str:
        last = unusual(self, batch_first=False, dropout=0, bidirectional=False)
        settings = [*unusual(self, proj_size=0, num_layers=1, bias=True), *last]
        return ", ".join([str(self.input_size), str(self.hidden_size), *settings])


class RNN(RNNBase):
    """tanh or relu of the gates. The argument after `num_layers` is the `nonlinearity`.
    Source: `torch/nn/modules/rnn.py`, `RNN`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projections(kwargs)
        if len(args) > 3:
            args, nonlinearity = (*args[:3], *args[4:]), args[3]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Its hidden state is a pair: the output of the last step, and the cell state. With a `proj_size`, the output is projected to
    that size. Source: `torch/nn/modules/rnn.py`, `LSTM`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Layers of gated recurrent units. Source: `torch/nn/modules/rnn.py`, `GRU`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projections(kwargs)
        super().__init__("GRU", *args, **kwargs)


def _refuse_projections(kwargs: dict) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


# Cells ---------------------------------------------------------------------------------------------------------------


class RNNCellBase(_Recurrent):
    """One step of a recurrent layer: of (batch, input_size), or (input_size,), to a hidden state (batch, hidden_size), or
    (hidden_size,). Source: `torch/nn/modules/rnn.py`, `RNNCellBase`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gate_size = num_chunks * hidden_size
        sizes = {"weight_ih": (gate_size, input_size), "weight_hh": (gate_size, hidden_size)}
        for name, size in (sizes | {"bias_ih": (gate_size,), "bias_hh": (gate_size,)}).items():
            wanted = bias or name in sizes
            weight = Parameter(functions.empty(size, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, weight)
        self.reset_parameters()

    def _step(self, operator: Any, input: Tensor, hx: Any) -> Any:
        """A step of the operator of the cell, on a state that is a tensor, or a pair of tensors."""
        name, is_pair = type(self).__name__, operator is functions.lstm_cell
        states = () if hx is None else tuple(hx) if is_pair else (hx,)
        for what, tensor in (("input", input), *(("hidden", state) for state in states)):
            if tensor.dim() not in (1, 2):
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {tensor.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input, states = input.unsqueeze(0), tuple(state.unsqueeze(0) for state in states)
        if hx is None:
            zeros = functions.zeros((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)
            states = (zeros, zeros)
        weights = self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        result = operator(input, states if is_pair else states[0], *weights)
        if is_batched:
            return result
        return (result[0].squeeze(0), result[1].squeeze(0)) if is_pair else result.squeeze(0)

    def extra_repr(self) -> str:
        shown = [str(self.input_size), str(self.hidden_size)]
        shown += [f"bias={self.bias}"] if self.bias is not True else []
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return ", ".join(shown + ([f"nonlinearity={nonlinearity}"] if nonlinearity != "tanh" else []))


class RNNCell(RNNCellBase):
    """One step of an `RNN`: `tanh` or `relu` of the sum of two linear layers, of the input and of the hidden state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Device = None,
        dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        operator = functions.rnn_tanh_cell if self.nonlinearity == "tanh" else functions.rnn_relu_cell
        return self._step(operator, input, hx)


class LSTMCell(RNNCellBase):
    """One step of an `LSTM`: it returns the hidden state and the cell state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        return self._step(functions.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    """One step of a `GRU`: it returns the hidden state."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(functions.gru_cell, input, hx)
