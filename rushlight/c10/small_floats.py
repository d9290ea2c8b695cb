"""Casts from float32 to smaller floating-point numbers, bit by bit.

A floating-point number is a sign, an exponent and a mantissa. bfloat16 keeps the exponent of float32 and 7 bits of its mantissa.
The two formats of float8 share 7 bits between exponent and mantissa: e4m3fn is finer, e5m2 reaches further. All casts round
half to even. In PyTorch: `BFloat16.h`, `Float8_e4m3fn.h` and `Float8_e5m2.h` in `torch/headeronly/util`. Rushlight has no dtype for
float8: its numbers are bits, in uint8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = []


class Float8(NamedTuple):
    """A format of 8 bits: 1 for the sign, then the exponent, then the mantissa. Without infinity (`fn`: finite), the largest
    exponent has numbers too, and only the bits 0x7f and 0xff are nan."""

    exponent_bits: int
    mantissa_bits: int
    has_infinity: bool

    @property
    def bias(self) -> int:
        """The number that is added to an exponent to get its field in the format."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def overflow(self) -> int:
        """The bits for numbers that are too large: infinity, or the largest number in a format without infinity."""
        return (2**self.exponent_bits - 1) << self.mantissa_bits if self.has_infinity else 0x7E


float8_e4m3fn = Float8(4, 3, False)
float8_e5m2 = Float8(5, 2, True)


def float32_bits(number: float) -> int:
    """The bits of a number, rounded to float32, as an integer below 2**32."""
    return int(np.float32(number).view(np.uint32))


def bfloat16_bits(bits: int) -> int:
    """The bits of a float32 number, rounded to bfloat16.

    bfloat16 is the upper half of the bits: the sign, 8 bits of exponent, 7 bits of mantissa. The lower half decides the
    rounding: more than 0x8000 rounds up, less rounds down, and exactly 0x8000 rounds to the even upper half. Rounding up may
    carry into the exponent, up to infinity. A nan (exponent all ones, mantissa not 0) becomes 0x7fc0, whatever its sign.

        >>> hex(bfloat16_bits(0x3F8C0000)), hex(bfloat16_bits(0x3F8C8000)), hex(bfloat16_bits(0x3F8D8000))
        ('0x3f8c', '0x3f8c', '0x3f8e')

    Args:
        bits: 0 <= bits < 2**32.

    Returns:
        an integer, 0 <= result < 2**16.

    Source: `torch/headeronly/util/BFloat16.h`, `round_to_nearest_even`.
    """
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0x7FC0
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def float8_bits(bits: int, format: Float8) -> int:
    """The bits of a float32 number, rounded to a format of 8 bits, half to even.

    The sign is the highest bit of both. The rest of the rule is about the magnitude, the other 31 bits. Its exponent field e
    becomes e - 127 + `format.bias`. If this is 1 or more, the number is normal, and keeps the upper `format.mantissa_bits` of
    the 23 bits of its mantissa. Otherwise it is *denormal*: its field is 0, and its mantissa with the leading 1 in front of it,
    24 bits, is shifted right by one more bit for each step below 1. Rounding may carry into the exponent. If the result is more
    than `format.overflow`, it becomes `format.overflow`: e4m3fn saturates, and e5m2 has an infinity. The magnitude of a nan
    becomes 0x7f, so unlike in bfloat16 its sign is kept.

        >>> [hex(float8_bits(float32_bits(x), float8_e4m3fn)) for x in (1.0, -1.0625, 0.015, 1000.0)]
        ['0x38', '0xb8', '0x8', '0x7e']

    Args:
        bits: 0 <= bits < 2**32.
        format: `exponent_bits`, `mantissa_bits`, `bias`, `overflow`, all integers.

    Returns:
        an integer, 0 <= result < 2**8.

    Source: `torch/headeronly/util/Float8_e4m3fn.h`, `fp8e4m3fn_from_fp32_value`; `torch/headeronly/util/Float8_e5m2.h`,
    `fp8e5m2_from_fp32_value`.
    """
    sign, magnitude = bits >> 31 << 7, bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return sign | 0x7F
    field, shift = (magnitude >> 23) - 127 + format.bias, 23 - format.mantissa_bits
    if field >= 1:
        significand = magnitude - (127 - format.bias << 23)
    else:
        significand, shift = magnitude & 0x7FFFFF | 0x800000, shift + 1 - field
    rounded = significand + (1 << shift - 1) - 1 + (significand >> shift & 1) >> shift
    return sign | min(rounded, format.overflow)


def float8_value(bits: int, format: Float8) -> float:
    """The number that these 8 bits mean."""
    sign, field = (-1.0 if bits & 0x80 else 1.0), (bits & 0x7F) >> format.mantissa_bits
    mantissa = bits & (1 << format.mantissa_bits) - 1
    if bits & 0x7F >= format.overflow and (format.has_infinity or mantissa == 7):
        return sign * math.inf if mantissa == 0 else math.nan
    whole = mantissa + (1 << format.mantissa_bits if field else 0)
    return sign * math.ldexp(whole, max(field, 1) - format.bias - format.mantissa_bits)


def as_bfloat16(values: np.ndarray) -> np.ndarray:
    """The float32 numbers of an array after a cast to bfloat16 and back."""
    widened = [bfloat16_bits(bits) << 16 for bits in values.astype(np.float32).view(np.uint32).ravel().tolist()]
    return np.array(widened, np.uint32).view(np.float32).reshape(values.shape)


def as_float8(values: np.ndarray, format: Float8) -> np.ndarray:
    """The float32 numbers of an array after a cast to a format of 8 bits and back."""
    table = np.array([float8_value(bits, format) for bits in range(256)], np.float32)
    codes = [float8_bits(bits, format) for bits in values.astype(np.float32).view(np.uint32).ravel().tolist()]
    return table[np.array(codes, np.intp)].reshape(values.shape)
