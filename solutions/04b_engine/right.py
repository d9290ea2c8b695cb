"""Correct answers to lab 04b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import heapq
from collections import defaultdict

import rushlight as rl
from rushlight.autograd import engine
from rushlight.c10.dispatch import local

# Formulas


def sum_to__one_dimension_at_a_time(grad, sizes):
    if not sizes:
        return grad.sum()
    if tuple(grad.shape) == tuple(sizes):
        return grad
    while grad.dim() > len(sizes):
        grad = grad.sum(0)
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.sum(d, True)
    return grad


def sum_to__with_reshape(grad, sizes):
    if len(sizes) and grad.shape == tuple(sizes):
        return grad
    padded = (1,) * (grad.dim() - len(sizes)) + tuple(sizes)
    dims = [d for d in range(grad.dim()) if padded[d] != grad.shape[d] or d < grad.dim() - len(sizes)]
    return grad.sum(dims, True).reshape(tuple(sizes))


def head_gradients__with_a_mask(x, weight, bias, target):
    classes = rl.arange(weight.shape[0])
    scores = x.mm(weight.t()) + bias
    logarithms = scores - rl.logsumexp(scores, 1, True)
    grads = {"NllLossBackward0": rl.tensor(1, dtype=x.dtype)}
    grads["LogSoftmaxBackward0"] = grad = -(target.unsqueeze(1) == classes).to(x.dtype) / x.shape[0]
    grads["AddmmBackward0"] = grad = grad - logarithms.exp() * grad.sum(1, keepdim=True)
    grads["TBackward0"] = (grad.t() @ x).t()
    grads["weight"] = grad.t() @ x
    grads["bias"] = rl.ones(len(x), dtype=x.dtype) @ grad
    grads["x"] = grad @ weight
    return grads


def head_gradients__row_by_row(x, weight, bias, target):
    n, features = x.shape
    log_softmax, addmm = (rl.zeros(n, len(bias), dtype=x.dtype) for _ in range(2))
    of_weight, of_bias = rl.zeros_like(weight), rl.zeros_like(bias)
    for i, token in enumerate(target.tolist()):
        scores = rl.stack([(x[i] * row).sum() for row in weight]) + bias
        powers = rl.exp(scores - scores.max())
        log_softmax[i, token] = -1 / n
        addmm[i] = powers / powers.sum() / n
        addmm[i, token] -= 1 / n
        of_bias += addmm[i]
        for k in range(len(bias)):
            of_weight[k] += addmm[i, k] * x[i]
    return defaultdict(
        list, x=(addmm.unsqueeze(2) * weight).sum(1), weight=of_weight, bias=of_bias, TBackward0=of_weight.transpose(0, 1),
        AddmmBackward0=addmm, LogSoftmaxBackward0=log_softmax, NllLossBackward0=x.new_ones(()),
    )  # fmt: skip


# The engine


def review_count_dependencies__by_other_graphs():
    twice = ([2, 1, 2], [], []), (0,)
    from_both = [[1, 1], [2], []], [1, 0]
    root_twice = [[], [2], []], [1, 1]
    proofs = {"a": twice, "c": from_both, "e": root_twice}
    return {letter: dict(zip(("edges", "roots"), proofs[letter])) if letter in proofs else None for letter in "abcde"}


def review_count_dependencies__with_one_graph_for_two():
    graph = {"roots": [0, 1], "edges": [[1, 1], [2, 2], []]}
    return dict(e={"roots": [1, 1], "edges": [[], [2], []]}, d=None, c=graph, b=None, a=graph)


def nodes_to_execute__until_nothing_changes(ends, reachable):
    ends, reachable = set(ends), sorted(reachable, key=lambda node: node.sequence_nr)
    found, size = set(), -1
    while size < len(found):  # mostly once: a node is younger than those that its edges lead to
        size = len(found)
        for node in reachable:
            if any(edge.node in ends or edge.node in found for edge in node.next_edges):
                found.add(node)
    return found


def nodes_to_execute__backwards_in_generations(ends, reachable):
    before = defaultdict(set)
    for node in reachable:
        for edge in node.next_edges:
            before[edge.node].add(node)
    found, last = frozenset(), set(ends)
    while last:
        last = set().union(*(before[node] for node in last)) - found
        found |= last
    return found


def call_function__with_a_loop(node, grads, keep_graph):
    for hook in tuple((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    found = []
    for i, (grad, edge) in enumerate(zip(node.apply(*grads), node.next_edges)):
        found.append(engine.validate(grad, edge, node, i))
    for hook in tuple((node.post_hooks or {}).values()):
        found = engine.apply_hook_result(found, hook(tuple(found), tuple(grads)))
    keep_graph or node.release_variables()
    return tuple(found)


def call_function__with_a_copy_of_the_hooks(node, grads, keep_graph):
    before = dict(node.pre_hooks) if node.pre_hooks is not None else {}
    for key in before:
        changed = before[key](tuple(grads))
        grads = engine.apply_hook_result(grads, changed)
    given = node.apply(*grads)
    outputs = [engine.validate(given[i], node.next_edges[i], node, i) for i in range(len(node.next_edges))]
    after = dict(node.post_hooks) if node.post_hooks is not None else {}
    for key in after:
        changed = after[key](tuple(outputs), tuple(grads))
        outputs = list(engine.apply_hook_result(outputs, changed))
    if keep_graph is False or not keep_graph:
        node.release_variables()
    return outputs


def execute__searching_for_the_newest(roots, grads, keep_graph, create_graph, captures=None):
    left = dict(engine.count_dependencies({edge.node for edge in roots}))
    waiting, found = {}, {}
    ends = {edge.node for edge in captures} if captures is not None else set()
    runs = set(left)
    if captures is not None:
        runs = set(engine.nodes_to_execute(ends, left)) | {edge.node for edge in captures if not captures[edge]}
    with rl.set_grad_enabled(create_graph):
        for edge, grad in zip(roots, grads):
            engine._add_input(waiting, edge.node, edge.input_nr, grad)
        while ready := [node for node in waiting if left[node] == 0]:
            node = max(ready, key=lambda node: node.sequence_nr)
            arrived = waiting.pop(node)
            if node not in runs | ends:
                continue
            given = engine._run_tensor_hooks(node, arrived)
            for edge, places in (captures or {}).items():
                if edge.node is node:
                    grad = (arrived if node in runs else given)[edge.input_nr]
                    found.update({place: grad for place in places if grad is not None})
            if node in runs:
                for edge, grad in zip(node.next_edges, engine.call_function(node, given, keep_graph)):
                    if edge.node is not None:
                        engine._add_input(waiting, edge.node, edge.input_nr, grad)
                        left[edge.node] -= 1
    return found


def execute__with_a_class_of_its_own(roots, grads, keep_graph, create_graph, captures=None):
    task = Task(roots, captures, keep_graph)
    before = local.grad_enabled
    local.grad_enabled = create_graph
    try:
        for edge, grad in zip(roots, grads):
            task.arrive(edge, grad)
        task.run()
    finally:
        local.grad_enabled = before
    return task.answer


class Task:
    def __init__(self, roots, captures, keep_graph):
        self.left = engine.count_dependencies([edge.node for edge in roots])
        self.captures, self.keep_graph = captures, keep_graph
        self.inputs, self.answer = {}, {}
        if captures is None:
            self.runs, self.visited = self.left, self.left
        else:
            ends = [edge.node for edge in captures]
            self.runs = engine.nodes_to_execute(ends, self.left) | {
                e.node for e, places in captures.items() if not places
            }
            self.visited = self.runs.union(ends)

    def arrive(self, edge, grad):
        engine._add_input(self.inputs, edge.node, edge.input_nr, grad)

    def run(self):
        heap = [(-node.sequence_nr, id(node), node) for node in self.inputs if not self.left[node]]
        heapq.heapify(heap)
        while heap:
            *_, node = heapq.heappop(heap)
            grads = self.inputs.pop(node)
            for successor in self.step(node, grads) if node in self.visited else []:
                self.left[successor] -= 1
                if not self.left[successor]:
                    heapq.heappush(heap, (-successor.sequence_nr, id(successor), successor))

    def step(self, node, arrived):
        grads = engine._run_tensor_hooks(node, arrived)
        kept = arrived if node in self.runs else grads
        for (owner, i), places in (self.captures or {}).items():
            if owner is node and kept[i] is not None:
                self.answer |= dict.fromkeys(places, kept[i])
        if node not in self.runs:
            return []
        pairs = list(zip(node.next_edges, engine.call_function(node, grads, self.keep_graph)))
        for edge, grad in pairs:
            if edge.node is not None:
                self.arrive(edge, grad)
        return [edge.node for edge, _ in pairs if edge.node is not None]


# Cases


def breaks_accumulate__without_history_first():
    on, rows, columns = "grad mode on", "rows", "columns"
    return [
        {"leaf": columns, "steps": [columns, columns]},
        {"leaf": "columns with gaps", "steps": [on, columns, columns]},
        {"leaf": columns, "steps": [on, "rows with history", rows]},
    ]


def breaks_accumulate__of_four_leaves():
    return (
        {"leaf": "rows", "steps": ("rows", "columns")},
        {"leaf": "columns", "steps": ("grad mode on", "rows", "grad mode on", "rows")},
        {"leaf": "rows with gaps", "steps": ("grad mode on", "rows with history", "rows")},
        {"leaf": "columns with gaps", "steps": ("grad mode on", "columns with history", "grad mode off")},
    )
