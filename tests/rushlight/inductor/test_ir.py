"""The loop IR: values that are shared, and loops that can be run element by element."""

import numpy as np

import rushlight as rl
from rushlight.inductor import ir
from rushlight.inductor.index import Index, Symbol

i, r = Symbol("i", 2), Symbol("r", 3)
x = ir.load("x", Index.of(i) * 3 + r, rl.float32)


def test_equal_values_are_one_object():
    assert ir.op("add", x, x) is ir.op("add", x, x)
    first, second = Index.of(i) * 3 + r, Index.of(r) + Index.of(i) * 3
    assert ir.load("x", first, rl.float32) is ir.load("x", second, rl.float32)
    assert ir.constant(0.0, rl.float32) is not ir.constant(-0.0, rl.float32)
    assert ir.constant(1, rl.float32) is ir.constant(True, rl.float32)


def test_a_value_knows_the_loop_variables_that_it_depends_on():
    assert ir.op("add", x, ir.constant(1.0, rl.float32)).symbols == {i, r}
    assert ir.load("v", Index.of(i), rl.float32).symbols == {i}


def test_a_constant_is_cast_at_once_and_what_is_loaded_when_it_runs():
    assert ir.cast(ir.constant(3, rl.int64), rl.float32) is ir.constant(3.0, rl.float32)
    assert ir.cast(x, rl.float32) is x
    assert ir.cast(x, rl.int64).name == "cast"


def test_walk_gives_each_value_once_after_what_it_is_computed_from():
    square = ir.op("mul", x, x)
    total = ir.op("add", square, square)
    assert list(ir.walk(total)) == [x, square, total]


def test_replace_moves_a_value_to_other_loops():
    k = Symbol("k", 6)
    moved = ir.reindexed(ir.op("neg", x), {i: Index.of(0), r: Index.of(k)})
    assert moved is ir.op("neg", ir.load("x", Index.of(k), rl.float32))


def test_loops_run_element_by_element():
    memory = {"x": np.arange(6, dtype=np.float32), "sum": np.zeros(2, np.float32)}
    ir.run(ir.ComputedBuffer("sum", [i], Index.of(i), x, rl.float32, [r], "sum"), memory)
    assert memory["sum"].tolist() == [3.0, 12.0]


def test_what_is_behind_a_condition_is_not_looked_at_where_it_does_not_hold():
    inside = ir.op("lt", ir.index_expr(Index.of(r), rl.int64), ir.constant(2, rl.int64), dtype=rl.bool)
    beyond = ir.load("y", Index.of(r), rl.float32)
    value = ir.op("masked", inside, beyond, ir.constant(-1.0, rl.float32), dtype=rl.float32)
    memory = {"y": np.ones(2, np.float32), "out": np.zeros(3, np.float32)}
    ir.run(ir.ComputedBuffer("out", [r], Index.of(r), value, rl.float32), memory)
    assert memory["out"].tolist() == [1.0, 1.0, -1.0]


def test_a_layout_says_how_much_memory_it_needs():
    assert ir.Layout((2, 3), (6, 2), rl.float32).nbytes == 44
    assert ir.Layout((2, 0), (1, 1), rl.float64).nbytes == 0
    assert ir.Layout((2, 3), (3, 1), rl.float64).nbytes == 48
