"""Forward and backward in one graph: what is traced, and what is known of it before.

The function runs once, only to learn of it: which inputs it writes to, which outputs share memory with inputs or with each other,
which require grad. Then it is *prepared*: what it writes to inputs it returns, and views that autograd must not take for tensors
of their own are given a base. Of that the *joint* function is made, from the inputs (`primals`) and the gradients of the outputs
(`tangents`) to the outputs and the gradients of the inputs. It is traced, functional, and autograd is gone from it.

In PyTorch: `torch/_functorch/_aot_autograd/collect_metadata_analysis.py`, `graph_capture_wrappers.py`, `graph_capture.py`. Left
out: inputs that share memory among themselves, subclasses of tensors, effects that are ordered by tokens, the state of generators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.aot.functional import FunctionalMode, FunctionalStorage, View, sync, whole
from rushlight.aot.proxy_tensor import ProxyMode, disable_modes, fake_like, local_state, trace
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine
from rushlight.autograd.grad_mode import set_grad_enabled
from rushlight.c10.dispatch import Operator, local
from rushlight.fx import GraphModule
from rushlight.library import ops

aten = ops.aten

# ------------------------------------------------------------------------------------------------------------
# What is known of a function


@dataclass
class InputInfo:
    """Source: `torch/_functorch/_aot_autograd/schemas.py`, `InputAliasInfo`."""

    mutates_data: bool
    mutates_metadata: bool
    requires_grad: bool
    hidden: bool  # whether autograd knows nothing of what was written
    sizes: tuple[int, ...] = ()  # what they become, where the metadata change
    strides: tuple[int, ...] = ()
    storage_offset: int = 0


NON_ALIAS, IS_INPUT, ALIAS_OF_INPUT = "non_alias", "is_input", "alias_of_input"
UNSAFE_VIEW_ALIAS = "unsafe_view_alias"  # of an intermediate that nobody else sees
ALIAS_OF_INTERMEDIATE = "alias_of_intermediate"
SAVE_AS_OUTPUT = (
    "alias_of_intermediate_save_as_output"  # the first of those that share a base: the base is returned besides
)
BASE_IS_OUTPUT = "alias_of_intermediate_base_is_user_output"


@dataclass
class OutputInfo:
    """What sort of output one is; of what, if it is a view: the place of an input, an output or an intermediate base.

    Source: `torch/_functorch/_aot_autograd/schemas.py`, `OutputAliasInfo`.
    """

    output_type: str
    base_idx: int | None
    requires_grad: bool
    views: tuple[View, ...] = ()  # by which it is made of the base of its storage
    is_tensor: bool = True


@dataclass
class Metadata:
    """Source: `torch/_functorch/_aot_autograd/schemas.py`, `ViewAndMutationMeta`."""

    inputs: list[InputInfo]
    outputs: list[OutputInfo]
    num_intermediate_bases: int
    tangents: list[Tensor] = field(default_factory=list)  # fakes like them
    in_graph: bool = False  # whether the graph itself writes to the inputs

    @property
    def mutated(self) -> list[int]:
        """The places of the inputs whose new values the graph returns."""
        return [
            i for i, x in enumerate(self.inputs) if (x.mutates_data or x.mutates_metadata) and not self.is_written(x)
        ]

    def is_written(self, info: InputInfo) -> bool:
        """Whether the graph writes to such an input."""
        return self.in_graph and info.mutates_data and not info.mutates_metadata

    @property
    def num_forward_outputs(self) -> int:
        return len(self.mutated) + len(self.outputs) + self.num_intermediate_bases

    @property
    def needs_tangent(self) -> list[bool]:
        """For each output of the forward graph: mutated inputs, the function's own, bases."""
        own = [info.requires_grad and info.output_type in (NON_ALIAS, UNSAFE_VIEW_ALIAS) for info in self.outputs]
        changed = [self.inputs[i] for i in self.mutated]
        written = [info.mutates_data and info.requires_grad and not info.hidden for info in changed]
        return [*written, *own, *[True] * self.num_intermediate_bases]


def collect_metadata(function: Callable, args: Sequence[Any]) -> Metadata:
    """Run a function on fakes of its arguments to learn what it writes to and what its outputs share.

    `function` returns a list. Source: `collect_metadata_analysis.py`, `run_functionalized_fw_and_collect_metadata`.
    """
    mode = FunctionalMode(on_meta=True)
    outers = [fake_like(x) if isinstance(x, Tensor) else x for x in args]
    for x in outers:
        if isinstance(x, Tensor):
            mode.wrap(x, fake_like(x).detach())
    before = [layout(x) for x in outers]
    grad_mode, on_meta, local_state.on_meta = local.grad_enabled, local_state.on_meta, True
    try:
        with mode:
            outs = list(function(*outers))
            for out in outs:
                if isinstance(out, Tensor):
                    out.requires_grad  # noqa: B018  (a view whose base was written to makes its history now)
    finally:
        local_state.on_meta = on_meta
        set_grad_enabled(grad_mode)
    inputs = [input_info(mode, x, layout_before) for x, layout_before in zip(outers, before)]
    outputs, bases = outputs_info(mode, outers, before, outs)
    meta = Metadata(inputs, outputs, len(bases))
    returned = [*(outers[i] for i in meta.mutated), *outs, *bases]
    wanted = [x for x, needs in zip(returned, meta.needs_tangent) if needs]
    meta.tangents = [functions.empty(x.shape, dtype=x.dtype, device="meta") for x in wanted]
    for i, x in enumerate(wanted):
        if x.is_contiguous() is False and dense(x):
            meta.tangents[i] = functions.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return meta


def dense(x: Tensor) -> bool:
    from rushlight.aten.strided import non_overlapping_and_dense

    return non_overlapping_and_dense(x.shape, x.stride())


def layout(x: Any) -> tuple | None:
    return (tuple(x.shape), tuple(x.stride()), x.storage_offset()) if isinstance(x, Tensor) else None


def input_info(mode: FunctionalMode, x: Any, before: tuple | None) -> InputInfo:
    if not isinstance(x, Tensor):
        return InputInfo(False, False, False, True)
    storage, now = mode.of(x).storage, layout(x)
    written = storage.generation > 0
    return InputInfo(written, now != before, x.requires_grad, storage.hidden, *now)


def outputs_info(
    mode: FunctionalMode, inputs: Sequence[Any], given: Sequence[tuple | None], outs: Sequence[Any]
) -> tuple[list[OutputInfo], list[Tensor]]:
    """`given` is the layout that the inputs had. What sort each output is of, and the bases that are returned besides.

    Autograd must know which tensors share memory, or a write to one would not reach the history of the others. A view of an
    input is made again from the input, after the graph has run. Views of one intermediate are made again from it, if there are
    several; a single one, of which nobody can know, is passed off as a tensor of its own.

    Source: `collect_metadata_analysis.py`, in `run_functionalized_fw_and_collect_metadata`.
    """
    storages = {id(mode.of(x).storage): i for i, x in enumerate(inputs) if isinstance(x, Tensor)}
    sharing = Counter(storage_of(mode, out) for out in outs if isinstance(out, Tensor))
    of_many = Counter(storage_of(mode, out) for out in outs if isinstance(out, Tensor) and out._one_of_many)
    places = {id(out): i for i, out in reversed(list(enumerate(outs)))}
    found, bases, known = [], [], {}
    for out in outs:
        if not isinstance(out, Tensor):
            found.append(OutputInfo(NON_ALIAS, None, False, is_tensor=False))
            continue
        storage, views = storage_of(mode, out), mode.of(out).views
        alone = sharing[storage] - of_many[storage]
        kind, base_idx = NON_ALIAS, None
        if storage in storages:
            hidden = out.grad_fn is not None and alone == 0 and not mode.of(out).storage.generation
            if not hidden:  # parts of an input, all from one call, that nobody may write to
                kind = IS_INPUT if any(out is x for x in inputs) else ALIAS_OF_INPUT
            base_idx = storages[storage]
            if layout(inputs[base_idx]) != given[base_idx]:  # the steps begin with what the input is no more
                views = (View(aten.as_strided.default, layout(out)),)
        elif out._base is not None and out.requires_grad and out._base.requires_grad:
            base = out._base
            if sharing[storage] == 1 or alone <= 1:
                kind = UNSAFE_VIEW_ALIAS
            elif id(base) in places:
                kind, base_idx = BASE_IS_OUTPUT, places[id(base)]
            elif id(base) in known:
                kind, base_idx = ALIAS_OF_INTERMEDIATE, known[id(base)]
            else:
                kind, base_idx = SAVE_AS_OUTPUT, len(bases)
                known[id(base)] = len(bases)
                bases.append(base)
        elif sharing[storage] > 1 and not out.requires_grad:
            like = [x for x in outs if isinstance(x, Tensor) and x is not out and x.requires_grad]
            like = [x for x in like if storage_of(mode, x) == storage and layout(x) == layout(out)]
            if like:
                kind, base_idx, views = BASE_IS_OUTPUT, places[id(like[0])], ()
        found.append(OutputInfo(kind, base_idx, out.requires_grad, views))
    return found, bases


def storage_of(mode: FunctionalMode, x: Tensor) -> int:
    return id(mode.of(x).storage)


def needs_autograd(meta: Metadata) -> bool:
    """Whether a backward pass can ever be wanted: an output requires grad, or an input is written to where autograd sees it. Views
    of an input that requires grad are made again outside of the graph, and have their history from there.

    A training step that runs its own backward pass and writes to the parameters under `no_grad` needs none.

    Source: `torch/_functorch/aot_autograd.py`, `create_aot_state`, `output_and_mutation_safe`.
    """
    written = any(x.requires_grad and x.mutates_data and not x.hidden for x in meta.inputs)
    again = (IS_INPUT, ALIAS_OF_INPUT)
    return written or any(
        out.requires_grad and not (out.output_type in again and meta.inputs[out.base_idx].requires_grad)
        for out in meta.outputs
    )


# ------------------------------------------------------------------------------------------------------------
# The function that is traced


def prepared(function: Callable, meta: Metadata, primals: Sequence[Any]) -> list[Any]:
    """What the forward graph returns: inputs that were written to, outputs, bases.

    Source: `graph_capture_wrappers.py`, `fn_prepped_for_autograd`.
    """
    args = [x.clone() if info.mutates_data and info.requires_grad else x for x, info in zip(primals, meta.inputs)]
    args = [
        x.view(x.shape) if info.mutates_metadata and not (info.mutates_data and info.requires_grad) else x
        for x, info in zip(args, meta.inputs)
    ]
    outs = list(function(*args))
    bases = [out._base for out, info in zip(outs, meta.outputs) if info.output_type == SAVE_AS_OUTPUT]
    return [*(args[i] for i in meta.mutated), *outs, *bases]


def joint_forward_backward(
    function: Callable, primals: Sequence[Any], tangents: Sequence[Tensor], needs_tangent: Sequence[bool]
) -> tuple[list[Any], list[Tensor | None]]:
    """Run a function, then its backward pass: what a joint graph is traced from.

    `function(*primals)` gives a sequence of outputs, of any kind: an output may be None, or a number. Those whose place in
    `needs_tangent` is True have a tangent each, in order: the gradient with respect to them; so has one that is no tensor. Of
    these, those that are tensors and require grad are differentiated, by one call of `engine.grad`, with respect to all primals
    that are tensors and require grad. An output on which a primal has no influence gives it no gradient, which is no error. If
    no primal requires grad, or no output that is differentiated does, nothing is differentiated.

    Returns:
        the outputs, as a list, and a list with the gradient of each primal, None where there is none.

    Source: `torch/_functorch/_aot_autograd/graph_capture_wrappers.py`, `create_joint`.
    """
    outs = list(function(*primals))
    wanted = [out for out, needs in zip(outs, needs_tangent) if needs]
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    places = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]
    grads = [None] * len(primals)
    if pairs:
        ends, given = zip(*pairs)
        found = engine.grad(ends, [primals[i] for i in places], given, allow_unused=True)
        for i, grad in zip(places, found):
            grads[i] = grad
    return outs, grads


# ------------------------------------------------------------------------------------------------------------
# Tracing


Decompositions = Mapping[Operator, Callable]


def joint_graph(
    function: Callable, args: Sequence[Any], meta: Metadata, decompositions: Decompositions | None = None
) -> GraphModule:
    """The graph of the forward outputs and the gradients, from `primals_1`, ... and `tangents_1`, ...

    Source: `graph_capture.py`, `aot_dispatch_autograd_graph`.
    """

    def traced(mode: ProxyMode, *values: Any) -> list[Any]:
        functional, outers = wrapped(mode, values, len(args), args)
        primals, tangents = outers[: len(args)], outers[len(args) :]

        def forward(*primals: Any) -> list[Any]:
            mode.meta["partitioner_tag"] = "is_forward"
            outs = prepared(function, meta, primals)
            mode.meta["partitioner_tag"] = "is_backward"
            return outs

        with functional:
            outs, grads = joint_forward_backward(forward, primals, tangents, meta.needs_tangent)
        mode.meta.clear()  # what is regenerated from now on is neither's
        return [*functional.unwrap(outs), *functional.unwrap(grads)]

    fakes = [fake_like(x).detach() if isinstance(x, Tensor) else x for x in args]
    names = [f"primals_{i + 1}" for i in range(len(args))] + [f"tangents_{i + 1}" for i in range(len(meta.tangents))]
    module = trace(traced, [*fakes, *meta.tangents], names, decompositions)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def inference_graph(
    function: Callable, args: Sequence[Any], meta: Metadata, decompositions: Decompositions | None = None
) -> GraphModule:
    """The graph of the outputs alone, from `arg0_1`, ...; it writes to its inputs at the end, if `meta.in_graph`, and otherwise
    returns first what they become.

    Source: `graph_capture.py`, `aot_dispatch_base_graph`.
    """

    def traced(mode: ProxyMode, *values: Any) -> list[Any]:
        functional, outers = wrapped(mode, values, len(values), args)
        with functional:
            outs = list(function(*outers))
        written = [i for i, info in enumerate(meta.inputs) if meta.is_written(info)]
        for i in written:
            values[i].copy_(sync(whole(functional.of(outers[i]))))
        results = functional.unwrap([*(outers[i] for i in meta.mutated), *outs])
        for place, info in enumerate(meta.outputs, len(meta.mutated)):
            if info.output_type == IS_INPUT and info.base_idx in written:
                results[place] = values[info.base_idx]
        return results

    fakes = [fake_like(x).detach() if isinstance(x, Tensor) else x for x in args]
    module = trace(traced, fakes, [f"arg{i}_1" for i in range(len(args))], decompositions)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


def wrapped(
    mode: ProxyMode, values: Sequence[Any], primals: int, args: Sequence[Any]
) -> tuple[FunctionalMode, list[Any]]:
    """The fakes that the program sees, beside the values that are traced."""
    functional = FunctionalMode()
    with disable_modes():
        likes = [*args, *values[primals:]]
        outers = [fake_like(x) if isinstance(x, Tensor) else x for x in likes]
    for value, outer in zip(values, outers):
        if isinstance(outer, Tensor):
            functional.wrap(outer, value)
    return functional, outers


__all__ = [
    "FunctionalStorage",
    "Metadata",
    "collect_metadata",
    "inference_graph",
    "joint_forward_backward",
    "joint_graph",
    "needs_autograd",
]
