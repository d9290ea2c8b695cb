"""Dumps for the examination of a FileCheck test: programs that Inductor compiles, and functions of Inductor planted wrong.

`AT` has the path of each wrong function. Without a fault, the dumps of all programs are right ones. A wrong function sees the names
of the module in which it is planted.
"""

# ruff: noqa: F821

AT = {
    "wrong__nothing_is_fused": "inductor.scheduler.can_fuse",
    "wrong__not_in_place": "inductor.memory.take_over",
    "wrong__freed_memory_is_not_reused": "inductor.memory.plan_reuse",
    "wrong__bias_by_itself": "inductor.lowerings_reductions.addmm",
    "wrong__operands_are_copied": "inductor.lowerings_reductions.mm",
    "wrong__in_another_dtype": "inductor.decomposition.softmax",
    "wrong__run_by_python": "inductor.decomposition.softmax",
    "wrong__a_buffer_is_stored": "inductor.cpp_scheduling.codegen_node",
    "wrong__relu_by_itself": "inductor.lowering.pointwise",
    "wrong__relu_run_by_python": "inductor.lowering.pointwise",
}


def programs(xp):
    """Functions and their inputs, by name. A product has fewer than eight columns: then its code is the same on every machine."""

    def first_half(x, w, b):
        return xp.softmax(xp.nn.functional.linear(x, w, b), -1)

    def second_half(h, v, u):
        return xp.relu((h @ v) @ u) * 2

    def chain(x, w, b, v, u):
        return second_half(first_half(x, w, b), v, u)

    def before(x, w, b, v, u, z):
        total = z.exp().sum()
        return total, chain(x, w, b, v, u)

    def between(x, w, b, v, u, z):
        h = first_half(x, w, b)
        total = z.exp().sum()
        return second_half(h, v, u), total

    def after(x, w, b, v, u, z):
        y = chain(x, w, b, v, u)
        return y, z.exp().sum()

    def inputs(rows, features, classes, more=(), dtype=xp.float32):
        shapes = [(rows, features), (classes, features), (classes,), (classes, classes), (classes, classes), *more]
        return [xp.ones(shape, dtype=dtype) for shape in shapes]

    return {
        "small": (chain, inputs(4, 8, 6)),
        "after": (after, inputs(3, 5, 4, [(2, 3)])),
        "before": (before, inputs(3, 5, 6, [(10,)])),
        "between": (between, inputs(6, 2, 5, [(3, 3)])),
        "large": (chain, inputs(500, 300, 5)),
        "double": (chain, inputs(7, 2, 3, dtype=xp.float64)),
    }


def wrong__nothing_is_fused(first, second):
    """Each loop nest is a kernel of its own."""
    return False


def wrong__not_in_place(candidates, ending, kept):
    """No kernel writes its result in the place of its input."""
    return {}


def wrong__freed_memory_is_not_reused(lines, sizes, alive):
    """A buffer that is freed is not used again: the second product gets new memory."""
    return list(lines)


def wrong__bias_by_itself(bias, a, b, beta=1, alpha=1):
    """The bias is added to the product by a function of its own, not in the loop of softmax."""
    sizes, view = tuple(meta_result().shape), bias.in_memory()
    strides = [0] * (len(sizes) - len(view.sizes)) + list(view.strides)
    broadcast = ReinterpretView(view.buffer, sizes, tuple(strides), view.offset, view.dtype)
    return extern_kernel("addmm", [broadcast, a.in_memory(), b.in_memory()], {"beta": beta, "alpha": alpha})


def wrong__operands_are_copied(a, b):
    """The first operand of each product is copied before."""
    a.in_memory()
    copy = make_pointwise(lambda x: x, [a], a.dtype)
    return extern_kernel("mm", [copy.in_memory(), b.in_memory()])


def wrong__in_another_dtype(x, dim, half_to_float):
    """Softmax is computed in another dtype, so its elements are cast there and back."""
    import rushlight

    wide = x.to(rushlight.float32 if x.dtype is rushlight.float64 else rushlight.float64)
    powers = functions.exp(wide - functions.amax(wide, [dim], True))
    return (powers * functions.reciprocal(functions.sum(powers, [dim], True))).to(x.dtype)


def wrong__run_by_python(x, dim, half_to_float):
    """Softmax has no loops: Python calls its kernel."""
    raise Unsupported


def wrong__a_buffer_is_stored(node, unused, layouts, number):
    """A kernel stores its first intermediate result in memory, though nothing reads it afterwards."""
    node = simplify_loops(node)
    intermediate = [nest.buffer for nest in node.nests if nest.buffer in unused]
    kernel = CppKernel(node, unused - {*intermediate[:1]}, layouts)
    body, arguments = kernel.codegen(), kernel.inputs + kernel.outputs
    origins = list(dict.fromkeys(name for nest in node.nests for name in nest.origins))
    name = kernel_name(origins, number)
    types = [f"{'const ' if buffer in kernel.inputs else ''}{TYPES[layouts[buffer].dtype]}*" for buffer in arguments]
    parameters = [f"{kind} {kernel.pointers[buffer]}" for kind, buffer in zip(types, arguments)]
    head = f"static int64_t {name}({', '.join(parameters)}) {{"
    text = "\n".join([head, "  int64_t bad = 0;", *body, "  return bad;", "}\n"])
    return Kernel(name, text, arguments, *reads_and_writes(kernel), inplace_candidates(kernel), origins)


def wrong__relu_by_itself(name, operands, dtype=None):
    """Relu is a kernel of its own, and the doubling is another one, which reads its result."""
    computed = result_type(*operands)
    sizes = tuple(broadcast_shapes(*(operand.sizes for operand in operands if hasattr(operand, "sizes"))))

    def inner(indices):
        values = [load_broadcast(x, indices) if hasattr(x, "sizes") else ir.constant(x, computed) for x in operands]
        return ir.op(name, *(ir.cast(value, computed) for value in values), dtype=dtype)

    if name != "relu":
        return Pointwise(sizes, dtype or computed, inner)
    stored = box(
        Pointwise((*sizes, 2), computed, lambda indices: inner(indices[:-1]))
    )  # one more loop: it is not fused
    stored.in_memory()
    return Pointwise(sizes, computed, lambda indices: stored.load((*indices, ZERO)))


def wrong__relu_run_by_python(name, operands, dtype=None):
    """Relu has no loops: Python calls its kernel, and only the doubling is a kernel."""
    if name == "relu":
        raise Unsupported
    computed = result_type(*operands)
    sizes = tuple(broadcast_shapes(*(operand.sizes for operand in operands if hasattr(operand, "sizes"))))

    def inner(indices):
        values = [load_broadcast(x, indices) if hasattr(x, "sizes") else ir.constant(x, computed) for x in operands]
        return ir.op(name, *(ir.cast(value, computed) for value in values), dtype=dtype)

    return Pointwise(sizes, dtype or computed, inner)
