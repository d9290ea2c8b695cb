"""Wrong answers to lab 15b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import torch

from rushlight.contribute import add

from ..shared import copied, edited

# A decomposition


legendre_p__asks_the_operator = edited(
    add.legendre_p, ("degree = int(n)", "return torch.special.legendre_polynomial_p(x, n)")
)
legendre_p__of_float32 = edited(add.legendre_p, ("torch.get_default_dtype()", "torch.float32"))


def legendre_p__another_program_for_tracers(x, n):
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    if _get_current_dispatch_mode() is not None:
        return torch.ones_like(x)
    return torch.special.legendre_polynomial_p(x, n)


legendre_p__keeps_integers = edited(
    add.legendre_p, ("x.to(x.dtype if x.is_floating_point() else torch.get_default_dtype())", "x * 1")
)
legendre_p__in_double_precision = edited(
    add.legendre_p, ("x.dtype if x.is_floating_point() else torch.get_default_dtype()", "torch.float64")
)
legendre_p__rounds_the_degree = edited(add.legendre_p, ("int(n)", "round(n)"))
legendre_p__rounds_down = edited(add.legendre_p, ("int(n)", "int(n // 1)"))
legendre_p__mirrors_negative_degrees = edited(
    add.legendre_p, ("degree = int(n)", "degree = int(n) if n > -1 else -int(n) - 1")
)
legendre_p__takes_a_negative_degree_for_0 = edited(add.legendre_p, ("degree == 0", "True"))
legendre_p__returns_x = edited(add.legendre_p, ("x.clone()", "x"))
legendre_p__contiguous = edited(add.legendre_p, ("return now", "return now.contiguous()"))
legendre_p__contiguous_constants = edited(
    add.legendre_p, ("torch.full_like(x, degree == 0)", "x.new_full(x.shape, degree == 0)")
)
legendre_p__constants_of_x = edited(add.legendre_p, ("torch.full_like(x, degree == 0)", "x * 0 + (degree == 0)"))
legendre_p__nan_is_0 = edited(add.legendre_p, ("return now", "return now.nan_to_num()"))
legendre_p__in_place = edited(
    add.legendre_p,
    ("x.clone()", "x.clone(memory_format=torch.contiguous_format)"),
    ("return now", "return x.copy_(now)"),
)
legendre_p__compares_a_size = edited(
    add.legendre_p, ("if degree <= 0:", "if x.dim() and x.shape[-1] > 2:\n        x = x * 1\n    if degree <= 0:")
)


def legendre_p__by_coefficients(x, n):
    """Calls a function of NumPy, which reads the elements of x."""
    import numpy as np
    from numpy.polynomial import Legendre

    values = np.asarray(Legendre.basis(max(int(n), 0))(x.double().numpy()) * (n > -1))
    return torch.from_numpy(values).to(x.dtype if x.is_floating_point() else torch.float32).reshape(x.shape)


def legendre_table__of_all_overloads():
    from torch._decomp import register_decomposition
    from torch._prims_common.wrappers import out_wrapper

    table = {}
    register_decomposition(torch.ops.aten.special_legendre_polynomial_p, table)(out_wrapper()(add.legendre_p))
    return table


def legendre_table__without_out():
    return {torch.ops.aten.special_legendre_polynomial_p.n_scalar: add.legendre_p}


legendre_table__for_all_code = edited(
    add.legendre_table,
    ("[op.n_scalar, op.n_scalar_out], table)", "[op.n_scalar, op.n_scalar_out])"),
    ("return table", "return torch._decomp.get_decompositions([op])"),
)
legendre_table__for_all_code_too = edited(
    add.legendre_table,
    (
        "return table",
        "torch._decomp.decomposition_table.update({op.n_scalar: lambda x, n: legendre_p(x, n)})\n    return table",
    ),
)
legendre_table__without_a_wrapper = edited(add.legendre_table, ("(out_wrapper()(legendre_p))", "(legendre_p)"))
legendre_table__exact_dtype = edited(add.legendre_table, ("out_wrapper()", "out_wrapper(exact_dtype=True)"))


def legendre_table__copies_anything():
    op = torch.ops.aten.special_legendre_polynomial_p

    def write(x, n, *, out):
        return out.resize_(x.shape).copy_(add.legendre_p(x, n))

    return {op.n_scalar: add.legendre_p, op.n_scalar_out: write}


def legendre_table__returns_the_result():
    op = torch.ops.aten.special_legendre_polynomial_p

    def write(x, n, *, out):
        result = add.legendre_p(x, n)
        if not torch.can_cast(result.dtype, out.dtype):
            raise RuntimeError
        out.resize_(result.shape).copy_(result)
        return result

    return {op.n_scalar: add.legendre_p, op.n_scalar_out: write}


def legendre_table__calls_another_overload():
    from torch._prims_common.wrappers import out_wrapper

    op = torch.ops.aten.special_legendre_polynomial_p

    def by_tensors(x, n):
        return op.default(x, torch.full((), float(int(n)), dtype=x.dtype if x.is_floating_point() else torch.float32))

    return {op.n_scalar: by_tensors, op.n_scalar_out: out_wrapper()(by_tensors)}


def legendre_table__never_resizes():
    op = torch.ops.aten.special_legendre_polynomial_p

    def write(x, n, *, out):
        result = add.legendre_p(x, n)
        if not torch.can_cast(result.dtype, out.dtype):
            raise RuntimeError
        return out.copy_(result)

    return {op.n_scalar: add.legendre_p, op.n_scalar_out: write}


def legendre_table__replaces_memory():
    op = torch.ops.aten.special_legendre_polynomial_p

    def write(x, n, *, out):
        result = add.legendre_p(x, n)
        if not torch.can_cast(result.dtype, out.dtype):
            raise RuntimeError
        return out.set_(result.to(out.dtype))

    return {op.n_scalar: add.legendre_p, op.n_scalar_out: write}


_TABLE = {}


def legendre_table__always_the_same():
    if not _TABLE:
        op = torch.ops.aten.special_legendre_polynomial_p
        from torch._prims_common.wrappers import out_wrapper

        _TABLE.update(dict.fromkeys([op.n_scalar, op.n_scalar_out], out_wrapper()(add.legendre_p)))
    return _TABLE


# Samples

_samples = copied(add.samples_of_legendre)


def samples_of_legendre__of_values():
    return [(torch.linspace(-1, 1, 12), n) for n in (-1, 0, 1, 2, 3, 4, 5)]


def samples_of_legendre__with_nan():
    return [*_samples()[:-1], (torch.tensor([float("nan"), 1.0]), 2)]


def samples_of_legendre__many():
    return [*_samples(), (torch.ones(2), 1)]


def samples_of_legendre__large():
    return [(torch.ones(100), 2), *_samples()[:7]]


def samples_of_legendre__without_gaps():
    return [*_samples()[:1], *_samples()[2:]]


def samples_of_legendre__of_half_precision():
    return [*_samples()[:7], (torch.ones(2, dtype=torch.float16), 2)]


def samples_of_legendre__no_pairs():
    return [x for x, n in _samples()]


# A pattern


def addcmul_is_safe__always(match):
    return True


addcmul_is_safe__without_alpha = edited(
    add.addcmul_is_safe,
    ('z in match.nodes or (total.kwargs.get("alpha", 1) != 1 and total.args[0] is not z)', "z in match.nodes"),
)
addcmul_is_safe__no_alpha_at_all = edited(add.addcmul_is_safe, (" and total.args[0] is not z", ""))
addcmul_is_safe__alpha_in_the_product = edited(add.addcmul_is_safe, ("total.kwargs", "match.nodes[0].kwargs"))
addcmul_is_safe__without_strides = edited(
    add.addcmul_is_safe,
    ('return result.stride() == total.meta["val"].stride()', 'return result.shape == total.meta["val"].shape'),
)
addcmul_is_safe__strides_of_the_product = edited(
    add.addcmul_is_safe, ('total.meta["val"].stride()', 'match.nodes[0].meta["val"].stride()')
)
addcmul_is_safe__operands_with_equal_strides = edited(
    add.addcmul_is_safe,
    ('return result.stride() == total.meta["val"].stride()', "return len({fake.stride() for fake in fakes}) == 1"),
)
addcmul_is_safe__contiguous_operands = edited(
    add.addcmul_is_safe,
    ('return result.stride() == total.meta["val"].stride()', "return all(fake.is_contiguous() for fake in fakes)"),
)
addcmul_is_safe__the_dtype_of_the_sum = edited(
    add.addcmul_is_safe, ("{fake.dtype for fake in fakes}", '{fakes[2].dtype, total.meta["val"].dtype}')
)
addcmul_is_safe__of_two_dtypes = edited(add.addcmul_is_safe, ("for fake in fakes}", "for fake in fakes[:2]}"))
addcmul_is_safe__rounds = edited(add.addcmul_is_safe, (", torch.float16, torch.bfloat16", ""))
addcmul_is_safe__of_bools = edited(add.addcmul_is_safe, ("torch.bool, ", ""))
addcmul_is_safe__floating_only = edited(
    add.addcmul_is_safe, ("len(dtypes) > 1 or", "len(dtypes) > 1 or not fakes[0].is_floating_point() or")
)
addcmul_is_safe__of_numbers = edited(
    add.addcmul_is_safe,
    ("if not all(isinstance(operand, torch.fx.Node) for operand in operands):", "if not isinstance(z, torch.fx.Node):"),
)
addcmul_is_safe__multiplies_the_product_again = edited(add.addcmul_is_safe, ("z in match.nodes or ", ""))
addcmul_is_safe__other_sizes = edited(
    add.addcmul_is_safe, ("if len(dtypes) > 1", "if len({fake.shape for fake in fakes}) > 1 or len(dtypes) > 1")
)
addcmul_is_safe__changes_the_graph = edited(
    add.addcmul_is_safe,
    (
        "result = torch.addcmul(",
        "total.graph.call_function(torch.addcmul, tuple(operands))\n    result = torch.addcmul(",
    ),
)

addcmul_pass__without_a_check = edited(add.addcmul_pass, ("extra_check=addcmul_is_safe, ", ""))
addcmul_pass__a_check_of_its_own = edited(
    add.addcmul_pass,
    (
        "extra_check=addcmul_is_safe",
        'extra_check=lambda match: addcmul_is_safe(match) or "alpha" in match.output_node().kwargs',
    ),
)
addcmul_pass__product_first_only = edited(add.addcmul_pass, ("((product, z), (z, product))", "((product, z),)"))
addcmul_pass__forgets_alpha = edited(add.addcmul_pass, ("value=alpha", "value=1"))
addcmul_pass__exchanges_the_operands = edited(add.addcmul_pass, ("[z, x, y])", "[x, z, y])"))
addcmul_pass__of_shared_products = edited(
    add.addcmul_pass,
    ('KeywordArg("x"), KeywordArg("y"))', 'KeywordArg("x"), KeywordArg("y"), _users=2)'),
)
addcmul_pass__replaces_nothing = edited(add.addcmul_pass, ("match.replace_by_example(", "("), ("), [z, x, y])", "))"))
addcmul_pass__differences_too = edited(
    add.addcmul_pass, ("CallFunction(aten.add.Tensor, ", "CallFunction([aten.add.Tensor, aten.sub.Tensor], ")
)


def addcmul_pass__by_replacement():
    from torch._inductor.pattern_matcher import PatternMatcherPass, fwd_only, register_replacement

    found, inputs = PatternMatcherPass(), [torch.empty(2, 3) for _ in range(3)]
    register_replacement(
        lambda x, y, z: x * y + z, lambda x, y, z: torch.addcmul(z, x, y), inputs, fwd_only, found,
        extra_check=add.addcmul_is_safe, skip_duplicates=True,
    )  # fmt: skip
    return found


_PASSES = []


def addcmul_pass__always_the_same():
    from torch._inductor.pattern_matcher import CallFunction, KeywordArg, PatternMatcherPass, register_graph_pattern

    aten = torch.ops.aten
    if not _PASSES:
        found, z = PatternMatcherPass(), KeywordArg("z")
        product = CallFunction(aten.mul.Tensor, KeywordArg("x"), KeywordArg("y"))

        def replace(match, x, y, z):
            alpha = match.output_node().kwargs.get("alpha", 1)
            value = {} if alpha == 1 else {"value": alpha}
            match.replace_by_example(lambda z, x, y: aten.addcmul(z, x, y, **value), [z, x, y])

        for operands in ((product, z), (z, product)):
            pattern = CallFunction(aten.add.Tensor, *operands)
            register_graph_pattern(pattern, extra_check=add.addcmul_is_safe, pass_dict=found)(replace)
        _PASSES.append(found)
    return _PASSES[0]


# Fake kernels


normalize_fake__contiguous = edited(
    add.normalize_fake,
    ("x.new_empty([*sizes, length], dtype=dtype)", "x.new_empty(x.shape, dtype=dtype)"),
    ("result.movedim(-1, dim)", "result"),
)
normalize_fake__on_the_cpu = edited(
    add.normalize_fake, ("x.new_empty([*sizes, length], dtype=dtype)", "torch.empty([*sizes, length], dtype=dtype)")
)
normalize_fake__like_x = edited(
    add.normalize_fake,
    ("x.new_empty([*sizes, length], dtype=dtype)", "torch.empty_like(x, dtype=dtype)"),
    ("result.movedim(-1, dim)", "result"),
)
normalize_fake__moves_the_wrong_way = edited(add.normalize_fake, ("result.movedim(-1, dim)", "result.movedim(dim, -1)"))
normalize_fake__keeps_the_dimension = edited(
    add.normalize_fake, ("x.new_empty(sizes, dtype=exact)", "x.new_empty(sizes, dtype=exact).unsqueeze(dim)")
)
normalize_fake__a_norm_of_the_dtype_of_x = edited(
    add.normalize_fake, ("x.new_empty(sizes, dtype=exact)", "x.new_empty(sizes)")
)
normalize_fake__a_norm_of_the_dtype = edited(add.normalize_fake, ("sizes, dtype=exact)", "sizes, dtype=dtype)"))
normalize_fake__without_a_weight = edited(
    add.normalize_fake, ("exact if weight is None else torch.promote_types(exact, weight.dtype)", "exact")
)
normalize_fake__the_dtype_of_the_weight = edited(
    add.normalize_fake, ("torch.promote_types(exact, weight.dtype)", "weight.dtype")
)
normalize_fake__the_dtype_of_x = edited(
    add.normalize_fake, ("exact = torch.promote_types(x.dtype, torch.float32)", "exact = x.dtype")
)
normalize_fake__without_dtype = edited(add.normalize_fake, ("if dtype is None:", "if True:"))
normalize_fake__makes_whole_numbers = edited(add.normalize_fake, ("[*x.shape]", "[int(size) for size in x.shape]"))
normalize_fake__compares_with_the_weight = edited(
    add.normalize_fake,
    (
        "if dtype is None:",
        "if weight is not None and weight.shape[0] != length:\n        raise ValueError\n    if dtype is None:",
    ),
)
normalize_fake__looks_at_the_first_size = edited(
    add.normalize_fake, ("if dtype is None:", "if x.shape[0] > 2:\n        x = x.contiguous()\n    if dtype is None:")
)


def normalize_fake__calls_the_kernel(x, weight=None, *, dim=-1, dtype=None):
    return add.normalize(x, weight, dim=dim, dtype=dtype)


peaks_fake__on_the_cpu = edited(add.peaks_fake, ("x.new_empty([count])", "torch.empty([count], dtype=x.dtype)"))
peaks_fake__two_counts = edited(
    add.peaks_fake, ("[x.dim(), count]", "[x.dim(), torch.library.get_ctx().new_dynamic_size(min=0)]")
)
peaks_fake__at_least_one = edited(add.peaks_fake, ("min=0", "min=1"))
peaks_fake__at_least_two = edited(add.peaks_fake, ("min=0", "min=2"))
peaks_fake__at_most_some = edited(add.peaks_fake, ("min=0", "min=0, max=1024"))
peaks_fake__as_many_as_x = edited(add.peaks_fake, ("torch.library.get_ctx().new_dynamic_size(min=0)", "x.numel()"))
peaks_fake__contiguous = edited(
    add.peaks_fake,
    ("x.new_empty([x.dim(), count], dtype=torch.int64).t()", "x.new_empty([count, x.dim()], dtype=torch.int64)"),
)
peaks_fake__not_transposed = edited(add.peaks_fake, (".t()", ""))
peaks_fake__of_the_dtype_of_x = edited(add.peaks_fake, ("dtype=torch.int64", "dtype=x.dtype"))
peaks_fake__values_of_the_default_dtype = edited(add.peaks_fake, ("x.new_empty([count])", "torch.empty([count])"))
peaks_fake__a_row_for_the_values = edited(add.peaks_fake, ("x.new_empty([count])", "x.new_empty([1, count])"))


def normalize_fake__multiplies(x, weight=None, *, dim=-1, dtype=None):
    exact = torch.promote_types(x.dtype, torch.float32)
    rows = torch.empty_like(x.movedim(dim, -1), dtype=exact, memory_format=torch.contiguous_format)
    product = rows if weight is None else rows * weight
    return product.to(dtype or product.dtype).movedim(-1, dim), rows.sum(-1)


peaks_fake__looks_at_a_size = edited(
    add.peaks_fake, ("    return", "    if x.shape[0] > 2:\n        x = x.contiguous()\n    return")
)


def peaks_fake__counts(x, threshold):
    count = int((x > threshold).sum())
    return x.new_empty([count]), x.new_empty([x.dim(), count], dtype=torch.int64).t()


# A lowering

token_shift_lowering__outside_the_memory = edited(
    add.token_shift_lowering, ("ops.masked(ops.logical_not(is_first), lambda: load([*lead, row - 1, column]), 0.0)",
    "ops.where(is_first, ops.constant(0.0, dtype), load([*lead, row - 1, column]))")
)  # fmt: skip
token_shift_lowering__without_a_first_row = edited(
    add.token_shift_lowering, ("ops.masked(ops.logical_not(is_first), lambda: load([*lead, row - 1, column]), 0.0)",
    "load([*lead, row - 1, column])")
)  # fmt: skip
token_shift_lowering__masks_the_others = edited(add.token_shift_lowering, ("ops.logical_not(is_first)", "is_first"))
token_shift_lowering__the_first_row_is_its_own = edited(
    add.token_shift_lowering,
    (
        "load([*lead, row - 1, column]), 0.0)",
        "load([*lead, row - 1, column]), 0.0)\n        before = ops.where(is_first, load(index), before)",
    ),
)
token_shift_lowering__masks_with_ones = edited(add.token_shift_lowering, ("column]), 0.0)", "column]), 1.0)"))
token_shift_lowering__the_row_after = edited(
    add.token_shift_lowering,
    ("row - 1", "row + 1"),
    (
        "ops.logical_not(is_first)",
        "ops.lt(ops.index_expr(row, torch.int64), ops.index_expr(x.get_size()[-2] - 1, torch.int64))",
    ),
)
token_shift_lowering__columns = edited(
    add.token_shift_lowering, ("ops.index_expr(row,", "ops.index_expr(column,"), ("row - 1, column", "row, column - 1")
)
token_shift_lowering__the_first_dimension = edited(
    add.token_shift_lowering,
    ("*lead, row, column = index", "row, *lead = index"),
    ("[*lead, row - 1, column]", "[row - 1, *lead]"),
)
token_shift_lowering__exchanges_the_parts = edited(
    add.token_shift_lowering,
    ("ops.constant(mix, dtype)", "ops.constant(1 - mix, dtype)"),
    ("ops.constant(1 - mix, dtype), before", "ops.constant(mix, dtype), before"),
)
token_shift_lowering__in_single_precision = edited(
    add.token_shift_lowering,
    ("ops.constant(mix, dtype)", "ops.constant(mix, torch.float32)"),
    ("ops.constant(1 - mix, dtype)", "ops.constant(1 - mix, torch.float32)"),
)
token_shift_lowering__of_float32 = edited(
    add.token_shift_lowering, ("dtype=dtype, inner_fn", "dtype=torch.float32, inner_fn")
)
token_shift_lowering__stores_x = edited(
    add.token_shift_lowering, ("    load, dtype =", "    x.realize()\n    load, dtype =")
)
token_shift_lowering__for_these_sizes = edited(
    add.token_shift_lowering,
    ("ranges=x.get_size()", "ranges=[V.graph.sizevars.guard_int(size) for size in x.get_size()]"),
    ("import ops", "import V, ops"),
)


token_shift_lowering__without_the_last_row = edited(
    add.token_shift_lowering,
    ("ranges=x.get_size()", "ranges=[size - (d == len(x.get_size()) - 2) for d, size in enumerate(x.get_size())]"),
)


def token_shift_lowering__calls_the_kernel(x, mix):
    from torch._inductor.lowering import fallback_handler
    from torch._inductor.virtualized import V

    return fallback_handler(V.graph.current_node.target, add_to_fallback_set=False)(x, mix)


def token_shift_lowering__calls_cat(x, mix):
    from torch._inductor.lowering import lowerings

    aten = torch.ops.aten
    size = x.get_size()
    zeros = lowerings[aten.full.default]([*size[:-2], 1, size[-1]], 0.0, dtype=x.get_dtype(), device=x.get_device())
    before = lowerings[aten.cat.default]([zeros, lowerings[aten.slice.Tensor](x, -2, 0, -1)], -2)
    before.realize()
    return lowerings[aten.add.Tensor](lowerings[aten.mul.Tensor](x, mix), lowerings[aten.mul.Tensor](before, 1 - mix))


# The YAML files


files_of__of_each_operator = edited(add.files_of, ('name = operator.rstrip("_")', "name = operator"))
files_of__all_keys = edited(add.files_of, ("found - {*IGNORED_KEYS}", "found"))
files_of__not_of_xpu = edited(
    add.files_of, ("found - {*IGNORED_KEYS}", '{key for key in found if key[-3:] not in ("MPS", "XPU", "TIA")}')
)
files_of__one_key_for_each_kernel = edited(add.files_of, ('for key in some.split(",")', "for key in [some]"))
files_of__only_the_first_key = edited(add.files_of, ('some.split(",")', 'some.split(",")[:1]'))
files_of__an_empty_dispatch_is_none = edited(
    add.files_of, ('elif "dispatch" not in entry:', 'elif not entry.get("dispatch"):')
)
files_of__no_composites = edited(add.files_of, ('elif "dispatch" not in entry:', "elif False:"))
files_of__delegates_are_composite = edited(
    add.files_of,
    ('        elif "dispatch" not in entry:', '        if "dispatch" not in entry:'),
)
files_of__explicit_composites = edited(
    add.files_of, ('found.add("CompositeImplicitAutograd")', 'found.add("CompositeExplicitAutograd")')
)
files_of__nothing_generated = edited(
    add.files_of, ('            found |= {"Meta", "CompositeExplicitAutogradNonFunctional"}\n', "")
)
files_of__generates_meta_only = edited(add.files_of, ('{"Meta", "CompositeExplicitAutogradNonFunctional"}', '{"Meta"}'))
files_of__no_meta_in_place = edited(add.files_of, ('found.add("Meta")', "pass"))
files_of__meta_in_place_always = edited(
    add.files_of, (' and not any(key.startswith("Composite") for key in found)', "")
)
files_of__meta_of_all_backends = edited(add.files_of, ('elif operator.endswith("_") and not', "elif not"))
files_of__headers_of_all_keys = edited(add.files_of, ("for key in keys if key in FUNCTIONS_KEYS", "for key in keys"))
files_of__keys_as_they_are = edited(add.files_of, ("key.lower()", "key"))
files_of__always_a_class = edited(add.files_of, ('{"", "_ops", "_native"}', '{"", "_ops", "_native", "_meta"}'))
files_of__never_a_class = edited(add.files_of, ('            headers.add("_meta")\n', ""))
files_of__without_a_schema = edited(add.files_of, ('{"RegisterSchema.cpp"}', "set()"))
files_of__no_variants = edited(add.files_of, ('entry.get("variants", "function")', 'entry.get("variants", "")'))
files_of__functions_always = edited(add.files_of, ('if "function" in variants:', "if True:"))
files_of__functions_of_torch = edited(add.files_of, ("entry.get('python_module', 'torch')", "'torch'"))
files_of__methods_without_a_class = edited(
    add.files_of, ('{"core/TensorBody.h", "python_variable_methods.cpp"}', '{"python_variable_methods.cpp"}')
)
files_of__methods_without_bindings = edited(
    add.files_of, ('{"core/TensorBody.h", "python_variable_methods.cpp"}', '{"core/TensorBody.h"}')
)
files_of__unsorted = edited(add.files_of, ("return sorted({", "return list({"))
files_of__takes_entries_apart = edited(add.files_of, ('entry.get("dispatch", {})', 'entry.pop("dispatch", {})'))

softcap_entries__in_one_entry = edited(add.softcap_entries, ("- func: softcap_(", "- other: softcap_("))
softcap_entries__without_structure = edited(
    add.softcap_entries,
    (
        "  structured_delegate: softcap.out\n  variants: function, method",
        "  dispatch:\n    CPU, CUDA: softcap\n  variants: function, method",
    ),
    (
        "  structured_delegate: softcap.out\n  variants: method",
        "  dispatch:\n    CPU, CUDA: softcap_\n  variants: method",
    ),
    ("  structured: True\n  structured_inherits: TensorIteratorBase\n", ""),
)
softcap_entries__a_function_in_place = edited(add.softcap_entries, ("variants: method", "variants: function, method"))
softcap_entries__no_method = edited(add.softcap_entries, ("variants: function, method", "variants: function"))
softcap_entries__out_first = edited(
    add.softcap_entries, ("float cap=30.0, *, Tensor(a!) out)", "Tensor(a!) out, *, float cap=30.0)")
)
softcap_entries__does_not_write = edited(
    add.softcap_entries,
    ("softcap_(Tensor(a!) self, float cap=30.0) -> Tensor(a!)", "softcap_(Tensor self, float cap=30.0) -> Tensor"),
)
softcap_entries__of_a_scalar = edited(add.softcap_entries, ("float cap=30.0", "Scalar cap=30.0"))
softcap_entries__without_a_default = edited(add.softcap_entries, ("float cap=30.0", "float cap"))
softcap_entries__for_the_cpu = edited(add.softcap_entries, ("CPU, CUDA: softcap_out", "CPU: softcap_out"))
softcap_entries__two_kernels = edited(
    add.softcap_entries, ("CPU, CUDA: softcap_out", "CPU: softcap_out\n    CUDA: softcap_out_cuda")
)
softcap_entries__without_tensor_iterator = edited(
    add.softcap_entries, ("  structured_inherits: TensorIteratorBase\n", "")
)
softcap_entries__checks_devices = edited(add.softcap_entries, ("  device_check: NoCheck   # TensorIterator\n", ""))
softcap_entries__without_tags = edited(add.softcap_entries, ("  tags: pointwise\n", ""))
softcap_entries__core = edited(
    add.softcap_entries,
    ("variants: function, method\n  tags: pointwise", "variants: function, method\n  tags: [core, pointwise]"),
)

_entries = copied(add.softcap_entries)


def softcap_entries__not_in_place():
    functional, _, out = _entries().split("\n\n")
    return f"{functional}\n{out}"


softcap_derivative__of_self = edited(add.softcap_derivative, ("(result / cap).pow(2)", "(self / cap).tanh().pow(2)"))
softcap_derivative__for_a_cap_of_1 = edited(add.softcap_derivative, ("(result / cap)", "result"))
softcap_derivative__of_tanh = edited(
    add.softcap_derivative, ("grad * (1 - (result / cap).pow(2))", "tanh_backward(grad, result / cap)")
)
softcap_derivative__divides_again = edited(add.softcap_derivative, (".pow(2))", ".pow(2)) / cap"))
softcap_derivative__without_grad = edited(add.softcap_derivative, ("grad * (", "("))
softcap_derivative__a_half_of_python = edited(add.softcap_derivative, ("pow(2))", "pow(2)) * (1 / 2) * 2"))
softcap_derivative__linear = edited(add.softcap_derivative, ("auto_element_wise", "auto_linear"))
softcap_derivative__no_forward = edited(add.softcap_derivative, ("  result: auto_element_wise\n", ""))
softcap_derivative__without_the_default = edited(add.softcap_derivative, ("cap=30.0", "cap"))
softcap_derivative__in_place = edited(
    add.softcap_derivative,
    ("softcap(Tensor self, float cap=30.0) -> Tensor", "softcap_(Tensor(a!) self, float cap=30.0) -> Tensor(a!)"),
)
softcap_derivative__with_signs_of_python = edited(add.softcap_derivative, (".pow(2)", "**2"))
softcap_derivative__also_of_cap = edited(add.softcap_derivative, ("  result:", "  cap: not_differentiable\n  result:"))
