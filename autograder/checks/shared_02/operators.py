"""Operators with kernels that log their calls.

A program registers operators in a namespace of its own and removes them again. Torch runs such a program in a process of
its own.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from ...engine.subject import new_thread
from ..cases import Interrupt, error_name, is_torch
from .keys import ALIASES, BACKENDS, EXPLICIT, FUNCTIONALITIES, RUNTIME, bits_of, names, subsets

NAMESPACE = "lab02"


def example(xp, device, kind="float32"):
    """A tensor of one element on a device, made without a call of the dispatcher."""
    dtype = getattr(xp, kind)
    return (
        xp.empty(1, dtype=dtype, device=device) if is_torch(xp) else xp.strided.empty_strided((1,), (1,), dtype, device)
    )


def unpack(xp, value, kind=list):
    """An argument in a case: `"cpu"` and `"meta"` are tensors. Sequences become lists, or tuples."""
    if isinstance(value, (list, tuple)):
        return kind(unpack(xp, item, kind) for item in value)
    if isinstance(value, dict):
        return {name: unpack(xp, item) for name, item in value.items()}
    return example(xp, value) if value in ("cpu", "meta") else value


def pack(xp, value):
    """The inverse of `unpack`, to observe an argument."""
    if isinstance(value, xp.Tensor):
        return str(value.device)
    if isinstance(value, (list, tuple)):
        return [pack(xp, item) for item in value]
    return {name: pack(xp, item) for name, item in value.items()} if isinstance(value, dict) else value


def key_set_text(xp, key_set):
    return f"<{' '.join(names(xp, key_set))}>"


def arguments_text(xp, args, kwargs):
    return f"args {pack(xp, args)}, kwargs {pack(xp, kwargs)}"


def attempt(call):
    """The result of a call, or the name of the built-in error that it raises, and whether a kernel has raised it."""
    try:
        return call()
    except RecursionError:
        raise
    except (Exception, Interrupt) as error:
        return error_name(error) + " of a kernel" * (error.args == ("of a kernel",))


def threaded(run):
    """Call `run()` on a new thread, where no guard and no mode is active. Return its result or its error."""
    if sys.platform == "emscripten":  # it cannot start a thread, and has no torch
        with new_thread():
            return run()
    executor = ThreadPoolExecutor(1)
    future = executor.submit(run)
    executor.shutdown(wait=False)
    return future.result()


@contextmanager
def library(xp):
    """A namespace, and the library that defines operators in it. On exit all is as before, also where a student's
    piece has left a mode or a key behind."""
    made = xp.library.Library(NAMESPACE, "DEF")
    state = {} if is_torch(xp) else vars(xp.dispatch.local)
    before = {name: list(value) if name == "modes" else value for name, value in state.items()}
    try:
        yield NAMESPACE, made
    finally:
        made._destroy()
        state.update(before)


@contextmanager
def guards(xp, include, exclude):
    """Within: a thread that includes and excludes these keys."""
    with ExitStack() as stack:
        for key in include:
            stack.enter_context(xp._C._IncludeDispatchKeyGuard(getattr(xp._C.DispatchKey, key)))
        if exclude:
            stack.enter_context(xp._C._ExcludeDispatchKeyGuard(bits_of(xp, exclude)))
        yield


# The keys that a thread may exclude, and those that have a kernel besides the backends': all but Python.
MASK = ["BackendSelect", "ADInplaceOrView", "AutogradCPU", "AutogradMeta", "AutocastCPU", "CPU", "Meta"]
ABOVE_BACKENDS = [key for key in RUNTIME if key not in (*BACKENDS, "Python")]


def kernel(xp, overload, key, kind, log):
    """A kernel for a key, and whether it takes the key set. It logs its call and its arguments.

    Its `kind`: return a number ("leaf"); the same, and take the key set ("keyset"); redispatch below its own key
    ("redispatch"); call another operator ("other"); raise ("raise"); or fall through ("fallthrough").
    """
    number = [*RUNTIME, *ALIASES].index(key)
    own = getattr(xp._C.DispatchKey, "AutogradCPU" if key == "Autograd" else key)

    def plain(*args, **kwargs):
        log.append(f"{key}: {arguments_text(xp, args, kwargs)}")
        return overload("g")(*args, **kwargs) + 100 if kind == "other" else number

    def with_key_set(key_set, *args, **kwargs):
        log.append(f"{key}: {key_set_text(xp, key_set)}, {arguments_text(xp, args, kwargs)}")
        if kind == "raise":
            raise NotImplementedError("of a kernel")
        if kind == "redispatch":
            below = xp._C._dispatch_keyset_full_after(own)
            return overload("f").redispatch(key_set & below, *args, **kwargs) + 100
        return number

    if kind == "fallthrough":
        return xp.library.fallthrough_kernel, False
    return (plain, False) if kind in ("leaf", "other") else (with_key_set, True)


def in_order(kernels):
    """Kernels in the order in which torch keeps the table's autograd entries up to date.

    A kernel for `Meta` comes before a composite one, and the explicit composite one before the implicit one.
    """
    first = ["Meta", EXPLICIT]
    return sorted(kernels, key=lambda pair: first.index(pair[0]) if pair[0] in first else len(first))


@contextmanager
def operators(xp, kernels, log):
    """The operators `f.xs`, with these kernels (`[key, kind]`), and `g.xs`, with two. Yields a function of `f` or `g`."""
    with library(xp) as (namespace, made):

        def overload(name):
            return getattr(getattr(xp.ops, namespace), name).xs

        for name in "fg":
            made.define(f"{name}.xs(Tensor?[] xs, Tensor? y=None, int n=0) -> int?")
        for key, kind in in_order(kernels):
            function, keyset = kernel(xp, overload, key, kind, log)
            made.impl("f.xs", function, key, with_keyset=keyset)
        for key in ("AutogradCPU", EXPLICIT):
            made.impl("g.xs", lambda *args, key=key, **kwargs: log.append(f"g, {key}") or 1, key)
        yield overload


_WRITTEN = {  # kernels by their kind, as code; `below` has the keys that follow one
    "leaf": "lambda *args: {number}", "keyset": "lambda key_set, *args: {number}",
    "redispatch": "lambda key_set, *args: f.redispatch(key_set & below({own!r}), *args) + 100",
    "other": "lambda *args: g(*args) + 100", "raise": "raises", "fallthrough": "torch.library.fallthrough_kernel",
}  # fmt: skip


def operators_as_code(kernels, call):
    """The operator of `operators`, and a call of it, as code. The kernels log nothing here."""
    kinds = {kind for _, kind in kernels}
    lines = ["import torch", "", 'lab = torch.library.Library("lab", "DEF")']
    lines += [
        f'lab.define("{name}(Tensor?[] xs, Tensor? y=None, int n=0) -> int?")'
        for name in "fg"[: 1 + ("other" in kinds)]
    ]
    lines += ["f = torch.ops.lab.f.default"]
    if "other" in kinds:
        lines += ["g = torch.ops.lab.g.default", f'lab.impl("g", lambda *args: 1, "{EXPLICIT}")']
    if "redispatch" in kinds:
        lines += ["", "def below(key):"]
        lines += ["    return torch._C._dispatch_keyset_full_after(getattr(torch._C.DispatchKey, key))"]
    if "raise" in kinds:
        lines += ["", "def raises(key_set, *args):", '    raise NotImplementedError("of a kernel")']
    lines += [""] * (not kinds.isdisjoint({"redispatch", "raise"}))
    for key, kind in in_order(kernels):
        own, number = "AutogradCPU" if key == "Autograd" else key, [*RUNTIME, *ALIASES].index(key)
        keyset = ", with_keyset=True" * (kind in ("keyset", "redispatch", "raise"))
        lines.append(f'lab.impl("f", {_WRITTEN[kind].format(own=own, number=number)}, "{key}"{keyset})')
    return "\n".join([*lines, *call])


def arguments_as_code(stack):
    """The arguments of a call: a device is a tensor on it."""

    def written(value):
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(written, value))}]"
        return f'torch.empty(1, device="{value}")' if value in ("cpu", "meta") else repr(value)

    return ", ".join(map(written, stack))


KINDS = ("leaf", "keyset", "redispatch", "redispatch", "fallthrough")


def kernels_of(st, keys=(*BACKENDS, *ABOVE_BACKENDS, *ALIASES), kinds=KINDS):
    """Kernels for some keys. A composite kernel never redispatches, and an alias key never falls through."""

    def kinds_for(key):
        if key in ALIASES[1:]:
            return st.sampled_from(["leaf", "keyset", "other"] if "leaf" in kinds else ["keyset"])
        return st.sampled_from([kind for kind in kinds if kind != "redispatch" or key not in BACKENDS])

    def kernels_for(chosen):
        return st.tuples(*[st.tuples(st.just(key), kinds_for(key)).map(list) for key in chosen]).map(list)

    return subsets(list(keys), most=6)(st).flatmap(kernels_for)


def stacks(st):
    """Arguments of `f`."""
    one = st.sampled_from(["cpu", "cpu", "cpu", "meta", None])
    return st.tuples(st.lists(one, max_size=2), one, st.integers(0, 2)).map(list)


MODES = ["on", "on", "other", "again", "answer", "nothing", "raise", "interrupt", "refuse", "first"]


def mode(xp, overload, number, kind, log):
    """A mode that logs its calls.

    Its `kind`: call the operator ("on"), return a number ("answer") or None ("nothing"), raise ("raise", "interrupt"),
    return NotImplemented ("refuse"), call another operator first ("other"), or call the operator within itself the first
    time ("again").
    """
    base = xp.utils._python_dispatch.TorchDispatchMode if is_torch(xp) else xp.dispatch.DispatchMode

    class Mode(base):
        again = kind == "again"

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            call = f"{str(func).partition('.')[2]}, types {types}, {arguments_text(xp, args, kwargs)}"
            log.append(f"mode {number}: {call} in a {type(args).__name__}")
            log.append(f"mode {number}, while its method runs: {thread(xp)}")
            if kind in ("raise", "interrupt"):
                raise KeyError("the mode's") if kind == "raise" else Interrupt
            if kind == "refuse":
                return NotImplemented
            if kind in ("answer", "nothing"):
                return 1000 + number if kind == "answer" else None
            if kind == "other" and func is overload("f"):
                overload("g")(*args, **kwargs)
            if self.again:
                self.again = False
                with self:
                    return func(*args, **kwargs)
            return func(*args, **kwargs)

    return Mode()


def thread(xp):
    """The functionalities that the thread includes and excludes."""
    local = xp._C._dispatch_tls_local_include_set(), xp._C._dispatch_tls_local_exclude_set()
    included, excluded = (" ".join(name for name in names(xp, keys) if name in FUNCTIONALITIES) for keys in local)
    return f"included <{included}>, excluded <{excluded}>"
