"""Names of dispatch keys, and sets of them.

A case writes a key set as a list of names: of keys, or of single bits. The bit of a backend is named as PyTorch's source names it
(`BackendComponent` in `c10/core/DispatchKey.h`): `CPU` is a key, and `CPUBit` one of its two bits.
"""

from ..cases import is_torch

BACKENDS = ["CPU", "CUDA", "PrivateUse1", "Meta"]
FUNCTIONALITIES = ["Dense", "BackendSelect", "Python", "ADInplaceOrView"]


FUNCTIONALITIES += ["AutogradFunctionality", "AutocastCPU", "AutocastCUDA"]
BACKEND_BITS = [f"{backend}Bit" for backend in BACKENDS]
SINGLE_BITS = [*BACKEND_BITS, *FUNCTIONALITIES]


AUTOGRAD = ["AutogradCPU", "AutogradCUDA", "AutogradPrivateUse1", "AutogradMeta"]
RUNTIME = [*BACKENDS, "BackendSelect", "Python", "ADInplaceOrView", *AUTOGRAD, "AutocastCPU", "AutocastCUDA"]
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
ALIASES = ["Autograd", IMPLICIT, EXPLICIT, NON_FUNCTIONAL]


def bit(xp, name):
    """The set of one bit: of a backend, or of a functionality."""
    key = name.removesuffix("Bit")
    if not is_torch(xp):
        return xp.dispatch.BIT[key]
    of, keys = xp._C.DispatchKeySet, xp._C.DispatchKey
    return of(getattr(keys, key)) - of(keys.Dense) if name in BACKEND_BITS else of(getattr(keys, key))


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
        names |= {key} if backend is None else {f"{backend}Bit", functionality}
    return union(xp, names)


def names(xp, key_set):
    """The names of a set's bits, and how many of its bits have no meaning."""
    number = key_set.raw_repr() if is_torch(xp) else int(key_set)
    singles = {name: bit(xp, name) for name in SINGLE_BITS}
    known = {name: single.raw_repr() if is_torch(xp) else single for name, single in singles.items()}
    others = bin(number & ~sum(known.values())).count("1")
    return [name for name, value in known.items() if value & number] + [f"{others} other bits"] * bool(others)


def subsets(of, least=0, most=None):
    """The description of some of these, in their order."""

    def chosen(st):
        some = st.sets(st.sampled_from(of), min_size=least, max_size=most)
        return some.map(lambda some: [item for item in of if item in some])

    return chosen
