"""Dispatch keys and sets of them."""

import re

from ...engine.check import program
from ..cases import drawn, when
from ..shared_02.keys import BACKEND_BITS, SINGLE_BITS, subsets, union

_sets_of_bits = drawn(bits=subsets(SINGLE_BITS))
_SETS = [
    [], ["CPUBit"], ["CPUBit", "MetaBit"], ["Dense"], ["AutogradFunctionality"], ["CPUBit", "Dense"], ["MetaBit", "Dense"],
    ["CUDABit", "Dense"], ["PrivateUse1Bit", "Dense"], ["CPUBit", "MetaBit", "Dense"], ["CUDABit", "PrivateUse1Bit", "Dense"],
    ["CPUBit", "AutogradFunctionality"], ["PrivateUse1Bit", "AutogradFunctionality"],
    ["CUDABit", "MetaBit", "AutogradFunctionality"], ["CPUBit", "Dense", "AutogradFunctionality"],
    ["CPUBit", "PrivateUse1Bit", "Dense", "AutogradFunctionality", "ADInplaceOrView"],
    ["CPUBit", "Dense", "AutogradFunctionality", "AutocastCPU", "ADInplaceOrView"],
    ["CPUBit", "Dense", "Python", "BackendSelect", "ADInplaceOrView"], ["BackendSelect"], ["Python"],
    ["MetaBit", "ADInplaceOrView"], ["CPUBit", "CUDABit", "AutocastCPU", "AutocastCUDA"], ["CPUBit", "AutocastCPU"],
    ["Dense", "AutogradFunctionality", "Python"], SINGLE_BITS,
]  # fmt: skip


def _name(xp, key):
    assert isinstance(key, xp._C.DispatchKey), f"a DispatchKey is expected, not {key!r}"
    return key.name


@program("c10.dispatch.highest_priority_key", cases=_sets_of_bits, edges=[{"bits": bits} for bits in _SETS])
def highest_key(xp, bits):
    return _name(xp, xp.dispatch.highest_priority_key(union(xp, bits)))


@highest_key.oracle
def _(torch, bits):
    return highest_name(torch, bits)


def highest_name(torch, bits):
    """The name of a set's highest key. Torch has another key for a functionality whose backend is missing."""
    name = union(torch, bits).highestPriorityTypeId().name
    without_backend = {"StartOfDenseBackends": "Dense", "StartOfAutogradFunctionalityBackends": "AutogradFunctionality"}
    return without_backend.get(name, name)


@program(
    "c10.dispatch.keys_in",
    cases=_sets_of_bits,
    edges=[{"bits": bits} for bits in _SETS],
    hint=when(
        lambda case: len({*BACKEND_BITS} & {*case["bits"]}) > 1,
        "a functionality per backend gives a key for each backend",
    ),
)
def keys_of_a_set(xp, bits):
    keys = xp.dispatch.keys_in(union(xp, bits))
    assert isinstance(keys, (list, tuple)), f"a list or a tuple is expected, not a {type(keys).__name__}"
    return [_name(xp, key) for key in keys]


@keys_of_a_set.oracle
def _(torch, bits):
    return re.findall(r"\w+", str(union(torch, bits)))[1:]
