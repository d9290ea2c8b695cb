"""Lab 15b, a lowering: the loops that Inductor has for a program, carried out element by element in eager torch."""

from __future__ import annotations

import itertools
from unittest.mock import patch

from ...engine.check import program
from ..cases import beyond_single, copied, defaults, drawn, explained, numbers, with_layout
from .fakes import registered

PROGRAMS = {  # of the operator and x
    "alone": "op(x, mix)",
    "fused": "op(x.relu(), mix).exp()",
    "turned": "op(x.transpose(-1, -2), mix) * 2",
    "reversed": "op(x.flip(-2), mix) + 1",
    "with x": "op(x, mix) * x",
}
usual = defaults(program="fused", shape=[3, 4], layout="", kind="float32", mix=0.25, dynamic=False)


def input_of(torch, shape, layout, kind):
    return with_layout(torch, numbers(torch, shape, 4, kind), layout)


def function_of(op, program, mix):
    return eval(f"lambda x: {PROGRAMS[program]}", {"op": op, "mix": mix})


def shown(torch, program, shape, layout, kind, mix, dynamic):
    sizes = "symbols" if dynamic else "numbers"
    return f"lambda x: {PROGRAMS[program]}\n# x: {kind} {tuple(shape)} {layout}, mix={mix}, the sizes are {sizes}"


def elements(torch, graph, memory, values):
    """A handler of `ops`: each operation on numbers that are tensors without dimensions, for one element of a loop."""
    import sympy
    from torch._inductor.ops_handler import DefaultHandler

    def plain(value):
        while hasattr(value, "value"):
            value = value.value
        return value

    def number(expression):
        return int(sympy.sympify(expression).subs(values))

    class Elements(DefaultHandler):
        def _default(self, name, args, kwargs):
            function = getattr(torch, {"truediv": "true_divide", "floordiv": "floor_divide"}.get(name, name))
            return function(*map(plain, args), **kwargs)

        def constant(self, value, dtype):
            return torch.tensor(plain(value), dtype=dtype)

        def index_expr(self, expression, dtype):
            return torch.tensor(number(expression), dtype=dtype)

        def load(self, name, index):
            place = number(index)
            if not 0 <= place < len(memory[name]):
                raise IndexError(f"the loop loads element {place} of a memory of {len(memory[name])} elements")
            return memory[name][place]

        def masked(self, mask, body, other):
            return plain(body()) if plain(mask) else torch.tensor(plain(other))

        def to_dtype(self, x, dtype, src_dtype=None, use_compute_types=True):
            return plain(x).to(dtype)

        def indirect_indexing(self, index, size, check=True, wrap_neg=True):
            return sympy.Integer(int(plain(index)))

    def store(operation):
        """Carry out a loop, and keep its elements as the memory of its buffer."""
        layout = operation.get_layout()
        sizes, strides = ([*map(number, each)] for each in (layout.size, layout.stride))
        memory[operation.get_name()] = torch.empty(
            1 + sum((size - 1) * step for size, step in zip(sizes, strides)), dtype=layout.dtype
        )
        for index in itertools.product(*map(range, sizes)):
            index = [*map(sympy.Integer, index)]
            memory[operation.get_name()][number(layout.make_indexer()(index))] = plain(operation.data.inner_fn(index))
        return memory[operation.get_name()].as_strided(sizes, strides)

    return Elements(), store


@program(
    "contribute.add.token_shift_lowering",
    cases=drawn(
        program=[*PROGRAMS], shape=[[3, 4], [2, 3, 2], [2, 2], [5, 1]], layout=["", "backwards", "gaps"],
        kind=["float32", "float64"], mix=[0.25, 0.5, 1.0, 0.0, 0.1, -2.0], dynamic=[False, True],
    ),
    edges=[
        *(usual(name, dynamic=dynamic) for name in PROGRAMS for dynamic in (False, True)),
        *(usual("alone", shape) for shape in ([3, 2], [2, 3, 2], [2, 1, 2, 2], [1, 4], [4, 1], [1, 1])),
        *(usual("with x", [2, 3, 2], layout) for layout in ("backwards", "gaps", "equal")),
        usual("alone", kind="float64", mix=0.1), usual("alone", mix=1.0), usual("alone", mix=0.0),
        usual("alone", [2, 3, 2], dynamic=True),
    ],
    show=shown,
    hint=explained(
        calls="a kernel of ATen is called: the loops are those that the lowering writes, with operations of `ops`",
        loops="there is one loop: nothing is stored between the operators of the program",
        dtype="the result has the dtype of x",
        result="row r is mix * x[r] + (1 - mix) * x[r - 1], along the dimension before the last, and before row 0 are zeros",
        guards="a size is compared, so the code is right for some sizes only",
        beyond_single="a constant is rounded: its dtype is that of x",
    ),
    draws=15,
    disposable=True,
)  # fmt: skip
def lowered(xp, program, shape, layout, kind, mix, dynamic):
    import torch
    from torch._inductor import ir, lowering
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.graph import GraphLowering
    from torch._inductor.virtualized import V
    from torch.fx.experimental.proxy_tensor import make_fx

    add = xp.contribute.add
    library, op = registered(torch, add.TOKEN_SHIFT, add.token_shift, add.token_shift)
    x = input_of(torch, shape, layout, kind)
    mode = "symbolic" if dynamic else "fake"
    traced = make_fx(function_of(op, program, mix), select_decomp_table(), mode)(x)
    given = [node.meta["val"] for node in traced.graph.find_nodes(op="placeholder")]
    environment = given[0].fake_mode.shape_env
    guards = len(environment.guards)
    with patch.dict(lowering.lowerings), torch._inductor.config.patch(fx_graph_cache=False):
        lowering.register_lowering(op, type_promotion_kind=None)(add.token_shift_lowering)
        graph = GraphLowering(traced, example_inputs=given, shape_env=environment)
        with V.set_graph_handler(graph), V.set_fake_mode(given[0].fake_mode):
            graph.run(*given)
        calls = [
            each
            for each in graph.operations
            if isinstance(each, ir.ExternKernel) and not isinstance(each, ir.NopKernel)
        ]
        facts = {"calls": [*map(str, map(type, calls))], "loops": len(graph.operations) - len(calls)}
        (result,) = graph.graph_outputs
        facts |= {"guards": len(environment.guards) - guards, "dtype": result.get_dtype()}
        if all(isinstance(each, ir.ComputedBuffer) for each in graph.operations):
            start, whole = x.storage_offset(), x.untyped_storage().nbytes() // x.element_size()
            memory = {name: x.as_strided([whole - start], [1], start) for name in graph.graph_inputs}
            handler, store = elements(torch, graph, memory, environment.backed_var_to_val)
            with V.set_graph_handler(graph), V.set_ops_handler(handler):
                made = [store(operation) for operation in graph.operations][-1]
            facts |= {
                "sizes": list(made.shape),
                "result": copied(made),
                "beyond single": beyond_single(torch, copied(made)),
            }
    library._destroy()
    return facts


@lowered.oracle
def lowered_by_torch(torch, program, shape, layout, kind, mix, dynamic):
    from rushlight.contribute.add import token_shift

    result = function_of(token_shift, program, mix)(input_of(torch, shape, layout, kind))
    facts = {"calls": [], "loops": 1, "guards": 0, "dtype": result.dtype, "sizes": list(result.shape)}
    return facts | {"result": copied(result), "beyond single": beyond_single(torch, copied(result))}
