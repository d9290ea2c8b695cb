"""Nested lists, tuples and dicts as a list of their leaves and their structure. In PyTorch: `torch/utils/_pytree.py`.

Each registered type says what the items of an object are, and what else a new object needs. An object of any other type is a leaf,
also if its type is derived from `list` or `dict`.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

LEAF = object()

# By type: its items and its context, and an object from these two
_nodes: dict[type, tuple[Callable[[Any], tuple[Iterable[Any], Any]], Callable[[Any, Any], Any]]] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    **options: Any,
) -> None:
    """Take objects of this type apart: `flatten_fn(x)` returns its items and a context, and `unflatten_fn(items, context)` makes
    an object. The options are names for files, which rushlight leaves out."""
    if cls in _nodes:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _nodes[cls] = flatten_fn, unflatten_fn


def _register_sequence(kind: type) -> None:
    """Register a class like `list`, whose children are its items."""
    register_pytree_node(kind, lambda x: (x, None), lambda items, _: kind(items))


def _register_dict(kind: type) -> None:
    """Register a class like `dict`, whose children are its values, in the order of its keys."""
    register_pytree_node(kind, lambda x: (x.values(), list(x)), lambda items, keys: kind(zip(keys, items)))


for _kind in (list, tuple):
    _register_sequence(_kind)
for _kind in (dict, OrderedDict):
    _register_dict(_kind)
register_pytree_node(deque, lambda x: (x, x.maxlen), deque)
register_pytree_node(
    defaultdict,
    lambda x: (x.values(), [x.default_factory, list(x)]),
    lambda items, context: defaultdict(context[0], zip(context[1], items)),
)


def _node_of(kind: type) -> tuple[Callable, Callable] | None:
    """How to flatten and unflatten an object of this class. None means that it is a leaf. Each `namedtuple` is a
    node."""
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return lambda x: (x, None), lambda items, _: kind(*items)
    return _nodes.get(kind)


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves in order, and the structure."""
    node = _node_of(type(tree))
    if node is None:
        return [tree], LEAF
    items, context = node[0](tree)
    parts = [tree_flatten(item) for item in items]
    return [leaf for leaves, _ in parts for leaf in leaves], (type(tree), context, [spec for _, spec in parts])


def tree_unflatten(leaves: Iterable[Any], treespec: Any) -> Any:
    """The inverse of `tree_flatten`."""
    leaves = iter(leaves)  # of an iterator, itself
    if treespec is LEAF:
        return next(leaves)
    kind, context, specs = treespec
    return _node_of(kind)[1]([tree_unflatten(leaves, spec) for spec in specs], context)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in its order."""
    return tree_flatten(tree)[0]


def tree_map(func: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of the same structure, with the results of a function of each leaf."""
    leaves, spec = tree_flatten(tree)
    return tree_unflatten(map(func, leaves), spec)


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    """`tree_map` of the leaves of one type. The others stay as they are."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
