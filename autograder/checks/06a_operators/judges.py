"""Lab 06, torch's own judges of an operator: gradcheck, opcheck, and the default backend of torch.compile.

A student's process can patch a tester, so the words of a tester alone earn nothing. Beside them each program shows what the tester
looked at, numbers and metadata, and these must agree with torch's too.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ...engine.check import program
from ...engine.observe import Tree
from ...engine.recorder import fresh_namespace
from ..cases import copied, defaults, drawn, error_name, explained, numbers
from ..shared_06.operators import ACTIVATIONS, SCHEMA, arguments, calls_in, collecting, linear, shapes

# gradcheck and opcheck -----------------------------------------------------------------------------------------------


def first_line(said: Any, namespace: str) -> str:
    """The result or the error of a tester, in one line. The operator's namespace is `ns`."""
    text = f"{type(said).__name__}: {str(said).strip()}" if isinstance(said, Exception) else str(said)
    return text.partition("\n")[0].replace(namespace, "ns")


def opchecked(torch: Any, namespace: str, op: Any, given: tuple) -> dict[str, str]:
    """The answer of each test of opcheck about an operator, by the test's name."""
    said = torch.library.opcheck(op.default, given, raise_exception=False)
    return {name: first_line(message, namespace) for name, message in said.items()}


def _said(namespace: str, judge: Callable, *args: Any) -> str:
    """The answer of gradcheck or gradgradcheck."""
    try:
        return first_line(judge(*args), namespace)
    except Exception as error:
        return first_line(error, namespace)


def _smooth(torch: Any, lead: list, features: int, outs: int, bias: bool, needs: list) -> list:
    """Make x, weight and bias so that no activation gets exactly 0, because relu has no derivative there."""
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    made = [x + 0.0137, weight + 0.0071, bias]
    return [tensor if tensor is None else tensor.requires_grad_(need) for tensor, need in zip(made, needs)]


def _derivatives(torch: Any, op: Callable, tensors: list, activation: str) -> dict[str, list]:
    """The gradients by the tensors that need one, and the gradients of the sum of their squares."""
    wanted = [tensor for tensor in tensors if tensor is not None and tensor.requires_grad]
    result = op(*tensors, activation)
    first = torch.autograd.grad((result * numbers(torch, result.shape, 4)).sum(), wanted, create_graph=True)
    total = sum((gradient**2).sum() for gradient in first)
    second = torch.autograd.grad(total, wanted, allow_unused=True) if total.requires_grad else []
    zeros = [torch.zeros_like(tensor) for tensor in wanted]  # the gradient of what does not depend on a tensor
    second = [zero if gradient is None else gradient for gradient, zero in zip(second or zeros, zeros)]
    return {
        "gradients": [copied(gradient) for gradient in first],
        "second gradients": [copied(gradient) for gradient in second],
    }


def _written_between(torch: Any, op: Callable, make: Callable, activation: str) -> list[str]:
    """The outcomes of backward after a write to x if weight needs a gradient, and after a write to weight if x needs one."""
    seen = []
    for written, other in ((0, 1), (1, 0)):
        tensors = make()
        if tensors[other].requires_grad:
            result = op(*tensors, activation)
            with torch.no_grad():
                tensors[written].add_(1)
            try:
                torch.autograd.grad(result.sum(), tensors[other])
                seen.append("a gradient of the new numbers")
            except Exception as error:
                seen.append(error_name(error))
    return seen


def _looked_at(torch: Any, op: Callable, make: Callable, activation: str) -> dict[str, Any]:
    """The values that torch's judges compare: results and gradients, the arguments after the call, and the result without data."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    tensors = make()
    result = op(*tensors, activation)
    shown = {"result": copied(result), "contiguous": result.is_contiguous()}
    others = [tensor for tensor in (*tensors, op(*tensors, activation)) if tensor is not None]
    memory = [tensor.untyped_storage().data_ptr() for tensor in others]
    shown["shares memory"] = result.numel() > 0 and result.untyped_storage().data_ptr() in memory
    shown["writes to arguments"] = [tensor._version for tensor in others[:-1]]
    shown |= {"arguments": [copied(tensor) for tensor in tensors], **_derivatives(torch, op, tensors, activation)}
    shown["written between"] = _written_between(torch, op, make, activation)
    with FakeTensorMode() as mode:
        fake = op(*[tensor if tensor is None else mode.from_tensor(tensor) for tensor in tensors], activation)
    shown["without data"] = [type(fake).__name__, str(fake.dtype), [*fake.shape], fake.is_contiguous()]
    x, *others = (tensor if tensor is None else tensor.detach().to("meta") for tensor in tensors)
    try:  # on meta, because a fake tensor reports an error of a kernel to the screen too
        op(x.new_empty([*x.shape[:-1], x.shape[-1] + 1]), *others, activation)
        shown["another number of features"] = "accepted"
    except Exception as error:
        shown["another number of features"] = error_name(error)
    return shown


def _judged(torch: Any, namespace: str, make: Callable, activation: str) -> dict[str, Any]:
    """The answers of gradcheck, gradgradcheck and opcheck about an operator."""
    op, given = getattr(torch.ops, namespace).fused_linear, (*make(), activation)
    said = {name: _said(namespace, getattr(torch.autograd, name), op, given) for name in ("gradcheck", "gradgradcheck")}
    return said | {"opcheck": opchecked(torch, namespace, op, given)}


_NEEDS = [[True, True, True], [True, False, False], [False, True, False], [False, False, True], [True, True, False]]
_judgement = defaults(lead=[3], features=2, outs=4, bias=True, activation="none", needs=[True] * 3)


def _settled(case: dict) -> dict:
    """The case with a tensor that needs a gradient, also if there is no bias, and with an x of one to three dimensions."""
    needs = case["needs"] if case["bias"] or any(case["needs"][:2]) else [True, False, False]
    return case | {"needs": needs, "lead": case["lead"][:2]}


@program(
    "on_torch.custom_ops.register_fused_linear.judged",
    cases=lambda st: shapes(needs=_NEEDS)(st).map(_settled),
    edges=[
        *[_judgement(activation=name) for name in ACTIVATIONS],
        *(_judgement([], bias=False, activation="gelu"), _judgement([2, 3], activation="relu", needs=[False, True, False])),
        *(_judgement([2], bias=False, needs=[True, False, False]), _judgement([0, 2], 1, 1, activation="tanh")),
    ],
    hint=explained(
        shares_memory="each result has new memory, not that of an argument or of another result",
        writes_to_arguments="no argument is written to, not even if its numbers are put back: autograd compares versions",
        second_gradients="the backward is differentiated: autograd follows its operations, and they keep the digits of float64",
        written_between="autograd compares the versions of the tensors that went through save_for_backward, and of no others",
        another_number_of_features="the fake kernel raises the errors of the kernel, so that a capture fails where the call would",
    ),
    draws=4,
    disposable=True,
)  # fmt: skip
def judging(xp, activation, **sizes):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    make = partial(_smooth, torch, **sizes)
    shown = _looked_at(torch, getattr(torch.ops, namespace).fused_linear, make, activation)
    return shown | _judged(torch, namespace, make, activation)


@judging.oracle
def torch_judging(torch, activation, **sizes):
    namespace, op = fresh_namespace(), partial(linear, torch)
    own = torch.library.custom_op(f"{namespace}::fused_linear", op, mutates_args=(), schema=SCHEMA)
    own.register_fake(op)

    def setup_context(ctx, inputs, output):
        *tensors, ctx.activation = inputs
        ctx.save_for_backward(*tensors)

    def backward(ctx, grad):
        given = [tensor for tensor in ctx.saved_tensors if tensor is not None]
        _, pullback = torch.func.vjp(lambda *each: op(*each, *[None] * (3 - len(each)), ctx.activation), *given)
        return *pullback(grad), *[None] * (4 - len(given))

    own.register_autograd(backward, setup_context=setup_context)
    make = partial(_smooth, torch, **sizes)
    return _looked_at(torch, op, make, activation) | _judged(torch, namespace, make, activation)


# The default backend of torch.compile --------------------------------------------------------------------------------


@contextmanager
def inductor(xp: Any) -> Iterator[list[str]]:
    """Within: Inductor compiles into a folder that is removed afterwards. The list is filled with the texts that it generates.

    It generates loops without vector instructions, in this process, and compiles the headers with each kernel. With its usual
    settings the first compilation tries out which instructions there are and compiles the headers once for all, for 20 seconds
    and 130 MB. In grading, `RUSHLIGHT_KERNELS` may name a folder of kernels that have been compiled: they are used, and new ones
    are added if the folder is writable. Raises RuntimeError if the machine has no C++ compiler, or not Python's headers.
    """
    from torch._inductor import config, cpu_vec_isa
    from torch._inductor.graph import GraphLowering
    from torch._inductor.utils import clear_inductor_caches

    compiler = xp.cpp_ops.compiler()
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise RuntimeError(
            "there is no Python.h: install Python's headers (Debian, Ubuntu: `apt-get install python3-dev`)"
        )
    settings = {
        "cpp.cxx": (compiler,),
        "compile_threads": 1,
        "cpp_cache_precompile_headers": False,
        "fx_graph_cache": False,
    }
    kernels = os.environ.get("RUSHLIGHT_KERNELS")
    texts: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, {"TORCHINDUCTOR_CACHE_DIR": folder}),
        patch.object(cpu_vec_isa, "valid_vec_isa_list", list),
        patch.object(GraphLowering, "save_output_code", texts.append),
        xp.custom_ops.torch._functorch.config.patch(enable_autograd_cache=False),
        config.patch(settings),
    ):
        if kernels:
            _copy_libraries(kernels, folder)
        clear_inductor_caches()  # they have the names of files
        try:
            yield texts
        finally:
            clear_inductor_caches()
            if kernels and os.access(kernels, os.W_OK):
                _copy_libraries(folder, kernels)


def _copy_libraries(source: str, target: str) -> None:
    for library in Path(source).glob("*/*.so"):
        place = Path(target, library.parent.name)
        place.mkdir(exist_ok=True)
        shutil.copy(library, place)


def calls_in_texts(texts: list[str], name: str) -> list[int]:
    """How often each text that Inductor generated calls an operator, the fewest first."""
    return sorted(text.count(f"torch.ops.{name.replace('::', '.')}.default(") for text in texts)


def _head(torch: Any, op: Callable, outs: int, features: int, bias: bool, activation: str) -> Any:
    """A module like Linear that calls an operator, with elementwise operations after it."""

    class Head(torch.nn.Module):
        def __init__(self):
            super().__init__()
            _, weight, start = arguments(torch, [], features, outs, bias)
            self.weight = torch.nn.Parameter(weight)
            self.register_parameter("bias", None if start is None else torch.nn.Parameter(start))

        def forward(self, x):
            return torch.sigmoid(op(x, self.weight, self.bias, activation)) * 2 - 1

    return Head()


def _steps(torch: Any, model: Callable, head: Any, lengths: list, lead: list, features: int) -> dict[str, list]:
    """The results, the losses and the gradients of a few steps of training, a batch of another length in each."""
    shown = {"losses": [], "results": [], "gradients of x": [], "gradients": []}
    for i, length in enumerate(lengths):
        x = numbers(torch, [length, *lead, features], i).requires_grad_()
        torch._dynamo.mark_dynamic(x, 0)  # or the second length is compiled too
        result = model(x)
        loss = ((result - numbers(torch, result.shape, 5)) ** 2).mean()
        head.zero_grad()
        loss.backward()
        gradients = [parameter.grad for parameter in head.parameters()]
        with torch.no_grad():
            for parameter, gradient in zip(head.parameters(), gradients):
                parameter -= 0.5 * gradient
        seen = loss, result, x.grad, gradients
        for name, value in zip(shown, seen):
            shown[name].append([copied(every) for every in value] if isinstance(value, list) else copied(value))
    return shown


def _about_inductor(case: dict, mine: Tree, theirs: Tree) -> str | None:
    """A hint for a model that Inductor does not compile, or compiles to something else."""
    said = str(mine.get("message", "")) if isinstance(mine, dict) else ""
    if "C++ compiler" in said or "Python.h" in said:
        return "this machine cannot compile what Inductor generates: your operator was not tried; tell the person who grades"
    if "stride" in said:
        return "Inductor asserts the strides that the fake kernel has promised of the kernel's result"
    return None


@program(
    "on_torch.custom_ops.register_fused_linear.inductor",
    cases=drawn(  # the simplest one is an edge
        lengths=[[2, 3], [3, 2], [5, 2], [2, 4]], lead=[[3], [2], []], features=(2, 4), outs=(3, 4), bias=bool,
        activation=["relu", "none", "tanh", "gelu"],
    ),
    edges=[
        {"lengths": [4, 2, 4], "lead": [], "features": 3, "outs": 2, "bias": True, "activation": "gelu"},
        {"lengths": [2, 3], "lead": [3], "features": 2, "outs": 3, "bias": False, "activation": "relu"},
    ],
    hint=_about_inductor,
    draws=2,
    disposable=True,
)  # fmt: skip
def inductors(xp, lengths, lead, features, outs, bias, activation):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    with inductor(xp) as texts:
        head = _head(torch, getattr(torch.ops, namespace).fused_linear, outs, features, bias, activation)
        shown = _steps(torch, torch.compile(head, fullgraph=True), head, lengths, lead, features)
    return shown | {"calls": calls_in_texts(texts, f"{namespace}::fused_linear")}


@inductors.oracle
def torch_inductors(torch, lengths, lead, features, outs, bias, activation):
    op, graphs = partial(linear, torch), []
    head = _head(torch, op, outs, features, bias, activation)
    shown = _steps(torch, head, head, lengths, lead, features)

    own = torch.library.custom_op(f"{fresh_namespace()}::fused_linear", op, mutates_args=(), schema=SCHEMA)
    own.register_fake(op)
    own.register_autograd(  # a graph has as many calls with the gradient of x alone
        lambda ctx, grad: (grad @ ctx.saved_tensors[0], None, None, None),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[1]),
    )
    head = _head(torch, own, outs, features, bias, activation)
    compiled = torch.compile(head, fullgraph=True, backend=collecting(graphs))
    compiled(numbers(torch, [4, *lead, features]).requires_grad_()).sum().backward()
    calls = [calls_in(graph, own._namespace) for graph in graphs]
    return shown | {"calls": sorted(text.count("ns.fused_linear.default") for text in calls)}
