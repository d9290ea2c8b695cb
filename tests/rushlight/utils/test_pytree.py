"""Trees are taken apart and put together as torch does it."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
from both import FRAMEWORKS, agree

Point = namedtuple("Point", ["x", "y"])


class MyList(list):
    pass


TREES = [
    1, [], [1, (2, [3])], {"b": 1, "a": [2, 3]}, Point(1, [2]), OrderedDict(b=1, a=2), defaultdict(list, a=[1]), deque([1, 2], 3),
    MyList([1, 2]), [MyList([1])], None, ({}, ()),
]  # fmt: skip


def pytree(xp):
    return __import__(f"{xp.__name__}.utils._pytree", fromlist=["x"])


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_a_tree_is_its_leaves_and_its_structure(tree):
    def program(xp):
        tools = pytree(xp)
        leaves, spec = tools.tree_flatten(tree)
        again = tools.tree_unflatten(leaves, spec)
        doubled = tools.tree_map_only(int, lambda x: x * 2, tree)
        return leaves, repr(again), type(again).__name__, repr(doubled), tools.tree_leaves(tree)

    agree(program)


def test_arguments_of_nodes_keep_their_types():
    for xp in FRAMEWORKS:
        node = __import__(f"{xp.__name__}.fx.node", fromlist=["x"])
        graph = xp.fx.Graph()
        args = graph.call_function(max, ([1, {"a": 2}],)).args[0]
        again = pytree(xp).tree_map(lambda x: x, args)
        assert type(again).__name__ == "immutable_list" and type(again[1]).__name__ == "immutable_dict", node


def test_a_type_can_be_registered_once():
    for xp in FRAMEWORKS:

        class Pair:
            def __init__(self, left, right):
                self.left, self.right = left, right

        tools, rules = pytree(xp), (lambda x: ([x.left, x.right], "kept"), lambda items, context: (context, *items))
        tools.register_pytree_node(Pair, *rules)
        assert tools.tree_map(lambda x: -x, [Pair(1, 2)]) == [("kept", -1, -2)]
        with pytest.raises(ValueError, match="already registered"):
            tools.register_pytree_node(Pair, *rules)
