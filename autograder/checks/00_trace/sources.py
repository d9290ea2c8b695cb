"""Checks of lab 00: the source map, and the schemas of native_functions.yaml."""

import os
import re
from functools import cache

from ...engine.check import program
from ...engine.recorder import recorded
from ..cases import explained, field, first_of, when, words


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
f(Tensor(a -> b) x, Tensor(b) y) -> Tensor(b);
f(Tensor(a)[] xs) -> Tensor(a)[]; f(Tensor x, *, str mode="a=b") -> Tensor""")


def _all_schemas():
    schemas = (re.match(r"- func: (.*)", text)[1] for text in native_functions().values())
    return sorted(schemas, key=lambda schema: (len(schema), schema))


@program(
    "on_torch.trace.read_schema",
    cases=lambda st: st.sampled_from(_all_schemas()).map(lambda schema: {"schema": schema}),
    edges=[{"schema": schema} for schema in _SCHEMAS],
    hint=first_of(
        when(
            lambda case, mine, theirs: any({*"-=!*("} & {*text} for text in re.findall(r'"([^"]*)"', case["schema"])),
            "what is between quotation marks is a text: an arrow, a star or a sign there means nothing",
        ),
        when(
            lambda case, mine, theirs: any("]" in str(name) for name in field(mine, "required") or []),
            "a comma within brackets separates no arguments",
        ),
        explained(
            required="an argument without = is required",
            by_name="arguments after the * can be passed by name only",
            written="the ! is in the annotation, in the parentheses after the type",
            shared="there is an entry for each result: the names of the arguments whose annotation begins with its letter",
        ),
    ),
)
def schemas(xp, schema):
    with recorded(watched=["torch._C.parse_schema", "torchgen.model.FunctionSchema.parse"]) as beyond:
        read = xp.trace.read_schema(schema)
    return {**read, "beyond": beyond} if isinstance(read, dict) else read


@schemas.oracle
def torch_schemas(torch, schema):
    from torchgen.model import FunctionSchema

    # torchgen writes lists without spaces, and a default without =
    as_written = re.sub(r"(?<=\d), (?=\d)", ",", schema).replace("a=b", "ab")
    parsed, shared = torch._C.parse_schema(schema), FunctionSchema.parse(as_written)
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


# Backtraces ----------------------------------------------------------------------------------------------------------

_TYPES = words("at::Tensor _object* void c10::intrusive_ptr<c10::TensorImpl> std::tuple<at::Tensor,at::Tensor>")
_TYPES += ["std::vector<at::Tensor, std::allocator<at::Tensor> >", "unsigned long", "at::Tensor const&", "", "", ""]
_SPACES = words("""at:: at::native:: at::_ops:: at::meta:: at::native::cpublas:: at::autocast:: at::functorch:: at::nativex::
torch:: torch::autograd:: torch::autograd::VariableType:: torch::ADInplaceOrView:: torch::jit:: c10:: c10::impl:: c10::Dispatcher::
std:: pybind11:: torchx:: xat::native:: at::wrapper_x::""")
_NAMES = words("""add_kernel THPVariable_add wrapper_CPU_add_Tensor add_Tensor::call add_Tensor::redispatch TensorImpl::sizes foo
TypeError_to_NotImplemented_ wrap_kernel_functor_unboxed_ Engine::execute operator""")
_PARTS = [
    "",
    "",
    "",
    "<float>",
    "<float, 4>",
    "<&torch::autograd::THPVariable_add>",
    "<at::Tensor (at::Tensor const&, long)>",
]
_PARTS += [
    "<c10::List<at::Tensor>, c10::Map<long, c10::List<double> > >",
    "<(anonymous namespace)::Kind (at::native::sum<int>)>",
]
_HIDDEN = ["", "", "(anonymous namespace)::"]
_MORE = ["", "", "", "::call", "<int>::run", "::sum<at::Tensor (int)>::go"]
_ENDS = """\
() () from /usr/lib/libtorch_cpu.so
(at::Tensor const&, c10::Scalar const&) () from /a b/libtorch.so
(int)@plt () from x.so
(at::Iter&)::{lambda()#1}::operator()() const [clone .isra.0] () from libtorch_cpu.so
 (v=0x7f, w=<optimized out>) at x.c:7
(c10::function_ref<void (char**, long const*)>, long) ()
(std::function<at::Tensor (int)>) const (this=0x7f) at a.cpp:3
""".splitlines()
_BEGINS = ["0x00007fffe19c4980 in ", "0x7f in ", ""]
_OTHERS = [
    "",
    "Thread 1 hit Breakpoint 2, 0x7f in at::native::add_kernel() ()",
    "(More stack frames follow...)",
]


def _frames(st):
    kinds = (_BEGINS, _TYPES, _SPACES, _HIDDEN, _NAMES, _PARTS, _MORE, _ENDS)
    return st.tuples(*map(st.sampled_from, kinds)).map(
        lambda each: f"{each[0]}{each[1]}{' ' * bool(each[1])}{''.join(each[2:])}"
    )


def _backtraces(st):
    def numbered(frames, other):
        lines = [f"#{number:<3}{frame}" for number, frame in enumerate(frames)]
        return {"text": "\n".join([other, *lines] if other else lines)}

    return st.builds(numbered, st.lists(_frames(st), min_size=1, max_size=4), st.sampled_from(_OTHERS))


def _real():
    from rushlight.on_torch.trace import BACKTRACE

    return BACKTRACE


_ONE = split_at_semicolons("""
#0  at::native::sum(at::Tensor const&) () from x.so; #0  0x7f in at::Tensor at::native::sum<float, 4>(at::Tensor const&) ();
#0  std::tuple<at::Tensor, at::Tensor> at::native::sort<int>(int) (); #7  main () at main.c:3; #0  0x7f in ?? ();
#12 0x7f in torch::autograd::VariableType::(anonymous namespace)::mm(at::Tensor const&) () from libtorch_cpu.so;
#1  0x7f in c10::impl::wrap_<c10::F<at::Tensor (int), &at::(anonymous namespace)::wrapper_CPU_mm>, c10::L<int> >::call(int) ();
#100 0x7f in at::_ops::mm::call(at::Tensor const&) (); #0  at::nativex::f() (); #0  xat::native::f() ();
#0  0x7f in unsigned long at::native::count<(anonymous namespace)::Kind>(int) () from x.so; #0  _start ();
#3  0x7f in at::(anonymous namespace)::native::(anonymous namespace)::sum(int) () from x.so;
#3  0x7f in at::native::sum (x=0x7f, why="not in torch::sum()") at /src in c10::x/x.cpp:3; #0  std::at::native::f() ();
#5  0x7f in at::native::sum; #5  at::Tensor const& c10::impl::run<int (long)>;
#6  0x7f in at::Tensor (anonymous namespace)::at::native::sum(int) () from x.so""")
_ALMOST = "\n".join(
    f"{begin}at::native::sum(int) () from x.so" for begin in ("# ", "#x0 ", "#  0 ", " #0  ", "0#1  ", "> #2  ", "")
)


@program(
    "on_torch.trace.read_backtrace",
    cases=_backtraces,
    edges=lambda: [
        {"text": ""},
        {"text": _real()},
        {"text": f"{_OTHERS[1]}\n#0  at::native::sum (v=0x7f) at x.cpp:7"},
        *({"text": text} for text in (*_ONE, _ALMOST)),
    ],
    hint=lambda case, mine, theirs: (
        f"{len(theirs)} of the frames are PyTorch's"
        if len(mine) != len(theirs)
        else "a name has no template arguments, no result type and no parameters, and the longest fitting entry counts"
    ),
)
def backtraces(xp, text):
    return xp.trace.read_backtrace(text)


@backtraces.oracle
def torch_backtraces(torch, text):
    from rushlight.on_torch.trace import FRAME_MAP

    found = []
    for line in text.split("\n"):
        if not re.match(r"#\d", line):
            continue
        rest = line.lstrip("#0123456789").lstrip()
        rest = rest.partition(" in ")[2] if rest.startswith("0x") else rest
        name, depth, characters = "", 0, rest.replace("(anonymous namespace)::", "")
        for position, character in enumerate(characters):
            if depth == 0 and character == "(":
                break
            depth += (character == "<") - (character == ">")
            if depth == 0 and character != ">":
                name = "" if character == " " and characters[position + 1] != "(" else name + character
        name = name.strip()
        entries = sorted(start for start in FRAME_MAP if name.startswith(start))
        found += [(name, *FRAME_MAP[entries[-1]])] if entries else []
    return found
