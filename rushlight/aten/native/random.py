"""Random numbers.

A `Generator` is a source of random bits with a state. Kernels draw from the generator argument, or from the default generator,
which `manual_seed` seeds. In PyTorch: `aten/src/ATen/CPUGeneratorImpl.cpp`, `aten/src/ATen/core/DistributionsHelper.h`,
`aten/src/ATen/native/cpu/DistributionTemplates.h`, and `torch/random.py`.

The bits are those of PyTorch's CPU generator, and so are the formulas: the same seed gives PyTorch's numbers. Integers, and
floating-point numbers from `rand`, are equal. PyTorch's own loops differ in the last bits between CPUs, because some use fused
multiply-add and approximate logarithms and sines. So numbers of `uniform_` with bounds, `normal_` and `exponential_` are equal
except for rounding: 1e-6 of the standard deviation in float32. Left out: other distributions, and generators of other devices.
"""

from __future__ import annotations  # numpy imports its generators lazily

import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.iterator import assert_no_internal_overlap, assert_no_partial_overlap, loop_arrays
from rushlight.aten.native.creation import resize_
from rushlight.aten.native.pointwise import copy_
from rushlight.aten.strided import Tensor, empty_strided, expand, infer_size
from rushlight.aten.structured import Output, allocate, check_floating, resize_output
from rushlight.c10 import dtypes, storage
from rushlight.c10.dispatch import BIT, excluding
from rushlight.c10.dtypes import FLOATING, REDUCED_FLOATING, bool_, dtype, float32, float64, int64, numpy_finfo
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fastest
from rushlight.library import through_table

__all__ = ["Generator", "default_generator", "manual_seed", "initial_seed", "seed", "get_rng_state", "set_rng_state"]

DEFAULT_SEED = 67280421310721  # PyTorch's
WORDS = 624  # of 32 bits, the state of a Mersenne Twister

# The bytes of a state. Source: `aten/src/ATen/CPUGeneratorImpl.cpp`, `CPUGeneratorImplState`.
LEGACY_STATE = np.dtype(
    [
        ("the_initial_seed", "u8"), ("left", "i4"), ("seeded", "i4"), ("next", "u8"), ("state", "u8", WORDS),
        ("normal_x", "f8"), ("normal_y", "f8"), ("normal_rho", "f8"), ("normal_is_valid", "i4"),
    ],
    align=True,
)  # fmt: skip
STATE = np.dtype(
    [
        ("legacy_pod", LEGACY_STATE), ("next_float_normal_sample", "f4"),
        ("is_next_float_normal_sample_valid", "?"),
    ],
    align=True,
)  # fmt: skip


class Generator:
    """A source of random numbers, a Mersenne Twister. `manual_seed` restarts it, `get_state` and `set_state` save and restore
    its state. Source: `aten/src/ATen/core/MT19937RNGEngine.h` and `aten/src/ATen/CPUGeneratorImpl.h`."""

    def __init__(self, device: storage.device | str = "cpu") -> None:
        self.device = storage.device("cpu" if device is None else device)
        if self.device.type != "cpu":
            raise RuntimeError(f"a Generator is of the device 'cpu', not {self.device.type!r}")
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Restart with this seed. Of its 64 bits, the lowest 32 choose the numbers."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = int(seed) % 2**64
        self._engine: np.random.MT19937 | None = None
        self._pairs: np.random.Generator | None = None
        self.next_double_normal_sample: float | None = None
        self.next_float_normal_sample: float | None = None
        return self

    def initial_seed(self) -> int:
        return self._seed

    def seed(self) -> int:
        """Set an unpredictable seed, and return it."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little")).initial_seed()

    @property
    def engine(self) -> np.random.MT19937:
        if self._engine is None:  # created on first use, because numpy imports its generators lazily
            self._engine = np.random.MT19937()
            self._engine._legacy_seeding(self._seed % 2**32)
        return self._engine

    def random(self, count: int) -> np.ndarray:
        """`count` random numbers of 32 bits, as uint64."""
        return self.engine.random_raw(count)

    def random64(self, count: int) -> np.ndarray:
        """`count` random numbers of 64 bits, each of two of 32 bits, the upper half first."""
        if self._pairs is None:
            self._pairs = np.random.Generator(self.engine)
        return self._pairs.integers(0, 2**64, count, np.uint64)

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, as PyTorch's."""
        state, twister = np.zeros((), STATE), self.engine.state["state"]
        fresh = twister["pos"] == WORDS and twister["key"][0] == self._seed % 2**32
        legacy = state["legacy_pod"]
        legacy["the_initial_seed"], legacy["state"], legacy["seeded"] = self._seed, twister["key"], 1
        legacy["next"] = 0 if fresh else twister["pos"]
        legacy["left"] = 1 if fresh else WORDS + 1 - twister["pos"]
        if self.next_double_normal_sample is not None:
            legacy["normal_is_valid"], legacy["normal_y"] = 1, self.next_double_normal_sample
        if self.next_float_normal_sample is not None:
            state["is_next_float_normal_sample_valid"] = True
            state["next_float_normal_sample"] = self.next_float_normal_sample
        out = empty_strided((STATE.itemsize,), (1,), dtypes.uint8)
        out._array[...] = np.frombuffer(state.tobytes(), np.uint8)
        return out

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` returned, here or in PyTorch."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype is not dtypes.uint8 or new_state.is_meta:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if not new_state.is_contiguous():
            raise RuntimeError("RNG state must be contiguous")
        if new_state.numel() != STATE.itemsize:
            found = f"found the input RNG state size to be {new_state.numel()}"
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but {found}")
        state = np.frombuffer(new_state._array.tobytes(), STATE)[0]
        legacy = state["legacy_pod"]
        if not (legacy["seeded"] and 0 < legacy["left"] <= WORDS and legacy["next"] <= WORDS):
            raise RuntimeError("Invalid mt19937 state")
        self._seed = int(legacy["the_initial_seed"])
        position = WORDS if legacy["left"] == 1 else int(legacy["next"])  # 1: the next number begins another round
        twister = {"key": legacy["state"].astype(np.uint32), "pos": position}
        state_of_engine: Any = {"bit_generator": "MT19937", "state": twister}  # numpy's types give "key" another dtype
        self.engine.state = state_of_engine
        self.next_double_normal_sample = float(legacy["normal_y"]) if legacy["normal_is_valid"] else None
        valid = state["is_next_float_normal_sample_valid"]
        self.next_float_normal_sample = float(state["next_float_normal_sample"]) if valid else None
        return self

    def __reduce__(self) -> tuple:
        return type(self), (self.device,), (self._seed, None, self.get_state())

    def __setstate__(self, state: tuple[int, None, Tensor]) -> None:
        seed, _, engine = state
        self.manual_seed(seed).set_state(engine)

    def clone_state(self) -> Generator:
        """A new generator with the same state."""
        return Generator(self.device).set_state(self.get_state())


default_generator = Generator()
"""The generator of the CPU, from which a random operator draws without the argument `generator`.
Source: `torch/random.py`."""
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Restart the default generator. Source: `torch/random.py`, `manual_seed`."""
    return default_generator.manual_seed(int(seed))


initial_seed, seed, get_rng_state = default_generator.initial_seed, default_generator.seed, default_generator.get_state
"""The methods `initial_seed`, `seed` and `get_state` of `default_generator`. Source: `torch/random.py`."""


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator, as `get_rng_state` has returned it."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Iterable | None = None, enabled: bool = True):
    """On exit, restore the state that the default generator had on entry. There are no other `devices` here.
    Source: `torch/random.py`."""
    if devices := list(devices or ()):
        raise RuntimeError(f"rushlight leaves out generators of other devices: {devices}")
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)


# Distributions -------------------------------------------------------------------------------------------------------
# Each returns `count` numbers. Source: `aten/src/ATen/core/DistributionsHelper.h`


LOWEST_24, LOWEST_53 = np.uint64(2**24 - 1), np.uint64(2**53 - 1)


def uniform_real(generator: Generator, count: int, real: type | np.dtype) -> np.ndarray:
    """Uniform numbers in [0, 1): multiples of 2**-24 in float32, and of 2**-53 in float64."""
    if real == np.float64:
        return (generator.random64(count) & LOWEST_53) * 2.0**-53
    return (generator.random(count) & LOWEST_24).astype(np.float32) * np.float32(2.0**-24)


def normal_distribution(generator: Generator, count: int) -> np.ndarray:
    """Numbers with mean 0 and standard deviation 1, in float64. Two uniform numbers give two of them (the method of Box and
    Muller): if `count` is odd, the generator keeps the second one for the next call."""
    kept = generator.next_double_normal_sample
    pairs = (count + (kept is None)) // 2
    u1, u2 = uniform_real(generator, 2 * pairs, np.float64).reshape(pairs, 2).T
    radius, theta = np.sqrt(-2.0 * np.log1p(-u2)), 2.0 * np.pi * u1
    samples = np.stack([radius * np.cos(theta), radius * np.sin(theta)], 1).ravel()
    if kept is not None:
        samples = np.append(kept, samples)
    generator.next_double_normal_sample = float(samples[-1]) if samples.size > count else None
    return samples[:count]


def normal_fill(generator: Generator, count: int, of: dtype) -> np.ndarray:
    """At least 16 numbers with mean 0 and standard deviation 1, in float64. 16 uniform numbers give 16 of them: the first 8 give
    radii, and the others angles. If `count` is not a multiple of 16, the last 16 numbers are drawn again.
    Source: `aten/src/ATen/native/cpu/DistributionTemplates.h`, `normal_fill`."""
    real = np.float64 if of is float64 else np.float32
    whole, tail = count - count % 16, 16 if count % 16 else 0
    unused = 0 if of in REDUCED_FLOATING else count - whole  # for these, PyTorch draws no numbers that it does not use
    uniform = uniform_real(generator, whole + unused + tail, real)
    blocks = (np.concatenate([uniform[:whole], uniform[whole + unused :]]) if tail else uniform).reshape(-1, 16)
    radius = np.sqrt(-2.0 * np.log(1 - blocks[:, :8], dtype=np.float64))
    theta = (real(2 * np.pi) * blocks[:, 8:]).astype(np.float64)  # float32 rounds the angle, and the results show it
    samples = np.concatenate([radius * np.cos(theta), radius * np.sin(theta)], 1).ravel()
    return np.concatenate([samples[: count - tail], samples[whole:]]) if tail else samples


def uniform_int(generator: Generator, count: int, span: int, base: int) -> np.ndarray:
    """Integers in [`base`, `base` + `span`), as int64. The remainder of a division is not quite uniform, so a large span needs
    64 bits."""
    drawn = generator.random64(count) if span >= 2**28 else generator.random(count)
    return (drawn % np.uint64(span)).astype(np.int64) + np.int64(base)


# Fills ---------------------------------------------------------------------------------------------------------------


def _fill(self: Tensor, generator: Generator | None, draw: Callable) -> Tensor:
    """Fill `self`, in the order of its memory, with the numbers that `draw(generator, count)` returns.
    Source: `aten/src/ATen/native/cpu/Loops.h`, `cpu_serial_kernel`."""
    assert_no_internal_overlap(self)
    if not self.is_meta and self.numel():
        array = fastest[loop_arrays](self, (), self.dtype)[0]
        array[...] = draw(generator or default_generator, array.size).reshape(array.shape)
    return self


def digits(dtype: dtype) -> int:
    """The bits of the significand: all integers up to 2**digits are exact."""
    return numpy_finfo(dtype).nmant + 1


def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers in [`from_`, `to`)."""
    check_floating("uniform_", self)
    if from_ == 0 and to == 1 and self.dtype not in REDUCED_FLOATING:
        return _fill(self, generator, lambda bits, count: uniform_real(bits, count, self.dtype.numpy))
    largest = float(numpy_finfo(self.dtype).max)
    for name, bound in ("from", from_), ("to", to):
        if not -largest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {self.dtype.name}")
    if from_ > to:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}")
    if to - from_ > largest:
        raise RuntimeError(f"uniform_ expects to-from <= {largest}, but found to={to} and from={from_}")
    final, real = self.dtype.numpy.type, np.float64 if self.dtype is float64 else np.float32
    low, span = float(real(from_)), float(real(to) - real(from_))

    def draw(generator: Generator, count: int) -> np.ndarray:
        x = uniform_real(generator, count, real).astype(np.float64)
        drawn = (x * span + low).astype(real).astype(final)  # one rounding, as a fused multiply-add
        return np.where(drawn == final(to), final(from_), drawn)  # a number may have been rounded up to `to`

    return _fill(self, generator, draw)


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normally distributed numbers. A contiguous tensor of at least 16 elements gets other numbers (`normal_fill`) than a
    small one, or one with other strides (`normal_distribution`)."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if not self.numel():
        return self
    check_floating("normal_", self)

    def draw(generator: Generator, count: int) -> np.ndarray:
        in_blocks = count >= 16 and self.is_contiguous()
        samples = normal_fill(generator, count, self.dtype) if in_blocks else normal_distribution(generator, count)
        return samples * std + mean

    return _fill(self, generator, draw)


def exponential_(self: Tensor, lambd: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Exponentially distributed numbers with the mean 1 / `lambd`."""
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    if not self.numel():
        return self
    if self.dtype.category != FLOATING:
        wanted = f"dtype must be a floating point but you specified {self.dtype.type_name}"
        raise RuntimeError(f"Exponential distribution is a continuous probability distribution. {wanted}")
    return _fill(self, generator, lambda bits, count: -1.0 / lambd * np.log1p(-uniform_real(bits, count, np.float64)))


def bernoulli_float_(self: Tensor, p: float = 0.5, generator: Generator | None = None) -> Tensor:
    """1 with probability `p`, else 0."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    below = np.uint64(math.ceil(p * 2**53))  # of 2**53 numbers, those that are less than `p` as a fraction
    return _fill(self, generator, lambda bits, count: (bits.random64(count) & LOWEST_53) < below)


def bernoulli_tensor_(self: Tensor, p: Tensor, generator: Generator | None = None) -> Tensor:
    """1 with the probability in `p` for each element, else 0."""
    if not self.numel():
        return self
    expand(p, self.shape)
    check_floating("bernoulli_", p)
    assert_no_internal_overlap(self)
    if not self.is_meta and not p.is_meta:
        if not np.all((p._array >= 0) & (p._array <= 1)):
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        out, chances = fastest[loop_arrays](self, (p,), p.dtype)
        uniform = uniform_real(generator or default_generator, self.numel(), p.dtype.numpy)
        out[...] = uniform.reshape(out.shape) < chances
    return self


def random_(self: Tensor, generator: Generator | None = None) -> Tensor:
    """Integers from 0 to the largest of the dtype. For a floating dtype this is the limit up to which all integers are exact."""
    wide = self.dtype in (int64, float64)
    span = np.uint64(_largest(self.dtype) + 1)
    return _fill(self, generator, lambda bits, count: (bits.random64 if wide else bits.random)(count) % span)


def random_from_(self: Tensor, from_: int, to: int | None, generator: Generator | None = None) -> Tensor:
    """Integers in [`from_`, `to`), or up to the largest that `random_` draws. In a floating dtype that does not have the bounds,
    they move inwards. Source: `aten/src/ATen/native/DistributionTemplates.h`, `random_from_to_impl`."""
    if to is None and from_ == -(2**63):
        return _fill(self, generator, lambda bits, count: _all_64_bits(self.dtype, bits, count))
    last = _largest(self.dtype) if to is None else to - 1
    if to is not None and from_ > last:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}")
    if self.dtype.category == FLOATING:
        from_ = _update_from(from_, self.dtype)
        last = last if to is None else _update_to(to, self.dtype) - 1
        if from_ > last or (to is None and from_ == last):
            got = f"but got {from_} and {last + 1}"
            raise RuntimeError(f"random_ expects 'from' casted to dtype to be less than 'to', {got}")
    _check_in_range(self.dtype, from_, last)
    return _fill(self, generator, lambda bits, count: uniform_int(bits, count, last - from_ + 1, from_))


def _all_64_bits(dtype: dtype, generator: Generator, count: int) -> np.ndarray:
    if dtype not in (int64, float32, float64):
        error = NotImplementedError if dtype in (bool_, dtypes.float16) else RuntimeError
        raise error("random_full_64_bits_range_kernel_cpu handles only int64, double and float")
    return generator.random64(count).view(np.int64)


def _largest(dtype: dtype) -> int:
    if dtype is bool_:
        return 1
    return 2 ** digits(dtype) if dtype.category == FLOATING else int(np.iinfo(dtype.numpy).max)


def _update_from(from_: int, dtype: dtype) -> int:
    after = _cast(from_ + 1, dtype)
    return from_ if after >= from_ else after + (1 << abs(from_ + 1).bit_length() - digits(dtype))


def _update_to(to: int, dtype: dtype) -> int:
    before = _cast(to - 1, dtype)
    return to if before < to else before - (1 << abs(to - 1).bit_length() - digits(dtype))


def _cast(value: int, dtype: dtype) -> int:
    """An integer rounded to the dtype. Infinity becomes the smallest of 64 bits, as on most CPUs."""
    with np.errstate(over="ignore"):
        rounded = float(dtype.numpy.type(value))
    return int(rounded) if np.isfinite(rounded) else -(2**63)


def _check_in_range(dtype: dtype, *bounds: int) -> None:
    if dtype.category == FLOATING:
        largest = float(numpy_finfo(dtype).max)
        smallest = -largest
    else:
        smallest, largest = 0 if dtype is bool_ else np.iinfo(dtype.numpy).min, _largest(dtype)
    for name, bound in zip(("from", "to - 1"), bounds):
        if not smallest <= bound <= largest:
            raise RuntimeError(f"{name} is out of bounds for {dtype.name}")
        if dtype.category == FLOATING and abs(bound) > _largest(dtype):
            bounds = f"{name} is out of bounds [-(2^{digits(dtype)}), 2^{digits(dtype)}]. Due to precision limitations"
            support = "can support discrete uniform distribution only within this range."
            warn(f"{bounds} {dtype.name} {support}")


# New tensors ---------------------------------------------------------------------------------------------------------


def _resize(out: Tensor, size: int | Sequence[int]) -> Tensor:
    return resize_(out, (size,) if isinstance(size, int) else size)


def factory(fill: Callable, default: dtype | None = None, resize: Callable = _resize) -> tuple[Callable, ...]:
    """The kernels of a factory: the plain form, the one with a generator, the out= forms of both, and `..._like`.

    In the schemas, the arguments of `fill(tensor, *args, generator=...)` come before the sizes, or after `self` of `..._like`.
    `fill` and `resize` are kernels, not operators, so the version of a new tensor stays 0. The out= forms that are composite
    in PyTorch call operators.
    """

    def make(size, args, generator, dtype, device) -> Tensor:
        stack = (size,) if isinstance(size, int) else size, dtype or default, None, device, None, None
        return fill(through_table(functions.empty_memory_format_op, stack), *args, generator=generator)

    def plain(*args) -> Tensor:
        *args, size, dtype, layout, device, pin_memory = args
        return make(size, args, None, dtype, device)

    def with_generator(*args) -> Tensor:
        *args, size, generator, dtype, layout, device, pin_memory = args
        return make(size, args, generator, dtype, device)

    def plain_out(*args) -> Tensor:
        *args, size, out = args
        return fill(resize(out, size), *args, generator=None)

    def with_generator_out(*args) -> Tensor:
        *args, size, generator, out = args
        return fill(resize(out, size), *args, generator=generator)

    def like(self: Tensor, *args) -> Tensor:
        *args, dtype, layout, device, pin_memory, memory_format = args
        made = functions.empty_like(self, dtype=dtype, device=device, memory_format=memory_format)
        return fill(made, *args, generator=None)

    return plain, with_generator, plain_out, with_generator_out, like


def _random_below(self: Tensor, high: int, generator: Generator | None) -> Tensor:
    return random_from_(self, 0, high, generator)


def _permutation(self: Tensor, generator: Generator | None) -> Tensor:
    """The integers from 0 to the number of elements in random order: each changes places with one after it, or stays.
    Source: `aten/src/ATen/native/TensorFactories.cpp`, `randperm_cpu`."""
    count = self.numel()
    if self.dtype is bool_:
        raise NotImplementedError("randperm is not implemented for 'Bool'")
    if count - 1 > _largest(self.dtype):
        raise RuntimeError(f"value cannot be converted to type {self.dtype.name} without overflow")

    def draw(generator: Generator, count: int) -> np.ndarray:
        order = list(range(count))
        steps = generator.random(count - 1) % np.arange(count, 1, -1, dtype=np.uint64)
        for i, step in enumerate(steps.tolist()):
            order[i], order[i + step] = order[i + step], order[i]
        return np.array(order)

    return _fill(self, generator, draw)


rand, rand_generator, rand_out, _, rand_like = factory(uniform_)
*_, rand_generator_out, _ = factory(Tensor.uniform_, resize=Tensor.resize_)
randn, randn_generator, _, _, randn_like = factory(normal_)
*_, randn_out, randn_generator_out, _ = factory(Tensor.normal_, resize=Tensor.resize_)
randint, randint_generator, randint_out, randint_generator_out, randint_like = factory(_random_below, int64)
randint_low, randint_low_generator, randint_low_out, randint_low_generator_out, randint_like_low = factory(
    random_from_, int64
)
randperm, randperm_generator, randperm_out, randperm_generator_out, _ = factory(_permutation, int64)


def bernoulli_out(self: Tensor, generator: Generator | None, out: Tensor) -> Tensor:
    assert_no_partial_overlap(out, self)
    resize_(out, self.shape)
    return bernoulli_tensor_(out, self, generator)


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
    if self.is_meta or not out.numel():
        return out
    generator, chances = generator or default_generator, self._array
    if not np.all(np.isfinite(chances) & (chances >= 0)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if np.any(chances.sum(-1) == 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or num_samples == 1:
        # The largest of chance / exponential number, in descending order, are a sample without replacement.
        keys = chances / functions.empty_like(self).exponential_(generator=generator)._array
        out._array[...] = np.argsort(-keys, -1, kind="stable")[..., :num_samples]
        return out
    sums = np.cumsum(chances, -1, dtype=np.float32 if self.dtype in REDUCED_FLOATING else chances.dtype)
    sums = sums / sums[..., -1:]
    sums[..., -1] = 1
    uniform = uniform_real(generator, out.numel(), np.float64).reshape(-1, num_samples)
    rows = map(np.searchsorted, sums.reshape(len(uniform), -1).astype(np.float64), uniform)
    out._array[...] = np.reshape(list(rows), out.shape)
    return out


def multinomial_out(self: Tensor, num_samples: int, replacement: bool, generator, out: Tensor) -> Tensor:
    if out.dtype is not int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.type_name}")
    drawn = multinomial(self, num_samples, replacement, generator)
    resize_(out, drawn.shape)
    return copy_(out, drawn)


# Functional forms, with which functionalization replaces the in-place operators --------------------------------------


# Normal numbers with other means and deviations ----------------------------------------------------------------------


def _check_std(std: Tensor | float) -> None:
    if not isinstance(std, Tensor):
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    elif std.numel() and not std.is_meta and not np.all(std._array >= 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")


def normal_tensor_out(mean: Tensor | float, std: Tensor | float, generator: Generator | None, out: Tensor) -> Tensor:
    """Numbers with a mean and a standard deviation for each element; one of the two may be a number.
    Source: `aten/src/ATen/native/DistributionTemplates.h`, `normal_out_impl`."""
    _check_std(std)
    with excluding(BIT["ADInplaceOrView"]):  # one write, whatever the number of steps
        if not isinstance(std, Tensor):
            assert isinstance(mean, Tensor)
            resize_output(out, infer_size(mean.shape, out.shape))
            return out.normal_(0.0, std, generator=generator).add_(mean)
        resize_output(out, infer_size(mean.shape, std.shape) if isinstance(mean, Tensor) else std.shape)
        return out.normal_(0.0, 1.0, generator=generator).mul_(std).add_(mean)


def normal_tensor(mean: Tensor | float, std: Tensor | float, generator: Generator | None = None) -> Tensor:
    _check_std(std)
    like = mean if isinstance(mean, Tensor) else std
    assert isinstance(like, Tensor)
    sizes = infer_size(mean.shape, std.shape) if isinstance(mean, Tensor) and isinstance(std, Tensor) else like.shape
    return normal_tensor_out(mean, std, generator, functions.empty(sizes, dtype=like.dtype, device=like.device))


_, normal_float_float, _, normal_float_float_out, _ = factory(normal_)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """In training, each element is 0 with probability `p`, and the others are divided by 1 - p, so that the mean stays.

    A composite kernel: it calls operators (`rl.functions`, or methods), so that autograd records them. The input is multiplied
    by a tensor like it (`empty_like`), which `bernoulli_(1 - p)` fills with ones and zeros, and which is then divided by 1 - p
    in place. If p is 1, the input is multiplied by a 0 instead: a tensor without dimensions, with the input's dtype and device. So
    an infinite element or a NaN becomes NaN, as in PyTorch, and any other element 0.

    Args:
        input: of a floating-point dtype. For other dtypes the in-place division raises a RuntimeError; if p is 1, nothing is
            divided, and the result is zeros.

    Returns:
        a new tensor with the sizes and the dtype of `input`. If p is 0, or not in training, or if there are no elements, it is
        `input` itself.

    Raises:
        RuntimeError: p is not between 0 and 1, both included; also when not in training.

    >>> sorted(set(dropout(rl.ones(1000), 0.75, True).tolist()))
    [0.0, 4.0]

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


def times_noise(input: Tensor, p: float, train: bool, feature: bool, alpha: bool, multiply=functions.mul) -> Tensor:
    """`dropout` of whole channels (`feature`), or one that keeps the mean and the variance of what `selu` returns (`alpha`).
    Source: `aten/src/ATen/native/Dropout.cpp`, `_dropout_impl`."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return multiply(input, functions.zeros((), dtype=input.dtype, device=input.device))
    if feature and input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    sizes = (*input.shape[:2], *(1 for _ in input.shape[2:]))
    noise = (input.new_empty(sizes) if feature else functions.empty_like(input)).bernoulli_(1 - p)
    if not alpha:
        return multiply(input, noise.div_(1 - p))
    least = 1.7580993408473766  # of selu, negated
    scale = ((least * least * p + 1) * (1 - p)) ** -0.5
    shift = noise.add(-1).mul_(least * scale).add_(least * scale * p)
    return multiply(input, noise.mul_(scale)).add_(shift)


def rrelu_with_noise(self: Tensor, noise: Tensor, lower: float, upper: float, training: bool, generator=None) -> Tensor:
    """`leaky_relu` with the mean slope, or in training with a random slope for each element, which `noise` receives.
    Source: `aten/src/ATen/native/Activation.cpp`, `rrelu_with_noise_out_cpu`."""
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return functions.leaky_relu(self, (lower + upper) / 2)
    negative = self <= 0
    slopes = self.new_empty(int(negative.sum())).double().uniform_(lower, upper, generator=generator)
    return self * noise.data.fill_(1).masked_scatter_(negative, slopes.to(self.dtype))
