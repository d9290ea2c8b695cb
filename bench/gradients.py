"""Are gradients torch's? For each operator that rushlight has, torch's own sample inputs, differentiated in both frameworks.

Every floating tensor among the arguments requires grad. The results are multiplied by numbers that are the same on both
sides, and the gradients compared (`torch.testing.assert_close`), and so are the graphs: the names of the nodes and their edges.

Then the gradients are differentiated themselves: with `create_graph=True`, and with respect to the arguments and to the numbers
that the results were multiplied by. Compared are the second gradients, and the graphs that the first ones left. Last, what
`gradcheck` and `gradgradcheck` say of the smallest sample, in both frameworks.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch

import rushlight as rl
from bench.parity import (
    Carrier,
    LeftOut,
    Report,
    _close,
    _in_words,
    attempt,
    database,
    forms,
    in_torch,
    public_names,
    samples,
)


def leaves(carry: Carrier) -> list:
    return [tensor for tensor in carry.tensors.values() if tensor.dtype.is_floating_point]


def results(value: Any) -> list:
    if isinstance(value, (torch.Tensor, rl.Tensor)):
        return [value]
    return [result for item in value for result in results(item)] if isinstance(value, (list, tuple)) else []


def graph(nodes: list, seen: dict | None = None) -> list:
    """Names and edges, in the order in which they are met."""
    order, waiting, number = [], list(nodes), {}
    while waiting:
        node = waiting.pop(0)
        if node is None or id(node) in number:
            continue
        number[id(node)] = len(number)
        order.append(node)
        waiting += [successor for successor, _ in node.next_functions]
    return [
        (
            node.name().rpartition("::")[2],
            [(None if n is None else number[id(n)], i if n is not None else 0) for n, i in node.next_functions],
        )
        for node in order
    ]


def cotangent(out: Any, number: int, ours: bool) -> Any:
    """Numbers in the shape of a result, the same ones in both frameworks."""
    drawn = torch.rand(tuple(out.shape), dtype=torch.float64, generator=torch.Generator().manual_seed(number)) + 0.5
    values = drawn.to(getattr(torch, str(out.dtype).rpartition(".")[2]))
    return rl.from_numpy(values.double().numpy()).to(out.dtype) if ours else values


def differentiate(form, input: Any, args: tuple, kwargs: dict, ours: bool, twice: bool):
    """The gradients and the graph that they came from; `twice`: the gradients of the gradients, each times a number, with
    respect to the arguments and the first cotangents, and the graph that the first gradients left."""
    xp = rl if ours else torch
    carry = Carrier(xp)
    function = form.ours if ours else form.theirs
    moved, moved_kwargs = [carry(argument) for argument in (input, *args)], carry(kwargs)
    for leaf in leaves(carry):
        leaf.requires_grad = True
    if "in place" in form.name:
        moved[0] = moved[0].clone()
    outs = [out for out in results(function(*moved, **moved_kwargs)) if out.requires_grad]
    if not outs:
        return None, [], []
    cotangents = [cotangent(out, i, ours).requires_grad_(twice) for i, out in enumerate(outs)]
    drawn = graph([out.grad_fn for out in outs])
    grads = xp.autograd.grad(outs, leaves(carry), cotangents, allow_unused=True, create_graph=twice)
    if not twice:
        return outs, list(grads), drawn
    firsts = [grad for grad in grads if grad is not None and grad.requires_grad]
    if not firsts:
        return None, [], []
    drawn = graph([grad.grad_fn for grad in firsts])
    second_cotangents = [cotangent(grad, 100 + i, ours) for i, grad in enumerate(firsts)]
    grads = xp.autograd.grad(firsts, [*leaves(carry), *cotangents], second_cotangents, allow_unused=True)
    return firsts, list(grads), drawn


def compare(form, input, args, kwargs, twice: bool = False) -> tuple[str, str]:
    """In a few words where the gradients differ, and where the graphs do; "" where they agree."""
    theirs = attempt(lambda: differentiate(form, input, args, kwargs, False, twice))
    ours = attempt(lambda: differentiate(form, input, args, kwargs, True, twice))
    if isinstance(ours, LeftOut):
        raise ours
    if isinstance(ours, NotImplementedError) and "rushlight leaves out" in str(ours):
        raise LeftOut(str(ours))
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return "" if type(ours) is type(theirs) else f"{_in_words(ours)}, not {_in_words(theirs)}", ""
    graphs = "" if ours[2] == theirs[2] else f"graph: {ours[2]}, not {theirs[2]}"
    if (ours[0] is None) != (theirs[0] is None):
        return f"requires grad: {ours[0] is not None}", graphs
    for i, (mine, real) in enumerate(zip(ours[1], theirs[1])):
        if (mine is None) != (real is None):
            return f"gradient {i} is {'None' if mine is None else 'a tensor'}", graphs
        if mine is None:
            continue
        if real.layout is not torch.strided:
            raise LeftOut("sparse gradients")
        if tuple(mine.shape) != tuple(real.shape) or not _close(in_torch(mine), real):
            return (
                f"gradient {i}: {in_torch(mine).flatten()[:4].tolist()}, not {real.flatten()[:4].tolist()}",
                graphs,
            )
    return "", graphs


# What is not compared, and why.
APART = {
    "nn.functional.multi_head_attention_forward": "dropout, and PyTorch's fused kernel has no second derivative",
    "nn.functional.scaled_dot_product_attention": "dropout, and PyTorch's fused kernel has no second derivative",
}
BY_CHANCE = ("bernoulli", "nn.functional.dropout")  # no differences to be taken
# Operators that are made of others here, and have a kernel and a node of their own in torch: their gradients are compared, and
# not the graphs.
MADE_OF_OTHERS = {
    "layer_norm": "no native_layer_norm",
    "rms_norm": "no _fused_rms_norm",
    "nn.functional.layer_norm": "no native_layer_norm",
    "nn.functional.rms_norm": "no _fused_rms_norm",
    "nn.functional.batch_norm": "",
    "group_norm": "no native_group_norm",
    "nn.functional.group_norm": "no native_group_norm",
    "cdist": "no _euclidean_dist",
    "nn.functional.bilinear": "no _trilinear",
    "nn.functional.channel_shuffle": "no channel_shuffle",
    "nn.functional.local_response_norm": "no avg_pool3d of images",
    **dict.fromkeys(
        ("nn.functional.cosine_embedding_loss", "nn.functional.hinge_embedding_loss"), "numbers are tensors"
    ),
    **dict.fromkeys(("nn.functional.poisson_nll_loss", "nn.functional.triplet_margin_loss"), "numbers are tensors"),
    "nn.functional.max_pool3d": "no max_pool3d_with_indices",
    "nn.functional.adaptive_max_pool2d": "no adaptive_max_pool2d of images",
    "nn.functional.grid_sample": "no grid_sampler_2d",
    "nn.functional.unfold": "no im2col",
    "nn.functional.instance_norm": "",
    **dict.fromkeys(("diff", "inner", "sum_to_size", "tensordot", "trapezoid", "trapz"), "other views"),
}
# Why graphs of first gradients differ, where they do.
GRAPHS_APART = {
    "prod": "no cumprod",
    "nn.functional.binary_cross_entropy": "no logit",
    **dict.fromkeys(
        ("scatter_reduce", "atan2", "arctan2", "hypot", "cumprod", "linalg.solve"), "a formula for each gradient"
    ),
    **dict.fromkeys(
        ("nn.functional.glu", "nn.functional.hardswish", "nn.functional.mish"),
        "no backward of its own",
    ),
    **dict.fromkeys(("nansum", "nanmean", "renorm", "take", "nn.functional.prelu"), "no backward of its own"),
}


def compared_names() -> list[str]:
    known = database()
    return [name for name in public_names() if any(entry.supports_autograd for entry in known.get(name, []))]


@dataclass
class Tally:
    """The result for one operator: how many forms and samples there are, and how many of them agree."""

    first: Counter = field(default_factory=Counter)
    second: Counter = field(default_factory=Counter)
    graphs: Counter = field(default_factory=Counter)  # of the first gradients
    graphs_apart: Counter = field(default_factory=Counter)  # those that differ for a reason that is known
    left_out: int = 0
    differ: list[str] = field(default_factory=list)  # first and second gradients, and the graphs of the results
    graphs_differ: list[str] = field(default_factory=list)


def gradients(name: str, count: int | None = None, twice: bool = True) -> Tally:
    tally = Tally()
    for entry in database()[name]:
        if not entry.supports_autograd:
            continue
        ways = [form for form in forms(entry, name, Report()) if not form.out]
        for input, args, kwargs, broadcasts in samples(entry, torch.float64, count):
            shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in (input, *args)]
            for form in ways:
                if not has_form(form, input, broadcasts):
                    continue
                where = f"{form.name} {shown} {kwargs}"
                try:
                    difference, graphs = compare(form, input, args, kwargs)
                    graphs = "" if name in MADE_OF_OTHERS else graphs
                    tally.first[not (difference or graphs)] += 1
                    if difference or graphs:
                        tally.differ.append(f"{where}: {difference or graphs}")
                    if not twice or not entry.supports_gradgrad:
                        continue
                    difference, graphs = compare(form, input, args, kwargs, twice=True)
                    tally.second[not difference] += 1
                    if difference:
                        tally.differ.append(f"{where}, twice: {difference}")
                    if name in MADE_OF_OTHERS:
                        continue
                    reason = why_apart(name, (input, args, kwargs)) if graphs else None
                    if reason is not None:
                        tally.graphs_apart[reason] += 1
                        continue
                    tally.graphs[not graphs] += 1
                    if graphs:
                        tally.graphs_differ.append(f"{where}, of the gradients: {graphs}")
                except LeftOut:
                    tally.left_out += 1
    return tally


def why_apart(name: str, arguments: tuple) -> str | None:
    carry = Carrier(torch)
    carry(list(arguments))
    if any(leaf.dim() == 0 for leaf in leaves(carry)):
        return GRAPHS_APART.get(name, "to no dimensions torch sums in one step")
    return GRAPHS_APART.get(name)


def has_form(form, input: Any, broadcasts: bool) -> bool:
    """Whether a sample can be run in this form; torch says so of the sample."""
    tensor = isinstance(input, torch.Tensor)
    if "in place" in form.name and (broadcasts or not tensor):
        return False
    return tensor or form.name not in ("method", "operator")


# ------------------------------------------------------------------------------------------------------------
# gradcheck, on one sample of each operator


def gradchecks(name: str, at_most: float = math.inf) -> dict[str, tuple[str, str]]:
    """Return the verdicts of `gradcheck` and `gradgradcheck`, rushlight's and torch's, on the smallest sample with elements. There
    is none on a sample of more than `at_most` elements, or on one that rushlight leaves out."""
    smallest = None
    for entry in database()[name]:
        form = next((form for form in forms(entry, name, Report()) if form.name == "function"), None)
        if form is None or not entry.supports_autograd:
            continue
        for input, args, kwargs, _ in samples(entry, torch.float64, None):
            carry = Carrier(torch)
            try:
                carry([input, args, kwargs])
            except LeftOut:
                continue
            sizes = [leaf.numel() for leaf in leaves(carry)]
            if sizes and min(sizes) and (smallest is None or (min(sizes) < 2, sum(sizes)) < smallest[0]):
                smallest = ((min(sizes) < 2, sum(sizes)), entry, form, input, args, kwargs)
    if smallest is None or smallest[0][1] > at_most:
        return {}
    _, entry, form, input, args, kwargs = smallest
    names = ["gradcheck", "gradgradcheck"] if entry.supports_gradgrad else ["gradcheck"]
    return {
        check: tuple(gradchecked(check, form, input, args, kwargs, ours) for ours in (True, False)) for check in names
    }


def gradchecked(check: str, form, input: Any, args: tuple, kwargs: dict, ours: bool) -> str:
    xp = rl if ours else torch
    carry = Carrier(xp)
    moved, moved_kwargs = [carry(argument) for argument in (input, *args)], carry(kwargs)
    given = [leaf.requires_grad_() for leaf in leaves(carry)]

    def function(*tensors):
        instead = {id(leaf): tensor for leaf, tensor in zip(given, tensors)}
        outputs = (form.ours if ours else form.theirs)(
            *(substitute(argument, instead) for argument in moved), **substitute(moved_kwargs, instead)
        )
        return tuple(tensor for tensor in results(outputs) if tensor.dtype.is_floating_point)

    xp.manual_seed(0)
    answer = attempt(lambda: getattr(xp.autograd, check)(function, given))
    return type(answer).__name__ if isinstance(answer, Exception) else str(answer)


def substitute(value: Any, instead: dict) -> Any:
    match value:
        case tuple() | list() if type(value) in (tuple, list):
            return type(value)(substitute(item, instead) for item in value)
        case dict():
            return {key: substitute(item, instead) for key, item in value.items()}
    return instead.get(id(value), value)


# ------------------------------------------------------------------------------------------------------------
# The table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, help="samples of each operator, the first ones; all, unless said")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--graphs", action="store_true", help="show which graphs of gradients differ")
    arguments = parser.parse_args()
    total, bad = [Counter(), Counter(), Counter()], 0
    checks, differing = Counter(), Counter()
    print(f"  {'':40}{'first':>14}{'second':>14}{'graphs':>14}  gradcheck, gradgradcheck")
    for name in arguments.names or compared_names():
        tally = gradients(name, arguments.count)
        counts = (tally.first, tally.second, tally.graphs)
        total, bad = [a + b for a, b in zip(total, counts)], bad + bool(tally.differ)
        differing += tally.graphs_apart
        shown = "".join(f"{counter[True]:6} of {counter.total():4}" for counter in counts)
        answers = {} if name in BY_CHANCE else gradchecks(name)
        for check, (ours, theirs) in answers.items():
            checks[f"{check}: {ours}" if ours == theirs else f"{check}: {ours}, not {theirs}"] += 1
        notes = [
            ", ".join(ours if ours == theirs else f"{ours}, not {theirs}" for ours, theirs in answers.values())
            or "none"
        ]
        notes += [f"left out {tally.left_out}"] if tally.left_out else []
        notes += [APART[name]] if name in APART else []
        notes += [MADE_OF_OTHERS[name]] if MADE_OF_OTHERS.get(name) else []
        notes += [f"{count} graphs apart: {why}" for why, count in tally.graphs_apart.items()]
        print(f"{'x' if tally.differ else ' '} {name:40}{shown}  {'; '.join(notes)}", flush=True)
        lines = tally.differ + (tally.graphs_differ if arguments.graphs else [])
        for line in lines if arguments.verbose else lines[:3]:
            print("     ", line[:1200])
    first, second, graphs = (f"{counter[True]} of {counter.total()}" for counter in total)
    print(f"\nfirst gradients, and the graphs that they come from: {first} agree; second gradients: {second}")
    print(
        f"the graphs that first gradients leave: {graphs}; apart: {', '.join(f'{n}, {why}' for why, n in differing.items())}"
    )
    print("; ".join(f"{check}: {number}" for check, number in sorted(checks.items())))
    print(f"{bad} operators disagree in gradients somewhere; torch {torch.__version__}")


if __name__ == "__main__":
    main()
