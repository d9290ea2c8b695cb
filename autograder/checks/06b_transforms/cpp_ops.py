"""Lab 06, an operator in C++: the arithmetic of RMS normalisation, and what the compiler sees of it."""

from __future__ import annotations

import logging
import re
from importlib import import_module

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import (
    attempt,
    copied,
    drawing,
    drawn,
    error_name,
    explained,
    first_apart,
    first_of,
    numbers,
    several,
    tensor,
    tensors,
    when,
    with_layout,
)
from ..shared_06.operators import PLUMBING, calls_in, operators_inside, registered

HEADERS = [
    "torch/library.h", "ATen/core/Tensor.h", "ATen/Dispatch.h", "ATen/Parallel.h", "ATen/ops/empty.h",
    "ATen/ops/empty_like.h",
]  # fmt: skip
CPP_SECONDS = 10  # a call takes a thousandth of one


def _foreign_headers(text):
    """PyTorch's headers that a text includes beyond those that the exercise names."""
    included = re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)", text, re.MULTILINE)
    return sorted(name for name in included if name.startswith(("ATen/", "torch/", "caffe2/")) and name not in HEADERS)


@drawing
def _lines(draw, st):
    x = draw(tensors(st, (1, 4), 4, ("float32", "float32", "float64", "float64", "int64")))["tensor"]
    fault = draw(st.sampled_from(["none"] * 9 + ["size", "dims", "type"])) if x["dtype"] != "int64" else "none"
    return _line(x, draw(st.sampled_from([1, 1, 2, 0])), draw(st.sampled_from([1e-5, 0.5, 2.0])), fault)


def _line(x, step=1, eps=1e-5, fault="none"):
    size, dtype = x["sizes"][-1], x["dtype"]
    shape = {"size": [size + 1], "dims": [1, size]}.get(fault, [size])
    dtype = {"float32": "float64", "float64": "float32"}[dtype] if fault == "type" else dtype
    return {"x": {"tensor": x}, "weight": tensor(shape, [step] * len(shape), 1, dtype), "eps": eps}


_LINES = [_line(tensor(*of_x)["tensor"], step, eps) for *of_x, step, eps in (
    ([2, 3], None, 0, "float32", 1, 1e-5), ([2, 3], None, 0, "float64", 1, 2.0), ([3], None, 2, "float32", 1, 0.5),
    ([3], [2], 1, "float64", 1, 0.5), ([3, 4], [1, 3], 1, "float32", 1, 1e-5), ([3, 4], [1, 3], 1, "float64", 2, 1e-5),
    ([3, 4], [0, 1], 5, "float32", 1, 1e-5), ([3, 4], [1, 0], 5, "float64", 0, 1e-5),
    ([3, 4], [9, 2], 1, "float32", 1, 1e-5), ([2, 3, 4], [1, 8, 2], 3, "float64", 3, 1e-5),
    ([2, 3, 4], [4, 8, 1], 0, "float32", 1, 1e-5), ([3, 2, 2, 2, 3], None, 1, "float64", 1, 0.25),
    ([1, 1], None, 0, "float32", 1, 1e-5), ([4, 1], [1, 1], 1, "float32", 1, 0.125),
    ([0, 3], None, 0, "float32", 1, 1e-5), ([2, 0], None, 0, "float64", 1, 1e-5),
    ([2, 0, 3], None, 0, "float64", 1, 1e-5), ([2, 37], None, 0, "float32", 1, 1e-5),
    ([1, 1], None, 0, "float64", 1, 1e-50),  # 0 in float32
    ([4096, 32], None, 0, "float32", 1, 1e-5),  # short lines: a plain sum in float32 will do
    ([2, 3], None, 0, "int64", 1, 1e-5), ([0], None, 0, "int64", 1, 1e-5),
    ([2, 3], None, 0, "float16", 1, 1e-5), ([2, 3], None, 0, "bfloat16", 1, 1e-5),
)]  # fmt: skip
_LINES += [
    {"x": tensor(*x, dtype="float32"), "weight": tensor(weight, dtype="float32"), "eps": 1e-5}
    for x, shapes in (([[2, 3]], ([2], [4], [1], [0], [1, 3], [2, 3], [3, 1], [])), ([[], [], 2], ([1], [])))
    for weight in shapes
]
_LINES += [_line(tensor([2, 3], dtype=dtype)["tensor"], fault="type") for dtype in ("float32", "float64")]


def _about_the_process(case, mine, theirs):
    """A hint for a text that was not compiled, or that ended its process."""
    said = str(mine.get("message", "")) if isinstance(mine, dict) else ""
    if "no C++ compiler" in said:
        return "the machine that ran this has no C++ compiler: your text was not tried; tell the person who grades"
    if "child process died" in said:
        return (
            "the C++ ended the process that it ran in, as it would end the notebook's: SIGFPE is an integer divided by 0 "
            "(a size, perhaps), SIGSEGV and SIGABRT are mostly an index outside memory, SIGALRM is a loop without an end"
        )
    return None


@program(
    "on_torch.cpp_ops.rms_norm_source", cases=_lines, edges=_LINES, is_text=True, hint=_about_the_process, draws=12
)
def lines_in_cpp(xp, x, weight, eps):
    text = xp.cpp_ops.rms_norm_source()
    operators = xp.cpp_ops.build(text)
    before = copied(x), copied(weight)

    def call():
        result, names = operators_inside(lambda: operators.rms_norm(x, weight, eps))
        beyond = sorted(names - {*PLUMBING}) + _foreign_headers(text)
        shown = {"result": copied(result), "contiguous": result.is_contiguous()}
        return shown | {"arguments": before + (copied(x), copied(weight)), "beyond": beyond}

    return xp.backend.run_in_child(call, seconds=CPP_SECONDS)  # C++ can end its process


@lines_in_cpp.oracle
def torch_lines_in_cpp(torch, x, weight, eps):
    if weight.dtype != x.dtype:
        raise RuntimeError("one dtype for both")
    if x.dtype in (torch.float16, torch.bfloat16):
        raise NotImplementedError("a dtype that AT_DISPATCH_FLOATING_TYPES leaves out")
    result = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return {"result": copied(result), "contiguous": True, "arguments": [copied(x), copied(weight)] * 2, "beyond": []}


def _seen_by_tools(torch, op, namespace, lead, size, step, kind):
    """An operator's registration, what it makes of tensors without data, and what torch.compile makes of it."""
    graphs, symbols = [], import_module("torch.fx.experimental.symbolic_shapes")

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    def arguments(length):
        x = numbers(torch, [length, *lead, size], 1, kind)
        return with_layout(torch, x, "backwards" if step > 1 else ""), numbers(torch, [size * step], 2, kind)[::step]

    def without_data(shape, weight_shape, weight_kind=kind):
        x = torch.empty(shape, dtype=getattr(torch, kind), device="meta")
        weight = torch.empty(weight_shape, dtype=getattr(torch, weight_kind), device="meta")
        try:
            made = op(x if step == 1 or x.dim() < 2 else x.mT.contiguous().mT, weight)
            return [made.device.type, str(made.dtype), list(made.shape), made.is_contiguous()]
        except Exception as error:
            return error_name(error)

    def of_unknown_rows():
        """The sizes of a result whose first size is a symbol that may be 0 or 1 too, so no comparison with it has an answer."""
        logging.disable()  # this process ends soon, and what the tensors log is no message to a student
        known = symbols.ShapeEnv()
        with import_module("torch._subclasses.fake_tensor").FakeTensorMode(shape_env=known):
            x, weight = (
                torch.empty(shape, dtype=getattr(torch, kind))
                for shape in ((known.create_unbacked_symint(), size), size)
            )
            return attempt(lambda: [str(each) for each in op(x, weight).shape])

    def normalise(x, weight):
        return op(x, weight) * 2

    compiled = torch.compile(normalise, fullgraph=True, backend=backend)
    shown, other_kind = registered(torch, namespace, "rms_norm"), "float32" if kind == "float64" else "float64"
    shown["meta"] = [without_data([3, *lead, size], [size]), without_data([0, size], [size])]
    faults = ([[size + 1]], [[1, size]], [[]], [[size], other_kind])
    shown["refused"] = [without_data([3, size], *fault) for fault in faults]
    shown["refused"] += [without_data([2, 0], [1]), without_data([0, 0], [1, 0]), without_data([], [1])]
    shown["of unknown rows"] = of_unknown_rows()
    results = [copied(compiled(*arguments(length))) for length in (2, 3, 5)]
    return shown | {"results": results, "calls": calls_in(graphs[-1], namespace), "compilations": len(graphs)}


_of_tools = first_of(
    _about_the_process,
    when(
        lambda case, mine, theirs: case["step"] > 1 and first_apart(mine, theirs) == "results",
        "x and weight may have any strides; the lines of a contiguous copy come one after the other",
    ),
    explained(
        schema="TORCH_LIBRARY defines the schema that the docstring gives",
        kernels="one kernel for CPU and one for Meta",
        meta="the kernel for Meta returns a tensor like the other kernel's: sizes, dtype and contiguous strides",
        refused="the kernel for Meta makes the same checks of sizes and dtypes",
        of_unknown_rows="a size may be a symbol without a value: compare it by TORCH_SYM_CHECK, and allocate by empty_symint",
    ),
)


@program(
    "on_torch.cpp_ops.rms_norm_source.compiled",
    cases=drawn(lead=several((2, 3), 0, 2), size=(1, 4), step=(1, 2), kind=["float32", "float64"]),
    edges=[
        {"lead": [], "size": 3, "step": 1, "kind": "float32"},
        {"lead": [2, 3], "size": 4, "step": 2, "kind": "float64"},
    ],
    hint=_of_tools,
    draws=2,
    disposable=True,
)
def cpp_under_compile(xp, lead, size, step, kind):
    import torch._dynamo  # here, or every child imports it

    torch, operators = xp.cpp_ops.torch, xp.cpp_ops.build(xp.cpp_ops.rms_norm_source())
    op, namespace = operators.rms_norm.default, operators.name
    return xp.backend.run_in_child(_seen_by_tools, torch, op, namespace, lead, size, step, kind)


@cpp_under_compile.oracle
def torch_cpp_under_compile(torch, lead, size, step, kind):
    def rms_norm(x, weight, eps=1e-5):
        torch._check(x.dim() > 0)
        torch._check(weight.dim() == 1)
        torch._check(weight.shape[0] == x.shape[-1])
        if weight.dtype != x.dtype:
            raise RuntimeError("one dtype for both")
        if x.device.type == "meta":
            return torch.empty(x.shape, dtype=x.dtype, device=x.device)
        return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps).contiguous()

    namespace = fresh_namespace()
    library = torch.library.Library(namespace, "DEF")
    library.define("rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
    library.impl("rms_norm", rms_norm, "CPU")
    library.impl("rms_norm", rms_norm, "Meta")
    op = getattr(torch.ops, namespace).rms_norm.default
    return _seen_by_tools(torch, op, namespace, lead, size, step, kind)
