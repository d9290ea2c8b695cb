"""Are gradients torch's? For each operator that rushlight has, torch's own sample inputs, differentiated in both frameworks.

Every floating tensor among the arguments requires grad. The results are multiplied by numbers that are the same on both
sides, and the gradients compared (`torch.testing.assert_close`), and so are the graphs: the names of the nodes and their edges.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from parity import (
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

import rushlight as rl


def leaves(carry: Carrier) -> list:
    return [tensor for tensor in carry.tensors.values() if tensor.dtype.is_floating_point]


def results(value: Any) -> list:
    if isinstance(value, (torch.Tensor, rl.Tensor)):
        return [value]
    return [each for item in value for each in results(item)] if isinstance(value, (list, tuple)) else []


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


def differentiate(form, input: Any, args: tuple, kwargs: dict, ours: bool):
    xp = rl if ours else torch
    carry = Carrier(xp)
    function = form.ours if ours else form.theirs
    moved, moved_kwargs = [carry(each) for each in (input, *args)], carry(kwargs)
    for leaf in leaves(carry):
        leaf.requires_grad = True
    if "in place" in form.name:
        moved[0] = moved[0].clone()
    outs = [each for each in results(function(*moved, **moved_kwargs)) if each.requires_grad]
    if not outs:
        return None, [], []
    cotangents = []
    for out in outs:
        count = out.numel()
        values = torch.linspace(0.5, 1.5, max(count, 1), dtype=torch.float64)[:count].reshape(tuple(out.shape))
        values = values.to(getattr(torch, str(out.dtype).rpartition(".")[2]))
        cotangents.append(rl.from_numpy(values.numpy()) if ours else values)
    drawn = graph([out.grad_fn for out in outs])
    grads = xp.autograd.grad(outs, leaves(carry), cotangents, allow_unused=True)
    return outs, list(grads), drawn


def compare(form, input, args, kwargs) -> str:
    theirs = attempt(lambda: differentiate(form, input, args, kwargs, False))
    ours = attempt(lambda: differentiate(form, input, args, kwargs, True))
    if isinstance(ours, LeftOut):
        raise ours
    if isinstance(ours, NotImplementedError) and "rushlight leaves out" in str(ours):
        raise LeftOut(str(ours))
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        return "" if type(ours) is type(theirs) else f"{_in_words(ours)}, not {_in_words(theirs)}"
    if (ours[0] is None) != (theirs[0] is None):
        return f"requires grad: {ours[0] is not None}"
    for i, (mine, real) in enumerate(zip(ours[1], theirs[1])):
        if (mine is None) != (real is None):
            return f"gradient {i} is {'None' if mine is None else 'a tensor'}"
        if mine is None:
            continue
        if real.layout is not torch.strided:
            raise LeftOut("sparse gradients")
        if tuple(mine.shape) != tuple(real.shape) or not _close(in_torch(mine), real):
            return f"gradient {i}: {in_torch(mine).flatten()[:4].tolist()}, not {real.flatten()[:4].tolist()}"
    if ours[2] != theirs[2]:
        return f"graph: {ours[2]}, not {theirs[2]}"
    return ""


APART = {
    "nn.functional.dropout": "another generator",
    "nn.functional.embedding": "sparse gradients are left out",
}


def compared_names() -> list[str]:
    known = database()
    return [name for name in public_names() if any(entry.supports_autograd for entry in known.get(name, []))]


def gradients(name: str, count: int | None = None) -> tuple[int, list[str], int]:
    """How many forms and samples of an operator agree, which do not, and how many need what is left out."""
    agree, differ, left = 0, [], 0
    for entry in database()[name]:
        if not entry.supports_autograd:
            continue
        ways = [form for form in forms(entry, name, Report()) if not form.out]
        for input, args, kwargs, broadcasts in samples(entry, torch.float64, count):
            for form in ways:
                tensor = isinstance(input, torch.Tensor)
                if (
                    "in place" in form.name
                    and (broadcasts or not tensor)
                    or not tensor
                    and form.name in ("method", "operator")
                ):
                    continue
                try:
                    found = compare(form, input, args, kwargs)
                except LeftOut:
                    left += 1
                    continue
                if found:
                    shown = [tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in (input, *args)]
                    differ.append(f"{form.name} {shown} {kwargs}: {found}")
                else:
                    agree += 1
    return agree, differ, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, help="samples of each operator, the first ones; all, unless said")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    total, good, bad = 0, 0, 0
    for name in arguments.names or compared_names():
        agree, differ, left = gradients(name, arguments.count)
        total, good, bad = total + agree + len(differ), good + agree, bad + bool(differ)
        why = f"  ({APART[name]})" if name in APART else ""
        print(f"{'x' if differ else ' '} {name:40}{agree:6} of {agree + len(differ):6}  left out {left}{why}")
        for line in differ if arguments.verbose else differ[:3]:
            print("     ", line[:600])
    print(
        f"\n{good} of {total} agree, gradients and graphs; {bad} operators disagree somewhere; torch {torch.__version__}"
    )


if __name__ == "__main__":
    main()
