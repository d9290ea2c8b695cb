"""Scheduling: how many kernels a graph becomes, and in how many loops over a row."""

import pytest
from inductor_run import kernels, lowered, run_kernels, same, scheduled

import rushlight as rl
from rushlight.inductor import scheduler
from rushlight.inductor.ir import ComputedBuffer, ExternKernel, FallbackKernel, Kernel
from rushlight.inductor.scheduler_node import FusedSchedulerNode, inner_loops

x, y, row, square = rl.randn(4, 6), rl.randn(4, 6), rl.randn(6), rl.randn(6, 6)
functional = rl.nn.functional

COUNTS = {
    "a chain": (lambda x: ((x * 2).relu() - 1).tanh() * x, [x], 1),
    "two results of one input": (lambda x: (x.exp(), x.sin()), [x], 1),
    "one result of another": (lambda x: (lambda e: (e, e + 1))(x.exp()), [x], 1),
    "a view between": (lambda x: (x.exp().reshape(2, 12), x + 1), [x], 1),
    "a transposed view between": (lambda x: (lambda e: (e, e.t() * 2))(x.exp()), [x], 1),
    "a sum after pointwise": (lambda x: (x * x).sum(1), [x], 1),
    "pointwise after a sum": (lambda x: x.sum(1).relu() + 1, [x], 1),
    "a row compared with its largest": (lambda x: x / x.amax(1, True), [x], 1),
    "softmax": (lambda x: x.softmax(-1), [x], 1),
    "softmax over columns": (lambda x: x.softmax(0), [x], 1),
    "log_softmax": (lambda x: x.log_softmax(-1), [x], 1),
    "layer norm": (lambda x, w: functional.gelu(functional.layer_norm(x, (6,), w, w)), [x, row], 1),
    "rows and columns": (lambda x: (x.sum(0), x.sum(1)), [x], 2),
    "a sum of all, used everywhere": (lambda x: x / x.sum(), [rl.rand(4, 6) + 1], 1),  # a sum that does not cancel
    "a flipped result": (lambda x: (lambda e: e + e.flip(0))(x.exp()), [x], 2),
    "sums of different lengths": (lambda x, s: (x.sum(), s.sum()), [x, square], 2),
    "a product between": (lambda s: (s.relu() @ s).relu() @ s, [square], 2),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_graph_becomes_so_many_kernels(name):
    function, inputs, count = COUNTS[name]
    program = scheduled(function, *inputs)
    assert sum(isinstance(step, Kernel) for step in program.steps) == count
    expected = function(*inputs)
    for mine, theirs in zip(run_kernels(program, inputs), expected if isinstance(expected, tuple) else [expected]):
        same(mine, theirs)


def fused_node(function, *inputs):
    graph = lowered(function, *inputs)
    (node,) = scheduler.fuse_nodes(scheduler.create_nodes(scheduler.live_operations(graph)), graph.layouts)
    return node


@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (lambda x: x.sum(1), 1),
        (lambda x: x.sum(1) + x.amax(1), 1),
        (lambda x: x - x.mean(1, True), 2),
        (lambda x: x.var(1), 2),
    ],
)
def test_a_row_is_gone_over_as_often_as_its_reductions_demand(function, loops):
    node = fused_node(function, x)
    numbers = {number for nest, number in zip(node.nests, inner_loops(node)) if not node.works_by_row(nest)}
    assert len(numbers) == loops


def test_what_a_kernel_alone_uses_has_no_memory():
    program = scheduled(lambda x: x.softmax(-1), x)
    assert set(program.layouts) == {*program.inputs, program.outputs[0].buffer}


def test_what_nobody_uses_is_not_computed():
    program = scheduled(lambda x: (lambda e, m: e + 1)(x * 2, x @ x), square)
    assert [type(step) for step in program.steps] == [Kernel]


def test_steps_come_in_the_order_of_what_they_need():
    program = scheduled(lambda s: (s @ s.exp()).cumsum(0).relu() @ s, square)
    assert [type(step) for step in program.steps] == [Kernel, ExternKernel, FallbackKernel, Kernel, ExternKernel]
    there = set(program.inputs)
    for step in program.steps:
        assert step.reads - step.writes <= there
        there |= step.writes


def test_a_kernel_writes_an_input_only_after_everybody_has_read_it():
    def step(p, g):
        old = p @ g
        p.copy_(p - g * 0.1)
        return old

    p, g = rl.randn(6, 6), rl.randn(6, 6)
    expected = step(p.clone(), g)
    program = scheduled(step, p.clone(), g)
    assert isinstance(program.steps[0], ExternKernel) and program.mutated == program.inputs[:1]
    (mine,) = run_kernels(program, [now := p.clone(), g])
    same(mine, expected)
    same(now, p - g * 0.1)


def test_a_kernel_says_which_inputs_an_output_may_take_over():
    (kernel,) = kernels(lambda x, y: x * 2 + y.exp() * row, x, y)
    (output,) = kernel.inplace
    assert sorted(kernel.inplace[output]) == sorted(name for name in kernel.arguments[:2])
    (kernel,) = kernels(lambda x: x.softmax(-1), x)
    assert kernel.inplace[kernel.arguments[-1]] == kernel.arguments[:1]
    (kernel,) = kernels(lambda x: x + x.flip(0), x)
    assert kernel.inplace[kernel.arguments[-1]] == []


def test_loops_that_are_cut_alike_are_common_and_others_are_not():
    def node(*sizes):
        (operation,) = lowered(lambda x: x + 1, rl.zeros(sizes)).operations
        assert isinstance(operation, ComputedBuffer)
        return FusedSchedulerNode.of(operation)

    first, second = next(scheduler.common_loops(node(6, 4), node(2, 12)))
    assert [symbol.size for symbol in first.outer] == [2, 3, 4] and first.outer == second.outer
    assert not list(scheduler.common_loops(node(6, 4), node(4, 6), rotate=False))
    assert not list(scheduler.common_loops(node(6, 4), node(5, 5)))
