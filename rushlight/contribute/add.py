"""Additions to PyTorch 2.13: what it lacks, written as PyTorch has its own.

A decomposition writes an operator in terms of core operators, so that the compiler sees into it. It is `torch/_decomp/` and
`torch/_refs/` in PyTorch. Samples find wrong decompositions: `torch/testing/_internal/opinfo/`.

This module works on torch itself. Importing it registers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor

# A decomposition -----------------------------------------------------------------------------------------------------


def legendre_p(x: Tensor, n: float) -> Tensor:
    """The Legendre polynomial of degree n at each element of x: a decomposition of `special_legendre_polynomial_p.n_scalar`.

    P_0(x) = 1, P_1(x) = x, and (k + 1) P_(k+1)(x) = (2k + 1) x P_k(x) - k P_(k-1)(x).

    The result is that of `torch.special.legendre_polynomial_p(x, n)`:

    - `n` is a number of Python. The operator cuts off its fraction: 2.7 and 2.2 are 2, and -0.5 is 0. A negative degree gives 0.
    - The dtype is that of x if x is floating. For integers and bool it is torch's default dtype, and the calculation has it too.
    - The result has memory of its own, and the strides that PyTorch gives the result of an operator such as `x + 1.5`. The
      strides of a result without elements, and of dimensions of size 1, do not matter.
    - P_0 is 1 and a negative degree gives 0, also where x is nan. From n = 2 on, the result is nan where x is nan. (There
      the kernel of torch 2.13 returns a number that it has never written.)

    A compiler can lower the core operators of ATen, which have the tag `torch.Tag.core`. So the decomposition calls these, and
    operators that `torch._decomp.core_aten_decompositions()` reduces to these. It reads no element of x, and compares no size.

        >>> legendre_p(torch.tensor([0, 1, 2]), 2)
        tensor([-0.5000,  1.0000,  5.5000])

    Args:
        x: of any sizes and strides, boolean, integer, float32 or float64. It is only read.
        n: an int, a float or a bool, at most 20.

    Source: `aten/src/ATen/native/Math.h`, `legendre_polynomial_p_forward`; for the form, `torch/_refs/special/__init__.py`.
    """
    degree = int(n)
    x = x.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())
    if degree <= 0:
        return torch.full_like(x, degree == 0)
    before, now = torch.ones_like(x), x.clone()  # P_1 is x, and the result has memory of its own
    for k in range(1, degree):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now


def legendre_table() -> dict[Any, Callable]:
    """A decomposition table with the two overloads of `special_legendre_polynomial_p` whose degree is a number.

    The table maps the overloads `n_scalar` and `n_scalar_out` of `torch.ops.aten.special_legendre_polynomial_p` to functions with
    their parameters. It has no other key: in the other overloads the degree is a tensor, so no program of Python knows how many
    steps the recurrence takes. Each call returns a new table, and nothing is registered for other code.

    The function of `n_scalar_out` follows the rules for `out` of all operators:

    - `out` gets the sizes of the result if it has others. If it has the right sizes, it keeps its strides.
    - The values of the result are written into `out`, converted to its dtype. Where the conversion loses the category, as from
      floating to integer, the function raises RuntimeError.
    - It returns `out` itself.

    `torch._prims_common.wrappers.out_wrapper` and the parameter `registry` of `torch._decomp.register_decomposition` are for this.

    Source: `torch/_decomp/__init__.py`, `register_decomposition`; `torch/_prims_common/wrappers.py`, `out_wrapper`.
    """
    from torch._decomp import register_decomposition
    from torch._prims_common.wrappers import out_wrapper

    op, table = torch.ops.aten.special_legendre_polynomial_p, {}
    register_decomposition([op.n_scalar, op.n_scalar_out], table)(out_wrapper()(legendre_p))
    return table


def samples_of_legendre() -> list[tuple[Tensor, float]]:
    """Samples that find wrong decompositions of `special_legendre_polynomial_p.n_scalar`: pairs of x and n.

    A wrong decomposition is found if its result for one of the pairs differs from that of `torch.special.legendre_polynomial_p`:
    in values, dtype or sizes, or in strides if it has elements. It is also found if its result shares memory with x, or if it
    raises an error. A right decomposition must not be found, so no x has an infinite element, and none is nan if n is 2 or more.

    Returns:
        at most 8 pairs. Each x has at most 24 elements, of a dtype and with a degree that `legendre_p` accepts.

    Source: `torch/testing/_internal/opinfo/core.py`, `SampleInput`; `torch/testing/_internal/common_methods_invocations.py`.
    """
    turned = torch.linspace(-1.5, 1.5, 12, dtype=torch.float64).reshape(3, 4).t()
    return [
        (turned, 5),
        (turned[::2], 1),
        (torch.tensor([-2, 0, 3]), 2.7),
        (torch.tensor([True, False]), 3),
        (torch.tensor(0.0), 0),
        (torch.tensor([0.5, -0.5]), -2),
        (torch.tensor([0.5, -0.5]), -0.5),
        (torch.empty(0, 3), 2),
    ]


# Fake kernels --------------------------------------------------------------------------------------------------------

NORMALIZE = "normalize(Tensor x, Tensor? weight=None, *, int dim=-1, ScalarType? dtype=None) -> (Tensor, Tensor)"
PEAKS = "peaks(Tensor x, float threshold) -> (Tensor, Tensor)"


def normalize(
    x: Tensor, weight: Tensor | None = None, *, dim: int = -1, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor]:
    """A kernel for the CPU: x divided by its norm along `dim`, times the weight, and the norm. No tracer sees into NumPy.

    Args:
        x: of one dimension or more, and of any strides. It is boolean, integer, float16, float32 or float64.
        weight: None, or of shape (x.shape[dim],).
        dim: from either end.
        dtype: that of the first result.
    """
    exact = torch.promote_types(x.dtype, torch.float32)
    rows = x.movedim(dim, -1).to(exact).contiguous().numpy()  # the dimension `dim` comes last, and is contiguous
    norm = numpy.sqrt((rows * rows).sum(-1))
    result = torch.from_numpy(rows / numpy.maximum(norm, 1e-6)[..., None].astype(rows.dtype))
    if weight is not None:
        result = result * weight
    return result.to(dtype or result.dtype).movedim(-1, dim), torch.from_numpy(numpy.asarray(norm))


def peaks(x: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """A kernel for the CPU: the elements of x above the threshold, in row-major order, and their positions, a row for each."""
    above = (x > threshold).numpy()
    places = numpy.stack(above.nonzero())  # a row for each dimension
    return torch.from_numpy(x.numpy()[above]), torch.from_numpy(places).t()


def normalize_fake(
    x: Tensor, weight: Tensor | None = None, *, dim: int = -1, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor]:
    """The fake kernel of `normalize`: two tensors with the metadata of the results, whose elements have no meaning.

    They have the sizes, strides, dtypes and device of the kernel's results for all arguments that `normalize` takes. Read it in
    `normalize` itself. (The strides of results without elements, and of dimensions of size 1, do not matter.)

    The arguments have no data, so no element is read. Sizes may be symbols. They stay symbols in the results, and none is compared
    with anything, so that one graph is right for all sizes.

    Source: `torch/library.py`, `register_fake`; for the form, `torch/_meta_registrations.py`.
    """
    exact = torch.promote_types(x.dtype, torch.float32)
    sizes = [*x.shape]
    length = sizes.pop(dim)
    if dtype is None:
        dtype = exact if weight is None else torch.promote_types(exact, weight.dtype)
    result = x.new_empty([*sizes, length], dtype=dtype)
    return result.movedim(-1, dim), x.new_empty(sizes, dtype=exact)


def peaks_fake(x: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """The fake kernel of `peaks`: two tensors with the metadata of the results, one of whose sizes depends on the data.

    No one knows this size while a graph is captured. `torch.library.get_ctx().new_dynamic_size(min=..., max=...)` makes a symbol
    without a value for such a size. Code that is compiled relies on its bounds, which are numbers: they hold for each x, also for
    one in which no element is above the threshold, or one, or all.

    Both results have as many rows as there are such elements, and their sizes say so: what adds one to the other is captured
    without a question. Otherwise the contract is that of `normalize_fake`. x has one dimension or more.

    Source: `torch/_library/fake_impl.py`, `FakeImplCtx.new_dynamic_size`; `torch/_subclasses/fake_impls.py`, `nonzero`.
    """
    count = torch.library.get_ctx().new_dynamic_size(min=0)
    return x.new_empty([count]), x.new_empty([x.dim(), count], dtype=torch.int64).t()


# A pattern of the compiler -------------------------------------------------------------------------------------------


def addcmul_is_safe(match: Any) -> bool:
    """Whether a sum of a product, found in a graph, may become one call of `addcmul`.

    The match is of one of two patterns, `add(mul(x, y), z)` or `add(z, mul(x, y))`, with `aten.add.Tensor` and `aten.mul.Tensor`.
    `addcmul(z, x, y, value=a)` computes z + a x y. The call takes the place of the sum if all of these hold:

    - x, y and z are tensors. In a graph, `x * 2` is `mul.Tensor` too, and its y is a number.
    - They have the same dtype. It is not bool, for which there is no addcmul, and neither float16 nor bfloat16: there the product
      is rounded, and addcmul does not round it.
    - The sum has no `alpha`, or z comes first: `add(z, product, alpha=a)` is z + a x y, and `add(product, z, alpha=a)` is not. A
      pattern without `alpha` also matches nodes that have one, and says nothing.
    - z is not the product itself, which would have to be computed anyway.
    - The result of addcmul has the strides of the sum. They depend on the order of the operands: code that was compiled for the
      strides of the sum reads other elements.

    The graph is not changed.

    Args:
        match: a `Match` of Inductor's pattern matcher. `match.kwargs` has what `x`, `y` and `z` are, nodes or numbers, and
            `match.output_node()` is the node of the sum, with `args` and `kwargs`. The fake tensor of a node is `node.meta["val"]`;
            with it any operator can be called to see what its result would be like.

    Source: `torch/_inductor/fx_passes/post_grad.py`, `is_valid_addmm_fusion`.
    """
    x, y, z = operands = [match.kwargs[name] for name in "xyz"]
    total = match.output_node()
    if not all(isinstance(operand, torch.fx.Node) for operand in operands):
        return False
    fakes = [operand.meta["val"] for operand in operands]
    dtypes = {fake.dtype for fake in fakes}
    if len(dtypes) > 1 or dtypes & {torch.bool, torch.float16, torch.bfloat16}:
        return False
    if z in match.nodes or (total.kwargs.get("alpha", 1) != 1 and total.args[0] is not z):
        return False
    result = torch.addcmul(fakes[2], fakes[0], fakes[1])
    return result.stride() == total.meta["val"].stride()


def addcmul_pass() -> Any:
    """A pass that replaces sums of a product by `addcmul`, wherever this is safe.

    It finds `add(mul(x, y), z)` and `add(z, mul(x, y))`, both with and without `alpha`, if the sum is the only user of the product.
    Each match that `addcmul_is_safe` accepts becomes `aten.addcmul.default(z, x, y)`, with the `alpha` of the sum as its `value`.
    (Tracing leaves out a `value` of 1, the default.) All other nodes stay.

    `CallFunction(target, *args)` is a pattern for the call of a target. Its arguments are patterns again, or `KeywordArg(name)`,
    which matches anything and hands it on by this name. `@register_graph_pattern(pattern, extra_check=..., pass_dict=...)`
    decorates a function `(match, **kwargs)`, which is called for each match that the check accepts.
    `match.replace_by_example(function, args)` puts the graph of `function(*args)` in the place of the match.

    Returns:
        a new `PatternMatcherPass`. `pass_.apply(graph)` changes the graph and returns the number of replacements.

    Source: `torch/_inductor/pattern_matcher.py`; `torch/_inductor/fx_passes/post_grad.py`, `addmm`.
    """
    from torch._inductor.pattern_matcher import CallFunction, KeywordArg, PatternMatcherPass, register_graph_pattern

    aten, found = torch.ops.aten, PatternMatcherPass()
    product, z = CallFunction(aten.mul.Tensor, KeywordArg("x"), KeywordArg("y")), KeywordArg("z")

    def replace(match, x, y, z):
        alpha = match.output_node().kwargs.get("alpha", 1)
        match.replace_by_example(lambda z, x, y: aten.addcmul(z, x, y, value=alpha), [z, x, y])

    for operands in ((product, z), (z, product)):
        pattern = CallFunction(aten.add.Tensor, *operands)
        register_graph_pattern(pattern, extra_check=addcmul_is_safe, pass_dict=found)(replace)
    return found


# A lowering ----------------------------------------------------------------------------------------------------------

TOKEN_SHIFT = "token_shift(Tensor x, float mix) -> Tensor"


def token_shift(x: Tensor, mix: float) -> Tensor:
    """A kernel: each row of x mixed with the row before it, and the first row with zeros.

    Row r of the result is mix * x[r] + (1 - mix) * x[r - 1].

    Args:
        x: of shape (..., rows, columns), float32 or float64, of any strides.
        mix: the part of the row itself.

    Returns:
        a contiguous tensor of the sizes and the dtype of x.
    """
    before = torch.nn.functional.pad(x, (0, 0, 1, 0))[..., :-1, :]
    return (mix * x + (1 - mix) * before).contiguous()


def token_shift_lowering(x: Any, mix: float) -> Any:
    """The lowering of `token_shift`: the loop that the compiler writes for it.

    Inductor calls a lowering in the place of its operator. There is no tensor then, and nothing is computed: x is a `TensorBox`,
    which says how to load an element.

    - `x.make_loader()` is a function `load(index)`, `x.get_size()` the list of sizes, numbers or expressions with symbols, and
      `x.get_dtype()` and `x.get_device()` are the rest.
    - `torch._inductor.ir.Pointwise.create(device=..., dtype=..., inner_fn=..., ranges=...)` makes the result. `inner_fn(index)`
      gives the element at an index, a list with an expression for each dimension.
    - `torch._inductor.virtualized.ops` has the operations on elements: `ops.add`, `ops.mul`, `ops.lt` and others,
      `ops.constant(number, dtype)`, `ops.index_expr(expression, dtype)` for the value of an index, and
      `ops.masked(mask, body, other)`, which is `body()` where the mask is true, and elsewhere the number `other`.

    The result has the values of `token_shift(x, mix)`, the sizes and the dtype of x. It is one `Pointwise`: no kernel of ATen is
    called, and nothing is stored in memory before the result. No element is loaded from outside the memory of x, and no size is
    compared, so that one loop is right for all sizes.

    Source: `torch/_inductor/lowering.py`, `register_lowering`, `constant_pad_nd`; `torch/_inductor/ir.py`, `Pointwise`.
    """
    from torch._inductor.ir import Pointwise
    from torch._inductor.virtualized import ops

    load, dtype = x.make_loader(), x.get_dtype()

    def inner(index):
        *lead, row, column = index
        is_first = ops.lt(ops.index_expr(row, torch.int64), ops.constant(1, torch.int64))
        before = ops.masked(ops.logical_not(is_first), lambda: load([*lead, row - 1, column]), 0.0)
        parts = ops.mul(ops.constant(mix, dtype), load(index)), ops.mul(ops.constant(1 - mix, dtype), before)
        return ops.add(*parts)

    return Pointwise.create(device=x.get_device(), dtype=dtype, inner_fn=inner, ranges=x.get_size())


# An operator in the YAML files ---------------------------------------------------------------------------------------


def softcap_entries() -> str:
    """The entries of a new family of operators for `native_functions.yaml`, as text: `softcap`, which is cap * tanh(x / cap).

    - `softcap` takes a Tensor self and a `float cap=30.0`, and returns a Tensor. It is a function of torch and a method.
    - `softcap_` is the same in place, a method only.
    - `softcap.out` writes into the keyword-only argument `out`.

    The family is structured: `softcap.out` inherits from TensorIteratorBase, the other two delegate to it, and one kernel,
    `softcap_out`, serves the CPU and CUDA. TensorIterator checks the devices itself, so all three have `device_check: NoCheck`. The
    tag of all three is `pointwise`.

    Returns:
        a list in YAML, in the form of the entries of `leaky_relu` or `erf`. torchgen reads it.

    Source: `aten/src/ATen/native/README.md`; `aten/src/ATen/native/native_functions.yaml`, `erf`.
    """
    return """
- func: softcap(Tensor self, float cap=30.0) -> Tensor
  device_check: NoCheck   # TensorIterator
  structured_delegate: softcap.out
  variants: function, method
  tags: pointwise

- func: softcap_(Tensor(a!) self, float cap=30.0) -> Tensor(a!)
  device_check: NoCheck   # TensorIterator
  structured_delegate: softcap.out
  variants: method
  tags: pointwise

- func: softcap.out(Tensor self, float cap=30.0, *, Tensor(a!) out) -> Tensor(a!)
  device_check: NoCheck   # TensorIterator
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU, CUDA: softcap_out
  tags: pointwise
"""


FUNCTIONS_KEYS = (
    "CPU",
    "CUDA",
    "Meta",
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
IGNORED_KEYS = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")


def files_of(entries: list[dict[str, Any]]) -> list[str]:
    """The generated files with something of a new family of operators.

    The entries of `native_functions.yaml` are dicts, with those of these keys that the file has:

    - "func": the schema, such as `"erf_(Tensor(a!) self) -> Tensor(a!)"`. Before the parenthesis is the name, and after a dot
      that of the overload. The family has the name of all its operators, without the underscore of the one in place: NAME.
    - "variants": "function", "method", or both with a comma between. Without it, the operator is a function.
    - "python_module": the part of torch that has the function, such as "nn". Without it, the function is one of torch itself.
    - "dispatch": a dict, `{"CPU, CUDA": "erf_out", "SparseCPU": "erf_sparse_out"}`: names of kernels by lists of keys.
    - "structured": True in the entry with `out` of a structured family.
    - "structured_delegate": in the others of such a family, the name of that entry.

    These are the dispatch keys of the family, each a KEY:

    - the keys of each dispatch, without those in `IGNORED_KEYS`, for which PyTorch would have to be built in another way.
    - `CompositeImplicitAutograd`, for an entry without "dispatch" that does not delegate. (An empty dict as the dispatch means no
      kernel.)
    - `Meta` and `CompositeExplicitAutogradNonFunctional` for a structured family, whose kernels torchgen writes.
    - `Meta`, if an entry in place has a dispatch, and no key in it begins with "Composite". What such an operator returns is self,
      so torchgen writes the kernel that computes no elements.

    The files of torchgen:

    - `RegisterSchema.cpp`, with the schemas, and for each key RegisterKEY.cpp, such as `RegisterCPU.cpp`, with the kernels.
    - the headers ops/NAME.h, ops/NAME_ops.h and ops/NAME_native.h; for a structured family ops/NAME_meta.h; and for each key in
      `FUNCTIONS_KEYS` ops/NAME_KEY_dispatch.h, with the key in lower case.
    - `core/TensorBody.h`, with the class Tensor, and `python_variable_methods.cpp`, if an operator is a method.
    - `python_torch_functions.cpp`, if an operator is a function, or for the "python_module" nn `python_nn_functions.cpp`.

    Large files come in parts, such as `RegisterCPU_0.cpp`; the name of all is `RegisterCPU.cpp`. Other files, such as
    `Operators.cpp`, grow with every operator, and are not in the list.

    Returns:
        the names, sorted, each once.

    Source: `torchgen/gen.py`, `main`; `torchgen/dest/register_dispatch_key.py`, `gen_unstructured`;
    `torchgen/packaged/autograd/gen_python_functions.py`, `gen`.
    """
    keys, files, headers = set(), {"RegisterSchema.cpp"}, {"", "_ops", "_native"}
    for entry in entries:
        operator = re.split(r"[.(]", entry["func"])[0]
        name = operator.rstrip("_")
        found = {key.strip() for some in entry.get("dispatch", {}) for key in some.split(",")}
        if "structured_delegate" in entry:
            found |= {"Meta", "CompositeExplicitAutogradNonFunctional"}
            headers.add("_meta")
        elif "dispatch" not in entry:
            found.add("CompositeImplicitAutograd")
        elif operator.endswith("_") and not any(key.startswith("Composite") for key in found):
            found.add("Meta")
        keys |= found - {*IGNORED_KEYS}
        variants = entry.get("variants", "function")
        if "method" in variants:
            files |= {"core/TensorBody.h", "python_variable_methods.cpp"}
        if "function" in variants:
            files.add(f"python_{entry.get('python_module', 'torch')}_functions.cpp")
    headers |= {f"_{key.lower()}_dispatch" for key in keys if key in FUNCTIONS_KEYS}
    return sorted({*files, *(f"Register{key}.cpp" for key in keys), *(f"ops/{name}{suffix}.h" for suffix in headers)})


def softcap_derivative() -> str:
    """The entry of `softcap` for `derivatives.yaml`, as text.

    It has the schema of the functional operator as its `name`, a formula for `self`, and for `result` the forward derivative, which
    is `auto_element_wise` as for every operator that treats each element alone.

    The formula is an expression of C++ in `grad` (the gradient of the result), `self`, `result`, `cap`, and numbers. Here it has
    only the signs + - * / ( ) and the methods pow, square, tanh, conj, mul, div, sub, add and neg, which Python reads in the same
    way, but for 1 / 2, which is 0 in C++. It is right for each cap other than 0.

    torchgen makes a node of autograd of the entry. The node saves what the formula names. `softcap_` overwrites self, so for it
    torchgen would have to copy self first, and the result is in memory in any case: the formula does not name `self`.

    Source: `torchgen/packaged/autograd/derivatives.yaml`, whose first 200 lines say what an entry has; `tanh` in that file.
    """
    return """
- name: softcap(Tensor self, float cap=30.0) -> Tensor
  self: grad * (1 - (result / cap).pow(2))
  result: auto_element_wise
"""
