"""From a function to a callable that runs its compiled graphs.

`aot_autograd` checks whether a backward graph is needed. If not, it makes one *inference graph*, which writes to its inputs itself.
Then a call of the compiled graph is all that happens at run time. Otherwise the joint graph is split in two, and the compiled
graphs are the forward and the backward of an autograd `Function`. Then the *epilogue* runs: it copies new values into the inputs
that the function writes to, and regenerates outputs that are views, so that autograd sees both.

In PyTorch: `torch/_functorch/aot_autograd.py`, `torch/_functorch/_aot_autograd/graph_compile.py`, `runtime_wrappers.py`. Left out:
duplicate and overlapping inputs (the function then runs as it is), caches, subclasses, autocast in the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aot import joint
from rushlight.aot.functional import arguments_of
from rushlight.aot.joint import ALIAS_OF_INPUT, IS_INPUT, NON_ALIAS, UNSAFE_VIEW_ALIAS, ViewAndMutationMeta
from rushlight.aot.partition import default_partition, min_cut_rematerialization_partition
from rushlight.aot.proxy_tensor import Args, Decompositions
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.function import Function, is_in
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.autograd.history import replay
from rushlight.c10.dispatch import local
from rushlight.fx import GraphModule
from rushlight.utils import _logging as logs
from rushlight.utils._pytree import tree_flatten, tree_unflatten

Compiler = Callable[[GraphModule, list[Any]], Callable]


def aot_autograd(
    function: Callable,
    example_inputs: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    inference_compiler: Compiler | None = None,
    partition_fn: Callable = min_cut_rematerialization_partition,
    decompositions: Decompositions = None,
    keep_inference_input_mutations: bool = True,
) -> Callable:
    """A callable that is equivalent to `function`, and runs the graphs that the compilers compiled.

    `function` takes tensors and returns a tuple or list of tensors, as a `GraphModule` from Dynamo does. The callable takes and
    returns the same. It is valid for inputs with the sizes, strides, dtypes and `requires_grad` of `example_inputs`, and for the
    current grad mode. The example inputs are not written to.

    A compiler takes a graph of functional operators and fake inputs, and returns a callable. The callable takes its inputs one by
    one, or as one list if its attribute `_boxed_call` is true. The default for the other compilers is `fw_compiler`.

    Source: `torch/_functorch/aot_autograd.py`, `aot_module_simplified`.
    """
    meta = joint.collect_metadata(function, example_inputs)
    if inputs_share_memory(example_inputs) and any(x.mutates_data for x in meta.inputs):
        return function
    if not (local.grad_enabled and joint.needs_autograd(meta)):
        meta.in_graph = keep_inference_input_mutations
        graph = joint.inference_graph(function, example_inputs, meta, decompositions)
        log_graph("inference", graph)
        compiled = (inference_compiler or fw_compiler)(graph, fakes_of(graph))
        return wrap_inference(compiled, meta)
    graph = joint.joint_graph(function, example_inputs, meta, decompositions)
    fw, bw = partition_fn(graph, fakes_of(graph), num_fwd_outputs=meta.num_forward_outputs)
    log_graph("forward", fw)
    log_graph("backward", bw)
    return wrap_training(fw_compiler(fw, fakes_of(fw)), (bw_compiler or fw_compiler)(bw, fakes_of(bw)), meta)


def log_graph(heading: str, module: GraphModule) -> None:
    """Write a graph to the log artifact `aot_graphs`, if the log is enabled."""
    if logs.wanted("aot_graphs"):
        logs.artifact("aot_graphs", module.print_readable(print_output=False), heading)


def fakes_of(module: GraphModule) -> list[Any]:
    """The fake tensors of a graph's inputs, in order."""
    return [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]


def inputs_share_memory(inputs: Sequence[Any]) -> bool:
    """Return whether two inputs share memory. Then a write to one changes the other, which a functional graph does not show."""
    storages = [id(x.untyped_storage()) for x in inputs if isinstance(x, Tensor)]
    return len(set(storages)) < len(storages)


def unbox(compiled: Callable) -> Callable:
    """The compiled callable, which takes its inputs one by one."""
    return (lambda *args: compiled(list(args))) if getattr(compiled, "_boxed_call", False) else compiled


# Inference -----------------------------------------------------------------------------------------------------------


def wrap_inference(compiled: Callable, meta: ViewAndMutationMeta) -> Callable:
    """The callable for an inference graph: the compiled one itself if it needs no epilogue.
    Source: `runtime_wrappers.py`, `RuntimeWrapper`."""
    compiled = unbox(compiled)
    epilogue = meta.mutated or any(info.output_type not in (NON_ALIAS, UNSAFE_VIEW_ALIAS) for info in meta.outputs)
    written = [i for i, info in enumerate(meta.inputs) if meta.is_written(info) and not epilogue]
    native = getattr(compiled, "is_native", False)  # autograd does not record it, and it increments versions itself
    if not native and (written or any(info.requires_grad for info in meta.inputs)):
        compiled = run_without_grad(compiled, written)
    return (lambda *args: run_epilogue(meta, args, compiled(*args))) if epilogue else compiled


def run_without_grad(compiled: Callable, written: Sequence[int]) -> Callable:
    """Run without autograd, because the trace has its effects already. The versions of written inputs are incremented, so that
    autograd detects a write to a saved tensor."""

    def run(*args: Any) -> Any:
        before, local.grad_enabled = local.grad_enabled, False
        try:
            for i in written:
                args[i]._storage.version += 1
            return compiled(*args)
        finally:
            local.grad_enabled = before

    return run


def run_epilogue(meta: ViewAndMutationMeta, args: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """The results for the caller, from the values that the graph returned, and the writes to the caller's arguments.

    `args` and `outs` are lists or tuples. The graph returned first the new value of each input in `meta.mutated` (indices of
    `args`), in order; then one value for each of `meta.outputs`; then the intermediate bases.

    Afterwards, arguments and results are as after a call of the function itself. An argument that was written to has its new
    elements (`copy_`), sizes and strides, and a history only if autograd saw the write. A result that was an argument, or shared
    memory with an argument or another result, does so again. These are the facts:

    - `meta.inputs[i]` says which writes there were. `mutates_metadata`: the input has new `sizes`, `strides` and `storage_offset`,
      which `as_strided_` sets in `no_grad`. `mutates_data`: it has new elements. `hidden`: autograd saw none of the writes. The
      new value has the new sizes.
    - Each `info` of `meta.outputs` has an `output_type`, one of the seven: `NON_ALIAS`, `UNSAFE_VIEW_ALIAS`, `IS_INPUT`,
      `ALIAS_OF_INPUT`, `BASE_IS_OUTPUT`, `SAVE_AS_OUTPUT` and `ALIAS_OF_INTERMEDIATE` (names of the module `joint`, for strings).
      And it has a `base_idx`: an index in the list that this type is about, which is `args`, or the outputs as the graph returned
      them, or the intermediate bases. `view_of(base, info)` makes the view.

    Returns:
        a list of the function's own outputs.

    >>> meta = rl.aot.joint.collect_metadata(lambda x: (x.mul_(2)[0],), [rl.ones(2, 2)])
    >>> x, new = rl.ones(2, 2), rl.full((2, 2), 2.0)
    >>> (row,) = run_epilogue(meta, [x], [new, new[0]])
    >>> x.tolist(), row.tolist(), row._base is x
    ([[2.0, 2.0], [2.0, 2.0]], [2.0, 2.0], True)

    Source: `torch/_functorch/_aot_autograd/runtime_wrappers.py`, `RuntimeWrapper`.
    """
    own = outs[len(meta.mutated) :]
    bases = own[len(meta.outputs) :]
    for i, new in zip(meta.mutated, outs):
        info = meta.inputs[i]
        if info.mutates_metadata:
            with no_grad():
                args[i].as_strided_(info.sizes, info.strides, info.storage_offset)
        if info.mutates_data:
            (args[i].detach() if info.hidden else args[i]).copy_(new)
    results = []
    for value, info in zip(own, meta.outputs):
        if info.output_type in (NON_ALIAS, UNSAFE_VIEW_ALIAS):
            results.append(value)
        elif info.output_type == IS_INPUT:
            results.append(args[info.base_idx])
        elif info.output_type == ALIAS_OF_INPUT:
            results.append(view_of(args[info.base_idx], info))
        elif info.output_type == joint.BASE_IS_OUTPUT:
            results.append(view_of(own[info.base_idx], info))
        else:
            results.append(view_of(bases[info.base_idx], info))
    return results


def view_of(base: Tensor, info: joint.OutputAliasInfo) -> Tensor:
    """An output that is a view, regenerated from its base. An output that does not require grad is detached.
    Source: `torch/_functorch/_aot_autograd/functional_utils.py`, `gen_alias_from_base`."""
    view = replay([(view.operator, [*arguments_of(view).values()], view.place) for view in info.views], base)
    if view is base:
        view = functions.alias(base) if info.requires_grad else base.detach()
    return view if info.requires_grad or not view.requires_grad else view.detach()


# Training ------------------------------------------------------------------------------------------------------------


def wrap_training(forward: Callable, backward: Callable, meta: ViewAndMutationMeta) -> Callable:
    """The callable for a forward and a backward graph: an autograd `Function`, and the epilogue.
    Source: `runtime_wrappers.py`, `AOTDispatchAutograd`."""
    forward, backward = unbox(forward), unbox(backward)
    num_outputs, needs_tangent = meta.num_forward_outputs, meta.needs_tangent
    own = enumerate(meta.outputs, len(meta.mutated))
    unsafe = [i for i, info in own if info.output_type == UNSAFE_VIEW_ALIAS]

    class CompiledFunction(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> tuple:
            outs = list(forward(*args))
            ctx.save_for_backward(*outs[num_outputs:])
            outs = outs[:num_outputs]
            for i in unsafe:
                outs[i] = functions._unsafe_view(outs[i], outs[i].shape)
            for i, out in enumerate(outs):  # an input or another output must not get its history
                if isinstance(out, Tensor) and is_in(out, (*args, *outs[:i])):
                    outs[i] = out.detach()
            rest = [out for out, needs in zip(outs, needs_tangent) if not needs and isinstance(out, Tensor)]
            ctx.mark_non_differentiable(*rest)
            return tuple(outs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> tuple:
            wanted = [grad for grad, needs in zip(grads, needs_tangent) if needs]
            tangents = map(coerce_to_expected_memory_format, wanted, meta.tangents)
            with set_grad_enabled(False):
                return tuple(backward(*ctx.saved_tensors, *tangents))

    def run(*args: Any) -> list[Any]:
        return run_epilogue(meta, args, CompiledFunction.apply(*args))

    return run


def coerce_to_expected_memory_format(grad: Tensor, like: Tensor) -> Tensor:
    """A gradient with the strides that the backward graph expects.
    Source: `runtime_wrappers.py`, `coerce_to_expected_memory_format`."""
    if grad.stride() == like.stride():
        return grad
    return functions.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(grad)


# Other entry points --------------------------------------------------------------------------------------------------


def aot_function(
    fn: Callable,
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Callable = default_partition,
    **options: Any,
) -> Callable:
    """`fn`, compiled at its first call. Arguments and results may be nested in lists, tuples and dicts. The options are those of
    `aot_autograd`. By default the graph does not write to its inputs. Source: `torch/_functorch/aot_autograd.py`,
    `aot_function`."""
    options = {"partition_fn": partition_fn, "keep_inference_input_mutations": False} | options
    compiled, out_spec = None, None

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal compiled
        flat, spec = tree_flatten((args, kwargs))

        def flat_function(*leaves: Any) -> list[Any]:
            nonlocal out_spec
            args, kwargs = tree_unflatten(leaves, spec)
            outs, out_spec = tree_flatten(fn(*args, **kwargs))
            return outs

        if compiled is None:
            compiled = aot_autograd(flat_function, flat, fw_compiler, bw_compiler, **options)
        return tree_unflatten(compiled(*flat), out_spec)

    return run


def aot_export_joint_simple(
    func: Callable, args: Args, *, trace_joint: bool, num_params_buffers: int = 0, decompositions: Decompositions = None
) -> GraphModule:
    """The graph of the forward, or of forward and backward, of a function that does not write to its inputs.
    Source: `torch/_functorch/aot_autograd.py`, `aot_export_joint_simple`."""

    def listed(*args: Any) -> list[Any]:
        outs = func(*args)
        return list(outs) if isinstance(outs, (tuple, list)) else [outs]

    with set_grad_enabled(trace_joint):
        meta = joint.collect_metadata(listed, args)
    if any(x.mutates_data or x.mutates_metadata for x in meta.inputs):
        raise RuntimeError("aot_export_joint_simple does not support input mutations")
    if any(info.output_type not in (NON_ALIAS, UNSAFE_VIEW_ALIAS) for info in meta.outputs):
        raise RuntimeError("aot_export_joint_simple does not support outputs that alias inputs or each other")
    if not trace_joint:
        with no_grad():
            return joint.inference_graph(listed, args, meta, decompositions)
    if not any(x.requires_grad for x in meta.outputs):
        raise RuntimeError("the function has no output that requires grad, so there is no backward pass to trace")
    return joint.joint_graph(listed, args, meta, decompositions)


def nop(module: GraphModule, example_inputs: Sequence[Any]) -> GraphModule:
    """A compiler that returns the graph itself. Source: `torch/_functorch/compilers.py`."""
    return module
