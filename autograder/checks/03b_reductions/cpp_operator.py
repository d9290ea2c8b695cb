"""Checks of lab 03: an operator in C++, compiled where the student's code runs."""

from ...engine.check import program
from ...engine.observe import difference
from ..cases import beyond_single, drawing, first_apart, tensor, tensors
from ..shared_03 import f32, f64, i64


@drawing
def _lines(draw, st):
    x = draw(tensors(st, (1, 4), 4, ("float32", "float32", "float64", "float64", "int64")))["tensor"]
    size = x["sizes"][-1]
    fault = draw(st.sampled_from(["none"] * 9 + ["size", "dims"])) if x["dtype"] != "int64" else "none"
    shape = {"none": [size], "size": [size + 1], "dims": [1, size]}[fault]
    strides = [draw(st.sampled_from([1, 1, 2, 0]))] * len(shape)
    weight = tensor(shape, strides, draw(st.integers(0, 3)), x["dtype"])
    return {"x": {"tensor": x}, "weight": weight, "eps": draw(st.sampled_from([1e-5, 0.5, 2.0]))}


def _about_lines(case, mine, theirs):
    if "child process died" in str(mine.get("message")):
        return (
            "the C++ ended the process that it ran in, as it would end the notebook's: mostly an index outside memory"
        )
    wrong = first_apart(mine, theirs)
    if wrong == "beyond single":
        return "only the digits beyond float32 differ: does each step compute in scalar_t?"
    strided = any(case[name]["tensor"]["strides"][-1] != 1 for name in ("x", "weight"))
    if wrong == "result" and strided and "element" in difference(mine, theirs):
        return "consecutive elements of a line are x.stride(-1) apart, those of weight are weight.stride(0) apart"
    return None


_LINES = [
    ([2, 3], None, 0, "float32", 1, 1e-5), ([2, 3], None, 0, "float64", 1, 1e-5), ([2, 3], None, 0, "float64", 1, 2.0),
    ([3], None, 2, "float32", 1, 0.5), ([3], [2], 1, "float64", 1, 0.5), ([3, 4], [1, 3], 1, "float32", 1, 1e-5),
    ([3, 4], [1, 3], 1, "float64", 2, 1e-5), ([3, 4], [4, 1], 0, "float32", 2, 1e-5),
    ([3, 4], [0, 1], 5, "float32", 1, 1e-5), ([3, 4], [1, 0], 5, "float64", 0, 1e-5),
    ([3, 4], [1, 0], 5, "float32", 1, 1e-5), ([3], None, 0, "float64", 0, 0.5), ([3, 4], [9, 2], 1, "float32", 1, 1e-5),
    ([2, 3, 4], None, 0, "float32", 1, 1e-5), ([2, 3, 4], [1, 8, 2], 3, "float64", 3, 1e-5),
    ([2, 3, 4], [4, 8, 1], 0, "float32", 1, 1e-5), ([2, 3, 2, 5], [1, 20, 60, 2], 1, "float32", 1, 1e-5),
    ([3, 2, 2, 2, 3], None, 1, "float64", 1, 0.25), ([1, 1], None, 0, "float32", 1, 1e-5),
    ([4, 1], [1, 1], 1, "float32", 1, 0.125), ([0, 3], None, 0, "float32", 1, 1e-5),
    ([2, 0], None, 0, "float64", 1, 1e-5), ([2, 0, 3], None, 0, "float64", 1, 1e-5),
    ([2, 37], None, 0, "float32", 1, 1e-5), ([1, 1], None, 0, "float64", 1, 1e-50),  # 0 in float32
    ([4096, 32], None, 0, "float32", 1, 1e-5),  # short lines: a plain sum in float32 will do
    ([2, 3], None, 0, "int64", 1, 1e-5), ([2, 3], None, 0, "float16", 1, 1e-5),
]  # fmt: skip


@program(
    "utils.cpp_extension.rms_norm_source",
    cases=_lines,
    edges=[
        {"x": tensor(s, t, o, d), "weight": tensor([s[-1]], [step], 1, d), "eps": eps}
        for s, t, o, d, step, eps in _LINES
        if d != "float16"  # torch has it, this header does not
    ]
    + [{"x": f32([2, 3]), "weight": f32(s), "eps": 1e-5} for s in ([2], [4], [1], [0], [1, 3], [2, 3], [])]
    + [{"x": f32([], [], 2), "weight": f32([1]), "eps": 1e-5}, {"x": i64([2, 3]), "weight": i64([3]), "eps": 1e-5}]
    + [{"x": f32([2, 3]), "weight": f64([3]), "eps": 1e-5}, {"x": f64([2, 3]), "weight": i64([3]), "eps": 1e-5}],
    is_text=True,
    hint=_about_lines,
)
def rms_norm(xp, x, weight, eps):
    from rushlight.utils.child import run_in_child

    xp.cpp.load(xp.cpp.rms_norm_source())
    schema = str(xp.dispatch.operators["rushlight_cpp::rms_norm"].schema)

    def call():
        result = xp.cpp.rms_norm(x, weight, eps)
        return {"result": result, "beyond single": beyond_single(xp, result), "schema": schema}

    return run_in_child(call, seconds=10)  # C++ can end its process


@rms_norm.oracle
def _(torch, x, weight, eps):
    if weight.dtype != x.dtype:
        raise RuntimeError("this operator does not promote")
    result = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    result = torch.empty(x.shape, dtype=x.dtype).copy_(result)  # its strides differ where a dimension has size 1
    schema = torch._C.parse_schema("rushlight_cpp::rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
    return {"result": result, "beyond single": beyond_single(torch, result), "schema": str(schema)}
