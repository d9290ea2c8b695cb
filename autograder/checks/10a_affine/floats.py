"""Casts to smaller floating-point numbers, bit by bit."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, rows

_HALVES = [0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x3F817FFF, 0x3F818001, 0xBF808000, 0xBF818000]
_LIMITS = [
    0,
    1 << 31,
    1,
    0x8000,
    0x8001,
    0x18000,
    0x7F800000,
    0xFF800000,
    0x7F7FFFFF,
    0x7F7F8000,
    0x7F7F7FFF,
    0xFF7FFFFF,
]
_NANS = [0x7F800001, 0x7FC00000, 0xFFFFFFFF, 0xFF800001, 0x7F808000, 0x7FFFFFFF]


def _bits(st):
    exponent, mantissa = st.integers(100, 150), st.integers(0, 127)
    near = st.builds(
        lambda sign, field, upper, lower: (sign << 31) | (field << 23) | (upper << 16) | lower,
        st.integers(0, 1), exponent, mantissa, st.sampled_from([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF]),
    )  # fmt: skip
    return st.one_of(near, st.integers(0, 2**32 - 1))


def _float32(torch, bits):
    return torch.tensor([bits]).to(torch.int32).view(torch.float32)


def _about_bfloat16(case, mine, theirs):
    if case["bits"] & 0x7FFFFFFF > 0x7F800000:
        return "a nan becomes 0x7fc0: it must not round to infinity"
    if not (isinstance(mine, str) and isinstance(theirs, str)):
        return None
    yours, wanted, upper, lower = int(mine, 16), int(theirs, 16), case["bits"] >> 16, case["bits"] & 0xFFFF
    if not 0 <= yours < 2**16:
        return "the result has 16 bits: the sign, 8 bits of exponent, 7 bits of mantissa"
    if yours ^ wanted == 0x8000:
        return "the sign is the highest bit of both"
    if yours not in (upper, upper + 1):
        return "the result is the upper half of the bits, or one more if it rounds up: a carry may go into the exponent"
    if lower == 0x8000:
        return "exactly in the middle: the upper half becomes even"
    if yours == upper:
        return "the lower half decides the rounding: more than 0x8000 rounds up"
    return "the lower half decides the rounding: less than 0x8000 rounds down"


def _in_hex(torch, bits, format=None):
    """The case with its bits as the results are written."""
    return f"bits = {bits:#010x}" + (f"\nformat = {format}" if format else "")


@program(
    "c10.small_floats.bfloat16_bits",
    cases=drawn(bits=_bits),
    edges=rows("bits", *[(bits,) for bits in _HALVES + _LIMITS + _NANS]),
    hint=_about_bfloat16,
    show=_in_hex,
)
def bfloat16(rl, bits):
    return hex(rl.small_floats.bfloat16_bits(bits))


@bfloat16.oracle
def bfloat16_of_torch(torch, bits):
    x = _float32(torch, bits)
    if x.isnan():  # PyTorch's AVX2 kernel for tensors gives other bits
        x = torch.tensor(float("nan"), dtype=torch.bfloat16)
    return hex(x.bfloat16().view(torch.int16).item() & 0xFFFF)


_E4M3 = [0x3C800000, 0x3C7FFFFF, 0x3C880000, 0x3A800000, 0x3A800001, 0x3A7FFFFF, 0x3B400000, 0x3BC00000, 0x3C000000,
         0x43E00000, 0x43E80000, 0x43E80001, 0x43F00000, 0x43DFFFFF, 0x3F880000, 0x3F980000, 0x3F87FFFF, 0x3F880001, 0xBF980000,
         0x3C780000, 0x3C700000, 0xBC780001, 0x80000000, 0x00000001, 0x00800000, 0x447A0000]  # fmt: skip
_E5M2 = [0x38800000, 0x387FFFFF, 0x37000000, 0x37000001, 0x36FFFFFF, 0x37C00000, 0x47600000, 0x476FFFFF, 0x47700000,
         0x477FFFFF, 0x47800000, 0x3F900000, 0x3FB00000, 0x3F8FFFFF, 0x3F900001, 0xBFB00000, 0x38600000, 0xB8700000, 1]  # fmt: skip


def _about_float8(case, mine, theirs):
    magnitude = case["bits"] & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return "the magnitude of a nan becomes 0x7f: unlike bfloat16, it keeps its sign"
    if not (isinstance(mine, str) and isinstance(theirs, str)):
        return None
    yours, wanted = int(mine, 16), int(theirs, 16)
    if (yours ^ wanted) & 0x80:
        return "the sign is the highest bit of both, for zero too"
    is_denormal = (magnitude >> 23) - 127 + (7 if "e4m3" in case["format"] else 15) < 1
    if is_denormal and (yours & 0x7F == 0 or abs(yours - wanted) > 1):
        return (
            "denormal: the leading 1 is in front of the mantissa, and the shift is larger by one for each step below 1"
        )
    if wanted & 0x7F >= (0x7E if "e4m3" in case["format"] else 0x7C) and yours != wanted - 1:
        return "a result above format.overflow becomes format.overflow"
    return "round half to even: the last bit that is kept decides a tie"


@program(
    "c10.small_floats.float8_bits",
    cases=drawn(bits=_bits, format=["float8_e4m3fn", "float8_e5m2"]),
    edges=rows(
        "bits format",
        *[(bits, name) for name, own in (("float8_e4m3fn", _E4M3), ("float8_e5m2", _E5M2))
          for bits in own + _LIMITS[:2] + _LIMITS[6:9] + _NANS],
    ),
    hint=_about_float8,
    show=_in_hex,
)  # fmt: skip
def float8(rl, bits, format):
    return hex(rl.small_floats.float8_bits(bits, getattr(rl.small_floats, format)))


@float8.oracle
def float8_of_torch(torch, bits, format):
    return hex(_float32(torch, bits).to(getattr(torch, format)).view(torch.uint8).item())
