"""Wrong answers to lab 04b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import heapq

import rushlight as rl
from rushlight.autograd import engine, graph
from rushlight.autograd.graph import Edge
from rushlight.c10.dispatch import local
from rushlight.course import breaks, by_hand, reviews

from ..shared import copied, edited

# Formulas


def sum_to__leaves_out_the_stretched_ones(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad.sum(0)
    return grad


def sum_to__compares_from_the_front(grad, sizes):
    for d in range(len(sizes)):
        if sizes[d] == 1 and grad.shape[d] != 1:
            grad = grad.sum(d, True)
    while grad.dim() > len(sizes):
        grad = grad.sum(-1)
    return grad


def sum_to__takes_the_first_copy(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad[0]
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.narrow(d, 0, 1)
    return grad


def sum_to__means(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad.mean(0)
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.mean(d, True)
    return grad


def head_gradients__with_a_plain_softmax(x, weight, bias, target):
    exponentials = (x @ weight.t() + bias).exp()  # overflows
    log_softmax = rl.zeros_like(exponentials)
    log_softmax[range(len(target)), target] = -1 / len(target)
    addmm = log_softmax + exponentials / exponentials.sum(1, True) / len(target)
    grads = {"NllLossBackward0": x.new_ones(()), "LogSoftmaxBackward0": log_softmax, "AddmmBackward0": addmm}
    return grads | {"x": addmm @ weight, "bias": addmm.sum(0), "TBackward0": x.t() @ addmm, "weight": addmm.t() @ x}


def head_gradients__by_autograd(x, weight, bias, target):
    leaves = {"x": x, "weight": weight, "bias": bias}
    names = {leaf.requires_grad_(): name for name, leaf in leaves.items()}
    loss = rl.nn.functional.cross_entropy(rl.nn.functional.linear(x, weight, bias), target)
    found, waiting = {}, [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        name = names.get(getattr(node, "variable", None), node.name())
        node.register_prehook(lambda grads, name=name: found.update({name: grads[0].clone()}))
        waiting += [successor for successor, _ in node.next_functions]
    loss.backward()
    return found


def head_gradients__forgets_the_batch(x, weight, bias, target):
    scores = x @ weight.t() + bias
    logarithms = scores - scores.logsumexp(1, True)
    log_softmax = rl.zeros_like(scores)
    log_softmax[range(len(target)), target] = -1.0
    addmm = logarithms.exp() + log_softmax
    grads = {"NllLossBackward0": x.new_ones(()), "LogSoftmaxBackward0": log_softmax, "AddmmBackward0": addmm}
    return grads | {"x": addmm @ weight, "bias": addmm.sum(0), "TBackward0": x.t() @ addmm, "weight": addmm.t() @ x}


# The engine


_review = reviews.review_count_dependencies()


def review_count_dependencies__accepts_all():
    return dict.fromkeys("abcde")


def review_count_dependencies__refuses_all_by_one_graph():
    return dict.fromkeys("abcde", {"edges": [[1, 1], [2], []], "roots": [0, 1]})


def review_count_dependencies__refuses_the_other_order():
    return _review | {"b": {"edges": [[1, 2], [2], []], "roots": [0]}}


def review_count_dependencies__by_graphs_with_one_root():
    return _review | {letter: {"edges": [[1, 2], [2], []], "roots": [0]} for letter in "ce"}


def review_count_dependencies__of_a_diamond():
    diamond = {"edges": [[1, 2], [3], [3], []], "roots": [0]}
    return _review | {"a": diamond, "c": diamond}


def review_count_dependencies__as_letters():
    return [letter for letter, case in _review.items() if case is None]


def nodes_to_execute__with_the_ends_themselves(ends, reachable):
    found = set(ends)
    for node in sorted(reachable, key=lambda node: node.sequence_nr):
        if any(edge.node in found for edge in node.next_edges):
            found.add(node)
    return found


def nodes_to_execute__everything(ends, reachable):
    return set(reachable)


def nodes_to_execute__stops_at_the_first_end(ends, reachable):
    ends, found = set(ends), set()
    for node in sorted(reachable, key=lambda node: node.sequence_nr):
        if node not in ends and any(edge.node in ends | found for edge in node.next_edges):
            found.add(node)
    return found


def call_function__lets_go_before_the_hooks(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    if not keep_graph:
        node.release_variables()
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    return outputs


def call_function__validates_after_the_hooks(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = node.apply(*grads)
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(outputs, node.next_edges))]


def call_function__shows_every_hook_the_same(node, grads, keep_graph):
    given = tuple(grads)
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(given))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    found = tuple(outputs)
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(found, tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__reads_the_hooks_while_they_run(node, grads, keep_graph):
    for hook in (node.pre_hooks or {}).values():
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for hook in (node.post_hooks or {}).values():
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__calls_no_hook_that_was_removed(node, grads, keep_graph):
    for key in list(node.pre_hooks or {}):
        if key in node.pre_hooks:
            grads = engine.apply_hook_result(grads, node.pre_hooks[key](tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for key in list(node.post_hooks or {}):
        if key in node.post_hooks:
            outputs = engine.apply_hook_result(outputs, node.post_hooks[key](tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__ignores_what_hooks_return(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        hook(tuple(grads))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for hook in list((node.post_hooks or {}).values()):
        hook(tuple(outputs), tuple(grads))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__reads_all_hooks_before_the_first(node, grads, keep_graph):
    before = list((node.pre_hooks or {}).values())
    after = list((node.post_hooks or {}).values())
    for hook in before:
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = node.apply(*grads)
    outputs = [engine.validate(grad, edge, node, i) for i, (grad, edge) in enumerate(zip(outputs, node.next_edges))]
    for hook in after:
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def execute__without_counting(roots, grads, keep_graph, create_graph, captures=None):
    """Each gradient goes on as soon as it comes: a node runs as often as there are ways to it."""
    waiting, found = list(zip(roots, grads)), {}
    with rl.set_grad_enabled(create_graph):
        while waiting:
            (node, i), grad = waiting.pop(0)
            inputs = {}
            engine._add_input(inputs, node, i, grad)
            given = engine._run_tensor_hooks(node, inputs[node])
            for place in (captures or {}).get(Edge(node, i), []):
                found[place] = given[i]
            if captures is None or not isinstance(node, graph.AccumulateGrad):
                outputs = engine.call_function(node, given, True)
                waiting += [(e, g) for e, g in zip(node.next_edges, outputs) if e.node is not None and g is not None]
    return found


def execute__first_come_first_served(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, key=lambda node, came: came)


def execute__the_oldest_first(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, key=lambda node, came: node.sequence_nr)


def execute__overwrites_what_arrived(roots, grads, keep_graph, create_graph, captures=None):
    def put(inputs, node, i, grad):
        inputs.setdefault(node, [None] * max(len(node.input_metadata), 1))[i] = grad

    return running(roots, grads, keep_graph, create_graph, captures, put=put)


def execute__stays_in_the_grad_mode_that_there_was(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, local.grad_enabled, captures)


def execute__does_not_wait_for_none(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, counts=lambda grad: grad is not None)


def execute__switches_recording_on_afterwards(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    finally:
        local.grad_enabled = True


def execute__leaves_its_grad_mode_behind(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    finally:
        local.grad_enabled = create_graph


def execute__leaves_its_grad_mode_behind_after_an_error(roots, grads, keep_graph, create_graph, captures=None):
    before, local.grad_enabled = local.grad_enabled, create_graph
    found = running(roots, grads, keep_graph, create_graph, captures)
    local.grad_enabled = before
    return found


def execute__leaves_its_grad_mode_behind_after_an_interrupt(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    except KeyboardInterrupt:
        local.grad_enabled = create_graph
        raise


def execute__adds_the_gradients_of_roots_in_the_mode_that_there_was(
    roots, grads, keep_graph, create_graph, captures=None
):
    sums = {}
    for edge, grad in zip(roots, grads):
        sums[edge] = grad if sums.get(edge) is None else sums[edge] + grad
    return running(list(sums), list(sums.values()), keep_graph, create_graph, captures)


def execute__runs_everything(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, everything=True)


def running(
    roots,
    grads,
    keep_graph,
    create_graph,
    captures,
    key=lambda node, came: -node.sequence_nr,
    put=engine._add_input,
    everything=False,
    counts=lambda grad: True,
):
    left = engine.count_dependencies([edge.node for edge in roots])
    ends = {edge.node for edge in captures or {}}
    runs = left
    if captures is not None and not everything:
        runs = engine.nodes_to_execute(ends, left) | {edge.node for edge in captures if not captures[edge]}
    inputs, found, came = {}, {}, 0
    with rl.set_grad_enabled(create_graph):
        for edge, grad in zip(roots, grads):
            put(inputs, edge.node, edge.input_nr, grad)
        heap = [(key(node, 0), id(node), node) for node in inputs if left[node] == 0]
        heapq.heapify(heap)
        while heap:
            node = heapq.heappop(heap)[2]
            arrived = inputs.pop(node)
            if node not in runs and node not in ends:
                continue
            given = engine._run_tensor_hooks(node, arrived)
            for edge, places in (captures or {}).items():
                grad = (arrived if node in runs else given)[edge.input_nr] if edge.node is node else None
                found |= dict.fromkeys(places, grad) if grad is not None else {}
            if node not in runs:
                continue
            for edge, grad in zip(node.next_edges, engine.call_function(node, given, keep_graph)):
                if edge.node is not None and counts(grad):
                    put(inputs, edge.node, edge.input_nr, grad)
                    left[edge.node] -= 1
                    if left[edge.node] == 0:
                        came += 1
                        heapq.heappush(heap, (key(edge.node, came), id(edge.node), edge.node))
    return found


# Sentences that are easily passed over


_sum_to = copied(engine.sum_to)
_nodes_to_execute = copied(engine.nodes_to_execute)
_call_function = copied(engine.call_function)


def sum_to__takes_a_tuple_only(grad, sizes):
    return _sum_to(grad, sizes + ())


def nodes_to_execute__in_a_list(ends, reachable):
    return [*_nodes_to_execute(ends, reachable)]


def call_function__takes_a_list_only(node, grads, keep_graph):
    return _call_function(node, grads + [], keep_graph)


_head_gradients = copied(rl.course.by_hand.head_gradients)


def head_gradients__subtracts_the_largest_score_of_all(x, weight, bias, target):
    scores = x @ weight.t() + bias
    n, powers = len(scores), (scores - scores.amax()).exp()
    of_rows = powers / powers.sum(1, True) / n
    of_rows[range(n), target] = of_rows[range(n), target] - 1 / n
    found = {"AddmmBackward0": of_rows, "x": of_rows @ weight, "bias": of_rows.sum(0), "TBackward0": x.t() @ of_rows}
    return _head_gradients(x, weight, bias, target) | found | {"weight": found["TBackward0"].t()}


_execute = copied(engine.execute)


execute__runs_no_node_on_none = edited(
    engine.execute,
    (
        "outputs = call_function(node, given, keep_graph)",
        "outputs = [None] * len(node.next_edges)\n            if any(grad is not None for grad in given):\n"
        "                outputs = call_function(node, given, keep_graph)",
    ),
)
execute__runs_no_hook_on_none = edited(
    engine.execute,
    (
        "if node.tensor_pre_hooks or node.retains_grad_hooks:",
        "if any(grad is not None for grad in given) and (node.tensor_pre_hooks or node.retains_grad_hooks):",
    ),
)


def execute__without_a_default_for_captures(roots, grads, keep_graph, create_graph, captures):
    return _execute(roots, grads, keep_graph, create_graph, captures)


call_function__each_function_once = edited(
    engine.call_function,
    ("list(node.pre_hooks.values())", "dict.fromkeys(node.pre_hooks.values())"),
    ("list(node.post_hooks.values())", "dict.fromkeys(node.post_hooks.values())"),
)


sum_to__copies_what_fits = edited(engine.sum_to, ("if new_dims else grad", "if new_dims else grad.clone()"))
sum_to__is_not_recorded = edited(engine.sum_to, ("return grad.view(", "return grad.detach().view("))
sum_to__is_not_recorded_at_all = edited(
    engine.sum_to, ("    if not sizes:", "    grad = grad.detach()\n    if not sizes:")
)


sum_to__keeps_the_new_dimensions = edited(
    engine.sum_to, ("return grad.view(tuple(sizes)) if new_dims else grad", "return grad")
)
sum_to__views_a_leading_dimension_of_size_1 = edited(
    engine.sum_to,
    ("[*range(new_dims), *stretched]", "[*(d for d in range(new_dims) if grad.shape[d] != 1), *stretched]"),
)
call_function__without_a_history = edited(
    engine.call_function,
    (
        "= validate_outputs(node, node.apply(*grads))",
        "= [x if x is None else x.detach() for x in validate_outputs(node, node.apply(*grads))]",
    ),
)
call_function__never_lets_go = edited(engine.call_function, ("    if not keep_graph:", "    if keep_graph is None:"))
head_gradients__begins_at_each_row = edited(by_hand.head_gradients, ("scores.new_ones(())", "scores.new_ones((n,))"))
head_gradients__of_each_logarithm_by_itself = edited(
    by_hand.head_gradients, ("addmm = log_softmax + powers / powers.sum(1, True) / n", "addmm = log_softmax")
)
head_gradients__divides_twice = edited(by_hand.head_gradients, ("addmm @ weight", "addmm @ weight / n"))
head_gradients__of_one_row = edited(by_hand.head_gradients, ("addmm.sum(0)", "addmm.mean(0)"))
head_gradients__transposes_too_early = edited(by_hand.head_gradients, ('"TBackward0": t,', '"TBackward0": t.t(),'))
head_gradients__transposes_nothing = edited(by_hand.head_gradients, ('"weight": t.t(),', '"weight": t,'))
call_function__lets_go_also_after_an_error_of_the_formula = edited(
    engine.call_function,
    (
        "    outputs = validate_outputs(node, node.apply(*grads))\n",
        "    try:\n        outputs = validate_outputs(node, node.apply(*grads))\n    except BaseException:\n"
        "        if not keep_graph:\n            node.release_variables()\n        raise\n",
    ),
)
call_function__returns_an_iterator = edited(engine.call_function, ("return outputs", "return iter(outputs)"))


# Cases

_breaks = copied(breaks.breaks_accumulate)


def _with_steps(change):
    return [case | {"steps": [change(step) for step in case["steps"]]} for case in _breaks()]


def breaks_accumulate__of_usual_cases():
    return [
        {"leaf": "rows", "steps": steps} for steps in (["rows"], ["rows", "rows"], ["grad mode on", "rows", "rows"])
    ]


def breaks_accumulate__without_grad_mode():
    return _with_steps(lambda step: "grad mode off" if step == "grad mode on" else step)


def breaks_accumulate__without_histories():
    return _with_steps(lambda step: step.replace(" with history", ""))


def breaks_accumulate__of_leaves_without_gaps():
    return [case | {"leaf": case["leaf"].replace(" with gaps", "")} for case in _breaks()]


def breaks_accumulate__of_one_gradient():
    return [case | {"steps": case["steps"][:-1]} for case in _breaks()]


def breaks_accumulate__of_many_steps():
    return [case | {"steps": [*case["steps"], "rows", "rows", "rows"]} for case in _breaks()]


def breaks_accumulate__of_words_of_its_own():
    return _with_steps(str.upper)
