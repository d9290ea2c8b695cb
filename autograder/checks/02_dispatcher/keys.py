"""Checks of lab 02: dispatch keys and sets of them."""

from __future__ import annotations

import re

from ...check import program
from ..cases import when
from .operators import ALIASES, BACKENDS, FUNCTIONALITIES, RUNTIME, names, subsets, union


@program(
    "dispatch.bits",
    cases=lambda st: st.fixed_dictionaries({"keys": subsets(st, ["Undefined", "Dense", *RUNTIME, *ALIASES], 1, 3)}),
    edges=[{"keys": [key]} for key in ("Undefined", "Dense", "AutogradFunctionality", *RUNTIME, *ALIASES)],
    hint=when(
        lambda case: set(case["keys"]) & set(ALIASES),
        "kernels are registered to an alias key, but no tensor has one: an alias key has no bits",
    ),
)
def bits_of_keys(xp, keys):
    return [names(xp, xp.dispatch.bits(getattr(xp._C.DispatchKey, key))) for key in keys]


@bits_of_keys.oracle
def _(torch, keys):
    return [names(torch, torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))) for key in keys]


def _sets_of_bits(st):
    return st.fixed_dictionaries({"bits": subsets(st, [*BACKENDS, *FUNCTIONALITIES])})


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


@program("dispatch.highest_priority_key", cases=_sets_of_bits, edges=[{"bits": bits} for bits in _SETS])
def highest_key(xp, bits):
    return xp._C.DispatchKey(xp.dispatch.highest_priority_key(union(xp, bits))).name


@highest_key.oracle
def _(torch, bits):
    return name_of_highest(torch, bits)


def name_of_highest(torch, bits):
    """The name of a set's highest key. Torch has another key for a functionality whose backend is missing."""
    name = union(torch, bits).highestPriorityTypeId().name
    without_backend = {"StartOfDenseBackends": "Dense", "StartOfAutogradFunctionalityBackends": "AutogradFunctionality"}
    return without_backend.get(name, name)


@program(
    "dispatch.keys_in",
    cases=_sets_of_bits,
    edges=[{"bits": bits} for bits in _SETS],
    hint=when(
        lambda case: len(set(BACKENDS) & set(case["bits"])) > 1,
        "a functionality that is per backend gives one key for each backend of the set",
    ),
)
def keys_of_a_set(xp, bits):
    return [xp._C.DispatchKey(key).name for key in xp.dispatch.keys_in(union(xp, bits))]


@keys_of_a_set.oracle
def _(torch, bits):
    return re.findall(r"\w+", str(union(torch, bits)))[1:]
