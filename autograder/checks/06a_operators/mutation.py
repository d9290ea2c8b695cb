"""Lab 06, operators that change their arguments: a step with momentum, and its registration."""

from __future__ import annotations

from ...engine.check import program
from ...engine.observe import difference, is_error
from ...engine.recorder import fresh_namespace, recorded
from ..cases import copied, defaults, drawn, explained, field, first_of, listed, numbers, several, when, with_layout
from ..shared_06.operators import POINTWISE, SHAPES, calls_in, collecting, registered
from .judges import calls_in_texts, first_line, inductor, opchecked

STEP_SCHEMA = "(Tensor(a0!) weight, Tensor(a1!) buffer, Tensor grad, float lr, float momentum) -> ()"

_LAYOUTS = ["", "gaps", "backwards"]
_steps = drawn(
    sizes=several((0, 4), 0, 3), layouts=listed(_LAYOUTS, _LAYOUTS, ["", "gaps", "equal"]),
    lr=[0.0, 0.1, 0.5, 1.0, 2.0], momentum=[0.0, 0.5, 0.9, 1.0], kind=["float32", "float64"],
)  # fmt: skip
_step = defaults(sizes=[3], layouts=["", "", ""], lr=0.5, momentum=0.9, kind="float64")


def _inputs(torch, sizes, layouts, kind):
    """weight, buffer and gradient."""
    made = [with_layout(torch, numbers(torch, sizes, i, kind).clone(), layout) for i, layout in enumerate(layouts)]
    return [x.fill_(torch.inf) if layout == "infinite" else x for x, layout in zip(made, layouts)]


@program(
    "on_torch.custom_ops.momentum_step",
    cases=_steps,
    edges=[
        *(_step(), _step([2, 3]), _step([]), _step([0, 2]), _step(lr=0.0), _step(momentum=0.0), _step(kind="float32")),
        *(_step([2, 3], ["gaps", "gaps", ""]), _step([2, 3], ["backwards", "", "equal"])),
        _step(layouts=["", "infinite", ""], momentum=0.0),
        _step(layouts=["", "", "infinite"], lr=0.0),  # 0 times infinity
    ],
    hint=first_of(
        when(
            lambda case, mine, theirs: (
                not is_error(mine) and difference(field(mine, "buffer"), field(theirs, "buffer"))
            ),
            "multiply the buffer by momentum, then add the gradient, in the buffer's memory, where a view of it sees it",
        ),
        explained(
            weight="subtract lr times the new buffer from the weight, in its own memory, where a view of it sees the change",
            returned="nothing is returned: a returned tensor would share memory with an argument",
        ),
    ),
)
def steps(xp, sizes, layouts, lr, momentum, kind):
    torch = xp.custom_ops.torch
    weight, buffer, grad = _inputs(torch, sizes, layouts, kind)
    views = [tensor.detach() for tensor in (weight, buffer, grad)]
    with recorded([*POINTWISE, *SHAPES], ["torch.optim._functional.sgd"]) as beyond:
        returned = xp.custom_ops.momentum_step(weight, buffer, grad, lr, momentum)
    weight, buffer, grad = map(copied, views)  # what is in memory now
    return {"weight": weight, "buffer": buffer, "grad": grad, "returned": returned, "beyond": beyond}


@steps.oracle
def torch_steps(torch, sizes, layouts, lr, momentum, kind):
    weight, buffer, grad = _inputs(torch, sizes, layouts, kind)
    weight.grad = grad if momentum else buffer * momentum + grad  # without momentum torch keeps no buffer
    optimizer = torch.optim.SGD([weight], lr=lr, momentum=momentum)
    optimizer.state[weight]["momentum_buffer"] = buffer
    optimizer.step()
    if momentum == 0:
        buffer = weight.grad
    shown = {"weight": copied(weight), "buffer": copied(buffer), "grad": copied(grad)}
    return shown | {"returned": None, "beyond": []}


def _in_training(torch, namespace, sizes, layouts, lr, momentum, kind):
    """Return the changes of versions by a step, and the graph and the results of a function that makes two steps."""
    op, graphs = getattr(torch.ops, namespace).momentum_step, []
    inputs = _inputs(torch, sizes, layouts, kind)
    before = [tensor._version for tensor in inputs]
    op(*inputs, lr, momentum)
    versions = [tensor._version != old for tensor, old in zip(inputs, before)]

    def train(weight, buffer, grad):
        op(weight, buffer, grad, lr, momentum)
        seen = weight * 2
        op(weight, buffer, grad, lr, momentum)
        return seen + buffer

    inputs = _inputs(torch, sizes, layouts, kind)
    seen = torch.compile(train, fullgraph=True, backend=collecting(graphs))(*inputs)
    shown = {"versions": versions, "calls": calls_in(graphs[-1], namespace), "seen": copied(seen)}
    return shown | {"after": [copied(tensor) for tensor in inputs]}


@program(
    "on_torch.custom_ops.register_momentum_step",
    cases=lambda st: _steps(st).map(lambda case: case | {"sizes": [3, 2], "layouts": ["", "", ""]}),
    edges=[_step(), _step([2, 3])],
    hint=explained(
        schema="mutates_args names what the operator writes to",
        returned="the result of torch.library.custom_op is returned",
    ),
    draws=4,
    disposable=True,
)
def mutation(xp, **case):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    returned = {"returned": type(xp.custom_ops.register_momentum_step(namespace)).__name__}
    return registered(torch, namespace, "momentum_step") | returned | _in_training(torch, namespace, **case)


@mutation.oracle
def torch_mutation(torch, **case):
    def step(weight, buffer, grad, lr, momentum):
        buffer.mul_(momentum).add_(grad)
        weight.add_(buffer, alpha=-lr)

    namespace = fresh_namespace()
    mutated = ("weight", "buffer")
    own = torch.library.custom_op(f"{namespace}::momentum_step", step, mutates_args=mutated, schema=STEP_SCHEMA)
    returned = {"returned": type(own).__name__}
    return registered(torch, namespace, "momentum_step") | returned | _in_training(torch, namespace, **case)


def _two_steps(op, lr, momentum):
    """A function that makes two steps and computes with what they have written, by kernels that Inductor need not compile."""

    def train(weight, buffer, grad):
        op(weight, buffer, grad, lr, momentum)
        op(weight, buffer, grad, lr, momentum)
        return weight.cumsum(0), buffer.cumsum(0)

    return train


@program(
    "on_torch.custom_ops.register_momentum_step.judged",
    cases=drawn(  # the simplest one is an edge
        sizes=[[2, 3], [3], [2, 2, 3]], layouts=listed(_LAYOUTS, _LAYOUTS, _LAYOUTS), lr=[0.5, 0.1, 2.0],
        momentum=[0.9, 0.5, 1.0], kind=["float64"],
    ),
    edges=[_step([2, 3]), _step([3, 2], ["gaps", "backwards", ""], 0.1)],
    hint=explained(result="the new values are in the memory of the tensors that were given"),
    draws=2,
    disposable=True,
)  # fmt: skip
def mutation_judged(xp, sizes, layouts, lr, momentum, kind):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_momentum_step(namespace)
    op = getattr(torch.ops, namespace).momentum_step
    shown = {"opcheck": opchecked(torch, namespace, op, (*_inputs(torch, sizes, layouts, kind), lr, momentum))}
    inputs, result, said = _inputs(torch, sizes, layouts, kind), (), "compiled"
    with inductor(xp) as texts:
        try:
            result = torch.compile(_two_steps(op, lr, momentum), fullgraph=True)(*inputs)
        except Exception as error:  # what opcheck says is shown all the same
            said = first_line(error, namespace)
    shown |= {"inductor": said, "result": [*map(copied, result)], "after": [copied(tensor) for tensor in inputs]}
    return shown | {"calls": calls_in_texts(texts, f"{namespace}::momentum_step")}


@mutation_judged.oracle
def torch_mutation_judged(torch, sizes, layouts, lr, momentum, kind):
    def step(weight, buffer, grad, lr, momentum):
        buffer.mul_(momentum).add_(grad)
        weight.add_(buffer, alpha=-lr)

    namespace, graphs = fresh_namespace(), []
    own = torch.library.custom_op(
        f"{namespace}::momentum_step", step, mutates_args=("weight", "buffer"), schema=STEP_SCHEMA
    )
    op = getattr(torch.ops, namespace).momentum_step
    shown = {"opcheck": opchecked(torch, namespace, op, (*_inputs(torch, sizes, layouts, kind), lr, momentum))}
    inputs = _inputs(torch, sizes, layouts, kind)
    train, backend = _two_steps(own, lr, momentum), collecting(graphs)
    torch.compile(train, fullgraph=True, backend=backend)(*_inputs(torch, sizes, layouts, kind))
    result = _two_steps(step, lr, momentum)(*inputs)
    shown |= {"inductor": "compiled", "result": [*map(copied, result)], "after": [copied(tensor) for tensor in inputs]}
    return shown | {"calls": [sum("functionalized" in call for call in calls_in(graphs[0], namespace))]}
