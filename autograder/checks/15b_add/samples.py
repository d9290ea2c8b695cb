"""Lab 15b, samples for a decomposition: graded by the wrong decompositions that they find."""

from __future__ import annotations

import math
from fractions import Fraction

from ...engine.check import program

MOST, ELEMENTS = 8, 24

# Decompositions ------------------------------------------------------------------------------------------------------


def promoted(torch, x):
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def steps(x, n, first=None):
    """P_n(x) by the recurrence, for n of at least 1."""
    before, now = x.new_ones(()), x.clone() if first is None else first
    for k in range(1, n):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now


def right(torch, x, n):
    n, x = math.trunc(n), promoted(torch, x)
    return torch.full_like(x, n == 0) if n <= 0 else steps(x, n)


def right__in_double_precision(torch, x, n):
    return right(torch, x.double(), n).to(promoted(torch, x).dtype)


def right__without_steps_for_two(torch, x, n):
    if math.trunc(n) != 2:
        return right(torch, x, n)
    return promoted(torch, x).square().mul(1.5).sub(0.5)


def wrong__integers_stay(torch, x, n):
    """The result for integers has their dtype."""
    result = right(torch, x, n)
    return result if x.dtype == torch.bool else result.to(x.dtype)


def wrong__bool_stays(torch, x, n):
    """The result for bool is bool."""
    return right(torch, x, n).to(torch.bool) if x.dtype == torch.bool else right(torch, x, n)


def wrong__in_single_precision(torch, x, n):
    """It computes in float32, also for float64, and converts the result."""
    return right(torch, x.float(), n).to(promoted(torch, x).dtype)


def wrong__negative_is_zero(torch, x, n):
    """A negative degree is taken for 0."""
    return right(torch, x, max(n, 0))


def wrong__mirrored(torch, x, n):
    """A negative degree n is taken for -n - 1, as some books define it."""
    return right(torch, x, n if math.trunc(n) >= 0 else -math.trunc(n) - 1)


def wrong__rounds(torch, x, n):
    """The degree is rounded to the nearest integer."""
    return right(torch, x, math.floor(n + 0.5))


def wrong__floors(torch, x, n):
    """The degree is rounded down, also where it is negative."""
    return right(torch, x, math.floor(n))


def wrong__divides_by_zero(torch, x, n):
    """P_0 is computed as x / x."""
    return right(torch, x, n) if math.trunc(n) else promoted(torch, x) / promoted(torch, x)


def wrong__returns_x(torch, x, n):
    """P_1 is x itself, not a copy."""
    return steps(promoted(torch, x), 1, promoted(torch, x)) if math.trunc(n) == 1 else right(torch, x, n)


def wrong__contiguous(torch, x, n):
    """The result is contiguous, whatever the strides of x are."""
    return right(torch, x, n).contiguous()


def wrong__keeps_gaps(torch, x, n):
    """The result has the strides of x, also where x has gaps between its elements."""
    result = right(torch, x, n)
    if 0 in x.stride() or not x.numel():
        return result
    return torch.empty_strided(x.shape, x.stride(), dtype=result.dtype).copy_(result)


def wrong__stops_early(torch, x, n):
    """It is right up to a degree of 3, and takes each larger one for 3."""
    return right(torch, x, min(n, 3))


def wrong__one_dimension(torch, x, n):
    """An x without dimensions gives a result with one dimension."""
    result = right(torch, x, n)
    return result if x.dim() else result.reshape(1)


def wrong__looks_at_an_element(torch, x, n):
    """It looks at the first element of x, so it raises an error if there is none."""
    return right(torch, x, n) if x.reshape(-1)[0] == x.reshape(-1)[0] else right(torch, x, n)


def wrong__of_absolute_values(torch, x, n):
    """It computes with the absolute values of x, as if the polynomials were even."""
    return right(torch, promoted(torch, x).abs(), n)


# What samples find ---------------------------------------------------------------------------------------------------


def sampled(samples):
    """The pairs of x and n as the judge's own tensors and numbers. Raises ValueError with the reason if one is no sample."""
    import numpy as np
    import torch

    if not isinstance(samples, list) or not samples:
        raise ValueError("it returns no list of pairs")
    if len(samples) > MOST:
        raise ValueError(f"there are {len(samples)} pairs, and at most {MOST} are allowed")
    pairs = []
    for sample in samples:
        match sample:
            case {"tuple": [{"tensor": about}, (int() | float()) as n]} | [{"tensor": about}, (int() | float()) as n]:
                pass
            case _:
                raise ValueError("a pair is a tensor and a number")
        dtype, shape, stride = about["dtype"], about["shape"], about["stride"]
        if math.prod(shape) > ELEMENTS or not -100 <= n <= 20:
            raise ValueError(f"x has at most {ELEMENTS} elements, and n is at most 20")
        if dtype not in ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"):
            raise ValueError(f"legendre_p takes no {dtype}")
        reach = sum((size - 1) * step for size, step in zip(shape, stride)) + 1 if math.prod(shape) else 0
        if reach > 10_000:
            raise ValueError("the elements of x are too far apart")
        memory = np.zeros(reach, dtype)
        lies = np.lib.stride_tricks.as_strided(memory, shape, [step * memory.itemsize for step in stride])
        lies[...] = np.frombuffer(about["data"], dtype).reshape(shape)
        x = torch.from_numpy(memory).as_strided(shape, stride)
        if x.is_floating_point() and (x.isinf().any() or (n >= 2 and x.isnan().any())):
            raise ValueError("an element of x is infinite, or nan where n is 2 or more")
        pairs.append((x, n))
    return pairs


def differs(torch, decomposition, x, n):
    """Whether a decomposition differs from the operator at this pair."""
    expected, given = torch.special.legendre_polynomial_p(x, n), x.as_strided(x.shape, x.stride())
    try:
        result = decomposition(torch, given, n)
    except Exception:
        return True
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return True
    if not expected.numel():
        return False
    shares = result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return shares or result.stride() != expected.stride() or not _close(torch, result, expected)


def _close(torch, result, expected):
    return torch.allclose(result, expected, rtol=1e-5 if result.dtype == torch.float32 else 1e-10, equal_nan=True)


def finding(share):
    """Examine samples: no right decomposition differs from the operator at one of them, and at least this share of the wrong ones
    does."""

    def examine(judge, samples, case):
        import torch

        from ...engine.verdict import DISAGREED, PASSED, Verdict

        def says(outcome, message, *notes):
            return Verdict("", outcome, message=message, notes=[*notes])

        try:
            pairs = sampled(samples)
        except ValueError as error:
            return says(DISAGREED, str(error))
        known = {name: function for name, function in globals().items() if name.startswith(("right", "wrong__"))}
        found = {name for name, function in known.items() if any(differs(torch, function, *pair) for pair in pairs)}
        if any(name.startswith("right") for name in found):
            return says(DISAGREED, "at one of the pairs, a right decomposition differs from the operator too")
        wrong = [name for name in known if name.startswith("wrong__")]
        missed = [name for name in wrong if name not in found]
        needed = math.ceil(Fraction(share) * len(wrong))
        message = f"{len(pairs)} samples find {len(wrong) - len(missed)} of {len(wrong)} wrong decompositions"
        passes = len(wrong) - len(missed) >= needed
        if needed < len(wrong) or not passes:
            message += f"; {needed} are {'enough' if passes else 'needed'}"
        notes = [f"they do not find this one: {known[missed[0]].__doc__}"] if missed and Fraction(share) == 1 else []
        return says(PASSED if passes else DISAGREED, message, *notes)

    return examine


def no_cases(st):
    """Nothing is drawn: the samples are examined as they are."""
    return st.nothing()


SAMPLES = "contribute.add.samples_of_legendre"


@program(f"{SAMPLES}.half", cases=no_cases, edges=[{}], examine=finding("1/2"))
def samples_half(xp):
    return xp.contribute.add.samples_of_legendre()


@program(SAMPLES, cases=no_cases, edges=[{}], examine=finding("1"))
def samples(xp):
    return xp.contribute.add.samples_of_legendre()
