"""Correct answers to lab 15b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

import torch

from rushlight.contribute import add

# A decomposition


def legendre_p__by_prims(x, n):
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND
    from torch._prims_common.wrappers import elementwise_type_promotion_wrapper

    @elementwise_type_promotion_wrapper(
        type_promoting_args=("x",), type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.INT_TO_FLOAT
    )
    def compute(x):
        degree = math.trunc(n)
        if degree < 0:
            return torch.zeros_like(x)
        p, q = torch.ones_like(x), x * 1
        for k in range(degree):
            p, q = q, (x * q * (2 * k + 3) - p * (k + 1)) / (k + 2)
        return p

    return compute(x)


def legendre_p__by_quotients(x, n):
    x = x.to(torch.get_default_dtype()) if not x.is_floating_point() else x
    if n > -1 and int(n) < 1:
        return torch.ones_like(x)
    if n <= -1:
        return torch.zeros_like(x)
    p, q = torch.ones_like(x), x.mul(1)
    for k in range(1, int(n)):
        p, q = q, (2 * k + 1) / (k + 1) * x * q - k / (k + 1) * p
    return q


def legendre_p__recursive(x, n):
    if not x.dtype.is_floating_point:
        x = x.to(torch.get_default_dtype())

    def polynomial(k):
        if k < 1:
            return torch.full_like(x, 1.0 if k == 0 else 0.0)
        if k == 1:
            return x + 0.0
        return polynomial(k - 1) * x * ((2 * k - 1) / k) - polynomial(k - 2) * ((k - 1) / k)

    return polynomial(int(n))


def legendre_table__by_hand(legendre_p=add.legendre_p):
    op = torch.ops.aten.special_legendre_polynomial_p

    def write(x, n, *, out):
        result = add.legendre_p(x, n)
        if not torch.can_cast(result.dtype, out.dtype):
            raise RuntimeError(f"{result.dtype} is not written into {out.dtype}")
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)

    return {op.n_scalar: add.legendre_p, op.n_scalar_out: write}


def legendre_table__of_a_packet_without_the_rest():
    from torch._decomp import register_decomposition
    from torch._prims_common.wrappers import out_wrapper

    table = {}

    @register_decomposition(torch.ops.aten.special_legendre_polynomial_p, registry=table)
    @out_wrapper()
    def decomposed(x, n):
        return add.legendre_p(x, n)

    return {op: function for op, function in table.items() if op._overloadname.startswith("n_scalar")}


def samples_of_legendre__in_a_loop():
    samples = []
    for dtype, n in ((torch.float64, 4), (torch.int32, 1), (torch.bool, 2.9)):
        samples.append((torch.tensor([[-1, 0, 2], [1, 3, -2]]).to(dtype).mT / (7 if dtype.is_floating_point else 1), n))
    samples[1:] = [(x.to(dtype), n) for (x, n), dtype in zip(samples[1:], (torch.int32, torch.bool))]
    samples += [(torch.arange(6.0)[::2], 1), (torch.zeros(1)[0], 0), (torch.empty(0), 0)]
    return [*samples, (torch.full((2,), 0.25), -4), (torch.full((2,), 0.25), -0.75)]


def samples_of_legendre__with_a_narrow_one():
    x = torch.rand(4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(3)) - 0.5
    yielded = (
        (x.t(), 6), (x.float()[:, ::3], 1), (x.mul(9).long(), 1.9), (x > 0, 2), (x.new_zeros(()), 0),
        (x[:0], 3), (x[:1], -2), (x[:1], -0.1),
    )  # fmt: skip
    return list(yielded)


# A pattern


def addcmul_is_safe__in_one_expression(match):
    x, y, z = (getattr(match.kwargs[name], "meta", {}).get("val") for name in "xyz")
    total = match.output_node()
    if x is None or y is None or z is None or match.kwargs["z"] is match.nodes[0]:
        return False
    first = total.args[0] is match.kwargs["z"]
    allowed = x.dtype not in (torch.bool, torch.half, torch.bfloat16) and x.dtype == y.dtype and y.dtype == z.dtype
    return allowed and (first or total.kwargs.get("alpha", 1) == 1) and _strides(x, y, z) == total.meta["val"].stride()


def _strides(x, y, z):
    with x.fake_mode:
        return torch.ops.aten.addcmul.default(z, x, y).stride()


def addcmul_is_safe__by_cases(match):
    total, product = match.output_node(), match.nodes[0]
    if total.args[1] is not product and total.kwargs.get("alpha", 1) != 1:
        return False
    operands = []
    for name in ("x", "y", "z"):
        operand = match.kwargs[name]
        if isinstance(operand, (int, float, bool, complex)):
            return False
        if operand is product:
            return False
        operands.append(operand.meta["val"])
    if operands[0].dtype not in (
        torch.float32,
        torch.float64,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
    ):
        return False
    if any(operand.dtype != operands[0].dtype for operand in operands[1:]):
        return False
    empty = [
        torch.empty_strided(operand.shape, operand.stride(), dtype=operand.dtype, device="meta") for operand in operands
    ]
    return torch.addcmul(empty[2], empty[0], empty[1]).stride() == total.meta["val"].stride()


def addcmul_pass__by_hand():
    from torch._inductor import pattern_matcher as pm

    aten, passes = torch.ops.aten, pm.PatternMatcherPass()

    def handler(match, *args, **kwargs):
        total, product = match.output_node(), match.nodes[0]
        with total.graph.inserting_before(total):
            operands = (match.kwargs["z"], *product.args)
            given = {"value": total.kwargs["alpha"]} if total.kwargs.get("alpha", 1) != 1 else {}
            node = total.graph.call_function(aten.addcmul.default, operands, given)
        node.meta.update(total.meta)
        total.replace_all_uses_with(node)
        match.erase_nodes()

    def pattern(*order):
        parts = {
            "p": pm.CallFunction(aten.mul.Tensor, pm.KeywordArg("x"), pm.KeywordArg("y")), "z": pm.KeywordArg("z"),
        }  # fmt: skip
        return pm.CallFunction(aten.add.Tensor, *(parts[name] for name in order))

    for order in ("zp", "pz"):
        entry = pm.GraphPatternEntry(pattern=pattern(*order), extra_check=add.addcmul_is_safe, handler=handler)
        entry.register(passes)
    return passes


def addcmul_pass__with_a_pattern_for_alpha():
    from torch._inductor.pattern_matcher import CallFunction, KeywordArg, PatternMatcherPass, register_graph_pattern

    aten, passes = torch.ops.aten, PatternMatcherPass()
    x, y, z, alpha = map(KeywordArg, ("x", "y", "z", "alpha"))

    def to_addcmul(match, x, y, z, alpha=1):
        alpha = match.output_node().kwargs.get("alpha", 1)

        def plain(z, x, y):
            return aten.addcmul.default(z, x, y)

        def scaled(z, x, y):
            return aten.addcmul.default(z, x, y, value=alpha)

        match.replace_by_example(plain if alpha == 1 else scaled, [z, x, y])

    for keywords in ({"alpha": alpha}, {}):
        for operands in ((z, CallFunction(aten.mul, x, y)), (CallFunction(aten.mul, x, y), z)):
            register_graph_pattern(
                CallFunction(aten.add, *operands, **keywords), extra_check=add.addcmul_is_safe, pass_dict=passes
            )(to_addcmul)
    return passes


# Fake kernels


def peaks_fake__asks_nonzero(x, threshold):
    places = (x > threshold).nonzero()
    return x.new_empty(places.shape[0]), places


def normalize_fake__of_moved_tensors(x, weight=None, *, dim=-1, dtype=None):
    exact = torch.promote_types(x.dtype, torch.float32)
    rows = torch.empty_like(x.movedim(dim, -1), dtype=exact, memory_format=torch.contiguous_format)
    product = rows if weight is None else rows * torch.ones(1, dtype=weight.dtype, device=x.device)
    return product.to(dtype or product.dtype).movedim(-1, dim), rows.sum(-1)


def normalize_fake__with_strides(x, weight=None, *, dim=-1, dtype=None):
    dim = dim + x.dim() if dim < 0 else dim
    exact = torch.float64 if x.dtype is torch.float64 else torch.float32
    order = [d for d in range(x.dim()) if d != dim] + [dim]
    strides, step = [0] * x.dim(), 1
    for d in reversed(order):
        strides[d] = step
        step = step * x.shape[d]
    kind = dtype
    if kind is None:
        kind = torch.float64 if torch.float64 in (exact, getattr(weight, "dtype", None)) else exact
    result = torch.empty_strided(x.shape, strides, dtype=kind, device=x.device)
    return result, torch.empty([x.shape[d] for d in order[:-1]], dtype=exact, device=x.device)


def peaks_fake__with_strides(x, threshold):
    n = torch.library.get_ctx().new_dynamic_size()
    return torch.empty(n, dtype=x.dtype, device=x.device), torch.empty_strided(
        (n, x.ndim), (1, n), dtype=torch.long, device=x.device
    )


def peaks_fake__transposed_later(x, threshold):
    context = torch.library.get_ctx()
    rows = context.new_dynamic_size(min=0, max=None)
    places = torch.empty((x.dim(), rows), dtype=torch.int64, device=x.device).transpose(0, 1)
    return x.new_empty(rows), places


# A lowering


def token_shift_lowering__of_other_lowerings(x, mix):
    from torch._inductor.lowering import lowerings

    aten = torch.ops.aten
    padded = lowerings[aten.constant_pad_nd.default](x, [0, 0, 1, 0], 0.0)
    before = lowerings[aten.slice.Tensor](padded, -2, 0, -1)
    mul, add = lowerings[aten.mul.Tensor], lowerings[aten.add.Tensor]
    return add(mul(x, mix), mul(before, 1 - mix))


def token_shift_lowering__without_a_mask(x, mix):
    import sympy
    from torch._inductor import ir
    from torch._inductor.virtualized import ops

    load = x.make_loader()

    def inner(index):
        place = list(index)
        place[-2] = sympy.Max(place[-2] - 1, 0)  # the first row is loaded, and not used
        zero = ops.constant(0, torch.int64)
        exists = ops.gt(ops.index_expr(index[-2], torch.int64), zero)
        before = ops.where(exists, load(place), ops.constant(0.0, x.get_dtype()))
        return load(index) * mix + before * (1 - mix)

    return ir.Pointwise.create(device=x.get_device(), dtype=x.get_dtype(), inner_fn=inner, ranges=list(x.get_size()))


def token_shift_lowering__with_a_mask_around_all(x, mix):
    from torch._inductor.ir import Pointwise
    from torch._inductor.virtualized import V

    load = x.make_loader()

    def inner(index):
        row = index[-2]
        here = V.ops.mul(load(index), V.ops.constant(mix, x.get_dtype()))
        later = V.ops.ge(V.ops.index_expr(row, torch.int32), V.ops.constant(1, torch.int32))

        def there():
            scale = V.ops.constant(1.0 - mix, x.get_dtype())
            return V.ops.mul(scale, load([*index[:-2], row - 1, index[-1]]))

        return V.ops.add(here, V.ops.masked(later, there, 0.0))

    return Pointwise.create(device=x.get_device(), dtype=x.get_dtype(), inner_fn=inner, ranges=x.get_size())


# The YAML files


def files_of__with_a_table(entries):
    import re

    first = re.match(r"\w+", entries[0]["func"])[0]
    name = first[:-1] if first.endswith("_") else first
    files = ["RegisterSchema.cpp", f"ops/{name}.h", f"ops/{name}_native.h", f"ops/{name}_ops.h"]
    for entry in entries:
        keys = re.findall(r"\w+", " ".join(entry["dispatch"])) if "dispatch" in entry else None
        structured = entry.get("structured") or entry.get("structured_delegate") is not None
        if keys is None and not structured:
            keys = ["CompositeImplicitAutograd"]
        keys = keys or []
        if structured:
            keys = [*keys, "Meta", "CompositeExplicitAutogradNonFunctional"]
            files.append(f"ops/{name}_meta.h")
        elif keys and re.match(r"\w+_[(.]", entry["func"]) and "Composite" not in " ".join(keys):
            keys = [*keys, "Meta"]
        for key in keys:
            if key not in add.IGNORED_KEYS:
                files.append(f"Register{key}.cpp")
                if key in add.FUNCTIONS_KEYS:
                    files.append(f"ops/{name}_{key.lower()}_dispatch.h")
        for variant in re.findall(r"\w+", entry.get("variants", "function")):
            files += {
                "method": ["core/TensorBody.h", "python_variable_methods.cpp"],
                "function": [f"python_{entry.get('python_module') or 'torch'}_functions.cpp"],
            }[variant]
    return sorted(set(files))


def files_of__kind_by_kind(entries):
    text = [entry["func"].split("(")[0].split(".")[0] for entry in entries]
    name = min(text, key=len).rstrip("_")
    is_structured = any(entry.get("structured") for entry in entries)
    keys = {
        key.strip() for entry in entries if "dispatch" in entry for keys in entry["dispatch"] for key in keys.split(",")
    }
    for operator, entry in zip(text, entries):
        dispatch = entry.get("dispatch")
        if dispatch is None and "structured" not in entry and "structured_delegate" not in entry:
            keys.add("CompositeImplicitAutograd")
        if dispatch and operator[-1] == "_" and not [key for key in dispatch if "Composite" in key]:
            keys.add("Meta")
    if is_structured:
        keys.update(("Meta", "CompositeExplicitAutogradNonFunctional"))
    keys.difference_update(add.IGNORED_KEYS)
    headers = ["ops/" + name + end for end in (".h", "_ops.h", "_native.h")] + [f"ops/{name}_meta.h"] * is_structured
    headers += ["ops/" + "_".join([name, key.lower(), "dispatch.h"]) for key in keys.intersection(add.FUNCTIONS_KEYS)]
    variants = [entry.get("variants", "function") for entry in entries]
    bindings = {
        f"python_{entry.get('python_module', 'torch')}_functions.cpp"
        for entry, each in zip(entries, variants)
        if "function" in each
    }
    if any("method" in each for each in variants):
        bindings |= {"core/TensorBody.h", "python_variable_methods.cpp"}
    return sorted(headers + ["RegisterSchema.cpp"] + [f"Register{key}.cpp" for key in keys] + list(bindings))


def softcap_entries__of_a_loop():
    text = ""
    for name, write, tail in (
        ("softcap", "", ""),
        ("softcap_", "(a!)", ""),
        ("softcap.out", "", ", *, Tensor(a!) out"),
    ):
        result = "Tensor(a!)" if write or tail else "Tensor"
        text += f"- func: {name}(Tensor{write} self, float cap=30.0{tail}) -> {result}\n  device_check: NoCheck\n"
        if tail:
            text += "  structured: True\n  structured_inherits: TensorIteratorBase\n"
            text += "  dispatch:\n    CUDA: softcap_out\n    CPU: softcap_out\n"
        else:
            text += "  structured_delegate: softcap.out\n  variants: " + ("method\n" if write else "method, function\n")
        text += "  tags: [pointwise]\n"
    return text


def softcap_entries__in_another_order():
    return """\
- func: softcap.out(Tensor self, float cap=30., *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch: {"CPU, CUDA": softcap_out}
  device_check: NoCheck
  tags: pointwise
- func: softcap_(Tensor(a!) self, float cap=30.0) -> Tensor(a!)
  structured_delegate: softcap.out
  device_check: NoCheck
  variants: method
  tags: pointwise
- func: softcap(Tensor self, float cap=30.0) -> Tensor
  structured_delegate: softcap.out
  device_check: NoCheck
  variants: function, method
  tags: pointwise
""".replace("30.,", "30.0,")


def softcap_derivative__by_methods():
    return """
- name: softcap(Tensor self, float cap=30.0) -> Tensor
  self: grad.mul(result.div(cap).square().neg().add(1))
  result: auto_element_wise
"""


def softcap_derivative__as_a_difference():
    return (
        "- name: softcap(Tensor self, float cap=30.0) -> Tensor\n"
        "  self: grad - grad * result * result / (cap * cap)\n"
        "  result: self_t - self_t * result * result / (cap * cap)\n"
    )
