"""Planning memory: nothing that is still needed is overwritten, and Inductor reuses what we reuse."""

import random
import re

import numpy as np
import pytest
import torch
from sweep import in_one_test, sweep
from torch._inductor.utils import run_and_get_code

import rushlight as rl
from rushlight import inductor
from rushlight.inductor import memory
from rushlight.inductor.ir import FallbackKernel, Kernel, ReinterpretView


def programs_of(function, *arguments):
    """The scheduled graphs of a function, with their plans."""
    found = []

    def compiler(module, inputs):
        program = inductor.scheduler.schedule(inductor.graph.lower(module))
        found.append((program, memory.plan(program)))
        return module

    rl.aot.aot_autograd(function, arguments, compiler)
    return found


def random_function(seed):
    """Products, pointwise work, reductions and views of square matrices, with one or two results."""
    choose = random.Random(seed)
    values = ["x", "y"]
    lines = []
    for number in range(choose.randint(3, 9)):
        a, b = choose.choice(values[-3:]), choose.choice(values)
        text = choose.choice(
            [
                "{a} @ {b}",
                "{a} @ {b}",
                "({a} + {b}).relu()",
                "{a}.t() * 2",
                "rl.softmax({a}, -1)",
                "{a} - {b}.sum(0)",
                "{a}.cumsum(0)",
            ]
        )
        lines.append(f"    v{number} = {text.format(a=a, b=b)}\n")
        values.append(f"v{number}")
    results = dict.fromkeys([values[-1], choose.choice(values[2:])])
    space = {"rl": rl}
    exec(f"def function(x, y):\n{''.join(lines)}    return [{', '.join(results)}]", space)
    return space["function"]


def matrices(count=2, size=4):
    numbers = np.random.default_rng(0)
    return [rl.from_numpy(numbers.standard_normal((size, size)).astype(np.float32)) for _ in range(count)]


def uses(program):
    """For each buffer the first and the last step that uses it; what leaves the graph is used after all of them."""
    found = {}
    for i, step in enumerate(program.steps):
        for name in step.reads | step.writes:
            found.setdefault(name, [i, i])[1] = i
    for each in program.outputs:
        if isinstance(each, ReinterpretView):
            found[each.buffer][1] = len(program.steps)
    return found


@in_one_test
@pytest.mark.parametrize("seed", range(30))
def test_two_buffers_share_memory_only_if_one_ends_before_the_other_begins_or_is_written_in_place(seed):
    for program, plan in programs_of(random_function(seed), *matrices()):
        living = uses(program)
        for a, root in plan.roots.items():
            for b in plan.roots:
                if a != b and root == plan.roots[b] and living[a][0] <= living[b][0]:
                    end, start = living[a][1], living[b][0]
                    in_place = isinstance(program.steps[start], Kernel) and a in program.steps[start].inplace.get(b, [])
                    assert end < start or (end == start and in_place and plan.before[b] == a)


@in_one_test
@pytest.mark.parametrize("seed", range(30))
def test_pieces_of_the_pool_do_not_overlap_and_what_leaves_is_not_in_it(seed):
    for program, plan in programs_of(random_function(seed), *matrices()):
        taken = sorted((start, start + program.layouts[root].nbytes) for root, start in plan.offsets.items())
        assert all(end <= start for (_, end), (start, _) in zip(taken, taken[1:]))
        assert not taken or taken[-1][1] <= plan.nbytes
        assert all(start % memory.ALIGNMENT == 0 for start, _ in taken)
        for each in program.outputs:
            assert plan.roots.get(each.buffer, each.buffer) not in plan.offsets
        for step in program.steps:
            if isinstance(step, FallbackKernel):
                assert not {plan.roots.get(name) for name in step.reads} & plan.offsets.keys()


@pytest.mark.parametrize("seed", sweep(range(12), every=4))
def test_a_random_program_computes_what_it_computes_uncompiled(seed):
    function, inputs = random_function(seed), matrices()
    compiled = inductor.compile_fx(function, inputs)
    for mine, wanted in zip(compiled(*inputs), function(*inputs), strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted.numpy(), rtol=2e-4, atol=2e-5)
        assert mine.stride() == wanted.stride()


def test_real_inductor_reuses_the_same_buffers():
    def chain(x, wide):
        a = x @ x
        b = a @ wide
        c = a @ b
        d = x @ c
        e = d @ d.t()
        f = e @ a
        g = f @ d
        return [g @ wide.t()]

    x, wide = np.ones((4, 4), np.float32), np.ones((4, 6), np.float32)
    _, (code,) = run_and_get_code(torch.compile(chain, dynamic=False), torch.from_numpy(x), torch.from_numpy(wide))
    theirs = re.findall(r"(buf\d+) = (buf\d+); del \2  # reuse", code)
    ((_, plan),) = programs_of(chain, rl.from_numpy(x), rl.from_numpy(wide))
    assert theirs
    assert [(line[2], line[1]) for line in plan.lines if line[0] == "reuse"] == theirs


def test_pointwise_work_is_done_in_place_and_needs_no_pool():
    ((program, plan),) = programs_of(lambda x: [(x @ x).relu() * 2], *matrices(1))
    assert plan.lines[-2:] == [("reuse", "buf0", program.outputs[0].buffer), ("call", 1)]
    assert plan.nbytes == 0


def test_an_input_is_never_written_in_place():
    (x,) = matrices(1)
    before = x.numpy().copy()
    inductor.compile_fx(lambda x: [x.relu() * 2], [x])(x)
    assert (x.numpy() == before).all()


def test_what_is_seen_through_the_view_of_an_operator_outside_stays():
    schema = rl.library.Library("test_inductor_memory", "DEF")
    schema.define("first(Tensor(a) x) -> Tensor(a)")
    schema.impl("first", lambda x: x.select(0, 0), "CompositeExplicitAutograd")

    layout = inductor.ir.Layout((4, 4), (4, 1), rl.float32)
    row = inductor.ir.Layout((4,), (1,), rl.float32)
    whole = ReinterpretView("buf0", (4, 4), (4, 1), 0, rl.float32)
    text = "static int64_t {}(float* out) {{ for (int i = 0; i < 16; i++) out[i] = {}; return 0; }}"
    ones = Kernel("ones", text.format("ones", 1), ["buf0"], set(), {"buf0"}, {}, [])
    twos = Kernel("twos", text.format("twos", 2), ["buf2"], set(), {"buf2"}, {}, [])
    view = FallbackKernel(rl.ops.test_inductor_memory.first.default, (whole,), {}, ["buf1"])
    outputs = [
        ReinterpretView("buf1", (4,), (1,), 0, rl.float32),
        ReinterpretView("buf2", (4, 4), (4, 1), 0, rl.float32),
    ]
    program = inductor.ir.Program(
        [], {"buf0": layout, "buf1": row, "buf2": layout}, {}, [ones, view, twos], outputs, []
    )
    first, second = inductor.wrapper.compile_program(program, memory.plan(program))()
    assert first.tolist() == [1, 1, 1, 1]
    assert second.tolist() == [[2] * 4] * 4
    schema._destroy()
