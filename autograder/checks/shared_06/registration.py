"""Shows a registered operator: its results, the calls of its kernels, and the tests of `opcheck` that it passes."""

from __future__ import annotations

from ...engine.recorder import recorded
from ..cases import copied, numbers
from . import operators
from .operators import ACTIVATIONS, arguments, shape, shapes


def _meta(given):
    """The arguments, with tensors on the meta device."""
    return [value.to("meta") if hasattr(value, "to") else value for value in given]


def _results_of(torch, op, lead, features, outs, bias, activation, passed):
    """An operator's result, its gradients, its result without data, and its results for two batches."""
    x, weight, bias = inputs = arguments(torch, lead, features, outs, bias)
    wanted = [tensor.requires_grad_() for tensor in inputs if tensor is not None]
    given = (x, weight, bias, activation)[:passed]
    result = op(*given)
    gradients = torch.autograd.grad((result * numbers(torch, result.shape, 4)).sum(), wanted)
    meta = op(*_meta(given))
    in_dims = (0, None, None, None)[:passed]
    batch = torch.vmap(op, in_dims)(torch.stack([x.detach() + i for i in range(3)]), *given[1:])
    pairs = [torch.stack([tensor.detach(), tensor + 1]) for tensor in given[:2]]
    own = torch.vmap(op, (0, 0, *in_dims[2:]))(*pairs, *given[2:])
    shown = {"result": copied(result), "gradients": [copied(gradient) for gradient in gradients]}
    shown["meta"] = operators.metadata(meta.detach())
    return shown | {"batch": copied(batch), "batch of weights": copied(own)}


def _calls_of(torch, namespace, op, lead, features, outs, bias, activation, passed):
    """The operators that arrive at a device, for one example and for a batch, and the products computed without data."""
    given = (*arguments(torch, lead, features, outs, bias), activation)[:passed]
    batch = torch.stack([given[0], given[0] + 1])
    for tensor in given[:2]:
        tensor.requires_grad_()
    with recorded(operators.SHAPES) as alone:
        op(*given)
    with recorded(operators.SHAPES) as together, operators.counting(torch) as counts:
        torch.vmap(op, (0, None, None, None)[:passed])(batch, *given[1:])
    _, without_data = operators.operators_inside(lambda: op(*_meta(given)))
    products = sorted(without_data & {*operators.PRODUCTS, "matmul", "linear"})
    alone, together = ([name.replace(namespace, "ns") for name in names] for names in (alone, together))
    shown = {"arrives": alone, "arrives of a batch": together, "products without data": products}
    return shown | {"calls for a batch": counts[f"{namespace}::fused_linear"]}


_ARRIVES = {"arrives": ["ns::fused_linear"], "arrives of a batch": ["ns::fused_linear"], "products without data": []}
_ARRIVES["calls for a batch"] = 1


def _passed(st):
    return shapes(passed=(2, 4))(st).map(operators.settled)


_PASSED = [shape(lead=[2, 3], activation=name, passed=4) for name in ACTIVATIONS]


_PASSED += [shape(lead=[3], passed=3), shape(lead=[3], bias=False, passed=2)]


_PASSED += [shape(lead=[], bias=False, activation="relu", passed=4)]
