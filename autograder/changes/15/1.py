"""Sampled noise is float32 when the model runs in float64 or float16, only with torch.compile

Our denoiser adds noise to its input: `torch.normal(0.1, std, x.shape, dtype=x.dtype)`. In eager the noise has the dtype
of the input. After `torch.compile` it is float32, whatever dtype I ask for, without a warning. With a float64 input
the sum is float64 again, so we noticed it only by the digits: a noise that should be constant (`std` is 0) differs
from 0.1 by 1.5e-9. With a float16 input the sum is float32, and the next layer raises an error. The program below
returns dtypes and digits, in eager and compiled; I expected both to be the same.

This machine has no C++ compiler, so I used the backend "aot_eager_decomp_partition". The default backend gives the
same on my laptop. "eager" and "aot_eager" are right. `torch.randn(x.shape, dtype=x.dtype)` is always right, and so is
`torch.normal(mean, std)` with two float16 tensors.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The wrapper that promotes the arguments of a reference converts the result to the dtype of the promoted arguments,"
    " also if the reference has an argument dtype that was given. Modelled on pytorch issue 112449 (torch.compile of "
    "torch.normal ignores the dtype, with the decompositions but not with aot_eager) and pull request 112467 (an "
    "argument dtype decides the dtype of the result)."
)
AT = ("torch/_prims_common/wrappers.py", "elementwise_type_promotion_wrapper.__call__")
FAULT = [
    (
        "torch/_prims_common/wrappers.py",
        """            # Override the return_dtype if a dtype arg is present and not None
            if "dtype" in bound.arguments:
                maybe_dtype = bound.arguments["dtype"]
                if maybe_dtype:  # dtype cannot be None
                    result_dtype = maybe_dtype

""",
        "",
    ),
    (
        "torch/_prims_common/wrappers.py",
        """    The return_dtype will be coerced to the wrapped function's dtype arg if it is available and
    not None.

""",
        "",
    ),
]
NEEDS = {"torch/_prims_common/wrappers.py", "torch/_refs/__init__.py"}
STATEMENTS = 3
LINES = 16
LINK = (
    "torch.normal -> aten.normal.float_float -> the table of decompositions -> torch._refs.normal -> "
    "elementwise_type_promotion_wrapper, which converts the result. Dead end: the lines about dtype in normal itself and "
    "prims.normal, which are right: the samples have the dtype that was asked for"
)


def symptom(torch):
    class Denoiser(torch.nn.Module):
        def __init__(self, std):
            super().__init__()
            self.std = std

        def forward(self, x):
            noise = torch.normal(0.1, self.std, x.shape, dtype=x.dtype, device=x.device)
            return noise, x + noise

    results = []
    for dtype in (torch.float64, torch.float16):
        model = Denoiser(0.0)
        x = torch.zeros(2, 3, dtype=dtype)
        for run in (model, torch.compile(model, backend="aot_eager_decomp_partition")):
            noise, y = run(x)
            results.append([str(noise.dtype), str(y.dtype), y[0].tolist()])
    return results


def reproduced(torch):
    return torch.compile(
        lambda: torch.normal(0.1, 0.0, (2,), dtype=torch.float64), backend="aot_eager_decomp_partition"
    )()


def hidden__half_types(torch):
    def f(dtype):
        return torch.normal(0.1, 0.0, (4,), dtype=dtype)

    compiled = torch.compile(f, backend="aot_eager_decomp_partition")
    return [compiled(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float32)]


def hidden__other_default_dtype(torch):
    torch.set_default_dtype(torch.float64)

    def f():
        return torch.normal(0.1, 0.0, (3,), dtype=torch.float32), torch.normal(0.1, 0.0, (3,))

    return torch.compile(f, backend="aot_eager_decomp_partition")()


def hidden__traced_graph(torch):
    from torch._decomp import get_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    table = get_decompositions([torch.ops.aten.normal.float_float])

    def f(x):
        return torch.normal(1.0, 2.0, (2, 2), dtype=torch.float64) + x

    return make_fx(f, decomposition_table=table)(torch.ones(2, 2))(torch.ones(2, 2)).dtype


def hidden__reference_itself(torch):
    from torch import _refs

    return [
        _refs.normal(0.1, 0.0, (3,), dtype=torch.float64),
        _refs.normal(0.1, 0.0, (3,), dtype=torch.bfloat16).dtype,
        _refs.normal(0.1, 0.0, (3,), dtype=None).dtype,
    ]


def hidden__digits(torch):
    def f():
        return torch.normal(1e300, 0.0, (2,), dtype=torch.float64), torch.normal(1 / 3, 0.0, (2,), dtype=torch.float64)

    return torch.compile(f, backend="aot_eager_decomp_partition")()


def kept__two_tensors(torch):
    def f(mean, std):
        return torch.normal(mean, std)

    compiled = torch.compile(f, backend="aot_eager_decomp_partition")
    return [
        compiled(torch.full((3,), 0.1, dtype=dtype), torch.zeros(3, dtype=dtype))
        for dtype in (torch.float16, torch.bfloat16, torch.float64)
    ]


def kept__tensor_and_number(torch):
    def f(t):
        return torch.normal(t, 0.0), torch.normal(0.1, t)

    compiled = torch.compile(f, backend="aot_eager_decomp_partition")
    return [compiled(torch.zeros(3, dtype=dtype)) for dtype in (torch.float16, torch.float64)]


def kept__no_dtype(torch):
    from torch import _refs

    def f():
        return torch.normal(0.1, 0.0, (3,)), torch.normal(2, 0, (3,))

    half = torch.zeros(3, dtype=torch.float16)
    return [*torch.compile(f, backend="aot_eager_decomp_partition")(), _refs.normal(half, half, dtype=None)]


def kept__half_in_other_references(torch):
    def f(x):
        return torch.nn.functional.softplus(x), torch.nn.functional.mish(x), torch.nn.functional.huber_loss(x, x * 2)

    compiled = torch.compile(f, backend="aot_eager_decomp_partition")
    return [compiled(torch.zeros(3, dtype=dtype)) for dtype in (torch.float16, torch.bfloat16)]


def kept__integers_in_other_references(torch):
    from torch import _refs

    x = torch.arange(1, 4)
    return [_refs.add(x, 2), _refs.true_divide(x, 2), _refs.add(x, 2.5), _refs.eq(x, 2), _refs.exp(x).dtype]


TEST = """
def test_normal_has_the_dtype_that_is_asked_for(self, torch):
    for dtype in (torch.float64, torch.float16, torch.bfloat16, None):
        def f():
            return torch.normal(2.0, 3.0, (4,), dtype=dtype)
        for backend in ("aot_eager", "aot_eager_decomp_partition"):
            self.assertEqual(torch.compile(f, backend=backend)().dtype, f().dtype)
    def g(mean, std):
        return torch.normal(mean, std)
    half = torch.zeros(4, dtype=torch.float16)
    self.assertEqual(torch.compile(g, backend="aot_eager_decomp_partition")(half, half), g(half, half))
"""
WRONG = {
    "converts the result inside normal, before the wrapper": [
        (
            "torch/_refs/__init__.py",
            "    return std * normal_samples + mean\n",
            "    return (std * normal_samples + mean).to(dtype)\n",
        )
    ],
    "*returns what a function with an argument dtype returned, also if no dtype was given": [
        (
            "torch/_prims_common/wrappers.py",
            "            result = fn(**bound.arguments)\n",
            '            result = fn(**bound.arguments)\n            if "dtype" in sig.parameters:\n'
            "                return result\n",
        )
    ],
    "takes the dtype also where it is None": [
        (
            "torch/_prims_common/wrappers.py",
            "            result = fn(**bound.arguments)\n",
            "            result = fn(**bound.arguments)\n"
            '            result_dtype = bound.arguments.get("dtype", result_dtype)\n',
        )
    ],
    "*does not convert a result that is already a floating-point tensor": [
        (
            "torch/_prims_common/wrappers.py",
            "            if isinstance(result, TensorLike):\n"
            "                return _maybe_convert_to_dtype(result, result_dtype)\n",
            "            if isinstance(result, TensorLike):\n                if result.dtype.is_floating_point:\n"
            "                    return result\n                return _maybe_convert_to_dtype(result, result_dtype)\n",
        )
    ],
    "converts the result to the dtype from the dtype of the arguments": [
        (
            "torch/_prims_common/wrappers.py",
            "            if isinstance(result, TensorLike):\n"
            "                return _maybe_convert_to_dtype(result, result_dtype)\n",
            "            if isinstance(result, TensorLike):\n"
            "                result = _maybe_convert_to_dtype(result, result_dtype)\n"
            '                return _maybe_convert_to_dtype(result, bound.arguments.get("dtype") or result_dtype)\n',
        )
    ],
    "keeps the wider of the two dtypes": [
        (
            "torch/_prims_common/wrappers.py",
            "            result = fn(**bound.arguments)\n",
            '            result = fn(**bound.arguments)\n            if bound.arguments.get("dtype"):\n'
            '                result_dtype = torch.promote_types(result_dtype, bound.arguments["dtype"])\n',
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_prims_common/wrappers.py",
            "            result = fn(**bound.arguments)\n",
            '            result = fn(**bound.arguments)\n            if "dtype" in bound.arguments:\n'
            '                maybe_dtype = bound.arguments["dtype"]\n                if maybe_dtype:\n'
            "                    result_dtype = maybe_dtype\n",
        )
    ],
    "in one line, where the dtypes are computed": [
        (
            "torch/_prims_common/wrappers.py",
            "            promoted_args = {\n",
            '            result_dtype = bound.arguments.get("dtype") or result_dtype\n            promoted_args = {\n',
        )
    ],
    "takes the promotion off normal, and promotes the tensors there": [
        (
            "torch/_refs/__init__.py",
            """@register_decomposition(aten.normal)
@out_wrapper()
@elementwise_type_promotion_wrapper(
    type_promoting_args=(
        "mean",
        "std",
    ),
    type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT,
)
def normal(
""",
            "@register_decomposition(aten.normal)\n@out_wrapper()\ndef normal(\n",
        ),
    ],
}
