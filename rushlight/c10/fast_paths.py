"""Fast paths: which functions run, and which results are kept.

Most functions of the framework are written to be read: they are the exercises, and a call that runs them all is slow. Beside some
of them stands a *fast form*, which takes the same arguments and gives the same result without them, mostly from a plan that an
earlier call has made. A caller finds the form that runs now in `fastest`. The functions are in `LAYERS`, and as long as all of them
are the framework's own, every layer is fast. Where one may have been replaced, for an exercise or for a trace, its layer and all
layers above it take the slow path, so that it is called.

In PyTorch there is no such switch: what runs is compiled, and nothing in it can be replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

LAYERS = ("c10", "aten", "autograd", "optim", "utils")  # those that have fast paths, the lowest first
C10, ATEN, AUTOGRAD, OPTIM, UTILS, NONE = range(len(LAYERS) + 1)
slow_from_layer = NONE  # the lowest layer that takes the slow path. All layers above it do too
_layers = [[NONE]]  # the layer that `disable` set, then that of each `disabled` that is active
registered: dict[Callable, tuple[int, Callable]] = {}  # by function: its layer and its fast form
cache_clearers: list[Callable[[], Any]] = []  # each empties a cache of what a function returned


def fast_form_of(function: Callable, layer: str = "aten") -> Callable[[Any], Any]:
    """Decorator: register the fast form of a function of a layer, which takes the same arguments and returns the same.

    A table holds the fast form in the place of the kernel `function`. Other callers look it up in `fastest`. So neither form tests
    whether its layer takes the slow path. The fast form may call `function` with arguments that it does not support.
    """

    def register(fast: Any) -> Any:
        registered[function] = LAYERS.index(layer), fast
        return fast

    return register


class FastestForms(dict):
    """By function: its fast form, or the function itself if there is no fast form, or if its layer takes the slow path."""

    def __missing__(self, function: Callable) -> Callable:
        if function not in registered:
            return function
        layer, fast = registered[function]
        self[function] = form = fast if slow_from_layer > layer else function
        return form


fastest = FastestForms()
cache_clearers.append(fastest.clear)


class Cache(dict):
    """Results of functions of a layer. They are cleared when a function may have been replaced, and none is kept while the layer
    takes the slow path."""

    def __init__(self, layer: str) -> None:
        self.layer = LAYERS.index(layer)
        cache_clearers.append(self.clear)

    def add(self, key: Any, result: Any) -> Any:
        """Keep a result if it may be kept. Returns the result."""
        if slow_from_layer > self.layer:
            if len(self) == 4096:
                self.clear()
            self[key] = result
        return result


def disable(layer: str | None) -> None:
    """Make the code of one of `LAYERS`, and of those above it, take the slow path everywhere. The layers below it, or all layers if
    `layer` is None, take the fast path where they can. Either way, clear the tables and every other cache.

    A fast path does not call functions of its own layer and of those below that the slow path calls. So a function of `optim`
    that was replaced needs the slow path of `optim` only, and one of `c10` that of every layer.
    """
    _layers[0][0] = _index(layer)
    _update()


@contextmanager
def disabled(layer: str | None):
    """Within: `disable(layer)`, whatever layer is given within. That one holds afterwards."""
    own = [_index(layer)]
    try:
        _layers.append(own)
        _update()
        yield
    finally:
        _layers[:] = [entry for entry in _layers if entry is not own]  # another thread may have begun one since
        _update()


def _index(layer: str | None) -> int:
    return NONE if layer is None else LAYERS.index(layer)


def _update() -> None:
    global slow_from_layer
    [slow_from_layer] = _layers[-1]
    clear_caches()


def disabled_from() -> str | None:
    """The layer from which on fast paths are disabled now."""
    return None if slow_from_layer == NONE else LAYERS[slow_from_layer]


def clear_caches() -> None:
    """Clear every cache of what a function of the framework returned, the tables of all operators among them."""
    for clear in cache_clearers:
        clear()
