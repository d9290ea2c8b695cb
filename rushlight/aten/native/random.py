"""Random numbers.

A `Generator` is a source of random bits with a state. Kernels draw from the generator argument, or from the default generator,
which `manual_seed` seeds. In PyTorch: `aten/src/ATen/CPUGeneratorImpl.cpp`, `aten/src/ATen/native/Distributions.cpp`, and
`torch/random.py`. Rushlight uses numpy's generator: the distributions are PyTorch's, but the same seed gives other numbers. Left
out: other distributions, and generators of other devices.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.iterator import assert_no_internal_overlap
from rushlight.aten.strided import Tensor, empty_strided, expand
from rushlight.aten.structured import Output, allocate, check_floating, resize_output
from rushlight.c10 import storage
from rushlight.c10.dtypes import BOOLEAN, FLOATING, bool_, dtype, int64, uint8
from rushlight.c10.memory_formats import contiguous_format

__all__ = ["Generator", "manual_seed", "initial_seed", "seed", "get_rng_state", "set_rng_state"]

DEFAULT_SEED = 67280421310721  # PyTorch's


class Generator:
    """A source of random numbers. `manual_seed` restarts it, `get_state` and `set_state` save and restore its state.
    Source: `aten/src/ATen/core/Generator.h`."""

    def __init__(self, device: storage.device | str = "cpu") -> None:
        self.device = storage.device(device)
        if self.device.type != "cpu":
            raise RuntimeError(f"a Generator is of the device 'cpu', not {self.device.type!r}")
        self._seed, self._bits = DEFAULT_SEED, None

    @property
    def numpy(self) -> np.random.Generator:
        if self._bits is None:  # created on first use, because numpy imports its generators lazily
            self._bits = np.random.Generator(np.random.PCG64(self._seed))
        return self._bits

    def manual_seed(self, seed: int) -> Generator:
        self._seed, self._bits = int(seed) % 2**64, None
        return self

    def initial_seed(self) -> int:
        return self._seed

    def seed(self) -> int:
        """Set an unpredictable seed, and return it."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little")).initial_seed()

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes."""
        state = self.numpy.bit_generator.state
        counters = [state["state"]["state"], state["state"]["inc"], self._seed, state["uinteger"], state["has_uint32"]]
        out = empty_strided((len(counters) * 16,), (1,), uint8)
        out._array[...] = np.frombuffer(b"".join(each.to_bytes(16, "little") for each in counters), np.uint8)
        return out

    def set_state(self, new_state: Tensor) -> Generator:
        if new_state.dtype is not uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if tuple(new_state.shape) != (80,):
            raise RuntimeError("RNG state is wrong size")
        counters = (int.from_bytes(part.tobytes(), "little") for part in new_state._array.reshape(5, 16))
        state, inc, self._seed, uinteger, has_uint32 = counters
        rest = {"has_uint32": has_uint32, "uinteger": uinteger}
        self.numpy.bit_generator.state = {"bit_generator": "PCG64", "state": {"state": state, "inc": inc}, **rest}
        return self


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Restart the default generator. Source: `torch/random.py`, `manual_seed`."""
    return default_generator.manual_seed(seed)


initial_seed, seed, get_rng_state = default_generator.initial_seed, default_generator.seed, default_generator.get_state


def set_rng_state(new_state: Tensor) -> None:
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(enabled: bool = True):
    """On exit, restore the state that the default generator had on entry. Source: `torch/random.py`."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


# Fills ---------------------------------------------------------------------------------------------------------------


def _fill(self: Tensor, generator: Generator | None, draw: Callable) -> Tensor:
    """Fill `self` with the numbers that `draw(numpy generator, sizes)` returns."""
    assert_no_internal_overlap(self)
    if not self.is_meta:
        self._array[...] = draw((generator or default_generator).numpy, self.shape)
    return self


def _mantissa(dtype: dtype) -> int:
    """The bits of the significand: all multiples of 2**-bits in [0, 1) are exact."""
    return np.finfo(dtype.numpy).nmant + 1


def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers in [`from_`, `to`)."""
    check_floating("uniform_", self)
    if from_ > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    steps = 2 ** _mantissa(self.dtype)
    return _fill(self, generator, lambda bits, sizes: bits.integers(steps, size=sizes) / steps * (to - from_) + from_)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    check_floating("normal_", self)
    return _fill(self, generator, lambda bits, sizes: bits.standard_normal(sizes) * std + mean)


def bernoulli_float_(self: Tensor, p: float = 0.5, generator: Generator | None = None) -> Tensor:
    """1 with probability `p`, else 0."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _fill(self, generator, lambda bits, sizes: bits.random(sizes) < p)


def bernoulli_tensor_(self: Tensor, p: Tensor, generator: Generator | None = None) -> Tensor:
    """1 with the probability in `p` for each element, else 0."""
    probabilities = expand(p, self.shape)
    check_floating("bernoulli_", p)
    if not p.is_meta and not np.all((p._array >= 0) & (p._array <= 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    return _fill(self, generator, lambda bits, sizes: bits.random(sizes) < probabilities._array)


def random_(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Integers from 0 to the largest of the dtype. For a floating dtype this is the limit up to which all integers are exact."""
    return _fill_whole(self, 0, _largest(self.dtype) + 1, generator)


def random_to_(self: Tensor, to: int, generator: Generator | None = None) -> Tensor:
    return random_from_(self, 0, to, generator)


def random_from_(self: Tensor, from_: int, to: int | None, generator: Generator | None = None) -> Tensor:
    """Integers in [`from_`, `to`)."""
    if to is None:
        to = _largest(self.dtype) + 1
    if from_ >= to:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}")
    if self.dtype.category != FLOATING:
        smallest = 0 if self.dtype is bool_ else np.iinfo(self.dtype.numpy).min
        for name, bound in ("from", from_), ("to - 1", to - 1):
            if not smallest <= bound <= _largest(self.dtype):
                raise RuntimeError(f"{name} is out of bounds for {self.dtype.name}")
    return _fill_whole(self, from_, to, generator)


def _largest(dtype: dtype) -> int:
    if dtype.category == BOOLEAN:
        return 1
    return 2 ** _mantissa(dtype) if dtype.category == FLOATING else int(np.iinfo(dtype.numpy).max)


def _fill_whole(self: Tensor, start: int, end: int, generator: Generator | None) -> Tensor:
    return _fill(self, generator, lambda bits, sizes: bits.integers(start, end - 1, sizes, endpoint=True))


# New tensors ---------------------------------------------------------------------------------------------------------


def factory(fill: Callable, default: dtype | None = None) -> tuple[Callable, ...]:
    """The kernels of a factory: the plain form, the one with a generator, the out= forms of both, and `..._like`.

    In the schemas, the arguments of `fill(tensor, *args, generator=...)` come before the sizes, or after `self` of `..._like`.
    """

    def make(size, args, generator, dtype, device) -> Tensor:
        return fill(functions.empty(size, dtype=dtype or default, device=device), *args, generator=generator)

    def plain(*args) -> Tensor:
        *args, size, dtype, layout, device, pin_memory = args
        return make(size, args, None, dtype, device)

    def with_generator(*args) -> Tensor:
        *args, size, generator, dtype, layout, device, pin_memory = args
        return make(size, args, generator, dtype, device)

    def plain_out(*args) -> Tensor:
        *args, size, out = args
        return fill(out.resize_(size), *args, generator=None)

    def with_generator_out(*args) -> Tensor:
        *args, size, generator, out = args
        return fill(out.resize_(size), *args, generator=generator)

    def like(self: Tensor, *args) -> Tensor:
        *args, dtype, layout, device, pin_memory, memory_format = args
        made = functions.empty_like(self, dtype=dtype, device=device, memory_format=memory_format)
        return fill(made, *args, generator=None)

    return plain, with_generator, plain_out, with_generator_out, like


def _random_below(self: Tensor, high: int, generator: Generator | None) -> Tensor:
    return self.random_(0, high, generator=generator)


def _permutation(self: Tensor, generator: Generator | None) -> Tensor:
    """The integers from 0 to the number of elements in random order."""
    count = self.numel()
    if self.dtype is bool_:
        raise NotImplementedError("randperm is not implemented for 'Bool'")
    if count - 1 > _largest(self.dtype):
        raise RuntimeError(f"value cannot be converted to type {self.dtype.name} without overflow")
    return _fill(self, generator, lambda bits, sizes: bits.permutation(count))


rand, rand_generator, rand_out, rand_generator_out, rand_like = factory(Tensor.uniform_)
randn, randn_generator, randn_out, randn_generator_out, randn_like = factory(Tensor.normal_)
randint, randint_generator, randint_out, randint_generator_out, randint_like = factory(_random_below, int64)
randint_low, randint_low_generator, randint_low_out, randint_low_generator_out, randint_like_low = factory(
    Tensor.random_, int64
)
randperm, randperm_generator, randperm_out, randperm_generator_out, _ = factory(_permutation, int64)


def bernoulli(self: Tensor, generator: Generator | None = None) -> Tensor:
    """1 with the probability in each element of `self`, else 0."""
    return functions.empty_like(self, memory_format=contiguous_format).bernoulli_(self, generator=generator)


def bernoulli_out(self: Tensor, generator: Generator | None, out: Tensor) -> Tensor:
    resize_output(out, self.shape)
    return out.bernoulli_(self, generator=generator)


def bernoulli_p(self: Tensor, p: float, generator: Generator | None = None) -> Tensor:
    return functions.empty_like(self, memory_format=contiguous_format).bernoulli_(p, generator=generator)


def multinomial(self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Indices of the last dimension of `self`, (rows, columns) or (columns,), with probabilities proportional to its elements.
    Source: `aten/src/ATen/native/Distributions.cpp`, `multinomial`."""
    if self.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if self.dtype.category != FLOATING:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {self.dtype.type_name}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.size(-1):
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    out = allocate(Output((*self.shape[:-1], num_samples), None, int64), self.device.type)
    if not self.is_meta:
        chances = self._array.reshape(-1, self.size(-1)).astype(np.float64)
        if not np.all(np.isfinite(chances) & (chances >= 0)):
            raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
        totals = chances.sum(-1, keepdims=True)
        if np.any(totals == 0):
            raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
        bits = (generator or default_generator).numpy
        rows = [_drawn(bits, row, num_samples, replacement) for row in chances / totals]
        out._array[...] = np.reshape(rows, out.shape)
    return out


def multinomial_out(
    self: Tensor, num_samples: int, replacement: bool, generator: Generator | None, out: Tensor
) -> Tensor:
    if out.dtype is not int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.type_name}")
    drawn = multinomial(self, num_samples, replacement, generator)
    resize_output(out, drawn.shape)
    return out.copy_(drawn)


def _drawn(bits: np.random.Generator, chances: np.ndarray, count: int, replacement: bool) -> np.ndarray:
    if replacement:
        return bits.choice(chances.size, count, p=chances)
    # The largest values of chances / exponential variables, in descending order, are a sample without replacement.
    return np.argsort(-chances / bits.standard_exponential(chances.size), kind="stable")[:count]


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training, each element is 0 with probability `p`, and the others are divided by 1 - p, so that the mean stays.

    A composite kernel: it calls operators (`rl.functions`, or methods), so that autograd records them. The input is multiplied
    by a tensor like it (`empty_like`), which `bernoulli_(1 - p)` fills with ones and zeros, and which is then divided by 1 - p
    in place. If p is 1, the input is multiplied by a 0 instead: a tensor without dimensions, with the input's dtype and device.

    Args:
        input: of a floating-point dtype. For other dtypes the in-place division raises a RuntimeError; if p is 1, nothing is
            divided, and the result is zeros.

    Returns:
        a new tensor with the sizes and the dtype of `input`. If p is 0, or not in training, or if there are no elements, it is
        `input` itself.

    Raises:
        RuntimeError: p is not between 0 and 1, both included; also when not in training.

    Source: `aten/src/ATen/native/Dropout.cpp`, `_dropout_impl`.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * functions.zeros((), dtype=input.dtype, device=input.device)
    return input * functions.empty_like(input).bernoulli_(1 - p).div_(1 - p)


def dropout_(self: Tensor, p: float, train: bool) -> Tensor:
    scale = functions.dropout(functions.ones_like(self), p, train)
    return self if p == 0 or not train else self.mul_(scale)
