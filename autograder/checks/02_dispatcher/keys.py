"""Checks of lab 02: dispatch keys and sets of them.

A case writes a key set as a list of names: of keys, or of single bits (a backend, a functionality).
"""

import re

from ...engine.check import program
from ..cases import drawn, is_torch, when

BACKENDS = ["CPU", "CUDA", "PrivateUse1", "Meta"]
FUNCTIONALITIES = ["Dense", "BackendSelect", "Python", "ADInplaceOrView"]
FUNCTIONALITIES += ["AutogradFunctionality", "AutocastCPU", "AutocastCUDA"]
AUTOGRAD = ["AutogradCPU", "AutogradCUDA", "AutogradPrivateUse1", "AutogradMeta"]
RUNTIME = [*BACKENDS, "BackendSelect", "Python", "ADInplaceOrView", *AUTOGRAD, "AutocastCPU", "AutocastCUDA"]
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
ALIASES = ["Autograd", IMPLICIT, EXPLICIT, NON_FUNCTIONAL]


def bit(xp, name):
    """The set of one bit: of a backend, or of a functionality."""
    if not is_torch(xp):
        return xp.dispatch.BIT[name]
    of, keys = xp._C.DispatchKeySet, xp._C.DispatchKey
    return of(getattr(keys, name)) - of(keys.Dense) if name in BACKENDS else of(getattr(keys, name))


def union(xp, names):
    """The set of these bits."""
    united = xp._C.DispatchKeySet(xp._C.DispatchKey.Undefined) if is_torch(xp) else 0
    for name in names:
        united = united | bit(xp, name)
    return united


def bits_of(xp, keys):
    """The bits of these keys. A key has one bit of a backend and one of a functionality, or one of a functionality alone."""
    names = set()
    for key in keys:
        backend = next((backend for backend in BACKENDS if key.removeprefix("Autograd") == backend), None)
        functionality = "AutogradFunctionality" if key.startswith("Autograd") else "Dense"
        names |= {key} if backend is None else {backend, functionality}
    return union(xp, names)


def names(xp, key_set):
    """The names of a set's bits, and how many of its bits have no meaning."""
    number = key_set.raw_repr() if is_torch(xp) else int(key_set)
    singles = {name: bit(xp, name) for name in [*BACKENDS, *FUNCTIONALITIES]}
    known = {name: single.raw_repr() if is_torch(xp) else single for name, single in singles.items()}
    others = bin(number & ~sum(known.values())).count("1")
    return [name for name, value in known.items() if value & number] + [f"{others} other bits"] * bool(others)


def subsets(of, least=0, most=None):
    """The description of some of these, in their order."""

    def chosen(st):
        some = st.sets(st.sampled_from(of), min_size=least, max_size=most)
        return some.map(lambda some: [item for item in of if item in some])

    return chosen


@program(
    "dispatch.bits",
    cases=drawn(keys=subsets(["Undefined", "Dense", *RUNTIME, *ALIASES], 1, 3)),
    edges=[{"keys": [key]} for key in ("Undefined", "Dense", "AutogradFunctionality", *RUNTIME, *ALIASES)],
    hint=when(
        lambda case: {*case["keys"]} & {*ALIASES},
        "kernels are registered to an alias key, but no tensor has one: an alias key has no bits",
    ),
)
def bits_of_keys(xp, keys):
    return [names(xp, xp.dispatch.bits(getattr(xp._C.DispatchKey, key))) for key in keys]


@bits_of_keys.oracle
def _(torch, keys):
    return [names(torch, torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))) for key in keys]


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
    assert isinstance(key, xp._C.DispatchKey), f"{key!r} is no DispatchKey"
    return key.name


@program("dispatch.highest_priority_key", cases=_sets_of_bits, edges=[{"bits": bits} for bits in _SETS])
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
    "dispatch.keys_in",
    cases=_sets_of_bits,
    edges=[{"bits": bits} for bits in _SETS],
    hint=when(
        lambda case: len({*BACKENDS} & {*case["bits"]}) > 1, "a functionality per backend gives a key for each backend"
    ),
)
def keys_of_a_set(xp, bits):
    keys = xp.dispatch.keys_in(union(xp, bits))
    assert isinstance(keys, (list, tuple)), f"the keys are in a {type(keys).__name__}"
    return [_name(xp, key) for key in keys]


@keys_of_a_set.oracle
def _(torch, bits):
    return re.findall(r"\w+", str(union(torch, bits)))[1:]
