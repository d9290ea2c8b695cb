"""Checkpointing: recompute intermediate results in backward instead of saving them.

The re-entrant form is a `Function` whose backward runs the function and then the engine again. The other form records the
function as usual, but `saved_tensors_hooks` drop what its nodes save. The first tensor that backward unpacks runs the function
again, and what the nodes save this time is unpacked.

A *selective* checkpoint keeps the results of some operators, as a policy says, and computes only the others again.

In PyTorch: `torch/utils/checkpoint.py`. Left out: debugging (`debug=True`), `GraphExecGroup`, policies that offload to the CPU.
"""

from __future__ import annotations

import enum
import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import count
from typing import Any

from rushlight.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled
from rushlight.aten.native.random import fork_rng, get_rng_state, set_rng_state
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import backward
from rushlight.autograd.function import Function, FunctionCtx
from rushlight.autograd.grad_mode import enable_grad, is_grad_enabled
from rushlight.autograd.graph import SavedTensor, save, saved_tensors_hooks, unpack_saved
from rushlight.autograd.history import requires_grad
from rushlight.c10.dispatch import DispatchMode, Operator, local, operators
from rushlight.c10.exception import warn


def repeatable(function: Callable, preserve_rng_state: bool) -> Callable:
    """The function, which draws the same random numbers and is cast in the same way as if it were called now."""
    state = get_rng_state() if preserve_rng_state else None
    enabled, dtype = is_autocast_enabled("cpu"), get_autocast_dtype("cpu")

    def again(*args: Any, **kwargs: Any) -> Any:
        with fork_rng(enabled=preserve_rng_state), autocast("cpu", dtype, enabled):
            if preserve_rng_state:
                set_rng_state(state)
            return function(*args, **kwargs)

    return again


# The re-entrant form -------------------------------------------------------------------------------------------------


class CheckpointFunction(Function):
    """Checkpointing with `use_reentrant=True`: the backward pass runs the function again and calls `backward` inside.
    Source: `torch/utils/checkpoint.py`, `CheckpointFunction`."""

    @staticmethod
    def forward(ctx: FunctionCtx, functions: tuple[Callable, Callable], *args: Any) -> Any:
        function, ctx.run = functions
        if not any(requires_grad(arg) for arg in args):
            warn("None of the inputs have requires_grad=True. Gradients will be None")
        ctx.args = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(arg if isinstance(arg, Tensor) else None for arg in args))
        return function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor | None) -> tuple:
        task = local.graph_task
        if task and task.for_inputs:  # the inner backward pass would not be limited to these inputs
            problem = (
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs`"
            )
            remedy = (
                "To resolve this error, you can either set use_reentrant=False, or call .backward() without passing the"
            )
            raise RuntimeError(f"{problem} parameter to .backward(). {remedy} `inputs` argument.")
        return recompute(ctx, *grads)


def recompute(ctx: FunctionCtx, *grads: Tensor | None) -> tuple:
    """The backward of a checkpoint's node: run the function again, this time recorded, and then its backward.

    `ctx.run` is the function. `ctx.args` has its arguments, with None instead of each tensor. `ctx.saved_tensors` has the
    tensors, with None instead of each argument that is not a tensor. The function runs on tensors that share memory with the
    saved ones but are leaves of a separate graph, so that its backward does not reach the outer graph. Each requires grad if
    the saved tensor requires grad now, when it is unpacked (not: when the checkpoint was made). Grad mode is on during the run.
    Afterwards it is what it was before the call, also if the function raises an error: off, or on with `create_graph`.

    The function returns one result or a tuple of results, the same as the first time. One backward pass (`backward`) starts
    from the results that require grad, with their gradients. Other tensors that the function uses, which are not among its
    arguments, accumulate their gradients as usual.

    Args:
        grads: one for each result.

    Returns:
        a tuple: None for the function, then for each argument its gradient, or None if it has none. A tensor that is passed
            twice is two arguments, each with its own gradient.

    Raises:
        RuntimeError: none of the results requires grad.

    >>> x = rl.tensor([3.0]).requires_grad_()
    >>> y = checkpoint(lambda x: x * x, x, use_reentrant=True)
    >>> nothing, grad = recompute(y.grad_fn, rl.ones(1))
    >>> nothing, grad.tolist(), x.grad
    (None, [6.0], None)

    Source: `torch/utils/checkpoint.py`, `CheckpointFunction.backward`.
    """
    again = list(ctx.args)
    for i, saved in enumerate(ctx.saved_tensors):
        if saved is not None:
            again[i] = saved.detach()
            again[i].requires_grad = saved.requires_grad
    with enable_grad():
        outputs = ctx.run(*again)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    pairs = [(output, grad) for output, grad in zip(outputs, grads) if requires_grad(output)]
    if not pairs:
        raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
    backward([output for output, _ in pairs], [grad for _, grad in pairs])
    return (None, *(arg.grad if isinstance(arg, Tensor) else None for arg in again))


# The form with saved tensor hooks ------------------------------------------------------------------------------------


class CheckpointError(RuntimeError):
    """The function does something else when it runs again. Source: `torch/utils/checkpoint.py`."""


class _StopRecomputationError(Exception):
    """All tensors that backward needs are there."""


class _Holder:
    """A node's substitute for a saved tensor. It has the recomputed tensor of each backward pass, until it is used."""

    def __init__(self) -> None:
        self.recomputed: dict[int, Tensor] = {}


class _CheckpointFrame:
    """One call of a checkpoint. Its holders belong to the nodes, so that a tensor that backward needs no longer is freed.
    Source: `torch/utils/checkpoint.py`, `_CheckpointFrame`."""

    def __init__(self, run: Callable, args: Sequence, early_stop: bool, metadata: Callable[[Tensor], Any]) -> None:
        self.run, self.early_stop, self.metadata = run, early_stop, metadata
        self.saved_args = [save(arg) if isinstance(arg, Tensor) else arg for arg in args]
        self.holders: list[weakref.ref[_Holder]] = []
        self.metadatas: list[Any] = []
        self.counter: dict[int, int] = defaultdict(int)
        self.done: set[int] = set()
        self.forward_completed = self.ignore_saved_mismatch = False

    def pack(self, x: Tensor) -> _Holder:
        """The pack hook of the forward: drop the tensor."""
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.metadatas.append(self.metadata(x))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """The unpack hook: run the function again, once in each backward pass."""
        task = local.graph_task.id if local.graph_task else -1 - next(_outside)
        if task not in self.done:
            args = [unpack_saved(arg, None) if isinstance(arg, SavedTensor) else arg for arg in self.saved_args]
            try:
                with saved_tensors_hooks(lambda x: self.keep(task, x), lambda x: x), enable_grad():
                    self.run(*args)
            except _StopRecomputationError:
                pass
            self.done.add(task)
            self.check_recomputed_tensors_match(task)
        if task not in holder.recomputed:
            problem = "Unpack is being triggered for a tensor that was already unpacked once."
            raise CheckpointError(f"torch.utils.checkpoint: {problem} Read ctx.saved_tensors only once in backward.")
        return holder.recomputed.pop(task)

    def keep(self, task: int, x: Tensor) -> Tensor:
        """The pack hook of the second run: keep the tensor for its holder, if that is still there."""
        x = x.detach() if x.requires_grad else x
        i = self.counter[task]
        self.counter[task] += 1
        if i >= len(self.holders):
            if self.forward_completed:
                problem = "trying to save more tensors during recomputation than during the original forward pass."
                raise CheckpointError(f"torch.utils.checkpoint: {problem}")
            self.ignore_saved_mismatch = True  # backward ran within the function
            return x
        holder = self.holders[i]()
        if holder is not None:
            holder.recomputed[task] = x
        if self.early_stop and i + 1 == len(self.holders):
            raise _StopRecomputationError
        return x

    def check_recomputed_tensors_match(self, task: int) -> None:
        """Raise CheckpointError if the second run saved other tensors than the first."""
        if self.ignore_saved_mismatch:
            return
        if len(self.holders) != self.counter[task]:
            problem = "A different number of tensors was saved during the original forward and recomputation."
            numbers = f"{len(self.holders)} were saved during forward, {self.counter[task]} during recomputation."
            raise CheckpointError(f"torch.utils.checkpoint: {problem}\n{numbers}")
        different = []
        for i, (reference, before) in enumerate(zip(self.holders, self.metadatas)):
            holder = reference()
            now = holder and self.metadata(holder.recomputed[task])
            if holder is not None and now != before:
                different.append(f"tensor at position {i}: saved {before}, recomputed {now}")
        if different:
            problem = (
                "Recomputed values for the following tensors have different metadata than during the forward pass."
            )
            raise CheckpointError("\n".join([f"torch.utils.checkpoint: {problem}", *different]))


_outside = count()  # of unpacking outside of a backward pass


def _shape_and_dtype(x: Tensor) -> dict[str, Any]:
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


DETERMINISM_CHECKS = {"default": _shape_and_dtype, "none": lambda x: None}
_early_stop: bool | None = None


@contextmanager
def set_checkpoint_early_stop(enable: bool):
    """In this block, the second run of a checkpoint stops, or does not stop, when all saved tensors are there.
    Source: `torch/utils/checkpoint.py`, `set_checkpoint_early_stop`."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


# Selective checkpoints -----------------------------------------------------------------------------------------------


class CheckpointPolicy(enum.Enum):
    """Whether an operator's result is saved or recomputed. Source: `torch/utils/checkpoint.py`, `CheckpointPolicy`."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """The argument of a policy. Source: `torch/utils/checkpoint.py`, `SelectiveCheckpointContext`."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


RECOMPUTE, CONSUMED = object(), object()  # entries of a cache that hold no result
Cache = dict[tuple[Operator, int], Any]  # by operator, and the number of the call among its calls in this run


def call_first(
    cache: Cache, counts: dict[Operator, int], func: Operator, args: tuple, kwargs: dict, policy: Callable
) -> Any:
    """Call an operator in the first run of a selective checkpoint, and cache its result if the policy says so.

    The calls of each operator are counted from 0 in `counts`, which has no entry before the first call. The call with number i
    of `func` has the key `(func, i)` in `cache`. The policy is asked after the call:
    `policy(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **kwargs)`. It returns a
    `CheckpointPolicy`, or True for `MUST_SAVE` and False for `PREFER_RECOMPUTE`.

    The entry of the call is `save_result(result)` if the policy is one of the two that save, and `RECOMPUTE` otherwise.

    Args:
        cache, counts: changed as above.
        args, kwargs: of the call, a tuple and a dict.

    Returns:
        the operator's result.

    >>> cache, counts, mul = {}, {}, rl.ops.aten.mul.Tensor
    >>> for policy in (lambda *args: True, lambda *args: CheckpointPolicy.MUST_RECOMPUTE):
    ...     result = call_first(cache, counts, mul, (rl.ones(2), 3.0), {}, policy)
    >>> [number for func, number in cache], counts[mul], cache[mul, 1] is RECOMPUTE
    ([0, 1], 2, True)

    Source: `torch/utils/checkpoint.py`, `_CachingTorchDispatchMode.__torch_dispatch__`.
    """
    result = func(*args, **kwargs)
    number = counts.get(func, 0)
    counts[func] = number + 1
    decision = policy(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **kwargs)
    if decision in (True, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE):
        cache[func, number] = save_result(result)
    else:
        cache[func, number] = RECOMPUTE
    return result


def call_again(cache: Cache, counts: dict[Operator, int], func: Operator, args: tuple, kwargs: dict) -> Any:
    """Call an operator in the second run of a selective checkpoint, or take its result from the cache.

    The first run has counted the calls of each operator from 0, and call number i of `func` has the entry `cache[func, i]`. The
    second run counts too: `counts[func]` is the number of its calls of `func` so far, and `counts` has no entry for `func` before
    the first one. What happens depends on the entry of the call:

        RECOMPUTE   call the operator.
        a result    first the entry becomes `CONSUMED`, so that its memory can be freed. Then `load_result` of it is the result.
                    None is a result too: that of an operator without one.
        CONSUMED    raise RuntimeError: this region has had its backward pass.
        no entry    raise RuntimeError: the second run does something else than the first.

    Args:
        cache, counts: changed as above. A call that raises an error is counted too, and an entry that cannot be loaded is consumed.
        args, kwargs: of the call, a tuple and a dict.

    Returns:
        the result.

    Raises:
        RuntimeError: as above, or `load_result` raises it, because a cached tensor was written in place.

    >>> mul = rl.ops.aten.mul.Tensor
    >>> cache, counts = {(mul, 0): save_result(rl.tensor([7.0])), (mul, 1): RECOMPUTE}, {}
    >>> [call_again(cache, counts, mul, (rl.ones(1), 3.0), {}).tolist() for _ in range(2)]
    [[7.0], [3.0]]
    >>> cache[mul, 0] is CONSUMED, counts[mul]
    (True, 2)

    Source: `torch/utils/checkpoint.py`, `_CachedTorchDispatchMode.__torch_dispatch__`.
    """
    number = counts.get(func, 0)
    counts[func] = number + 1
    if (func, number) not in cache:
        raise RuntimeError(f"{func} invocation index {number} encountered during backward but not found in storage.")
    entry = cache[func, number]
    if entry is CONSUMED:
        raise RuntimeError(
            "Trying to backward an extra time on a region computed under selective activation checkpoint."
        )
    if entry is RECOMPUTE:
        return func(*args, **kwargs)
    cache[func, number] = CONSUMED
    return load_result(entry)


class _Saved:
    """A cached tensor, and its version. Source: `torch/utils/checkpoint.py`, `_VersionWrapper`."""

    def __init__(self, x: Tensor) -> None:
        self.tensor, self.version = x.detach(), x._version


def save_result(result: Any) -> Any:
    """An operator's result for the cache: its tensors without a graph, and with their versions."""
    if isinstance(result, (list, tuple)):
        return type(result)(map(save_result, result))
    return _Saved(result) if isinstance(result, Tensor) else result


def load_result(entry: Any) -> Any:
    """The result of an entry. Raises RuntimeError if one of its tensors was written in place meanwhile."""
    if isinstance(entry, (list, tuple)):
        return type(entry)(map(load_result, entry))
    if isinstance(entry, _Saved):
        if entry.tensor._version != entry.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return entry.tensor
    return entry


class _RunMode(DispatchMode):
    """A run of the function, the first one or a later one: `call` is `call_first` or `call_again`.
    Source: `torch/utils/checkpoint.py`, `_CachingTorchDispatchMode` and `_CachedTorchDispatchMode`."""

    def __init__(self, cache: Cache, call: Callable) -> None:
        self.cache, self.call, self.counts = cache, call, {}

    def __enter__(self):
        self.counts.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Operator, types: Sequence[type], args: tuple = (), kwargs: dict | None = None):
        if func is _DETACH:  # the two runs make different numbers of them
            return func(*args, **(kwargs or {}))
        return self.call(self.cache, self.counts, func, args, kwargs or {})


_DETACH = operators["aten::detach"]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable | list[Operator],
) -> tuple[DispatchMode, DispatchMode]:
    """The two contexts of a selective checkpoint: `checkpoint(..., context_fn=partial(this function, policy))`. A list of
    operators is the policy that saves the results of these. Source: `torch/utils/checkpoint.py`."""

    def is_one_of(ctx: SelectiveCheckpointContext, func: Operator, *args: Any, **kwargs: Any) -> bool:
        return func in policy_fn_or_list

    policy = is_one_of if isinstance(policy_fn_or_list, list) else policy_fn_or_list
    if not callable(policy):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    for op in policy_fn_or_list if isinstance(policy_fn_or_list, list) else ():
        if not isinstance(op, Operator):
            problem = f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}."
            raise ValueError(f"{problem} Please update the OpOverloadPacket to a specific OpOverload: {op}.default")
    cache: Cache = {}
    return _RunMode(cache, partial(call_first, policy=policy)), _RunMode(cache, call_again)


# The public functions ------------------------------------------------------------------------------------------------


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the arguments other than the CPU, of which there are none, and the states of their generators."""
    return [], []


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: str | None = None) -> None:
    """The inverse of `get_device_states`."""


def noop_context_fn() -> tuple[AbstractContextManager, AbstractContextManager]:
    """Two contexts that do nothing, for the forward pass and for the recomputation."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[AbstractContextManager, AbstractContextManager]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Compute `function(*args, **kwargs)` and save only the arguments. The backward pass runs the function again.

    Args:
        use_reentrant: True is the re-entrant form, which takes no named arguments and does not work in `autograd.grad`. None
            warns, and is True.
        context_fn: returns two context managers, for the first and for the second run.
        determinism_check: "default" compares the sizes and dtypes of the tensors that both runs save; "none" does not.
        early_stop: stop the second run when all saved tensors are there. `set_checkpoint_early_stop` overrides it.
        preserve_rng_state: the second run draws the same random numbers.

    Raises:
        CheckpointError: in backward, if the second run saves other tensors.

    Source: `torch/utils/checkpoint.py`, `checkpoint`.
    """
    use_reentrant = warn_about_use_reentrant("checkpoint") if use_reentrant is None else use_reentrant
    if debug:
        raise ValueError("checkpoint: debug=True is left out here")
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply((function, repeatable(function, preserve_rng_state)), *args)
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {[*DETERMINISM_CHECKS]}, but got {determinism_check}")
    forward_context, recompute_context = context_fn()
    again = repeatable(function, preserve_rng_state)
    if not is_grad_enabled():
        return function(*args, **kwargs)

    def run(*args: Any) -> None:
        with recompute_context:
            again(*args, **kwargs)

    early_stop = early_stop if _early_stop is None else _early_stop
    frame = _CheckpointFrame(run, args, early_stop, DETERMINISM_CHECKS[determinism_check])
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        result = function(*args, **kwargs)
    frame.forward_completed = True
    return result


def warn_about_use_reentrant(name: str) -> bool:
    """Warn that a call has no `use_reentrant`, and return its default, True."""
    problem = f"torch.utils.checkpoint.{name}: the use_reentrant parameter should be passed explicitly."
    warn(f"{problem} use_reentrant=False is recommended; without it, use_reentrant is True.")
    return True


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, *, preserve_rng_state: bool = True
) -> Any:
    """Apply a sequence of functions, in `segments` checkpoints. The last segment is not checkpointed.
    Source: `torch/utils/checkpoint.py`, `checkpoint_sequential`."""
    use_reentrant = warn_about_use_reentrant("checkpoint_sequential") if use_reentrant is None else use_reentrant
    functions = list(functions)
    size = len(functions) // segments

    def run(part: Sequence[Callable], x: Any) -> Any:
        for function in part:
            x = function(x)
        return x

    for start in range(0, size * (segments - 1), size):
        part = partial(run, functions[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return run(functions[size * (segments - 1) :], input)
