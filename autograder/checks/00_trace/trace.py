"""Lab 00: one operation followed through torch.

What a program shows is what a function reads off torch, or off texts of torch's; the truth is had from another part of torch:
its own parser and code generator, another mode, a probing operator with a kernel for every key, the profiler's arithmetic.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import cache

from ...check import program
from ...observe import difference
from ...recorder import fresh_namespace, recorded

# What both sides need ------------------------------------------------------------------------------------------------

words = str.split


def error_name(error):
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins").__name__


def first_apart(mine, theirs):
    """The name of the first entry in which two results that are dicts differ."""
    if not (isinstance(mine, dict) and isinstance(theirs, dict) and "dict" in mine and "dict" in theirs):
        return None
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    return next((name for name in theirs if difference(mine.get(name), theirs[name])), None)


def explained(**reasons):
    """A hint that goes by the first entry of the result that differs; underscores stand for spaces."""

    def hint(case, mine, theirs):
        return reasons.get((first_apart(mine, theirs) or "").replace(" ", "_"))

    return hint


_NATIVE = ("packaged", "ATen", "native")


@cache
def native_functions():
    """The text of each operator's entry in native_functions.yaml, by name, the shortest first. It comes with torch."""
    import torchgen

    with open(os.path.join(os.path.dirname(torchgen.__file__), *_NATIVE, "native_functions.yaml")) as file:
        text = "".join(line for line in file if line.strip() and not line.lstrip().startswith("#"))
    blocks = re.split(r"^(?=- func: )", text, flags=re.MULTILINE)[1:]
    return {
        re.match(r"- func: ([\w.]+)\(", block)[1]: block
        for block in sorted(blocks, key=lambda block: (len(block), block))
    }


@cache
def known_tags():
    import torchgen
    from torchgen.gen import parse_tags_yaml

    return parse_tags_yaml(os.path.join(os.path.dirname(torchgen.__file__), *_NATIVE, "tags.yaml"))


# The source map ------------------------------------------------------------------------------------------------------

_BEGINNINGS = [
    "",
    "",
    "/__w/pytorch/pytorch/",
    "/usr/lib/python3.12/site-packages/",
    "/home/me/torch/",
    "a/c10x/",
    "torch/x/",
]
_FOLDERS = words("""torch torch/nn torch/nn/modules torch/nnapi torch/optim torch/profiler torch/distributed/fsdp torch/csrc
torch/csrc/autograd torch/csrc/autograd/generated torch/_library tools/autograd torchgen/api aten/src/ATen
aten/src/ATen/core/dispatch aten/src/ATen/core aten/src/ATen/functorch aten/src/ATen/native aten/src/ATen/native/cuda
aten/src/ATen/native/cudnn build/aten/src/ATen build/aten c10 c10/core/impl c10/cuda torch/_dynamo torch/fx/passes
torch/_functorch torch/_inductor torch/include/c10/core torch/include/torch/csrc numpy tools caffe2 src/ATen/native""")
_FILES = words("""x.cpp functional.py __init__.py c10 torch _ops.py library.py DispatchKey.h DispatchKeySet.h
autocast_mode.cpp python_variable.cpp LocalDispatchKeySet.h nn""")


def _paths(st):
    parts = st.tuples(st.sampled_from(_BEGINNINGS), st.sampled_from(_FOLDERS), st.sampled_from(_FILES))
    return parts.map(lambda each: {"path": f"{each[0]}{each[1]}/{each[2]}"})


_PATHS = """c10/core/TensorImpl.cpp; c10; torch/nn; torch/__init__.py; torch/nn/functional.py; torch/nnapi/prepare.py; xtorch/nn.py;
/__w/pytorch/pytorch/c10/core/TensorImpl.cpp; /home/me/torch/c10/core/Storage.h; torch/include/c10/core/Storage.h;
/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCPU_0.cpp; /__w/pytorch/pytorch/aten/src/ATen/native/Linear.cpp;
aten/src/ATen/native/cuda/Blas.cpp; aten/src/ATen/native/cudnn/Conv.cpp; aten/src/ATen/core/dispatch/Dispatcher.cpp;
aten/src/ATen/core/Tensor.cpp; aten/src/ATen/autocast_mode.cpp; aten/src/ATen/autocast_mode.h; src/ATen/native/Linear.cpp;
/__w/pytorch/pytorch/torch/csrc/autograd/generated/VariableType_2.cpp; torch/csrc/autograd/python_variable.cpp;
torch/csrc/Module.cpp; torch/_ops.py; my/_ops.py; torch/_inductor/codegen/cpp.py; c10/core/DispatchKey.h; c10/core/DispatchKey.cpp;
/usr/lib/python3/site-packages/numpy/core/numeric.py; c10/torch; torch/c10; torch/nn/c10/core/DispatchKey.h; torch/nn/torch/fx;
torch/fx/torch/nn; torch/c10/torch; c10/torch/c10; torch/csrc/autograd/aten/src/ATen/x.cpp;
aten/src/ATen/torch/csrc/autograd/x.cpp; aten/src/ATen/torch/csrc/autograd/aten/src/ATen;
torch/fx/tools/autograd/c10; tools/x.py; torchgen/model.py; Torch/nn; c10/torch/nn/c10""".replace("\n", " ").split("; ")


@program(
    "trace.layer_of",
    cases=_paths,
    edges=[{"path": path} for path in _PATHS],
    hint=lambda case, mine, theirs: (
        "no entry stands in this path as whole parts: ValueError"
        if isinstance(theirs, dict)
        else "the entry with the most parts counts; of as many, the one that stands last; parts are compared as a whole"
    ),
)
def layers(xp, path):
    return xp.trace.layer_of(path)


@layers.oracle
def torch_layers(torch, path):
    from rushlight.on_torch.trace import SOURCE_MAP

    parts, found = path.split("/"), []
    for entry in SOURCE_MAP:
        size = len(entry.split("/"))
        found += [(size, i, entry) for i in range(len(parts)) if "/".join(parts[i : i + size]) == entry]
    if not found:
        raise ValueError(path)
    return SOURCE_MAP[max(found)[2]][0], max(found)[2]


# Schemas -------------------------------------------------------------------------------------------------------------

_SCHEMAS = """add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
f() -> ()
f() -> Tensor
f(Tensor x) -> ()
f(*, Tensor x) -> Tensor
f(*, int n=1, Tensor(a!) x) -> Tensor(a!)
f(Tensor x, *, Tensor y, int n=2) -> Tensor
f(Tensor(a) x, Tensor(b) y) -> (Tensor(b), Tensor(a))
f(Tensor(a) x, Tensor(a) y) -> Tensor(a)
f(Tensor(a!) x, Tensor(b!) y, Tensor z) -> ()
f(Tensor x, Tensor(a) y) -> (Tensor, Tensor(a))
f(Tensor(a!)[] xs, Tensor? y) -> ()
f(Tensor y, Tensor(a!)? x) -> (Tensor, int)
f(Tensor x, int[2] stride=[1, 1], int[] dims=[0,1], int k=1) -> Tensor
f(Tensor x, *, int[2] stride=[1, 1], int[3] dims=[0, 1, 2]) -> Tensor[]
f(Tensor x, int[2] stride, int k, int[2] dims=[0, 1]) -> Tensor
f(Tensor x, str mode="ab", float p=0.5, bool? deep=None) -> (Tensor out, Tensor[] rest)
f(Tensor x, str mode="a -> b", str sign="!", Tensor? z=None) -> Tensor
f(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
f.out(Tensor self, *, Tensor(a!) out, Tensor(b!) rest) -> (Tensor(a!) out, Tensor(b!) rest)
split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]
f(Tensor y, Tensor(b -> *) x) -> (Tensor(b)[], Tensor)
f(Tensor(z -> *) x, Tensor(b) y) -> (Tensor(b), Tensor(z)[])
detach_(Tensor(a!) self) -> Tensor(a!)
max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)
_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()""".splitlines()


@program(
    "trace.read_schema",
    cases=lambda st: st.sampled_from(
        sorted(
            (re.match(r"- func: (.*)", text)[1] for text in native_functions().values()),
            key=lambda each: (len(each), each),
        )
    ).map(lambda schema: {"schema": schema}),
    edges=[{"schema": schema} for schema in _SCHEMAS],
    hint=explained(
        required="an argument without = has to be given",
        by_name="what stands after the * can be given by name only",
        written="the ! stands in the annotation, in the parentheses after the type",
        shared="there is an entry for each result: the names of the arguments whose annotation begins with its letter",
        beyond="torch's own parsers are not to be used here",
    ),
)
def schemas(xp, schema):
    with recorded(watched=["torch._C.parse_schema", "torchgen.model.FunctionSchema.parse"]) as beyond:
        read = xp.trace.read_schema(schema)
    return {**read, "beyond": beyond} if isinstance(read, dict) else read


@schemas.oracle
def torch_schemas(torch, schema):
    from torchgen.model import FunctionSchema

    # its own form of lists has no spaces
    parsed, shared = torch._C.parse_schema(schema), FunctionSchema.parse(re.sub(r"(?<=\d), (?=\d)", ",", schema))
    letters = {each.name: set(each.annotation.alias_set) for each in shared.arguments.flat_all if each.annotation}
    results = [set(each.annotation.alias_set) if each.annotation else set() for each in shared.returns]
    return {
        "name": str(shared.name),
        "required": [each.name for each in parsed.arguments if not each.has_default_value()],
        "by name": [each.name for each in parsed.arguments if each.kwarg_only],
        "written": [each.name for each in shared.arguments.flat_all if each.annotation and each.annotation.is_write],
        "shared": [[name for name in letters if letters[name] & result] for result in results],
        "beyond": [],
    }


# Calls ---------------------------------------------------------------------------------------------------------------


def steps_of(torch):
    """What a program may do with the tensor x that it has; the result, if it is a matrix, is its next x."""
    functional = torch.nn.functional

    def backward(x):
        x = x.detach().clone().requires_grad_()
        (x * x).sum().backward()
        return x.grad

    def out(x):
        return torch.add(x, 1, out=torch.empty(0))

    def failing(x):
        return torch.relu(x) @ x.new_zeros(7, 7)

    def without_grad(x):
        with torch.no_grad():
            return x.sigmoid().add_(1)

    return {
        "nothing": lambda x: x,
        "add": lambda x: x + 1,
        "add itself": lambda x: x + x,
        "matmul": lambda x: x @ x.T,
        "bf16": lambda x: (x.bfloat16() @ x.bfloat16().T).float(),
        "linear": lambda x: functional.linear(x, x, x[:, 0]),
        "cat": lambda x: torch.cat([x, x[:1]]),
        "stack": lambda x: torch.stack((x, x.expand(x.shape))).sum(0),
        "where": lambda x: torch.where(x > 1, input=x, other=0.0),
        "by name": lambda x: torch.sub(input=x, other=x.T.contiguous().T, alpha=2),
        "in place": lambda x: x.clone().mul_(2),
        "out": out,
        "two results": lambda x: x.max(dim=0, keepdim=True)[0].expand(2, -1),
        "softmax": lambda x: x.softmax(1),
        "layer norm": lambda x: functional.layer_norm(x, x.shape[1:]),
        "index": lambda x: x[[0, 0]],
        "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
        "backward": backward,
        "no grad": without_grad,
        "number": lambda x: x * x.sum().item(),
        "made": lambda x: torch.zeros(2, 3),
        "foreach": lambda x: torch._foreach_add([x, x], [x, x])[0],
        "fails": failing,
    }


_STEPS = words("""nothing add add_itself matmul bf16 linear cat stack where by_name in_place out two_results softmax
layer_norm index einsum backward no_grad number made foreach fails""")
_STEPS = [name.replace("_", " ") for name in _STEPS]


def running(torch, steps, rows, seen):
    """A program of these steps; it notes that it is called, and with what."""

    def function(x, *rest):
        seen.append([list(x.shape), len(rest)])
        for name in steps:
            x = steps_of(torch)[name](x)
        seen.append(float(x.sum()))

    return function, torch.arange(3.0 * rows).reshape(rows, 3)


def watched(torch, calls, steps, rows, more):
    """What a recorder makes of a program, and what is left of it afterwards."""
    seen = []
    function, x = running(torch, steps, rows, seen)
    try:
        found = calls(function, x, *[1] * more)
    except Exception as error:
        found = error_name(error)
    left = torch._C._len_torch_dispatch_stack()
    return {"calls": found, "computed": seen, "modes left on": left}


def _case(*steps, rows=2, more=0):
    return {"steps": list(steps), "rows": rows, "more": more}


@program(
    "trace.aten_calls",
    cases=lambda st: st.fixed_dictionaries(
        {
            "steps": st.lists(st.sampled_from(_STEPS), max_size=4),
            "rows": st.integers(1, 3),
            "more": st.integers(0, 2),
        }
    ),
    edges=[_case(), *[_case(name) for name in _STEPS], _case("add", "add"), _case("matmul", "backward", rows=3, more=2)]
    + [_case("add", "fails", "add"), _case("cat", "by name", rows=1), _case("made", "linear", more=1)],
    hint=explained(
        calls="one entry for each call that reaches the mode: str(func), and the shapes of all tensors among its arguments",
        computed="the function is called once, with the arguments that it is given, and computes what it always does",
        modes_left_on="the mode is left again, whatever happens: that is what a with statement is for",
    ),
    draws=30,
)
def calls(xp, steps, rows, more):
    torch = xp.trace.torch
    return watched(torch, xp.trace.aten_calls, steps, rows, more)


@calls.oracle
def torch_calls(torch, steps, rows, more):
    from torch.utils._debug_mode import DebugMode

    def recorded_by_torch(function, *args):
        with DebugMode() as mode:
            function(*args)
        texts = [f"{each.args_str} {each.kwargs_str}" for each in mode.operators]
        shapes = [re.findall(r"t: \w+\[([\d, ]*)\]", text) for text in texts]
        shapes = [[[int(size) for size in shape.split(", ") if size] for shape in each] for each in shapes]
        return [(str(each.op), found) for each, found in zip(mode.operators, shapes)]

    return watched(torch, recorded_by_torch, steps, rows, more)


# Keys ----------------------------------------------------------------------------------------------------------------


def kinds_of(torch):
    """Tensors of all kinds."""
    complex_ = torch.complex64

    def plain():
        return torch.ones(2, 2)

    return {
        "plain": plain,
        "requires grad": lambda: plain().requires_grad_(),
        "parameter": lambda: torch.nn.Parameter(plain()),
        "integers": lambda: torch.ones(2, dtype=torch.int64),
        "a view": lambda: plain()[0],
        "detached": lambda: plain().requires_grad_().detach(),
        "no dimension": lambda: torch.tensor(1.0),
        "meta": lambda: torch.empty(2, device="meta"),
        "meta view": lambda: torch.empty(2, 2, device="meta", requires_grad=True).T,
        "conjugate": lambda: torch.ones(2, dtype=complex_).conj(),
        "negative": lambda: torch.ones(2, dtype=complex_).conj().imag,
        "zeros without memory": lambda: torch._efficientzerotensor((2,)),
        "sparse": lambda: plain().to_sparse(),
        "sparse meta": lambda: plain().to_sparse().to("meta"),
        "rows of sparse": lambda: plain().to_sparse_csr(),
        "quantised": lambda: torch.quantize_per_tensor(plain(), 0.1, 0, torch.quint8),
        "nested": lambda: torch.nested.nested_tensor([plain(), plain()]),
    }


_KINDS = """plain; requires grad; parameter; integers; a view; detached; no dimension; meta; meta view; conjugate; negative;
zeros without memory; sparse; sparse meta; rows of sparse; quantised; nested""".replace("\n", " ").split("; ")
_PLACES = ["", "no grad", "inference", "autocast", "autocast off", "below autograd", "vmap", "grad"]
_PLACES += ["without BackendSelect", "without CPU", "with Conjugate"]


@contextmanager
def within(torch, place):
    """Within a part of the program where other keys are included or excluded."""
    C, inside = (
        torch._C,
        {
            "no grad": torch.no_grad,
            "inference": torch.inference_mode,
            "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
            "autocast off": lambda: torch.autocast("cpu", enabled=False),
            "below autograd": torch._C._AutoDispatchBelowAutograd,
            "without BackendSelect": lambda: C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.BackendSelect)),
            "without CPU": lambda: C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.CPU)),
            "with Conjugate": lambda: C._IncludeDispatchKeyGuard(C.DispatchKey.Conjugate),
        }.get(place),
    )
    if inside is None:
        yield
    else:
        with inside():
            yield


def keys_there(torch, look, kind, before, places):
    """What `look` says of a tensor, made before or within some parts of a program, one inside the other."""
    if before:
        x = kinds_of(torch)[kind]()
        return enter(torch, look, lambda: x, places)
    return enter(torch, look, kinds_of(torch)[kind], places)


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


_OUTSIDE = (
    "below autograd",
    "without BackendSelect",
    "without CPU",
    "with Conjugate",
    "vmap",
    "grad",
)  # nothing is made there


def _keys(st):
    @st.composite
    def draw_keys(draw):
        places = draw(st.lists(st.sampled_from(_PLACES), max_size=3))
        kind, before = draw(st.sampled_from(_KINDS)), draw(st.booleans())
        if {"vmap", "grad"} & {*places}:
            kind = "plain"
        return _tensor(kind, *places, before=before or bool({*_OUTSIDE} & {*places}))

    return draw_keys()


def _tensor(kind, *places, before=True):
    return {"kind": kind, "before": before, "places": list(places)}


@program(
    "trace.keys_in_order",
    cases=_keys,
    edges=[_tensor(kind) for kind in _KINDS]
    + [_tensor("plain", place) for place in _PLACES]
    + [
        _tensor(kind, "inference", before=before)
        for kind in ("requires grad", "meta", "sparse")
        for before in (True, False)
    ]
    + [_tensor(kind, "autocast") for kind in ("requires grad", "meta", "integers", "conjugate")]
    + [_tensor("conjugate", "inference", "autocast", before=False), _tensor("plain", "vmap", "inference")],
    hint=lambda case, mine, theirs: (
        "of the tensor's keys and those that the thread includes, those that it excludes are taken away; the highest comes first"
    ),
)
def keys(xp, kind, before, places):
    return keys_there(xp.trace.torch, xp.trace.keys_in_order, kind, before, places)


_PROBED = words("""BackendSelect ADInplaceOrView AutogradCPU AutogradMeta AutogradOther AutogradNestedTensor AutocastCPU
Conjugate Negative ZeroTensor CPU Meta SparseCPU SparseMeta SparseCsrCPU SparseCsrMeta QuantizedCPU NestedTensorCPU
PythonTLSSnapshot Python FuncTorchBatched FuncTorchGradWrapper FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode
FuncTorchVmapMode""")


@keys.oracle
def torch_keys(torch, kind, before, places):
    # by which keys a call really goes: an operator with a kernel for each of them, which notes it and calls the next
    library, reached = torch.library.Library(fresh_namespace(), "DEF"), []
    library.define("probe(Tensor x) -> Tensor")
    op = getattr(torch.ops, library.ns).probe.default

    def kernel(name):
        key = getattr(torch._C.DispatchKey, name)

        def noted(left, x):
            reached.append(name)
            left = left & torch._C._dispatch_keyset_full_after(key)
            return x if left.highestPriorityTypeId() == torch._C.DispatchKey.Undefined else op.redispatch(left, x)

        return noted

    def look(x):
        op(x)
        return reached

    try:
        for name in _PROBED:
            library.impl("probe", kernel(name), name, with_keyset=True)
        return keys_there(torch, look, kind, before, places)
    finally:
        library._destroy()


# Kernels -------------------------------------------------------------------------------------------------------------

_OPERATORS = words("""add.Tensor add_.Tensor add.out add.Scalar matmul mm mm.out linear relu relu_ softmax.int _softmax sum
sum.dim_IntList reshape view expand t transpose.int clone copy_ empty.memory_format empty_like zeros ones_like detach
index.Tensor cat where.self dropout gelu layer_norm native_layer_norm conv2d convolution _scaled_grouped_mm to.dtype _to_copy
resolve_conj conj item _local_scalar_dense size.int is_floating_point quantize_per_tensor to_sparse _sparse_mm addmm.out
mul.Tensor""")
_CPU = ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU"]
_KEYS = words("""AutogradCPU ADInplaceOrView BackendSelect CPU Meta AutogradMeta AutogradOther AutogradNestedTensor
AutocastCPU Conjugate Negative ZeroTensor SparseCPU SparseMeta SparseCsrCPU QuantizedCPU NestedTensorCPU CUDA AutogradCUDA
AutocastCUDA XLA FuncTorchBatched FuncTorchVmapMode FuncTorchGradWrapper Python Functionalize Tracer""")
_CALLS = [
    _CPU,
    ["AutocastCPU", *_CPU],
    ["BackendSelect", "CPU"],
    ["ADInplaceOrView", "BackendSelect", "CPU"],
    ["AutogradMeta", "ADInplaceOrView", "BackendSelect", "Meta"],
    ["AutogradCPU", "ADInplaceOrView", "BackendSelect", "SparseCPU"],
    ["ADInplaceOrView", "BackendSelect", "SparseCPU"],
    ["ADInplaceOrView", "Conjugate", "BackendSelect", "CPU"],
    ["ADInplaceOrView", "ZeroTensor", "BackendSelect", "CPU"],
    ["BackendSelect", "QuantizedCPU"],
    ["BackendSelect", "CUDA"],
    ["AutogradNestedTensor", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "NestedTensorCPU"],
]


def _call(op, *keys):
    return {"op": f"aten::{op}", "keys": list(keys)}


def at_home(torch, text):
    """A text in which torch's Python files lie in the same place wherever it is installed."""
    return text.replace(os.path.dirname(os.path.dirname(torch.__file__)), "/site-packages")


def table_of(torch, op):
    return at_home(torch, torch._C._dispatch_dump_table(op))


@program(
    "trace.serving",
    cases=lambda st: st.builds(
        lambda op, keys: _call(op, *keys),
        st.sampled_from(_OPERATORS),
        st.one_of(st.sampled_from(_CALLS), st.lists(st.sampled_from(_KEYS), max_size=5, unique=True)),
    ),
    edges=[_call("add.Tensor", *keys) for keys in _CALLS]
    + [_call("matmul", *keys) for keys in _CALLS]
    + [
        _call("add.Tensor"),
        _call("add.Tensor", "BackendSelect"),
        _call("_scaled_grouped_mm", "BackendSelect", "ADInplaceOrView"),
    ]
    + [
        _call("add.Tensor", "XLA"),
        _call("add.Tensor", "BackendSelect", "XLA", "CPU"),
        _call("mm", "BackendSelect", "QuantizedCPU"),
    ]
    + [
        _call("empty.memory_format", "BackendSelect"),
        _call("_scaled_grouped_mm", "CPU"),
        _call("view", "ADInplaceOrView", "CPU"),
    ]
    + [
        _call("add.Scalar", "BackendSelect", "CPU"),
        _call("add_.Tensor", "ADInplaceOrView", "CPU"),
        _call("relu", "Python", "CPU"),
    ],
    hint=lambda case, mine, theirs: (
        "the first key that is not passed over has no line: None"
        if theirs is None
        else "a line that says fallthrough is passed over; the first other one serves, and `Undefined` comes after all keys"
    ),
)
def kernels(xp, op, keys):
    return xp.trace.serving(table_of(xp.trace.torch, op), keys)


_ALIASES = {
    "Autograd[alias]": "autograd kernel",
    "CompositeImplicitAutograd[alias]": "math kernel",
    "CompositeExplicitAutograd[alias]": "default backend kernel",
    "CompositeExplicitAutogradNonFunctional[alias]": "default backend kernel",
    "FuncTorchBatchedDecomposition[alias]": "batched kernel",
    "CompositeImplicitAutogradNestedTensor[alias]": "nested kernel",
}


def passed_over(torch, op, key):
    """Whether a key's kernel for an operator, or else the one for all operators, is none."""
    if torch._C._dispatch_has_kernel_for_dispatch_key(op, key):
        return torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough(op, key)
    return key in ("BackendSelect", "ADInplaceOrView", "FuncTorchVmapMode") or key.startswith("Autocast")


@kernels.oracle
def torch_kernels(torch, op, keys):
    # where a kernel was registered is asked of the kernel; of which kind that is, of the list of registrations
    for key in [*keys, "Undefined"]:
        if not torch._C._dispatch_has_computed_kernel_for_dispatch_key(op, key):
            return None
        if passed_over(torch, op, key):
            continue
        kernel = torch._C._dispatch_get_computed_kernel_for_dispatch_key(op, key)
        place = re.search(r"registered at (.*:\d+)", at_home(torch, repr(kernel)))[1]
        for line in at_home(torch, torch._C._dispatch_dump(op)).splitlines():
            registered, _, where = line.partition(": registered at ")
            if where.partition(" :: ")[0] == place and registered in (key, *_ALIASES):
                return key, place, _ALIASES.get(registered, "kernel")
        return key, place, "backend fallback"


# native_functions.yaml -----------------------------------------------------------------------------------------------


def _entries(*names):
    return "".join(native_functions()[name] for name in names)


def _sections(st):
    names = list(native_functions())

    @st.composite
    def draw_section(draw):
        name, others = draw(st.sampled_from(names)), draw(st.lists(st.sampled_from(names[:300]), max_size=2))
        delegate = re.search(r"^  structured_delegate: (\S+)", native_functions()[name], re.MULTILINE)
        chosen = dict.fromkeys([name, *others, *([delegate[1]] if delegate else [])])
        return {"name": name, "text": _entries(*draw(st.permutations(list(chosen))))}

    return draw_section()


def _section_edges():
    usual = [
        "add.Tensor",
        "add.out",
        "mm",
        "mm.out",
        "relu",
        "relu_",
        "matmul",
        "matmul.out",
        "softmax.int",
        "softmax.int_out",
    ]
    yield from ({"name": name, "text": _entries(*usual)} for name in usual)
    for name in (
        "_scaled_grouped_mm",
        "add.Scalar",
        "expand",
        "svd.U",
        "absolute.out",
        "absolute_",
        "softmax.int",
        "item",
        "dropout_",
    ):
        yield {"name": name, "text": _entries(name)}
    for name, delegate in (("sum.dim_IntList", "sum.IntList_out"), ("_softmax", "_softmax.out"), ("sgn_", "sgn.out")):
        yield {"name": name, "text": _entries(name, delegate)}
    for name in ("mm", "add", "relu.out", "softmax", "Tensor"):
        yield {"name": name, "text": _entries("mm", "add.Tensor", "relu", "softmax.int")}
    own = "- func: f.x(Tensor x) -> Tensor\n  structured_delegate: f.out\n  dispatch:\n    SparseCPU: f_sparse\n"
    out = "- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n"
    out += "    CPU, XPU, MTIA: f_out\n    CUDA, MPS: f_out_gpu\n    SparseCUDA: f_out_sparse\n    Meta: f_meta\n"
    yield from ({"name": name, "text": own + out} for name in ("f.x", "f.out"))
    yield {"name": "e", "text": "- func: e(Tensor x) -> Tensor\n  dispatch: {}\n"}
    yield {"name": "_nested_get_lengths", "text": _entries("_nested_get_lengths")}
    yield {"name": "g_.y", "text": "- func: g_.y(Tensor(a!) self, *, int n=1) -> Tensor(a!)\n"}


@program(
    "trace.registrations",
    cases=_sections,
    edges=lambda: list(_section_edges()),
    hint=lambda case, mine, theirs: (
        "an operator, or a delegate, that is not in the text is a LookupError; names are compared as a whole, overload and all"
        if isinstance(theirs, dict) and "error" in theirs
        else "own dispatch, also an empty one; the delegate's for STRUCTURED_KEYS; with neither, CompositeImplicitAutograd"
    ),
)
def yaml_entries(xp, name, text):
    found = xp.trace.registrations(text, name)
    return dict(sorted(found.items())) if isinstance(found, dict) else found


@yaml_entries.oracle
def torch_yaml_entries(torch, name, text):
    import yaml
    from torchgen.model import Location, NativeFunction

    entries = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(text)}

    def parsed(name):
        if name not in entries:
            raise LookupError(name)
        entry = {key: value for key, value in entries[name].items() if key != "ufunc_inner_loop"}
        function, kernels = NativeFunction.from_yaml(entry, Location("", 0), known_tags())
        return function, {key.name: metadata for key, each in kernels.items() for metadata in each.values()}

    function, found = parsed(name)
    if function.structured_delegate is not None:
        _, inherited = parsed(str(function.structured_delegate))
        found = {key: each for key, each in inherited.items() if each.structured} | found
    return {key: found[key].kernel for key in sorted(found)}


# A profile -----------------------------------------------------------------------------------------------------------


def _profiles(st):
    @st.composite
    def draw_profile(draw):
        events = []
        for thread in range(draw(st.integers(1, 3))):
            now, around = 0, []
            for move in (
                draw(st.lists(st.sampled_from(["open", "open", "close", "wait"]), max_size=12)) + ["close"] * 12
            ):
                if move == "open":
                    around.append([draw(st.sampled_from("abcde")), thread, now])
                    now += draw(st.integers(0, 1))
                elif move == "close" and around:
                    now += draw(st.integers(1, 8))
                    events.append([*around.pop(), now])
                elif move == "wait":
                    now += draw(st.integers(1, 3))
        apart = {tuple(event[1:]): event for event in events}
        return {
            "events": draw(st.permutations(list(apart.values()))),
            "share": draw(st.sampled_from([0.0, 0.125, 0.25, 0.5])),
        }

    return draw_profile()


def _profile(*events, share=0.0):
    """Events, each as a name, a thread, and from when to when."""
    return {"events": [list(event) for event in events], "share": share}


_CHAIN = [("a", 1, 0, 10), ("b", 1, 1, 9), ("c", 1, 2, 8), ("d", 1, 3, 7)]
_MATMUL = [("matmul", 0, 0, 100), ("mm", 0, 2, 96), ("conj", 0, 10, 12), ("relu", 0, 100, 140), ("sum", 0, 160, 164)]


@program(
    "trace.hot_operators",
    cases=_profiles,
    edges=[
        _profile(),
        _profile(("a", 1, 5, 8)),
        _profile(*_CHAIN),
        _profile(*reversed(_CHAIN)),
        _profile(*_MATMUL, share=None),
        _profile(*_MATMUL, share=0.25),
        _profile(("b", 1, 0, 4), ("a", 1, 4, 8), ("c", 2, 0, 9)),
        _profile(("c", 1, 0, 4), ("a", 1, 4, 8), ("b", 1, 8, 12), ("d", 1, 12, 16), share=0.125),
        _profile(("b", 1, 0, 1), ("a", 1, 2, 5), share=0.25),  # a quarter is not more than a quarter
        _profile(("a", 1, 0, 16), ("b", 1, 4, 12), ("c", 1, 6, 10), share=0.25),
        _profile(("a", 1, 0, 8), ("b", 1, 0, 4), ("c", 1, 4, 8)),  # nothing is left of a
        _profile(("a", 1, 0, 9), ("b", 1, 0, 4), ("c", 1, 5, 9), ("d", 1, 5, 6)),
        _profile(("a", 1, 0, 9), ("a", 1, 2, 7), ("b", 1, 3, 4), ("a", 1, 12, 13)),
        _profile(("a", 1, 0, 10), ("b", 2, 2, 8), ("c", 3, 0, 10)),
        _profile(("a", 1, 0, 10), ("a", 2, 0, 10), ("b", 2, 3, 5)),
        _profile(("b", 1, 0, 3), ("a", 1, 10, 13), ("c", 1, 4, 9)),
        _profile(("x", 1, 0, 3), ("y", 1, 3, 9), ("z", 1, 1, 2), ("w", 2, 1, 8), share=0.125),
        _profile(("a", 7, 0, 20), ("b", 7, 1, 19), ("c", 7, 2, 5), ("c", 7, 6, 9), ("d", 7, 7, 8), share=0.5),
        _profile(("a", 1, 0, 951), ("b", 1, 1000, 1049), share=None),
        _profile(("a", 1, 0, 948), ("b", 1, 1000, 1052), share=None),
    ],
    hint=lambda case, mine, theirs: (
        "an event's self time is its length without its direct children's; the sum of all self times is the whole; strictly more"
    ),
)
def profiles(xp, events, share):
    events = [xp.trace.Event(*event) for event in events]
    return xp.trace.hot_operators(events, *[share] * (share is not None))


@profiles.oracle
def torch_profiles(torch, events, share):
    from torch.autograd.profiler_util import EventList, FunctionEvent

    times = [(event[0], event[1], event[2], event[3]) for event in events]
    events = EventList(
        FunctionEvent(number, name, thread, start, end, stack=[])
        for number, (name, thread, start, end) in enumerate(times)
    )
    events._build_tree()
    found = {each.key: int(each.self_cpu_time_total) for each in events.key_averages()}
    share = 0.05 if share is None else share
    hot = [[name, time] for name, time in found.items() if time > share * sum(found.values())]
    return sorted(hot, key=lambda each: (-each[1], each[0]))


# A device that does not wait -----------------------------------------------------------------------------------------


def _timings(st):
    launches = st.lists(st.integers(0, 9), max_size=3)
    return st.fixed_dictionaries(
        {
            "work": st.lists(launches, min_size=1, max_size=4),
            "pending": st.integers(0, 20),
            "overhead": st.sampled_from([0.25, 1.0, 4.0]),
            "warmup": st.integers(0, 4),
            "repeats": st.integers(1, 6),
        }
    )


def _timing(*work, pending=0, overhead=0.25, warmup=3, repeats=5):
    """Of each call what it launches; the calls after the last are like it."""
    return {
        "work": [list(each) for each in work],
        "pending": pending,
        "overhead": overhead,
        "warmup": warmup,
        "repeats": repeats,
    }


@program(
    "trace.timed",
    cases=_timings,
    edges=[
        _timing([4], warmup=None, repeats=None),
        _timing([9], [8], [7], [6], [5], [4], [3], [2], warmup=None, repeats=None),
        _timing([4], warmup=0, repeats=1),
        _timing([4], pending=20, warmup=0, repeats=1),
        _timing([4], pending=20, warmup=1, repeats=1),
        _timing([4], pending=20),
        _timing([9], [9], [2], warmup=2, repeats=1),
        _timing([9], [9], [2], warmup=1, repeats=1),
        _timing([9], [9], [1], warmup=2, repeats=2),
        _timing([1], [2], [9], [3], warmup=0, repeats=3),
        _timing([1], [2], [9], [4], warmup=0, repeats=4),
        _timing([4], [1], [3], warmup=0, repeats=2),
        _timing([8], [1], [4], [2], [6], [3], warmup=0, repeats=6),
        _timing([], warmup=1, repeats=2),
        _timing([0, 3], [2, 2], [5], overhead=4.0, warmup=1, repeats=3),
        _timing([1, 1, 1], overhead=4.0, warmup=0, repeats=2),
    ],
    hint=explained(
        seconds="synchronise before the clock is read, both times; then the median of single times",
        calls="warmup + repeats calls are made",
    ),
)
def timings(xp, work, pending, overhead, warmup, repeats):
    device, made = xp.trace.FakeDevice(overhead), []
    device.launch(pending)

    def call():
        for seconds in work[min(len(made), len(work) - 1)]:
            device.launch(seconds)
        made.append(1)

    more = {name: value for name, value in (("warmup", warmup), ("repeats", repeats)) if value is not None}
    seconds = xp.trace.timed(call, device.synchronize, device.clock, **more)
    return {"seconds": float(seconds) if isinstance(seconds, int | float) else seconds, "calls": len(made)}


@timings.oracle
def torch_timings(torch, work, pending, overhead, warmup, repeats):
    warmup, repeats = 3 if warmup is None else warmup, 5 if repeats is None else repeats

    def alone(launches):
        host = device = 0.0
        for seconds in launches:
            host += overhead
            device = max(device, host) + seconds
        return max(host, device)

    times = [alone(work[min(number, len(work) - 1)]) for number in range(warmup, warmup + repeats)]
    return {"seconds": float(torch.tensor(times, dtype=torch.float64).quantile(0.5)), "calls": warmup + repeats}


# Together ------------------------------------------------------------------------------------------------------------


@program(
    "together.trace",
    cases=lambda st: st.builds(
        lambda op, case: {"op": f"aten::{op}"} | case,
        st.sampled_from(_OPERATORS),
        st.sampled_from(
            [_tensor(kind, place) for kind in ("plain", "meta", "conjugate") for place in ("", "autocast", "inference")]
        ),
    ),
    edges=[
        {"op": f"aten::{op}"} | _tensor("plain", place) for op in ("add.Tensor", "matmul") for place in ("", "autocast")
    ],
    draws=20,
)
def path_of_a_call(xp, op, kind, before, places):
    trace = xp.trace

    def look(x):
        return trace.serving(table_of(trace.torch, op), trace.keys_in_order(x))

    served = keys_there(trace.torch, look, kind, before, places)
    return served and [*served, trace.layer_of(served[1].rpartition(":")[0])]


@path_of_a_call.oracle
def torch_path_of_a_call(torch, op, kind, before, places):
    served = torch_kernels.reference(torch, op, torch_keys.reference(torch, kind, before, places))
    return served and [*served, torch_layers.reference(torch, served[1].rpartition(":")[0])]
