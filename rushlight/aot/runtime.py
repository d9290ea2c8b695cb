"""From a function to a callable that runs its compiled graphs.

`aot_autograd` finds out whether a backward pass can be wanted. If not, there is one graph, an *inference graph*, that writes to its
inputs itself, and calling it is all that happens at run time. If so, the joint graph is cut in two, and the compiled halves are the
forward and the backward of an autograd `Function`. Around that is the *epilogue*: what the function wrote to its inputs is copied
there, and outputs that are views of something are made of it again, so that autograd knows.

In PyTorch: `torch/_functorch/aot_autograd.py`, `torch/_functorch/_aot_autograd/graph_compile.py`, `runtime_wrappers.py`. Left out:
duplicate and overlapping inputs (the function then runs as it is), caches, subclasses, autocast in the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rushlight.aot import joint
from rushlight.aot.joint import ALIAS_OF_INPUT, IS_INPUT, NON_ALIAS, UNSAFE_VIEW_ALIAS, Metadata
from rushlight.aot.partition import default_partition, min_cut_rematerialization_partition
from rushlight.aot.proxy_tensor import fake_like
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.autograd.history import replay
from rushlight.c10.dispatch import Operator, local
from rushlight.c10.schema import bind
from rushlight.fx import GraphModule, Node
from rushlight.utils import _logging as logs

Compiler = Callable[[GraphModule, list[Any]], Callable]


def aot_autograd(
    function: Callable,
    example_inputs: Sequence[Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    inference_compiler: Compiler | None = None,
    partition_fn: Callable = min_cut_rematerialization_partition,
    decompositions: Mapping[Operator, Callable] | None = None,
    keep_inference_input_mutations: bool = True,
) -> Callable:
    """A callable that does what `function` does, by graphs that the compilers were given.

    `function` takes tensors and returns a tuple or list of tensors; a `GraphModule` that Dynamo captured will do. The result takes
    and returns the same. `example_inputs` are asked for sizes, strides, dtypes and `requires_grad`, and are not written to. It is
    good for inputs like these, and for the grad mode of now.

    A compiler is given a graph of functional operators and fakes of its inputs, and returns a callable that takes the inputs
    one by one, or, if it has a true attribute `_boxed_call`, as one list. Compilers that are not given are `fw_compiler`.

    Source: `torch/_functorch/aot_autograd.py`, `aot_module_simplified`.
    """
    meta = joint.collect_metadata(function, example_inputs)
    if overlapping(example_inputs) and any(x.mutates_data for x in meta.inputs):
        return function
    if not (local.grad_enabled and joint.needs_autograd(meta)):
        meta.in_graph = keep_inference_input_mutations
        graph = joint.inference_graph(function, example_inputs, meta, decompositions)
        show("inference", graph)
        compiled = (inference_compiler or fw_compiler)(graph, fakes_of(graph))
        return inference_wrapper(compiled, meta)
    graph = joint.joint_graph(function, example_inputs, meta, decompositions)
    fw, bw = partition_fn(graph, fakes_of(graph), num_fwd_outputs=meta.num_forward_outputs)
    show("forward", fw)
    show("backward", bw)
    return training_wrapper(fw_compiler(fw, fakes_of(fw)), (bw_compiler or fw_compiler)(bw, fakes_of(bw)), meta)


def show(heading: str, module: GraphModule) -> None:
    if logs.wanted("aot_graphs"):
        logs.artifact("aot_graphs", module.print_readable(print_output=False), heading)


def fakes_of(module: GraphModule) -> list[Any]:
    return [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]


def overlapping(inputs: Sequence[Any]) -> bool:
    """Whether two inputs share memory: then a write to one changes the other, which no functional graph shows."""
    storages = [id(x.untyped_storage()) for x in inputs if isinstance(x, Tensor)]
    return len(set(storages)) < len(storages)


def by_position(compiled: Callable) -> Callable:
    """A compiled callable that takes its inputs one by one."""
    return (lambda *args: compiled(list(args))) if getattr(compiled, "_boxed_call", False) else compiled


# ------------------------------------------------------------------------------------------------------------
# Inference


def inference_wrapper(compiled: Callable, meta: Metadata) -> Callable:
    """The callable for an inference graph: the compiled one itself if nothing is left to do after it.

    Source: `runtime_wrappers.py`, `RuntimeWrapper`.
    """
    compiled = by_position(compiled)
    native = getattr(compiled, "is_native", False)  # it records nothing, and counts versions itself
    if not native and any(info.requires_grad for info in meta.inputs):
        compiled = without_grad(compiled)
    aliases = any(info.output_type not in (NON_ALIAS, UNSAFE_VIEW_ALIAS) for info in meta.outputs)
    if not meta.mutated and not aliases:
        written = [i for i, info in enumerate(meta.inputs) if meta.is_written(info)]
        return with_versions(compiled, written) if written and not native else compiled

    return lambda *args: run_epilogue(meta, args, compiled(*args))


def without_grad(compiled: Callable) -> Callable:
    """Autograd was there when the graph was traced, and must not be there again."""

    def run(*args: Any) -> Any:
        before, local.grad_enabled = local.grad_enabled, False
        try:
            return compiled(*args)
        finally:
            local.grad_enabled = before

    return run


def with_versions(compiled: Callable, written: Sequence[int]) -> Callable:
    """What is written to counts its versions, so that autograd finds out if it had saved it."""

    def run(*args: Any) -> Any:
        for i in written:
            args[i]._storage.version += 1
        return compiled(*args)

    return run


def run_epilogue(meta: Metadata, args: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
    """What the caller gets of what the graph returned: inputs are written to, and outputs that share memory are made again.

    The graph returned first the new value of each input in `meta.mutated` (places among `args`), in order; then one value for
    each of `meta.outputs`; then the intermediate bases. Each of those inputs is changed as its `meta.inputs[i]` says: if it
    `mutates_metadata`, it becomes a view of the memory it has, of other `sizes` and `strides` and another `storage_offset`: by
    `as_strided_`, under `no_grad`. Then, or if it does not, if it `mutates_data`, the new value is copied into it (`copy_`), or,
    if the write was `hidden` from autograd, into its `detach()`.

    Then each output is, by its `info.output_type`:

    - `non_alias`, `unsafe_view_alias`: the value itself;
    - `is_input`: the argument itself, `args[info.base_idx]`;
    - `alias_of_input`: the view that `view_of(base, info)` makes of it;
    - `alias_of_intermediate`, `alias_of_intermediate_save_as_output`: that of the base with the number `base_idx`;
    - `alias_of_intermediate_base_is_user_output`: that of the output with the number `base_idx`, as the graph returned it.

    Returns:
        a list of the function's own outputs.

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


def view_of(base: Tensor, info: joint.OutputInfo) -> Tensor:
    """The view of a base that an output is, made by the operators that made it; one that requires no grad is detached.

    Source: `torch/_functorch/_aot_autograd/functional_utils.py`, `gen_alias_from_base`.
    """
    view = replay([(each.operator, stack_after_self(each), each.place) for each in info.views], base)
    if view is base:
        view = functions.alias(base) if info.requires_grad else base.detach()
    return view if info.requires_grad or not view.requires_grad else view.detach()


def stack_after_self(view: Any) -> list[Any]:
    return bind(view.operator.schema, (None, *view.args), {})[1:]


# ------------------------------------------------------------------------------------------------------------
# Training


def training_wrapper(forward: Callable, backward: Callable, meta: Metadata) -> Callable:
    """The callable for a function with a backward pass of its own: an autograd `Function`, and the epilogue.

    Source: `runtime_wrappers.py`, `AOTDispatchAutograd`.
    """
    forward, backward = by_position(forward), by_position(backward)
    num_outputs, needs_tangent = meta.num_forward_outputs, meta.needs_tangent
    views = [info.output_type == UNSAFE_VIEW_ALIAS for info in meta.outputs]
    unsafe = [i for i, is_view in enumerate(views, len(meta.mutated)) if is_view]

    class CompiledFunction(Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> tuple:
            outs = list(forward(*args))
            ctx.save_for_backward(*outs[num_outputs:])
            outs = outs[:num_outputs]
            for i in unsafe:
                outs[i] = functions._unsafe_view(outs[i], outs[i].shape)
            outs = [fresh(out, [*args, *outs[:i]]) for i, out in enumerate(outs)]
            rest = [out for out, needs in zip(outs, needs_tangent) if not needs and isinstance(out, Tensor)]
            ctx.mark_non_differentiable(*rest)
            return tuple(outs)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> tuple:
            wanted = [grad for grad, needs in zip(grads, needs_tangent) if needs]
            tangents = map(laid_out, wanted, meta.tangents)
            with set_grad_enabled(False):
                return tuple(backward(*ctx.saved_tensors, *tangents))

    def run(*args: Any) -> list[Any]:
        return run_epilogue(meta, args, CompiledFunction.apply(*args))

    return run


def fresh(out: Any, others: Sequence[Any]) -> Any:
    """An output of the graph as a tensor of its own: each gets a history, and no input or other output may get it too."""
    return out.detach() if isinstance(out, Tensor) and any(out is x for x in others) else out


def laid_out(grad: Tensor, like: Tensor) -> Tensor:
    """A gradient with the strides for which the backward graph was made.

    Source: `runtime_wrappers.py`, `coerce_to_expected_memory_format`.
    """
    if grad.stride() == like.stride():
        return grad
    return functions.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(grad)


# ------------------------------------------------------------------------------------------------------------
# Other ways in


def aot_function(
    fn: Callable,
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Callable = default_partition,
    decompositions: Mapping[Operator, Callable] | None = None,
    inference_compiler: Compiler | None = None,
    keep_inference_input_mutations: bool = False,
) -> Callable:
    """`fn`, compiled when it is first called; what it takes and returns may be nested in lists, tuples and dicts.

    Source: `torch/_functorch/aot_autograd.py`, `aot_function`.
    """
    compiled: list[Any] = []

    def run(*args: Any, **kwargs: Any) -> Any:
        flat, spec = flatten((args, kwargs))
        if not compiled:
            compiled[:] = compile_nested(flat, spec)
        callable_, out_spec = compiled
        return unflatten(list(callable_(*flat)), out_spec)

    def compile_nested(flat: list[Any], spec: Any) -> tuple[Callable, Any]:
        specs = []

        def flat_function(*leaves: Any) -> list[Any]:
            args, kwargs = unflatten(list(leaves), spec)
            outs, out_spec = flatten(fn(*args, **kwargs))
            specs[:] = [out_spec]
            return outs

        options = (bw_compiler, inference_compiler, partition_fn, decompositions, keep_inference_input_mutations)
        return aot_autograd(flat_function, flat, fw_compiler, *options), specs[0]

    return run


def aot_export_joint_simple(
    func: Callable,
    args: Sequence[Any],
    *,
    trace_joint: bool,
    num_params_buffers: int = 0,
    decompositions: Mapping[Operator, Callable] | None = None,
) -> GraphModule:
    """The graph of a function's forward, or of forward and backward, of one that writes to no input.

    Source: `torch/_functorch/aot_autograd.py`, `aot_export_joint_simple`.
    """

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


LEAF = object()


def flatten(value: Any) -> tuple[list[Any], Any]:
    """What lists, tuples and dicts hold, in order, and how they held it. Source: `torch/utils/_pytree.py`."""
    if isinstance(value, dict):
        parts = [flatten(item) for item in value.values()]
        return [leaf for leaves, _ in parts for leaf in leaves], (dict, list(value), [spec for _, spec in parts])
    if isinstance(value, (list, tuple)):
        parts = [flatten(item) for item in value]
        return [leaf for leaves, _ in parts for leaf in leaves], (type(value), None, [spec for _, spec in parts])
    return [value], LEAF


def unflatten(leaves: list[Any], spec: Any) -> Any:
    """The contrary; it takes the leaves from the front of the list."""
    if spec is LEAF:
        return leaves.pop(0)
    kind, names, specs = spec
    items = [unflatten(leaves, each) for each in specs]
    if kind is dict:
        return dict(zip(names, items))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def nop(module: GraphModule, example_inputs: Sequence[Any]) -> GraphModule:
    """A compiler that compiles nothing. Source: `torch/_functorch/compilers.py`."""
    return module


__all__ = ["Node", "aot_autograd", "aot_export_joint_simple", "aot_function", "fake_like", "nop"]
