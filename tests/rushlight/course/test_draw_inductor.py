"""The pictures of compiled programs fit on their paper, and show what was fused and whose memory is whose."""

import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.inductor import ir, scheduler
from rushlight.inductor.graph import lower

LINES = [
    ("allocate", "buf0"),
    ("call", 0),
    ("reuse", "buf0", "buf1"),
    ("call", 1),
    ("allocate", "buf2"),
    ("call", 2),
    ("free", "buf1"),
    ("allocate", "buf3"),
    ("call", 3),
]
NBYTES = {"buf0": 400, "buf1": 400, "buf2": 100, "buf3": 300}
SOURCE = """
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(32L); x0+=static_cast<int64_t>(1L))
    {
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(50L); x1+=static_cast<int64_t>(16L))
        {
            tmp_acc0 = tmp_acc0 + tmp1;
        }
        out_ptr0[x0] = tmp_acc0;
    }
"""


def graph():
    def program(x, w):
        return rl.softmax((x @ w.t()).relu(), -1)

    return rl.aot.make_fx(program)(rl.zeros(3, 4), rl.zeros(5, 4))


def lowered():
    return lower(graph())


def nests():
    return [each for each in lowered().operations if isinstance(each, ir.ComputedBuffer)]


def node():
    program = lowered()
    return scheduler.fuse_nodes(scheduler.create_nodes(program.operations), program.layouts)[-1]


def fused():
    return rl.draw.fused(graph(), scheduler.schedule(lowered()))


PICTURES = {
    "what was fused": fused,
    "what was fused, in words": lambda: rl.draw.fused(graph(), [("mm", ["mm"]), ("kernel 0", ["relu", "_softmax"])]),
    "loop nests": lambda: rl.draw.nests([("before", nests()), ("after", node())]),
    "one loop nest": lambda: rl.draw.nests([("", nests()[0])]),
    "the loops of a text": lambda: rl.draw.nests([("kernel", rl.draw.loops_in(SOURCE, ["tmp_acc0"]))]),
    "lifetimes": lambda: rl.draw.lifetimes([("one", LINES), ("two", LINES)], NBYTES),
    "a text": lambda: rl.draw.annotated_lines(
        [("a line", "what it does"), ("another", ""), ("and a third", "more")], ["more"]
    ),
    "times": lambda: rl.draw.times([("one", [("eager", [9.0, 10.0, 12.0]), ("compiled", [2.0])])]),
    "times, one of which is long": lambda: rl.draw.times([("", [("eager", [9000.0, 9001.0]), ("compiled", [2.0])])]),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def written(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_node_names_the_steps_that_compute_it():
    said = written(fused())
    assert "mm (0)" in said and said.count("kernel 1") == 2


def test_common_loops_are_drawn_once():
    said = written(rl.draw.nests([("", node())]))
    assert said.count("for i0 < 3") == 1 and said.count("for r0 < 5") == 3


def test_the_loops_of_a_text_are_found_with_what_is_in_them():
    body = [
        (
            "for x0=0; x0< 32; x0+= 1",
            [("for x1=0; x1< 50; x1+= 16", ["tmp_acc0 = tmp_acc0 + tmp1;"]), "out_ptr0[x0] = tmp_acc0;"],
        )
    ]
    assert rl.draw.loops_in(SOURCE, ["tmp_acc0"]) == body


def test_memory_that_is_passed_on_stays_in_its_row_and_the_peak_is_written():
    figure = rl.draw.lifetimes([("one", LINES)], NBYTES)
    bars = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert bars["buf0"][1] == bars["buf1"][1] != bars["buf2"][1]
    assert bars["buf1"][0] == 2.0 and bars["buf2"][0] == 3.0  # from step 1 to the end of 2, and from 2 on
    assert "500 bytes" in written(figure)


def test_a_bar_that_is_too_long_is_cut_and_has_its_number():
    figure = rl.draw.times([("", [("eager", [9000.0]), ("compiled", [2.0])])])
    assert "9,000" in written(figure) and figure.axes[0].get_xlim()[1] < 10
