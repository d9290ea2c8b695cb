"""Checks of lab 00: the source map, and the schemas of native_functions.yaml."""

import os
import re
from functools import cache

from ...engine.check import program
from ...engine.recorder import recorded
from ..cases import explained, words


def split_at_semicolons(text):
    """The entries of a table. A table is wrapped at the end of an entry."""
    return text.strip().replace("\n", " ").split("; ")


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


_BEGINNINGS = ["", "", "/__w/pytorch/pytorch/", "/usr/lib/python3.12/site-packages/", "/home/me/torch/"]
_BEGINNINGS += ["a/c10x/", "torch/x/"]
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


_PATHS = split_at_semicolons("""
c10/core/TensorImpl.cpp; c10; torch/nn; torch/__init__.py; torch/nn/functional.py; torch/nnapi/prepare.py; xtorch/nn.py;
/__w/pytorch/pytorch/c10/core/TensorImpl.cpp; /home/me/torch/c10/core/Storage.h; torch/include/c10/core/Storage.h;
/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCPU_0.cpp; /__w/pytorch/pytorch/aten/src/ATen/native/Linear.cpp;
aten/src/ATen/native/cuda/Blas.cpp; aten/src/ATen/native/cudnn/Conv.cpp; aten/src/ATen/core/dispatch/Dispatcher.cpp;
aten/src/ATen/core/Tensor.cpp; aten/src/ATen/autocast_mode.cpp; aten/src/ATen/autocast_mode.h; src/ATen/native/Linear.cpp;
/__w/pytorch/pytorch/torch/csrc/autograd/generated/VariableType_2.cpp; torch/csrc/autograd/python_variable.cpp;
torch/csrc/Module.cpp; torch/_ops.py; my/_ops.py; torch/_inductor/codegen/cpp.py; c10/core/DispatchKey.h; c10/core/DispatchKey.cpp;
/usr/lib/python3/site-packages/numpy/core/numeric.py; c10/torch; torch/c10; torch/nn/c10/core/DispatchKey.h; torch/nn/torch/fx;
torch/fx/torch/nn; torch/c10/torch; c10/torch/c10; torch/csrc/autograd/aten/src/ATen/x.cpp;
aten/src/ATen/torch/csrc/autograd/x.cpp; aten/src/ATen/torch/csrc/autograd/aten/src/ATen; torch/fx/tools/autograd/c10;
torch/_ops_py/x.py; c10/core/DispatchKey.hpp; torch/nn/; C:/my files/torch/nn/init.py; torch/fx/../nn;
torch/nn/pytorch/x.py; torch/fx/site-packages/x.py; torch/include/nn/x.h; tools/x.py; torchgen/model.py; Torch/nn;
c10/torch/nn/c10""")


@program(
    "on_torch.trace.layer_of",
    cases=_paths,
    edges=[{"path": path} for path in _PATHS],
    hint=lambda case, mine, theirs: (
        "this path has no entry as whole parts: ValueError"
        if isinstance(theirs, dict)
        else "the entry with the most parts counts, and the last of several with as many; compare whole parts"
    ),
)
def layers(xp, path):
    return xp.trace.layer_of(path)


@layers.oracle
def torch_layers(torch, path):
    from rushlight.on_torch.trace import SOURCE_MAP

    parts, matches = path.split("/"), []
    for entry in SOURCE_MAP:
        size = len(entry.split("/"))
        matches += [(size, i, entry) for i in range(len(parts)) if "/".join(parts[i : i + size]) == entry]
    if not matches:
        raise ValueError(path)
    return SOURCE_MAP[max(matches)[2]][0], max(matches)[2]


_SCHEMAS = split_at_semicolons("""
add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!); f() -> (); f() -> Tensor;
f(Tensor x) -> (); f(*, Tensor x) -> Tensor; f(*, int n=1, Tensor(a!) x) -> Tensor(a!);
f(Tensor x, *, Tensor y, int n=2) -> Tensor; f(Tensor(a) x, Tensor(b) y) -> (Tensor(b), Tensor(a));
f(Tensor(a) x, Tensor(a) y) -> Tensor(a); f(Tensor(a!) x, Tensor(b!) y, Tensor z) -> ();
f(Tensor x, Tensor(a) y) -> (Tensor, Tensor(a)); f(Tensor(a!)[] xs, Tensor? y) -> ();
f(Tensor y, Tensor(a!)? x) -> (Tensor, int); f(Tensor x, int[2] stride=[1, 1], int[] dims=[0,1], int k=1) -> Tensor;
f(Tensor x, *, int[2] stride=[1, 1], int[3] dims=[0, 1, 2]) -> Tensor[];
f(Tensor x, int[2] stride, int k, int[2] dims=[0, 1]) -> Tensor;
f(Tensor x, str mode="ab", float p=0.5, bool? deep=None) -> (Tensor out, Tensor[] rest);
f(Tensor x, str mode="a -> b", str sign="!", Tensor? z=None) -> Tensor; f(Tensor x, *, str mode="() -> ", int k) -> Tensor;
f(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!);
f.out(Tensor self, *, Tensor(a!) out, Tensor(b!) rest) -> (Tensor(a!) out, Tensor(b!) rest);
split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[];
f(Tensor y, Tensor(b -> *) x) -> (Tensor(b)[], Tensor); f(Tensor(a!) x, Tensor(b) y) -> (Tensor(b), Tensor(a));
f(Tensor(a) x, str s="(a!) y *", *, str t="*") -> Tensor(a); f(Tensor x, str s="Tensor(a!)") -> Tensor(a);
f(Tensor(z -> *) x, Tensor(b) y) -> (Tensor(b), Tensor(z)[]); detach_(Tensor(a!) self) -> Tensor(a!);
max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices);
_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> (); __and__.Tensor(Tensor self, Tensor other) -> Tensor;
f(Tensor(a)[] xs) -> Tensor(a)[]""")


def _all_schemas():
    schemas = (re.match(r"- func: (.*)", text)[1] for text in native_functions().values())
    return sorted(schemas, key=lambda schema: (len(schema), schema))


@program(
    "on_torch.trace.read_schema",
    cases=lambda st: st.sampled_from(_all_schemas()).map(lambda schema: {"schema": schema}),
    edges=[{"schema": schema} for schema in _SCHEMAS],
    hint=explained(
        required="an argument without = is required",
        by_name="arguments after the * can be passed by name only",
        written="the ! is in the annotation, in the parentheses after the type",
        shared="there is an entry for each result: the names of the arguments whose annotation begins with its letter",
    ),
)
def schemas(xp, schema):
    with recorded(watched=["torch._C.parse_schema", "torchgen.model.FunctionSchema.parse"]) as beyond:
        read = xp.trace.read_schema(schema)
    return {**read, "beyond": beyond} if isinstance(read, dict) else read


@schemas.oracle
def torch_schemas(torch, schema):
    from torchgen.model import FunctionSchema

    # torchgen writes lists without spaces
    parsed, shared = torch._C.parse_schema(schema), FunctionSchema.parse(re.sub(r"(?<=\d), (?=\d)", ",", schema))
    letters = {
        argument.name: set(argument.annotation.alias_set)
        for argument in shared.arguments.flat_all
        if argument.annotation
    }
    results = [set(returned.annotation.alias_set) if returned.annotation else set() for returned in shared.returns]
    return {
        "name": str(shared.name),
        "required": [argument.name for argument in parsed.arguments if not argument.has_default_value()],
        "by name": [argument.name for argument in parsed.arguments if argument.kwarg_only],
        "written": [each.name for each in shared.arguments.flat_all if each.annotation and each.annotation.is_write],
        "shared": [[name for name in letters if letters[name] & result] for result in results],
        "beyond": [],
    }
