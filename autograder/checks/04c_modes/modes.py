"""Inference mode, as a context manager and as a decorator."""

from __future__ import annotations

from ...engine.check import program
from ..cases import Interrupt, attempt, drawn, is_torch, listed, several
from ..shared_04 import grad_mode

MODES = ["no_grad", "enable_grad"]
INFERENCE = ["inference", "no inference"]


def block(xp, name):
    if name in MODES:
        return getattr(xp, name)()
    return xp.inference_mode(name == "inference")


def nested(xp, blocks, raises, look):
    """Look outside, in each of the nested blocks, and again at the end of each. The innermost block may raise."""
    log = [look()]

    def enter(rest):
        if not rest:
            if raises:
                raise {"KeyError": KeyError, "Interrupt": Interrupt}[raises]("from within")
            return
        name, how = rest[0]
        if how == "set":
            xp.set_grad_enabled(name == "enable_grad")
            log.append(look())
            enter(rest[1:])
        elif how == "below":  # as in a kernel below autograd
            with xp._C._ExcludeDispatchKeyGuard(key_set_of(xp, "AutogradFunctionality")):
                enter(rest[1:])
        elif how == "with":
            with block(xp, name):
                log.append(look())
                enter(rest[1:])
                log.append(look())
        elif how == "again":
            one = block(xp, name)
            with one:
                log.append(look())
            with one:
                log.append(look())
            enter(rest[1:])
        elif how == "decorator":
            inner(rest[1:], block(xp, name))
        else:
            inner(rest[1:], getattr(xp, name) if name in MODES else xp.inference_mode)
        log.append(look())

    def inner(rest, decorate):
        @decorate
        def function(count):
            log.append(look())
            if count:
                function(count - 1)
            else:
                enter(rest)

        function(1)

    try:
        result = attempt(lambda: enter(blocks))
    except Interrupt:
        result = "interrupted"
    return {"at each look": log, "result": result, "afterwards": look()}


def nested_blocks(names):
    one = listed(names, ["with", "with", "again", "decorator", "bare decorator", "set"])
    return drawn(blocks=several(one, 0, 4), raises=["", "", "KeyError", "Interrupt"])


def _block_edges(names):
    some = [[[name, how]] for name in names for how in ("with", "again", "decorator", "bare decorator")]
    some += [[[a, "with"], [b, "with"]] for a in names for b in names] + [[]]
    some += [[[a, how], [b, "set"]] for a in names for b in MODES for how in ("with", "bare decorator")]
    some += [[["", "below"], [name, "with"]] for name in names]
    some += [[[name, "with"], [b, "set"], [name, "with"]] for name in names for b in MODES]
    return [{"blocks": blocks, "raises": raises} for blocks in some for raises in ("", "Interrupt")]


def bits(xp, keys):
    """Which of four keys are in a set: two that autograd needs, and two that it does not need."""
    names = ["ADInplaceOrView", "AutogradFunctionality", "AutocastCPU", "BackendSelect"]
    if is_torch(xp):
        return {name: keys.has(getattr(xp._C.DispatchKey, name)) for name in names}
    return {name: bool(int(keys) & xp.dispatch.BIT[name]) for name in names}


def key_set_of(xp, name):
    return xp._C.DispatchKeySet(getattr(xp._C.DispatchKey, name)) if is_torch(xp) else xp.dispatch.BIT[name]


@program("autograd.grad_mode.inferring", cases=nested_blocks([*INFERENCE * 2, *MODES]), edges=_block_edges(INFERENCE))
def inferred(xp, blocks, raises):
    x, made = xp.ones(2).requires_grad_(), []

    def flags(t):
        known = {"is_inference": t.is_inference(), "requires_grad": t.requires_grad, "is_leaf": t.is_leaf}
        return known | bits(xp, xp._C._dispatch_keys(t))

    def look():
        y, z = x * 2, xp.ones(3)
        made.append(z)
        modes = {"inference mode": xp.is_inference_mode_enabled(), "grad mode": xp.is_grad_enabled()}
        tensors = {"a result": flags(y), "a new tensor": flags(z)}
        thread = {
            "includes": xp._C._dispatch_tls_local_include_set(),
            "excludes": xp._C._dispatch_tls_local_exclude_set(),
        }
        return modes | tensors | {f"the thread {how}": bits(xp, keys) for how, keys in thread.items()}

    state = {} if is_torch(xp) else vars(xp.dispatch.local)
    before, keys, other = dict(state), xp._C.DispatchKey, key_set_of(xp, "AutocastCPU")
    try:
        include, exclude = xp._C._IncludeDispatchKeyGuard(keys.BackendSelect), xp._C._ExcludeDispatchKeyGuard(other)
        with grad_mode(xp, True), include, exclude:
            seen = nested(xp, blocks, raises, look)
    finally:
        state.update(before)
    return seen | {
        "requires_grad_ of each new tensor": [attempt(lambda z=z: z.requires_grad_().requires_grad) for z in made],
        "is_inference of each": [z.is_inference() for z in made],
    }
