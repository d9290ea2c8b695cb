"""Nested lists, tuples and dicts as a list of their leaves and their structure. In PyTorch: `torch/utils/_pytree.py`."""

from collections.abc import Callable, Iterable
from typing import Any

LEAF = object()


def tree_flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves in order, and the structure."""
    if not isinstance(tree, (dict, list, tuple)):
        return [tree], LEAF
    names = list(tree) if isinstance(tree, dict) else None
    parts = [tree_flatten(item) for item in (tree.values() if names is not None else tree)]
    kind = type(tree) if names is None else dict
    return [leaf for leaves, _ in parts for leaf in leaves], (kind, names, [spec for _, spec in parts])


def tree_unflatten(leaves: Iterable[Any], treespec: Any) -> Any:
    """The inverse of `tree_flatten`."""
    leaves = iter(leaves)  # of an iterator, itself
    if treespec is LEAF:
        return next(leaves)
    kind, names, specs = treespec
    items = [tree_unflatten(leaves, spec) for spec in specs]
    if kind is dict:
        return dict(zip(names, items))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def tree_leaves(tree: Any) -> list[Any]:
    return tree_flatten(tree)[0]


def tree_map(func: Callable[[Any], Any], tree: Any) -> Any:
    leaves, spec = tree_flatten(tree)
    return tree_unflatten(map(func, leaves), spec)


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any) -> Any:
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)
