"""What the checks of autograd show of tensors and of graphs, which are compared node by node.

Where torch has no function for a part of the engine, torch's answer comes from its graphs: `next_functions`, the saved
tensors of nodes, and hooks that tell which nodes ran.
"""

from __future__ import annotations

from contextlib import contextmanager

from ..cases import attempt


def plain(x):
    """The values of a tensor, row by row and without a history. The strides are those of a new tensor, also for one element."""
    return None if x is None else x.detach().new_empty(x.shape).copy_(x.detach())


def dense(x):
    """The same, with the tensor's strides if it has no gaps."""
    return None if x is None else x.detach().clone()


def outcome(found, name="gradients"):
    """A result or an error in two fields, so that the difference names one of them."""
    raised = isinstance(found, str)
    return {"raises": found.removeprefix("raises ") if raised else None, name: None if raised else found}


@contextmanager
def grad_mode(xp, enabled):
    before = xp.is_grad_enabled()
    xp.set_grad_enabled(enabled)
    try:
        yield
    finally:
        xp.set_grad_enabled(before)


def node_name(node):
    return node.name().removeprefix("torch::autograd::")


def described(x):
    output_nr = x.output_nr if x.requires_grad else 0
    return {"requires_grad": x.requires_grad, "is_leaf": x.is_leaf, "version": x._version, "output_nr": output_nr}


class Graph:
    """The nodes that can be reached, numbered in the order of a search. The graph keeps them alive."""

    def __init__(self, *roots):
        self.nodes, self.indices = [], {}
        for root in roots:
            self.add(root)

    def add(self, root):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node is None or node in self.indices:
                continue
            self.indices[node] = len(self.nodes)
            self.nodes.append(node)
            waiting += [successor for successor, _ in reversed(node.next_functions)]

    def index(self, node):
        return None if node is None else self.indices.get(node, "another node")

    def shown(self):
        """For each node its name and its edges."""
        return [[node_name(node), [[self.index(n), i] for n, i in node.next_functions]] for node in self.nodes]


def graph_of(values):
    """The graph of some values, and for each value its node, or the error that the access to its `grad_fn` raises."""
    nodes = [attempt(lambda x=x: x.grad_fn) for x in values]
    return Graph(*(node for node in nodes if not isinstance(node, str))), nodes
