"""Checks of lab 00: the keys of a call, and the kernel that serves each."""

import os
import re
from contextlib import contextmanager, nullcontext

from ...engine.check import program
from ...engine.observe import is_error
from ...engine.recorder import fresh_namespace
from ..cases import drawing, lists_too, words
from .sources import split_at_semicolons

_KINDS = {
    "plain": lambda torch: torch.ones(2, 2), "requires grad": lambda torch: torch.ones(2, 2).requires_grad_(),
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(2, 2)),
    "integers": lambda torch: torch.ones(2, dtype=torch.int64), "a view": lambda torch: torch.ones(2, 2)[0],
    "detached": lambda torch: torch.ones(2, 2).requires_grad_().detach(),
    "no dimension": lambda torch: torch.tensor(1.0), "meta": lambda torch: torch.empty(2, device="meta"),
    "meta view": lambda torch: torch.empty(2, 2, device="meta", requires_grad=True).T,
    "conjugate": lambda torch: torch.ones(2, dtype=torch.complex64).conj(),
    "negative": lambda torch: torch.ones(2, dtype=torch.complex64).conj().imag,
    "zeros without memory": lambda torch: torch._efficientzerotensor((2,)),
    "sparse": lambda torch: torch.ones(2, 2).to_sparse(),
    "sparse meta": lambda torch: torch.ones(2, 2).to_sparse().to("meta"),
    "rows of sparse": lambda torch: torch.ones(2, 2).to_sparse_csr(),
    "quantised": lambda torch: torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.quint8),
    "nested": lambda torch: torch.nested.nested_tensor([torch.ones(2, 2), torch.ones(2, 2)]),
}  # fmt: skip
_PLACES = ["", "no grad", "inference", "autocast", "autocast off", "below autograd", "vmap", "grad"]
_PLACES += ["without BackendSelect", "without CPU", "with Conjugate", "mode"]


@contextmanager
def within(torch, name):
    """Within: a thread that includes or excludes other keys."""

    def exclude(key):
        return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key)))

    inside = {
        "no grad": torch.no_grad,
        "inference": torch.inference_mode,
        "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
        "autocast off": lambda: torch.autocast("cpu", enabled=False),
        "below autograd": torch._C._AutoDispatchBelowAutograd,
        "without BackendSelect": lambda: exclude("BackendSelect"),
        "without CPU": lambda: exclude("CPU"),
        "with Conjugate": lambda: torch._C._IncludeDispatchKeyGuard(torch._C.DispatchKey.Conjugate),
        "mode": lambda: torch.utils._python_dispatch.BaseTorchDispatchMode(),
    }.get(name)
    with inside() if inside else nullcontext():
        yield


def keys_there(torch, look, kind, before, places):
    """The result of `look` for a tensor. It is made before or within some contexts, one inside the other."""
    x = _KINDS[kind](torch) if before else None
    return enter(torch, look, lambda: x if before else _KINDS[kind](torch), places)


def enter(torch, look, make, places):
    if not places:
        return look(make())
    first, *rest = places
    if first in ("vmap", "grad"):
        seen = []

        def inner(x):
            seen.append(enter(torch, look, lambda: x, rest))
            return x.sum()

        torch.func.vmap(inner)(make()) if first == "vmap" else torch.func.grad(inner)(make())
        return seen[0]
    with within(torch, first):
        return enter(torch, look, make, rest)


# no tensor is made within these
_OUTSIDE = ("below autograd", "without BackendSelect", "without CPU", "with Conjugate", "mode", "vmap", "grad")


@drawing
def _keys(draw, st):
    places = draw(st.lists(st.sampled_from(_PLACES), max_size=3))
    kind, before = draw(st.sampled_from(list(_KINDS))), draw(st.booleans())
    if {"vmap", "grad"} & {*places}:
        kind = "plain"
    return case_of(kind, *places, before=before or bool({*_OUTSIDE} & {*places}))


def case_of(kind, *places, before=True):
    return {"kind": kind, "before": before, "places": list(places)}


@program(
    "on_torch.trace.keys_in_order",
    cases=_keys,
    edges=[
        *(case_of(kind) for kind in _KINDS), *(case_of("plain", place) for place in _PLACES),
        *(case_of(kind, "inference", before=b) for kind in ("requires grad", "meta", "sparse") for b in (True, False)),
        *(case_of(kind, "autocast") for kind in ("requires grad", "meta", "integers", "conjugate")),
        case_of("conjugate", "inference", "autocast", before=False), case_of("plain", "vmap", "inference"),
    ],
    hint="take the tensor's keys and those that the thread includes, without those that it excludes; the highest comes first",
)  # fmt: skip
def keys(xp, kind, before, places):
    return keys_there(xp.trace.torch, xp.trace.keys_in_order, kind, before, places)


_PROBED = words("""BackendSelect ADInplaceOrView AutogradCPU AutogradMeta AutogradOther AutogradNestedTensor AutocastCPU
Conjugate Negative ZeroTensor CPU Meta SparseCPU SparseMeta SparseCsrCPU SparseCsrMeta QuantizedCPU NestedTensorCPU
PythonTLSSnapshot Python FuncTorchBatched FuncTorchGradWrapper FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode
FuncTorchVmapMode""")


@keys.oracle
def torch_keys(torch, kind, before, places):
    # the keys that a call really visits: an operator has a kernel for each, which records it and calls the next
    library, reached = torch.library.Library(fresh_namespace(), "DEF"), []
    library.define("probe(Tensor x) -> Tensor")
    op = getattr(torch.ops, library.ns).probe.default

    def kernel(name):
        key = getattr(torch._C.DispatchKey, name)

        def recorded(left, x):
            reached.append(name)
            left = left & torch._C._dispatch_keyset_full_after(key)
            return x if left.highestPriorityTypeId() == torch._C.DispatchKey.Undefined else op.redispatch(left, x)

        return recorded

    def look(x):
        op(x)
        return reached

    try:
        for name in _PROBED:
            library.impl("probe", kernel(name), name, with_keyset=True)
        return keys_there(torch, look, kind, before, places)
    finally:
        library._destroy()


OPERATORS = words("""add.Tensor add_.Tensor add.out add.Scalar matmul mm mm.out linear relu relu_ softmax.int _softmax sum
sum.dim_IntList reshape view expand t transpose.int clone copy_ empty.memory_format empty_like zeros ones_like detach
index.Tensor cat where.self dropout gelu layer_norm native_layer_norm conv2d convolution _scaled_grouped_mm to.dtype _to_copy
resolve_conj conj item _local_scalar_dense size.int is_floating_point quantize_per_tensor to_sparse _sparse_mm addmm.out
mul.Tensor""")
_CPU = ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"]
_KEYS = words("""AutogradCPU ADInplaceOrView BackendSelect CPU Meta AutogradMeta AutogradOther AutogradNestedTensor
AutocastCPU Conjugate Negative ZeroTensor SparseCPU SparseMeta SparseCsrCPU QuantizedCPU NestedTensorCPU CUDA AutogradCUDA
AutocastCUDA XLA FuncTorchBatched FuncTorchVmapMode FuncTorchGradWrapper Python Functionalize Tracer""")
_CALLS = [
    _CPU, ["AutocastCPU", *_CPU], ["BackendSelect", "CPU"], ["ADInplaceOrView", "BackendSelect", "CPU"],
    ["AutogradMeta", "ADInplaceOrView", "BackendSelect", "Meta"],
    ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU"], ["ADInplaceOrView", "BackendSelect", "SparseCPU"],
    ["ADInplaceOrView", "Conjugate", "BackendSelect", "CPU"], ["ADInplaceOrView", "ZeroTensor", "BackendSelect", "CPU"],
    ["BackendSelect", "QuantizedCPU"], ["BackendSelect", "CUDA"],
    ["AutogradNestedTensor", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "NestedTensorCPU"],
]  # fmt: skip
_MORE_CALLS = split_at_semicolons("""
add.Tensor; add.Tensor BackendSelect; _scaled_grouped_mm BackendSelect ADInplaceOrView; add.Tensor XLA;
add.Tensor BackendSelect XLA CPU; mm BackendSelect QuantizedCPU; empty.memory_format BackendSelect;
_scaled_grouped_mm CPU; view ADInplaceOrView CPU; add.Scalar BackendSelect CPU; add_.Tensor ADInplaceOrView CPU;
relu Python CPU; add.Tensor Meta; add.Tensor Batched""")


def _call(op, *keys):
    return {"op": f"aten::{op}", "keys": list(keys)}


def at_home(torch, text):
    """A text in which the paths of torch's Python files do not depend on where torch is installed. All contain a space."""
    text = text.replace(os.path.dirname(os.path.dirname(torch.__file__)), "/site packages")
    return text.replace("/pytorch/pytorch/", "/no fallthrough registered at [2]/")


def table_of(torch, op):
    return at_home(torch, torch._C._dispatch_dump_table(op))


def _about_kernels(case, mine, theirs):
    if theirs is None:
        return None if is_error(mine) else "the first key that does not fall through has no line: None"
    if mine is None:
        return (
            "a key is skipped only if its line says `fallthrough` before `registered`; `Undefined` comes after all keys"
        )
    if mine[0] == theirs[0]:
        if not (mine[1] in theirs[1] or theirs[1] in mine[1]):
            return "the line of a key begins with the whole key and a colon"
        return (
            "the text between `registered at` and the last brackets of the line may contain spaces, brackets and any word"
            if mine[1] != theirs[1]
            else "the kind is the text in the last brackets of the line"
        )
    skipped = mine[0] in case["keys"][: [*case["keys"], theirs[0]].index(theirs[0])]
    if skipped:
        return "skip a key whose line says `fallthrough` before `registered`"
    return (
        "the first key that does not fall through serves, in the order of `keys`, and `Undefined` comes after all keys"
    )


@program(
    "on_torch.trace.serving",
    cases=lambda st: st.builds(
        lambda op, keys: _call(op, *keys),
        st.sampled_from(OPERATORS),
        st.one_of(st.sampled_from(_CALLS), st.lists(st.sampled_from(_KEYS), max_size=5, unique=True)),
    ),
    edges=[_call(op, *keys) for op in ("add.Tensor", "matmul") for keys in _CALLS]
    + [_call(*words(call)) for call in _MORE_CALLS],
    hint=_about_kernels,
)
def kernels(xp, op, keys):
    return lists_too(xp.trace.serving, table_of(xp.trace.torch, op), keys)


_ALIASES = {
    "Autograd[alias]": "autograd kernel",
    "CompositeImplicitAutograd[alias]": "math kernel",
    "CompositeExplicitAutograd[alias]": "default backend kernel",
    "CompositeExplicitAutogradNonFunctional[alias]": "default backend kernel",
    "FuncTorchBatchedDecomposition[alias]": "batched kernel",
    "CompositeImplicitAutogradNestedTensor[alias]": "nested kernel",
}


def falls_through(torch, op, key):
    """Whether a key falls through: by its kernel for this operator, or else by the one for all operators."""
    if torch._C._dispatch_has_kernel_for_dispatch_key(op, key):
        return torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough(op, key)
    return key in ("BackendSelect", "ADInplaceOrView", "FuncTorchVmapMode") or key.startswith("Autocast")


@kernels.oracle
def torch_kernels(torch, op, keys):
    # the kernel says where it was registered, the list of registrations says as which kind
    for key in [*keys, "Undefined"]:
        if not torch._C._dispatch_has_computed_kernel_for_dispatch_key(op, key):
            return None
        if falls_through(torch, op, key):
            continue
        kernel = torch._C._dispatch_get_computed_kernel_for_dispatch_key(op, key)
        where = re.search(r"registered at (.*:\d+)", at_home(torch, repr(kernel)))[1]
        for line in at_home(torch, torch._C._dispatch_dump(op)).splitlines():
            registered, _, location = line.partition(": registered at ")
            if location.partition(" :: ")[0] == where and registered in (key, *_ALIASES):
                return key, where, _ALIASES.get(registered, "kernel")
        return key, where, "backend fallback"
