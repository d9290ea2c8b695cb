"""Dispatch keys and sets of them."""

import re

from ...engine.check import program
from ..cases import drawn, when
from ..shared_02.keys import BACKENDS, FUNCTIONALITIES, subsets, union

_sets_of_bits = drawn(bits=subsets([*BACKENDS, *FUNCTIONALITIES]))
_SETS = [
    [], ["CPU"], ["CPU", "Meta"], ["Dense"], ["AutogradFunctionality"], ["CPU", "Dense"], ["Meta", "Dense"],
    ["CUDA", "Dense"], ["PrivateUse1", "Dense"], ["CPU", "Meta", "Dense"], ["CUDA", "PrivateUse1", "Dense"],
    ["CPU", "AutogradFunctionality"], ["PrivateUse1", "AutogradFunctionality"],
    ["CUDA", "Meta", "AutogradFunctionality"], ["CPU", "Dense", "AutogradFunctionality"],
    ["CPU", "PrivateUse1", "Dense", "AutogradFunctionality", "ADInplaceOrView"],
    ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU", "ADInplaceOrView"],
    ["CPU", "Dense", "Python", "BackendSelect", "ADInplaceOrView"], ["BackendSelect"], ["Python"],
    ["Meta", "ADInplaceOrView"], ["CPU", "CUDA", "AutocastCPU", "AutocastCUDA"], ["CPU", "AutocastCPU"],
    ["Dense", "AutogradFunctionality", "Python"], [*BACKENDS, *FUNCTIONALITIES],
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
        lambda case: len({*BACKENDS} & {*case["bits"]}) > 1, "a functionality per backend gives a key for each backend"
    ),
)
def keys_of_a_set(xp, bits):
    keys = xp.dispatch.keys_in(union(xp, bits))
    assert isinstance(keys, (list, tuple)), f"a list or a tuple is expected, not a {type(keys).__name__}"
    return [_name(xp, key) for key in keys]


@keys_of_a_set.oracle
def _(torch, bits):
    return re.findall(r"\w+", str(union(torch, bits)))[1:]
