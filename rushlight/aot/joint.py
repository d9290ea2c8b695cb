"""Forward and backward in one graph: the metadata of a function, and the trace of its joint graph.

A first run collects metadata: the inputs that the function writes to, the outputs that share memory with inputs or with each
other, and the outputs that require grad. Then the function is *prepared*: it also returns the new values of written inputs, and
the bases of views. The *joint* function maps the inputs (`primals`) and the gradients of the outputs (`tangents`) to the outputs
and the gradients of the inputs. Its trace is a functional graph without autograd.

In PyTorch: `torch/_functorch/_aot_autograd/collect_metadata_analysis.py`, `graph_capture_wrappers.py`, `graph_capture.py`. Left
out: inputs that share memory with each other, tensor subclasses, effect tokens, generator states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.aot.functional import FunctionalTensorMode, View, base_wrapper, sync
from rushlight.aot.proxy_tensor import Args, Decompositions, ProxyTorchDispatchMode, fake_like, trace
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, non_overlapping_and_dense
from rushlight.autograd import engine
from rushlight.autograd.grad_mode import set_grad_enabled
from rushlight.c10.dispatch import local, replacing
from rushlight.fx import GraphModule
from rushlight.library import ops

aten = ops.aten

# The metadata of a function ------------------------------------------------------------------------------------------


@dataclass
class InputAliasInfo:
    """What a function does with one of its inputs.
    Source: `torch/_functorch/_aot_autograd/schemas.py`, `InputAliasInfo`."""

    mutates_data: bool
    mutates_metadata: bool
    requires_grad: bool
    hidden: bool  # whether all writes are hidden from autograd
    sizes: tuple[int, ...] = ()  # after the function has run
    strides: tuple[int, ...] = ()
    storage_offset: int = 0


NON_ALIAS, IS_INPUT, ALIAS_OF_INPUT = "non_alias", "is_input", "alias_of_input"
UNSAFE_VIEW_ALIAS = "unsafe_view_alias"  # of an intermediate that no other output shares
ALIAS_OF_INTERMEDIATE = "alias_of_intermediate"
SAVE_AS_OUTPUT = "alias_of_intermediate_save_as_output"  # the first view of its base: the base is returned too
BASE_IS_OUTPUT = "alias_of_intermediate_base_is_user_output"


@dataclass
class OutputAliasInfo:
    """The kind of an output. For a view, `base_idx` is the index of an input, an output or an intermediate base.
    Source: `torch/_functorch/_aot_autograd/schemas.py`, `OutputAliasInfo`."""

    output_type: str
    base_idx: int | None
    requires_grad: bool
    views: tuple[View, ...] = ()  # the steps from the base of its storage
    is_tensor: bool = True


@dataclass
class ViewAndMutationMeta:
    """What a function does with its inputs, and what its outputs are: views, inputs or new tensors.
    Source: `torch/_functorch/_aot_autograd/schemas.py`, `ViewAndMutationMeta`."""

    inputs: list[InputAliasInfo]
    outputs: list[OutputAliasInfo]
    num_intermediate_bases: int
    tangents: list[Tensor] = field(default_factory=list)  # as fake tensors
    in_graph: bool = False  # whether the graph itself writes to the inputs

    @property
    def mutated(self) -> list[int]:
        """The indices of the inputs whose new values the graph returns."""
        written = [x.mutates_data or x.mutates_metadata for x in self.inputs]
        return [i for i, x in enumerate(self.inputs) if written[i] and not self.is_written(x)]

    def is_written(self, info: InputAliasInfo) -> bool:
        """Return whether the graph itself writes to such an input."""
        return self.in_graph and info.mutates_data and not info.mutates_metadata

    @property
    def num_forward_outputs(self) -> int:
        return len(self.mutated) + len(self.outputs) + self.num_intermediate_bases

    @property
    def needs_tangent(self) -> list[bool]:
        """For each output of the forward graph: mutated inputs, then outputs of the function, then bases."""
        own = [info.requires_grad and info.output_type in (NON_ALIAS, UNSAFE_VIEW_ALIAS) for info in self.outputs]
        changed = [self.inputs[i] for i in self.mutated]
        written = [info.mutates_data and info.requires_grad and not info.hidden for info in changed]
        return [*written, *own, *[True] * self.num_intermediate_bases]


def collect_metadata(function: Callable, args: Sequence[Any]) -> ViewAndMutationMeta:
    """Run a function on fake tensors, to collect its writes, and the memory that its outputs share. `function` returns a list.
    Source: `collect_metadata_analysis.py`, `run_functionalized_fw_and_collect_metadata`."""
    mode = FunctionalTensorMode(on_meta=True)
    outers = [mode.wrap(fake_like(x), fake_like(x).detach()) if isinstance(x, Tensor) else x for x in args]
    before = [layout(x) for x in outers]
    with set_grad_enabled(local.grad_enabled), replacing(local, on_meta=True, fakes_constants=True), mode:
        outs = list(function(*outers))
        for out in outs:
            if isinstance(out, Tensor):
                out.requires_grad  # noqa: B018  (regenerates the history of a view after a write to its base)
    inputs = [input_info(mode, x, layout_before) for x, layout_before in zip(outers, before)]
    outputs, bases = outputs_info(mode, outers, before, outs)
    meta = ViewAndMutationMeta(inputs, outputs, len(bases))
    returned = [*(outers[i] for i in meta.mutated), *outs, *bases]
    meta.tangents = [tangent_of(x) for x, needs in zip(returned, meta.needs_tangent) if needs]
    return meta


def tangent_of(x: Tensor) -> Tensor:
    """A fake gradient of an output. It has the strides of a dense output, and is contiguous otherwise."""
    if non_overlapping_and_dense(x.shape, x.stride()):
        return functions.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return functions.empty(x.shape, dtype=x.dtype, device="meta")


def layout(x: Any) -> tuple | None:
    """The sizes, strides and storage offset of a tensor, in elements. Other values have none."""
    return (tuple(x.shape), tuple(x.stride()), x.storage_offset()) if isinstance(x, Tensor) else None


def input_info(mode: FunctionalTensorMode, x: Any, before: tuple | None) -> InputAliasInfo:
    """Whether an input was written, changed its metadata, requires a gradient, or was written only where autograd did
    not record. `before` is its layout before the trace."""
    if not isinstance(x, Tensor):
        return InputAliasInfo(False, False, False, True)
    storage, now = mode.of(x).storage, layout(x)
    written = storage.generation > 0
    return InputAliasInfo(written, now != before, x.requires_grad, storage.hidden, *now)


def outputs_info(mode: FunctionalTensorMode, inputs: Args, before: Args, outs: Args) -> tuple[list, list[Tensor]]:
    """The kind of each output, and the intermediate bases that are returned too. `before` is the layout that the inputs had.

    Autograd must know which tensors share memory. Otherwise a write to one of them would not reach the history of the others. A
    view of an input is regenerated from the input after the graph has run. Several views of one intermediate are regenerated from
    it. A single view of it is returned as a tensor of its own, because no other output shares its memory.

    Source: `collect_metadata_analysis.py`, in `run_functionalized_fw_and_collect_metadata`.
    """

    def storage_of(x: Tensor) -> int:
        return id(mode.of(x).storage)

    storages = {storage_of(x): i for i, x in enumerate(inputs) if isinstance(x, Tensor)}
    tensors = [out for out in outs if isinstance(out, Tensor)]
    sharing = Counter(storage_of(out) for out in tensors)
    of_many = Counter(storage_of(out) for out in tensors if any(view.place is not None for view in mode.of(out).views))
    positions = {id(out): i for i, out in enumerate(outs)}
    infos, bases = [], {}
    for out in outs:
        if not isinstance(out, Tensor):
            infos.append(OutputAliasInfo(NON_ALIAS, None, False, is_tensor=False))
            continue
        storage, views = storage_of(out), mode.of(out).views
        alone = sharing[storage] - of_many[storage]
        kind, base_idx = NON_ALIAS, None
        if storage in storages:
            base_idx = storages[storage]
            hidden = out.grad_fn is not None and alone == 0 and not mode.of(out).storage.generation
            if not hidden:  # several views of an input from one call must not be written to
                kind = IS_INPUT if any(out is x for x in inputs) else ALIAS_OF_INPUT
            if layout(inputs[base_idx]) != before[base_idx]:  # the steps begin at a layout that the input has no more
                views = (View(aten.as_strided.default, layout(out)),)
        elif out._base is not None and out.requires_grad and out._base.requires_grad:
            kind = UNSAFE_VIEW_ALIAS
            if alone > 1:
                kind, base_idx = intermediate_alias(out._base, positions, bases)
        elif sharing[storage] > 1 and not out.requires_grad:
            like = [x for x in tensors if x is not out and x.requires_grad and storage_of(x) == storage]
            like = [x for x in like if layout(x) == layout(out)]
            if like:
                kind, base_idx, views = BASE_IS_OUTPUT, positions[id(like[0])], ()
        infos.append(OutputAliasInfo(kind, base_idx, out.requires_grad, views))
    return infos, list(bases.values())


def intermediate_alias(base: Tensor, positions: dict[int, int], bases: dict[int, Tensor]) -> tuple[str, int]:
    """The kind of a view of an intermediate `base`, and the index of the base. A new base is added to `bases`."""
    if id(base) in positions:
        return BASE_IS_OUTPUT, positions[id(base)]
    kind = ALIAS_OF_INTERMEDIATE if id(base) in bases else SAVE_AS_OUTPUT
    bases[id(base)] = base
    return kind, list(bases).index(id(base))


def needs_autograd(meta: ViewAndMutationMeta) -> bool:
    """Return whether a backward graph is needed: an output requires grad, or autograd sees a write to an input. Views of an input
    that requires grad are regenerated outside of the graph, which gives them their history.

    A training step needs none if it runs its own backward pass and writes to the parameters under `no_grad`.

    Source: `torch/_functorch/aot_autograd.py`, `create_aot_state`, `output_and_mutation_safe`.
    """
    written = any(x.requires_grad and x.mutates_data and not x.hidden for x in meta.inputs)
    regenerated = (IS_INPUT, ALIAS_OF_INPUT)
    return written or any(
        out.requires_grad and not (out.output_type in regenerated and meta.inputs[out.base_idx].requires_grad)
        for out in meta.outputs
    )


# The function that is traced -----------------------------------------------------------------------------------------


def fn_prepped_for_autograd(function: Callable, meta: ViewAndMutationMeta, primals: Sequence[Any]) -> list[Any]:
    """The outputs of the forward graph: inputs that were written to, outputs of the function, bases.
    Source: `graph_capture_wrappers.py`, `fn_prepped_for_autograd`."""

    def prepared(x: Any, info: InputAliasInfo) -> Any:
        if info.mutates_data and info.requires_grad:
            return x.clone()
        return x.view(x.shape) if info.mutates_metadata else x

    args = list(map(prepared, primals, meta.inputs))
    outs = list(function(*args))
    bases = [out._base for out, info in zip(outs, meta.outputs) if info.output_type == SAVE_AS_OUTPUT]
    return [*(args[i] for i in meta.mutated), *outs, *bases]


def joint_forward_backward(
    function: Callable, primals: Sequence[Any], tangents: Sequence[Tensor], needs_tangent: Sequence[bool]
) -> tuple[list[Any], list[Tensor | None]]:
    """Run a function, then its backward pass. A joint graph is the trace of this function.

    All sequences here are lists or tuples. `function(*primals)` returns the outputs, which may also be None or numbers.
    `needs_tangent` has a bool for each output. `tangents` has a tensor for each output whose bool is true, in order: the gradient
    with respect to this output. An output with a tangent may be no tensor, or may not require grad: skip it with its tangent.
    All other outputs with a tangent are differentiated by one call of `engine.grad`, with respect to all primals that are tensors
    and require grad. `function` does not change which primals require grad. It is no error if an output does not depend on a
    primal. If no primal requires grad, or no output is differentiated, `engine.grad` is not called.

    Returns:
        a list of the outputs, and a list with the gradient of each primal, or None if it has none.

    >>> x = rl.tensor([2.0, 3.0]).requires_grad_()
    >>> outs, grads = joint_forward_backward(lambda x: (x * x,), [x], [rl.ones(2)], [True])
    >>> outs[0].tolist(), grads[0].tolist()
    ([4.0, 9.0], [4.0, 6.0])

    Source: `torch/_functorch/_aot_autograd/graph_capture_wrappers.py`, `create_joint`.
    """
    outs = list(function(*primals))
    wanted = [out for out, needs in zip(outs, needs_tangent) if needs]
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    indices = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]
    grads = [None] * len(primals)
    if pairs and indices:
        ends, given = zip(*pairs)
        gradients = engine.grad(ends, [primals[i] for i in indices], given, allow_unused=True)
        for i, grad in zip(indices, gradients):
            grads[i] = grad
    return outs, grads


# Tracing -------------------------------------------------------------------------------------------------------------


def joint_graph(
    function: Callable, args: Args, meta: ViewAndMutationMeta, decompositions: Decompositions = None
) -> GraphModule:
    """The graph of the forward outputs and the gradients, from `primals_1`, ... and `tangents_1`, ...
    Source: `torch/_functorch/_aot_autograd/graph_capture.py`, `aot_dispatch_autograd_graph`."""

    def traced(mode: ProxyTorchDispatchMode, *values: Any) -> list[Any]:
        functional, outers = wrap_fakes(values, args)
        primals, tangents = outers[: len(args)], outers[len(args) :]

        def forward(*primals: Any) -> list[Any]:
            mode.meta["partitioner_tag"] = "is_forward"
            outs = fn_prepped_for_autograd(function, meta, primals)
            mode.meta["partitioner_tag"] = "is_backward"
            return outs

        with functional:
            outs, grads = joint_forward_backward(forward, primals, tangents, meta.needs_tangent)
        mode.meta.clear()  # regenerated views belong to neither pass
        return [*functional.unwrap(outs), *functional.unwrap(grads)]

    names = [f"primals_{i + 1}" for i in range(len(args))] + [f"tangents_{i + 1}" for i in range(len(meta.tangents))]
    return trace_fakes(traced, args, meta.tangents, names, decompositions)


def inference_graph(
    function: Callable, args: Args, meta: ViewAndMutationMeta, decompositions: Decompositions = None
) -> GraphModule:
    """The graph of the outputs alone, from `arg0_1`, ... With `meta.in_graph` it writes to its inputs at the end. Otherwise it
    returns their new values first.
    Source: `torch/_functorch/_aot_autograd/graph_capture.py`, `aot_dispatch_base_graph`."""

    def traced(mode: ProxyTorchDispatchMode, *values: Any) -> list[Any]:
        functional, outers = wrap_fakes(values, args)
        with functional:
            outs = list(function(*outers))
        written = [i for i, info in enumerate(meta.inputs) if meta.is_written(info)]
        for i in written:
            values[i].copy_(sync(base_wrapper(functional.of(outers[i]))))
        results = functional.unwrap([*(outers[i] for i in meta.mutated), *outs])
        for i, info in enumerate(meta.outputs, len(meta.mutated)):
            if info.output_type == IS_INPUT and info.base_idx in written:
                results[i] = values[info.base_idx]
        return results

    return trace_fakes(traced, args, [], [f"arg{i}_1" for i in range(len(args))], decompositions)


def trace_fakes(traced: Callable, args: Args, tangents: Args, names: Args, decompositions: Any) -> GraphModule:
    """The graph of a function of fake tensors like the arguments, and of tangents, without dead code."""
    fakes = [fake_like(x).detach() if isinstance(x, Tensor) else x for x in args]
    with replacing(local, fakes_constants=True):
        module = trace(traced, [*fakes, *tangents], names, decompositions)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def wrap_fakes(values: Args, args: Args) -> tuple[FunctionalTensorMode, list[Any]]:
    """Fake tensors for the program, whose values are the traced tensors: those of the arguments, then the tangents."""
    functional, outers = FunctionalTensorMode(), []
    for value, like in zip(values, [*args, *values[len(args) :]]):
        outers.append(functional.wrap(fake_like(like), value) if isinstance(like, Tensor) else like)
    return functional, outers
