"""Wrong answers to lab 07d that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools
import math
import operator

import rushlight as rl
from rushlight.aot.functional import apply_update, arguments_of, view_forward, view_inverse
from rushlight.aot.joint import joint_forward_backward
from rushlight.aot.partition import find_path
from rushlight.aot.proxy_tensor import run_meta
from rushlight.aot.runtime import view_of
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine
from rushlight.autograd.engine import sum_to
from rushlight.autograd.grad_mode import no_grad
from rushlight.course import breaks, reviews
from rushlight.fx.graph import Graph
from rushlight.fx.node import Node

from ..shared import copied, edited

# ---- aot -----------------------------------------------------------------------------------------------------------


def record_call__forgets_lists(mode, func, args, kwargs):
    nodes = tuple(mode.node_of(x) if isinstance(x, Tensor) else x for x in args)
    node = mode.create_node(func, nodes, kwargs, func.schema.name)
    result = run_meta(func, args, kwargs)
    if isinstance(result, Tensor):
        mode.track(result, node)
    else:
        node.meta["val"] = result
        for i, tensor in enumerate(result):
            mode.track(tensor, mode.create_node(operator.getitem, (node, i), {}, "getitem"))
    return result


def record_call__keeps_the_first_node_of_what_is_written(mode, func, args, kwargs):
    def seen(value):
        if isinstance(value, Tensor):
            return mode.node_of(value)
        return [seen(item) for item in value] if isinstance(value, (list, tuple)) else value

    node = mode.create_node(func, tuple(map(seen, args)), {k: seen(v) for k, v in kwargs.items()}, func.schema.name)
    result = run_meta(func, args, kwargs)
    if isinstance(result, Tensor):
        if not func.schema.name.endswith("_"):
            mode.track(result, node)
    else:
        node.meta["val"] = result
        for i, tensor in enumerate(result):
            mode.track(tensor, mode.create_node(operator.getitem, (node, i), {}, "getitem"))
    return result


def inverse_as_torch_has_it(base, view, new):
    name, given, sizes = view.operator.schema.name, arguments_of(view), list(base.shape)
    if name in ("alias", "detach"):
        return new
    if name in ("view", "_reshape_alias"):
        return new.view(sizes)
    if name in ("t", "transpose"):
        return view.operator(new, *view.args)
    if name == "permute":
        dims = [d % len(sizes) for d in given["dims"]]
        return new.permute(sorted(range(len(sizes)), key=dims.__getitem__))
    if name == "unsqueeze":
        return new.squeeze(given["dim"])
    if name == "expand":
        return base + sum_to(new - base, sizes)
    if name == "squeeze":
        dim = given.get("dim")
        dims = range(len(sizes)) if dim is None else [dim] if isinstance(dim, int) else dim
        for d in sorted(d % len(sizes) for d in dims if sizes):
            new = new.unsqueeze(d) if sizes[d] == 1 else new
        return new
    if name == "unbind":
        return base.select_scatter(new, given["dim"], view.place)
    if name.startswith("split"):
        counts = given.get("split_sizes") or [given["split_size"]] * (view.place + 1)
        start = sum(counts[: view.place])
        return base.slice_scatter(new, given["dim"], start, start + new.shape[given["dim"]])
    return getattr(functions, name + "_scatter")(base, new, *view.args)


def view_inverse__writes_into_the_base(base, view, new):
    if view.operator.schema.name == "expand":
        return base + sum_to(new - base, base.shape)
    view_forward(base, view).copy_(new)
    return base


def view_inverse__writes_into_a_copy(base, view, new):
    if view.operator.schema.name == "expand":
        gained = new - base
        while gained.dim() > base.dim():
            gained = gained.sum(0)
        for d, size in enumerate(base.shape):
            if size == 1 and gained.shape[d] != 1:
                gained = gained.sum(d, keepdim=True)
        return base + gained
    copy = base.clone()
    view_forward(copy, view).copy_(new)
    return copy


def view_inverse__reshapes_what_stays_as_it_is(base, view, new):
    if view.operator.schema.name in ("alias", "detach"):
        return new.reshape(base.shape)
    return inverse_as_torch_has_it(base, view, new)


def view_inverse__reshapes_where_a_dimension_of_size_1_goes(base, view, new):
    if view.operator.schema.name == "unsqueeze":
        return new.reshape(base.shape)
    return inverse_as_torch_has_it(base, view, new)


def view_inverse__sets_each_copy_of_expand(base, view, new):
    if view.operator.schema.name == "expand":
        while new.dim() > base.dim():
            new = new[-1]
        for d in range(base.dim()):
            new = new if new.shape[d] == base.shape[d] else new.narrow(d, new.shape[d] - 1, 1)
        return new
    copy = base.clone()
    view_forward(copy, view).copy_(new)
    return copy


def apply_update__from_the_first_to_the_last(base, new, views):
    for view in views:
        new = view_inverse(base, view, new)
        base = view_forward(base, view)
    return new


def apply_update__always_on_the_base(base, new, views):
    for view in reversed(views):
        new = view_inverse(base, view, new)
    return new


_review = reviews.review_softmax()


def review_softmax__accepts_all():
    return dict.fromkeys("abcde")


def review_softmax__refuses_all():
    return {letter: case or _review["b"] for letter, case in _review.items()}


def review_softmax__of_a_row_alone():
    row = {"values": [0, 1, 2], "sizes": [3], "dim": 0, "dtype": "float32"}
    return _review | {"b": row, "c": row}


def review_softmax__of_small_numbers():
    return _review | {"c": _review["b"], "e": {"values": [1], "sizes": [], "dim": 0, "dtype": "float32"}}


def review_softmax__refuses_a_maximum_in_float16():
    return _review | {"a": _review["c"] | {"dtype": "float16"}, "e": None}


def review_softmax__of_six_elements():
    return _review | {letter: _review[letter] | {"values": [0, 0, 0, 999, 999, 0], "sizes": [2, 3]} for letter in "bc"}


def review_softmax__as_floats():
    return _review | {letter: _review[letter] | {"values": [0.5, 0.0, 999.0, 999.5]} for letter in "bc"}


joint_forward_backward__gives_the_outputs_as_they_came = edited(
    joint_forward_backward, ("outs = list(function(*primals))", "outs = function(*primals)")
)


def joint_forward_backward__a_backward_pass_for_each_primal(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    wanted = itertools.compress(outs, needs_tangent)
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    ends, given = zip(*pairs) if pairs else ((), ())
    return outs, [
        engine.grad(ends, [x], given, retain_graph=True, allow_unused=True)[0]
        if ends and isinstance(x, Tensor) and x.requires_grad
        else None
        for x in primals
    ]


def joint_forward_backward__with_a_tangent_for_every_output(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    pairs = [(out, grad) for out, grad in zip(outs, tangents) if isinstance(out, Tensor) and out.requires_grad]
    places = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]
    grads = [None] * len(primals)
    if pairs and places:
        found = engine.grad(
            [p[0] for p in pairs], [primals[i] for i in places], [p[1] for p in pairs], allow_unused=True
        )
        for i, grad in zip(places, found):
            grads[i] = grad
    return outs, grads


def joint_forward_backward__drops_what_needs_no_gradient(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    wanted = [out for out, needs in zip(outs, needs_tangent) if needs]
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    inputs = [x for x in primals if isinstance(x, Tensor) and x.requires_grad]
    if not pairs or not inputs:
        return outs, []
    return outs, list(engine.grad([p[0] for p in pairs], inputs, [p[1] for p in pairs], allow_unused=True))


def extract_graph__takes_all_that_the_inputs_allow(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output(tuple(known[x] if isinstance(x, Node) else x for x in outputs))
    return graph


def extract_graph__returns_a_list(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output([known[x] if isinstance(x, Node) else x for x in outputs])
    graph.eliminate_dead_code()
    return graph


def extract_graph__has_only_placeholders_that_are_used(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node in inputs or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output(tuple(known[x] if isinstance(x, Node) else x for x in outputs))
    graph.eliminate_dead_code()
    for node in [node for node in graph.nodes if node.op == "placeholder" and not node.users]:
        graph.erase_node(node)
    return graph


def minimum_cut__next_to_the_source(capacities, source, sink):
    room = {source: {}, sink: {}}
    for (start, end), capacity in capacities.items():
        room.setdefault(start, {})[end] = capacity
        room.setdefault(end, {}).setdefault(start, 0)
    flow = 0
    while (path := find_path(room, source, sink)) is not None:
        least = min(room[start][end] for start, end in path)
        if least == math.inf:
            raise ValueError("unbounded")
        for start, end in path:
            room[start][end] -= least
            room[end][start] += least
        flow += least
    before, waiting = {source}, [source]
    for start in waiting:
        more = [end for end in room[start] if room[start][end] > 0 and end not in before]
        before.update(more)
        waiting += more
    return flow, before


def minimum_cut__never_sends_back(capacities, source, sink):
    room = {source: {}, sink: {}}
    for (start, end), capacity in capacities.items():
        room.setdefault(start, {})[end] = capacity
        room.setdefault(end, {}).setdefault(start, 0)
    flow = 0
    while (path := find_path(room, source, sink)) is not None:
        least = min(room[start][end] for start, end in path)
        if least == math.inf:
            raise ValueError("unbounded")
        for start, end in path:
            room[start][end] -= least
        flow += least
    behind, waiting = {sink}, [sink]
    for end in waiting:
        more = [start for start in room if room[start].get(end, 0) > 0 and start not in behind]
        behind.update(more)
        waiting += more
    return flow, set(room) - behind


def run_epilogue__returns_what_the_graph_returned(meta, args, outs):
    count = len(meta.mutated)
    for i, new in zip(meta.mutated, outs):
        info = meta.inputs[i]
        if info.mutates_metadata:
            with no_grad():
                args[i].as_strided_(info.sizes, info.strides, info.storage_offset)
        if info.mutates_data:
            (args[i].detach() if info.hidden else args[i]).copy_(new)
    return list(outs[count : count + len(meta.outputs)])


def run_epilogue__never_tells_autograd(meta, args, outs):
    count = len(meta.mutated)
    own, bases = outs[count : count + len(meta.outputs)], outs[count + len(meta.outputs) :]
    for i, new in zip(meta.mutated, outs):
        info = meta.inputs[i]
        with no_grad():
            if info.mutates_metadata:
                args[i].as_strided_(info.sizes, info.strides, info.storage_offset)
            if info.mutates_data:
                args[i].copy_(new)
    results = []
    for value, info in zip(own, meta.outputs):
        if info.output_type == "is_input":
            value = args[info.base_idx]
        elif info.output_type == "alias_of_input":
            value = view_of(args[info.base_idx], info)
        elif info.output_type == "alias_of_intermediate_base_is_user_output":
            value = view_of(own[info.base_idx], info)
        elif info.output_type.startswith("alias_of_intermediate"):
            value = view_of(bases[info.base_idx], info)
        results.append(value)
    return results


apply_update__makes_the_last_view_too = edited(
    apply_update,
    ("views[:-1]", "views"),
    ("for tensor, view in zip(reversed(before), reversed(views)):", "for i in reversed(range(len(views))):"),
    ("new = view_inverse(tensor, view, new)", "new = view_inverse(before[i], views[i], new)"),
)


def joint_forward_backward__differentiates_by_nothing(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    wanted = zip([out for out, needs in zip(outs, needs_tangent) if needs], tangents)
    pairs = [pair for pair in wanted if isinstance(pair[0], Tensor) and pair[0].requires_grad]
    grads = {i: None for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad}
    if pairs:
        found = engine.grad(
            [out for out, _ in pairs], [primals[i] for i in grads], [g for _, g in pairs], allow_unused=True
        )
        grads = dict(zip(grads, found))
    return outs, [grads.get(i) for i in range(len(primals))]


# Sentences that are easily passed over


_view_inverse = copied(rl.aot.functional.view_inverse)
_apply_update = copied(rl.aot.functional.apply_update)
_joint = copied(rl.aot.joint.joint_forward_backward)
_extract_graph = copied(rl.aot.partition.extract_graph)


def view_inverse__leaves_out_a_permutation_that_changes_nothing(base, view, new):
    if view.operator.schema.name == "permute":
        dims = [dim % base.dim() for dim in arguments_of(view)["dims"]]
        if dims == sorted(dims):
            return new
    return _view_inverse(base, view, new)


def _permuted(base, new, dims, kinds):
    """The inverse of a permutation of some kinds. Of others it is the permutation itself."""
    dims = [dim % base.dim() for dim in dims]
    return new.permute([dims.index(dim) for dim in range(base.dim())] if kinds(dims) else dims)


def view_inverse__inverts_permutations_of_three_dimensions_only(base, view, new):
    if view.operator.schema.name == "permute":
        return _permuted(base, new, arguments_of(view)["dims"], lambda dims: len(dims) == 3)
    return _view_inverse(base, view, new)


def view_inverse__inverts_rotations_only(base, view, new):
    if view.operator.schema.name == "permute":
        rotated = lambda dims: all((dims[i - 1] + 1) % len(dims) == dim for i, dim in enumerate(dims))  # noqa: E731
        return _permuted(base, new, arguments_of(view)["dims"], rotated)
    return _view_inverse(base, view, new)


def view_inverse__permutes_twice(base, view, new):
    """Three times a cycle of three is nothing. A longer cycle needs more."""
    if view.operator.schema.name == "permute":
        dims = arguments_of(view)["dims"]
        return new.permute([dims[dim] for dim in dims])
    return _view_inverse(base, view, new)


def apply_update__takes_a_tuple_only(base, new, views):
    return _apply_update(base, new, views.__add__(()))


def joint_forward_backward__takes_a_list_of_primals_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals.__add__([]), tangents, needs_tangent)


def joint_forward_backward__takes_a_list_of_tangents_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals, tangents.__add__([]), needs_tangent)


def joint_forward_backward__takes_a_tuple_of_needs_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals, tangents, needs_tangent.__add__(()))


def extract_graph__takes_a_list_of_inputs_only(joint, inputs, outputs):
    return _extract_graph(joint, inputs.__add__([]), outputs)


def extract_graph__takes_a_list_of_outputs_only(joint, inputs, outputs):
    return _extract_graph(joint, inputs, outputs.__add__([]))


def extract_graph__moves_the_meta(joint, inputs, outputs):
    graph = _extract_graph(joint, inputs, outputs)
    for node in inputs:
        node.meta = {}
    return graph


def extract_graph__raises_a_value_error(joint, inputs, outputs):
    try:
        return _extract_graph(joint, inputs, outputs)
    except AssertionError:
        raise ValueError("an output needs a placeholder that is not among the inputs") from None


_run_epilogue = copied(rl.aot.runtime.run_epilogue)


def run_epilogue__takes_a_tuple_of_arguments_only(meta, args, outs):
    return _run_epilogue(meta, args + (), outs)


def run_epilogue__takes_a_list_of_arguments_only(meta, args, outs):
    return _run_epilogue(meta, args + [], outs)


def run_epilogue__takes_a_tuple_of_results_only(meta, args, outs):
    return _run_epilogue(meta, args, outs + ())


def run_epilogue__takes_a_list_of_results_only(meta, args, outs):
    return _run_epilogue(meta, args, outs + [])


joint_forward_backward__one_gradient_for_a_primal_given_twice = edited(
    joint_forward_backward,
    (
        "indices = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]",
        "indices = [*{id(x): i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad}.values()]",
    ),
)


minimum_cut__a_large_number_for_infinity = edited(
    rl.aot.partition.minimum_cut,
    ("room[start][end] = capacity", "room[start][end] = min(capacity, 10_000)"),
    ("least == math.inf", "least == 10_000"),
)
minimum_cut__in_a_list = edited(rl.aot.partition.minimum_cut, ("set(room) - behind", "[*set(room) - behind]"))
minimum_cut__without_pipes_of_no_capacity = edited(
    rl.aot.partition.minimum_cut,
    (
        "        room.setdefault(start, {})",
        "        if capacity == 0:\n            continue\n        room.setdefault(start, {})",
    ),
)
minimum_cut__without_pipes_to_itself = edited(
    rl.aot.partition.minimum_cut,
    (
        "        room.setdefault(start, {})",
        "        if start == end:\n            continue\n        room.setdefault(start, {})",
    ),
)
apply_update__a_copy_without_steps = edited(
    rl.aot.functional.apply_update, ("return new", "return new if views else new.clone()")
)
run_epilogue__in_a_tuple = edited(rl.aot.runtime.run_epilogue, ("return results", "return tuple(results)"))
apply_update__makes_the_views_again_for_each_step = edited(
    rl.aot.functional.apply_update,
    ("before.append(view_forward(before[-1], view))", "before.append(base)"),
    (
        "    for tensor, view in zip(reversed(before), reversed(views)):\n",
        "    for n in range(len(views), 0, -1):\n        tensor, view = base, views[n - 1]\n"
        "        for earlier in views[: n - 1]:\n            tensor = view_forward(tensor, earlier)\n",
    ),
)


def apply_update__takes_the_steps_out_of_a_list(base, new, views):
    steps = views if isinstance(views, list) else [*views]
    before = [base]
    for step in steps[:-1]:
        before.append(view_forward(before[-1], step))
    while steps:
        new = view_inverse(before.pop(), steps.pop(), new)
    return new


def view_inverse__no_dimensions_are_all_dimensions(base, view, new):
    if view.operator.schema.name == "squeeze" and not arguments_of(view).get("dim", [0]):
        view = rl.aot.functional.View(rl.ops.aten.squeeze.default, ())
    return _view_inverse(base, view, new)


def view_inverse__transposes_matrices_by_t(base, view, new):
    matrix = view.operator.schema.name == "transpose" and base.dim() == 2
    return new.t() if matrix else _view_inverse(base, view, new)


def view_inverse__expands_to_the_same_sizes_for_nothing(base, view, new):
    same = view.operator.schema.name == "expand" and new.shape == base.shape
    return new if same else _view_inverse(base, view, new)


joint_forward_backward__runs_the_function_twice = edited(
    joint_forward_backward,
    ("outs = list(function(*primals))", "function(*primals)\n    outs = list(function(*primals))"),
)
joint_forward_backward__leaves_only = edited(
    joint_forward_backward,
    ("isinstance(x, Tensor) and x.requires_grad]", "isinstance(x, Tensor) and x.requires_grad and x.is_leaf]"),
)
minimum_cut__in_floats = edited(
    rl.aot.partition.minimum_cut, ("room[start][end] = capacity", "room[start][end] = float(capacity)")
)
minimum_cut__a_huge_number_is_no_end = edited(rl.aot.partition.minimum_cut, ("least == math.inf", "least >= 10**18"))


def extract_graph__only_the_values_of_the_inputs(joint, inputs, outputs):
    graph = _extract_graph(joint, inputs, outputs)
    for new, node in zip(graph.nodes, inputs):
        new.meta = {"val": node.meta.get("val")}
    return graph


run_epilogue__keeps_the_offset = edited(
    rl.aot.runtime.run_epilogue, ("info.sizes, info.strides, info.storage_offset", "info.sizes, info.strides")
)


_breaks = copied(breaks.breaks_may_recompute)


def breaks_may_recompute__of_usual_programs():
    programs = ["cos"], ["mm x", "tanh", "mul x"], ["exp", "rows"], ["tanh", "mm x"]
    return [{"columns": "8", "steps": steps} for steps in programs]


def breaks_may_recompute__of_eight_columns():
    return [{**case, "columns": "8"} for case in _breaks()]


def breaks_may_recompute__without_views():
    return [{**case, "steps": [step for step in case["steps"] if step != "t"]} for case in _breaks()]


def breaks_may_recompute__with_one_matrix():
    return [
        {**case, "steps": [step.replace("w", "x") if step == "mm w" else step for step in case["steps"]]}
        for case in _breaks()
    ]


def breaks_may_recompute__with_the_noise_at_the_end():
    return [{**case, "steps": sorted(case["steps"], key="noise".__eq__)} for case in _breaks()]


def breaks_may_recompute__with_numbers_of_columns():
    return [{**case, "columns": int(case["columns"])} for case in _breaks()]


def breaks_may_recompute__of_five_programs():
    return [*_breaks(), *breaks_may_recompute__of_usual_programs()[:2]]
