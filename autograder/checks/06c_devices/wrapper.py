"""Lab 06, a wrapper subclass: trees of arguments, products with quantised matrices, and the dispatch to them."""

from __future__ import annotations

import math
from collections import namedtuple

from ...engine.check import program
from ...engine.observe import difference, has
from ...engine.recorder import recorded
from ..cases import (
    beyond_single,
    copied,
    drawing,
    drawn,
    error_name,
    explained,
    field,
    first_of,
    numbers,
    rows,
    several,
    when,
    with_layout,
    words,
)
from ..shared_06.operators import PLUMBING, POINTWISE, PRODUCTS, SHAPES

Pair = namedtuple("Pair", "first second")
Single = namedtuple("Single", "only")
Single = namedtuple("Single", "only")


def _tree_of(spec, quantised, others):
    """A tree of arguments. Its quantised tensors and its other objects are the given ones, by number."""
    if not isinstance(spec, (list, tuple)):
        return spec
    kind, *items = spec
    if kind in ("q", "o"):
        return (quantised if kind == "q" else others)[items[0]]
    if kind == "dict":
        return {_tree_of(key, quantised, others): _tree_of(item, quantised, others) for key, item in items}
    made = [_tree_of(item, quantised, others) for item in items]
    makers = {"list": list, "tuple": tuple, "named": lambda each: Pair(*each), "single": lambda each: Single(*each)}
    return {items[0]: "under it"} if kind == "keys" else makers[kind](made)


def _described(tree, quantised, others):
    """A tree as words: the types of its containers, and which object is where."""
    for name, known in (("q", quantised), ("o", others)):
        for number, leaf in enumerate(known):
            if tree is leaf:
                return f"{name}{number}"
    if isinstance(tree, dict):
        return [type(tree).__name__, [[_described(part, quantised, others) for part in pair] for pair in tree.items()]]
    if isinstance(tree, (list, tuple)):
        return [type(tree).__name__, [_described(item, quantised, others) for item in tree]]
    return repr(tree)


def _trees(st):
    leaf = st.one_of(
        st.tuples(st.just("q"), st.integers(0, 2)),
        st.tuples(st.just("q"), st.integers(0, 2)),
        st.tuples(st.just("o"), st.integers(0, 2)),
        st.sampled_from([None, 3, 0.5, "q", True]),
    )

    def grown(inner):
        some = st.lists(inner, max_size=3)
        return st.one_of(
            st.builds(lambda items: ["list", *items], some),
            st.builds(lambda items: ["tuple", *items], some),
            st.builds(lambda items: ["dict", *zip("bac", items)], some),
            st.builds(lambda a, b: ["named", a, b], inner, inner),
            st.builds(lambda a: ["single", a], inner),
        )

    def as_lists(spec):
        return [as_lists(part) for part in spec] if isinstance(spec, (list, tuple)) else spec

    return st.builds(lambda tree: {"tree": as_lists(tree)}, st.recursive(leaf, grown, max_leaves=8))


@program(
    "on_torch.wrapper.map_quantised",
    cases=_trees,
    edges=[{"tree": tree} for tree in (
        ["q", 0], ["o", 0], None, 3, ["list"], ["tuple"], ["dict"], ["list", ["q", 0], ["o", 1], ["q", 1]],
        ["tuple", ["q", 0], ["o", 1], ["q", 0]], ["dict", ["b", ["q", 1]], ["a", ["o", 0]], ["c", ["q", 0]]],
        ["named", ["q", 0], ["q", 1]], ["named", ["list", ["q", 0]], ["dict", ["a", ["q", 2]]]],
        ["tuple", ["list", ["tuple", ["q", 0], ["dict", ["a", ["list", ["q", 1]]]]]], 3, "q"],
        ["tuple", ["list", ["o", 0], ["o", 2]], ["dict", ["z", 1], ["a", None]]],
        ["list", ["tuple", ["q", 1]], ["q", 0], ["dict", ["b", ["list", ["q", 2]]], ["a", ["q", 1]]], ["q", 2]],
        ["q", 1], ["list", ["q", 1], ["q", 2]], ["single", ["q", 0]], ["dict", [["q", 0], 3]],
        ["o", 2], ["tuple", ["o", 2], ["q", 0]],
    )],
    hint=explained(
        result="containers are new ones with the same types, keys and order; a quantised tensor, perhaps of a subclass, "
        "becomes what the function returns, None too; every other object is the same object as before",
        same_containers="a list or a dict is a new one also if nothing in it is quantised",
        order="the function is called once for each quantised tensor of the tree, in its order",
    ),
)  # fmt: skip
def trees(xp, tree):
    module, torch = xp.wrapper, xp.wrapper.torch
    int_data = torch.ones(2, 2, dtype=torch.int8)
    kinds = module.QuantisedTensor, module.QuantisedTensor, type("Own", (module.QuantisedTensor,), {})
    quantised = [kind(int_data.clone(), numbers(torch, [2], i), i % 2) for i, kind in enumerate(kinds)]
    names = words("tree_map tree_map_ tree_map_only tree_map_only_ tree_flatten tree_unflatten tree_leaves tree_iter")
    names += ["tree_map_with_path", "tree_flatten_with_path"]
    return _mapped(torch, tree, quantised, module.map_quantised, [f"torch.utils._pytree.{name}" for name in names])


def _mapped(torch, tree, quantised, function, watched=()):
    """A tree before and after a function that maps it, and the order in which the function met the objects in it."""
    others, met = [torch.zeros(2), torch.ones(2, dtype=torch.int8), {quantised[0]}], []
    given = _tree_of(tree, quantised, others)

    def meet(each):
        met.append(_described(each, quantised, others))
        return {"q1": None, "q2": (each,)}.get(met[-1], f"mapped {met[-1]}")

    with recorded((), watched) as beyond:
        result = function(meet, given)
    shown = {"result": _described(result, quantised, others), "tree": _described(given, quantised, others)}
    before = {id(container) for container in _changeable(given)}
    same = sum(id(container) in before for container in _changeable(result))
    return shown | {"same containers": same, "order": met, "beyond": beyond}


def _changeable(tree):
    """The lists and dicts of a tree. (A tuple cannot change, so it does not matter whether it is the same one.)"""
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    below = [container for item in items for container in _changeable(item)]
    return [tree, *below] if isinstance(tree, (list, dict)) else below


@trees.oracle
def torch_trees(torch, tree):
    from torch.utils._pytree import tree_map_only

    kinds = torch.nn.Parameter, torch.nn.Parameter, type("Own", (torch.nn.Parameter,), {})
    quantised = [kind(torch.ones(2, 2)) for kind in kinds]
    return _mapped(torch, tree, quantised, lambda function, tree: tree_map_only(torch.nn.Parameter, function, tree))


def _quantised_parts(torch, shape, axis, layout, kind):
    """int8 numbers of both signs and a scale for each index of a dimension."""
    int_data = torch.tensor([(37 * i) % 255 - 127 for i in range(math.prod(shape))], dtype=torch.int8).reshape(shape)
    scale = torch.tensor([(i % 5 + 1) * 0.25 for i in range(shape[axis])], dtype=getattr(torch, kind))
    return with_layout(torch, int_data, layout), scale


def _dequantised(int_data, scale, axis):
    return int_data.to(scale.dtype) * scale.unsqueeze(1 - axis)


@drawing
def _products(draw, st):
    k, m = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    n = draw(st.sampled_from([n for n in range(6) if n not in (k, m)]))
    layout = draw(st.sampled_from(["", "", "backwards", "gaps"]))
    kind = draw(st.sampled_from(["float32", "float64"]))
    return {"n": n, "k": k, "m": m, "axis": draw(st.integers(0, 1)), "layout": layout, "kind": kind}


_SIZES = ((1, 4, 2), (0, 2, 3), (0, 3, 3), (2, 0, 3), (2, 3, 0), (5, 1, 1))


@program(
    "on_torch.wrapper.quantised_mm",
    cases=_products,
    edges=rows(
        "n k m axis layout kind",
        *[(3, 2, 4, axis, layout, "float64") for axis in (0, 1) for layout in ("", "backwards", "gaps")],
        *[(2, 3, 3, axis, "", "float32") for axis in (0, 1)],
        *[(*sizes, axis, "", "float64") for sizes in _SIZES for axis in (0, 1)],
    ),
    hint=explained(
        product="a scale of a column of q is a factor of a column of the product, a scale of a row of q one of a column of x",
        beyond_single="the int8 matrix is cast to the dtype of x, which may be float64",
        of_the_sizes_of_q="the scale multiplies the smaller matrices, before or after the product; q itself is only cast",
    ),
)
def products_with_int8(xp, n, k, m, axis, layout, kind):
    module, torch = xp.wrapper, xp.wrapper.torch
    int_data, scale = _quantised_parts(torch, [k, m], axis, layout, kind)
    scale /= 3  # which no number of single precision is in double precision
    q, x = module.QuantisedTensor(int_data, scale, axis), with_layout(torch, numbers(torch, [n, k], 1, kind), layout)
    with recorded([*PRODUCTS, *POINTWISE, "sum", *SHAPES]) as beyond, module.CountOperators() as counted:
        product = module.quantised_mm(x, q)
    names = {name.split(".")[1] for name, sizes in counted.calls if sizes in ((k, m), (m, k))}
    names -= {*PLUMBING, "diagonal"} - {"clone", "copy_"}
    shown = {"class": type(product).__name__, "new": product is not x, "product": copied(product)}
    shown |= {"beyond single": beyond_single(torch, copied(product)), "of the sizes of q": sorted(names)}
    return shown | {"parts": [copied(q.int_data), copied(q.scale), copied(x)], "beyond": beyond}


@products_with_int8.oracle
def torch_products_with_int8(torch, n, k, m, axis, layout, kind):
    parts = _, scale = _quantised_parts(torch, [k, m], axis, "", kind)
    scale /= 3
    x = numbers(torch, [n, k], 1, kind)
    product = x @ _dequantised(*parts, axis)
    shown = {"class": "Tensor", "new": True, "product": product, "beyond single": beyond_single(torch, product)}
    return shown | {"of the sizes of q": [], "parts": [*map(copied, parts), x], "beyond": []}


def _of_a_subclass(q):
    """The same matrix in a subclass of QuantisedTensor, if it is in one."""
    return type("Own", (type(q),), {})(q.int_data, q.scale, q.axis) if hasattr(q, "int_data") else q


def _scaled(q, factor):
    """The same object, after its scale, or all of a plain one, is multiplied in place."""
    getattr(q, "scale", q).mul_(factor)
    return q


def _operation(torch, name, q, x, y, d):
    """An operation on a matrix q (rows, columns), x (n, columns), y (n, rows), and a plain matrix d like q."""
    aten, functional = torch.ops.aten, torch.nn.functional
    return {
        "t": lambda: q.t(), "mT": lambda: q.mT, "transpose": lambda: q.transpose(-1, 0),
        "transpose to itself": lambda: q.transpose(1, -1),
        "transpose to itself from the end": lambda: q.transpose(-1, 1),
        "transpose from the end": lambda: q.transpose(-2, -1), "t t": lambda: q.t().t(),
        "t of clone": lambda: q.clone().t(), "detach": lambda: q.detach(), "clone": lambda: q.clone(),
        "clone row-major": lambda: q.t().clone(memory_format=torch.contiguous_format),
        "detach of t": lambda: q.t().detach(), "linear": lambda: functional.linear(x, q),
        "linear with bias": lambda: functional.linear(x, q, y[0]), "mm": lambda: y @ q,
        "mm with t": lambda: torch.mm(x, q.t()), "mm of a subclass": lambda: y @ _of_a_subclass(q),
        "addmm": lambda: torch.addmm(x, y, q, beta=1.5, alpha=0.5),
        "addmm with beta": lambda: torch.addmm(x, y, q, beta=3),
        "addmm with alpha": lambda: torch.addmm(y, x, q.t(), alpha=-2),
        "addmm with a row": lambda: torch.addmm(x[0], y, q),
        "addmm without its first": lambda: torch.addmm(x * math.nan, y, q, beta=0, alpha=3),
        "addmm without its product": lambda: torch.addmm(x, y, q, alpha=0),
        "product into a plain one": lambda: [out := torch.zeros_like(x), aten.mm.out(y, q, out=out)],
        "sum with a product into a plain one": lambda: [out := torch.zeros_like(x), aten.addmm.out(x, y, q, out=out)],
        "mm from the left": lambda: q @ x.t(), "mm of both": lambda: q @ q.t(),
        "addmm to it": lambda: torch.addmm(q, y.t(), x),
        "addmm to it, of both": lambda: torch.addmm(q @ q.t(), q, q.t()),
        "addmm from the left": lambda: torch.addmm(y.t(), q, x.t()), "add": lambda: q + 1, "sub": lambda: 1 - q,
        "add with alpha": lambda: torch.add(d, q, alpha=2), "sum": lambda: q.sum(0),
        "cat": lambda: torch.cat([d, q, q]), "weights by name": lambda: torch.histogram(d, 2, weight=q),
        "stack": lambda: torch.stack((q, d), dim=1), "where": lambda: torch.where(q > d, q, 0.0),
        "select": lambda: q[0] + 0, "double": lambda: q.to(torch.float16),
        "foreach": lambda: torch._foreach_mul([d, q], 2.0),
        "foreach of lists": lambda: torch._foreach_add([d, d], [q, d]),
        "into a plain one": lambda: d.clone().add_(q), "copy into a plain one": lambda: d.clone().copy_(q),
        "out of a plain one": lambda: aten.add.out(q, d, out=torch.empty_like(d)), "into": lambda: q.add_(1),
        "into with its sum": lambda: d.clone().add_(q) + q.mul_(2), "copy into": lambda: q.copy_(d),
        "out": lambda: torch.add(d, d, out=q), "mm out": lambda: aten.mm.out(y, d, out=q),
        "foreach into": lambda: torch._foreach_add_([d.clone(), q], 1.0), "zero": lambda: q.zero_(),
        "values of a sort": lambda: torch.sort(d, out=(q, torch.empty(d.shape, dtype=torch.int64))),
        "a fused step into gradients": lambda: torch._fused_sgd_(
            [d.clone()], [q], [d.clone()], weight_decay=0.0, momentum=0.5, lr=0.1, dampening=0.0, nesterov=False,
            maximize=False, is_first_step=False,
        ),
        "out in a list": lambda: torch.unbind_copy(torch.stack([d, d]), out=[d.clone(), q]),
        "add after other scales": lambda: [q + 1, _scaled(q, 2) + 1, _scaled(q, 0.5) + 1],
        "t in place": lambda: q.t_(),
        "into, as torch asks it": lambda: torch.tensor(  # torch makes a TypeError of the answer
            type(q).__torch_dispatch__(aten.add_.Tensor, (type(q),), (q, 1), {}) is NotImplemented
        ),
        "gradient": lambda: torch.autograd.grad(functional.linear(x.requires_grad_(), q).square().sum(), x)[0],
    }[name]()  # fmt: skip


_OPERATIONS = """transpose to itself from the end; t; mT; transpose; transpose to itself; transpose from the end; t t; t of
clone; detach; clone; clone row-major; detach of t; linear; linear with bias; mm; mm with t; mm of a subclass; addmm; addmm
with beta; addmm with alpha; addmm with a row; addmm without its first; weights by name; mm from the left; mm of both; addmm
to it; addmm to it, of both; addmm from the left; add; sub; add with alpha; sum; cat; stack; where; select; double; foreach;
foreach of lists; into a plain one; copy into a plain one; out of a plain one; into; into with its sum; copy into; out; mm
out; foreach into; zero; values of a sort; a fused step into gradients; out in a list; t in place; addmm without its
product; product into a plain one; sum with a product into a plain one; add after other scales; into, as torch asks it;
gradient""".replace("\n", " ").split("; ")


def _done_with(torch, name, q, shape, n, kind, values):
    """An operation on a matrix that may be a wrapper, and whether it multiplied all of it. `values` makes a result plain."""
    from torch.autograd.profiler_legacy import profile

    sizes = ([n, shape[1]], [n, shape[0]], shape)
    others = [numbers(torch, shape, i, kind) for i, shape in enumerate(sizes)]
    try:
        with profile(record_shapes=True) as seen:
            result = _operation(torch, name, q, *others)
    except Exception as error:
        return {"result": error_name(error)}
    shown = {"result": [values(tensor) for tensor in result] if isinstance(result, (list, tuple)) else values(result)}
    if "mm" in name or "linear" in name or name == "gradient":
        products = [event for event in seen.function_events if event.name == "aten::mul"]
        multiplied = [sorted(operand) for event in products for operand in event.input_shapes]
        shown["multiplied all of it"] = sorted(shape) in multiplied
    return shown


@drawing
def _dispatches(draw, st):
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    case = {"name": draw(st.sampled_from(_OPERATIONS)), "rows": rows, "columns": columns}
    case["n"] = draw(st.sampled_from([n for n in range(1, 6) if n not in (rows, columns)]))
    return case | {"axis": draw(st.integers(0, 1)), "kind": draw(st.sampled_from(["float32", "float64"]))}


def _about_results(case, mine, theirs):
    ours, real = field(mine, "result"), field(theirs, "result")
    if not difference(ours, real):
        return None
    if real == "TypeError" or case["name"] == "into, as torch asks it":
        return "an operator that may write into a quantised argument returns NotImplemented, of which torch makes a TypeError"
    if "QuantisedTensor" in real:
        return "detach, clone, t and transpose stay quantised: the scale moves with its dimension, and only a clone is no view"
    if case["name"].startswith("addmm"):
        return "addmm adds beta times its first argument, unless beta is 0, to alpha times the product"
    return "any other operator gets a plain tensor for each quantised one, also in lists and by keyword"


@program(
    "on_torch.wrapper.quantised_dispatch",
    cases=_dispatches,
    edges=rows(
        "name rows columns n axis kind", *[(name, 3, 2, 4, axis, "float64") for name in _OPERATIONS for axis in (0, 1)]
    ),
    hint=first_of(
        _about_results,
        explained(
            multiplied_all_of_it="a product with a quantised matrix on the right calls quantised_mm, transposed or not",
            q="no operator may change the matrix: an operator that would write into it is refused",
        ),
    ),
)
def dispatches(xp, name, rows, columns, n, axis, kind):
    module, torch = xp.wrapper, xp.wrapper.torch
    q = module.QuantisedTensor(*_quantised_parts(torch, [rows, columns], axis, "", kind), axis)

    def values(result):
        if not isinstance(result, module.QuantisedTensor):
            return [type(result).__name__, copied(result)]
        parts = [copied(result.int_data), copied(result.scale), result.axis]
        strides = [list(result.stride()), list(result.int_data.stride())]
        same = [getattr(result, part).data_ptr() == getattr(q, part).data_ptr() for part in ("int_data", "scale")]
        views = [result._is_view(), torch._C._is_alias_of(result, q)]
        return ["QuantisedTensor", *parts, *strides, *same, *views]

    shown = _done_with(torch, name, q, [rows, columns], n, kind, values)
    return shown | {"q": [copied(q.int_data), copied(q.scale), q.axis]}


@dispatches.oracle
def torch_dispatches(torch, name, rows, columns, n, axis, kind):
    int_data, scale = parts = _quantised_parts(torch, [rows, columns], axis, "", kind)
    turned = ("t", "mT", "transpose", "transpose from the end", "t of clone", "clone row-major", "detach of t")
    others = ("transpose to itself", "transpose to itself from the end", "t t", "detach", "clone")
    clones = ("t of clone", "clone", "clone row-major")
    writes = ["into", "into with its sum", "copy into", "out", "mm out", "foreach into", "zero", "t in place"]
    writes += ["values of a sort", "a fused step into gradients", "out in a list"]
    unchanged = {"q": [copied(int_data), copied(scale), axis]}
    if name in writes:
        return {"result": "TypeError"} | unchanged
    if name == "into, as torch asks it":
        return {"result": ["Tensor", torch.tensor(True)]} | unchanged
    if name in turned + others:  # a plain tensor of int8 shows which results are views of what
        result = _operation(torch, name, int_data, None, None, None)
        shown = ["QuantisedTensor", copied(result), scale, 1 - axis if name in turned else axis]
        shown += [*[list(result.stride())] * 2, *[name not in clones] * 2]
        return {"result": [*shown, result._is_view(), torch._C._is_alias_of(result, int_data)]} | unchanged

    plain = _dequantised(*parts, axis)
    done = _done_with(torch, name, plain, [rows, columns], n, kind, lambda result: ["Tensor", copied(result)])
    if (
        "multiplied all of it" in done
    ):  # only for products that quantised_mm cannot do: on the left, on both sides, in a sum
        of_all = ("mm from the left", "mm of both", "addmm to it", "addmm to it, of both", "addmm from the left")
        done["multiplied all of it"] = name in of_all
    return done | unchanged


def _traced(torch, head, leaves, lengths, columns, kind):
    """Compile a head. Return a list of input dtypes for each graph, and the results."""
    from torch._dynamo.backends.common import aot_autograd

    graphs, results = [], []

    def keep(graph, inputs):
        graphs.append(sorted(str(tensor.dtype) for tensor in inputs if isinstance(tensor, torch.Tensor)))
        return graph.forward

    compiled = torch.compile(head, fullgraph=True, backend=aot_autograd(fw_compiler=keep))
    with torch.no_grad():
        for length in lengths:
            results.append(copied(compiled(numbers(torch, [length, columns], length, kind), *leaves)))
    return {"graphs": graphs, "results": results}


@program(
    "on_torch.wrapper.quantised_dispatch.compiled",
    cases=drawn(
        rows=(2, 4), columns=(2, 4), axis=(0, 1), lengths=several((2, 7), 1, 3, True), kind=["float32", "float64"]
    ),
    edges=rows("rows columns axis lengths kind", (3, 2, 0, [4, 5, 7], "float32"), (3, 2, 1, [4, 5, 7], "float64")),
    hint=when(
        lambda case, mine, theirs: has(mine, "type", "UserError"),
        "the compiler flattens the wrapper to int_data and scale and rebuilds it; no operator may look at numbers",
    ),
    draws=3,
)
def wrappers_under_compile(xp, rows, columns, axis, lengths, kind):
    torch = xp.wrapper.torch
    q = xp.wrapper.QuantisedTensor(*_quantised_parts(torch, [rows, columns], axis, "", kind), axis)

    def head(x, q, bias):
        return torch.relu(torch.nn.functional.linear(x, q, bias)) + q.sum()

    return _traced(torch, head, [q, numbers(torch, [rows], 1, kind)], lengths, columns, kind)


@wrappers_under_compile.oracle
def torch_wrappers_under_compile(torch, rows, columns, axis, lengths, kind):
    def head(x, int_data, scale, bias):
        q = int_data.to(scale.dtype) * scale.unsqueeze(1 - axis)
        return torch.relu(torch.nn.functional.linear(x, q, bias)) + q.sum()

    parts = _quantised_parts(torch, [rows, columns], axis, "", kind)
    return _traced(torch, head, [*parts, numbers(torch, [rows], 1, kind)], lengths, columns, kind)
