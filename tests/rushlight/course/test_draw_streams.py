"""The pictures of streams fit on their paper, and show what waits for what."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.course.draw.paper import MARK
from rushlight.cuda import CUDAGraph, Device, Stream, current_stream, default_stream, graph, stream, synchronize
from rushlight.cuda._sanitizer import find_races
from rushlight.cuda.memory import empty, host, launch
from rushlight.cuda.overlap import compute_in_chunks


def overlapped(buffers):
    with Device(launch_overhead=2.0, bandwidth=400.0) as device:
        inputs = [host(np.ones(2000, np.float32), pin_memory=True) for _ in range(4)]
        outputs = [host(np.ones(2000, np.float32), pin_memory=True) for _ in range(4)]
        compute_in_chunks(inputs, outputs, np.copy, 30.0, buffers)
    return device


def two_streams(waits):
    with Device(launch_overhead=2.0) as device:
        x, side = empty([4]), Stream()
        launch("fill", 30.0, out=x)
        if waits:
            side.wait_stream(current_stream())
        with stream(side):
            launch("read", 20.0, inputs=[x])
        synchronize()
    return device


def program(captured):
    """Five kernels on two streams, with a fork and a join."""
    with Device(launch_overhead=4.0) as device:
        main, side, g = Stream(), Stream(), CUDAGraph()

        def work():
            launch("a", 3.0)
            side.wait_stream(current_stream())
            with stream(side):
                launch("b", 3.0)
                launch("c", 3.0)
            launch("d", 5.0)
            current_stream().wait_stream(side)
            launch("e", 3.0)

        if captured:
            with graph(g, main):
                work()
            g.replay()
        else:
            with stream(main):
                work()
        synchronize()
    return device, g


def replays():
    return program(captured=False)[0], program(captured=True)[0]


PICTURES = {
    "chunks": lambda: rl.draw.stream_timeline([(f"{n} buffers", overlapped(n)) for n in (1, 2, 4)]),
    "a wait": lambda: rl.draw.stream_timeline(two_streams(True)),
    "a race": lambda: rl.draw.stream_timeline([("race", two_streams(False), find_races(two_streams(False).trace))]),
    "a replay in a timeline": lambda: rl.draw.stream_timeline(program(captured=True)[0]),
    "a replay": lambda: rl.draw.graph_replay(*replays()),
    "a graph": lambda: rl.draw.capture_graph(program(captured=True)[1]),
    "waves": lambda: rl.draw.wave_steps(range(64, 4097, 64), 2048),
    "some waves": lambda: rl.draw.wave_steps(range(100, 201), 300, (64, 32), 7, 2, shown=130),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def arrows(figure):
    return [text for axes in figure.axes for text in axes.texts if getattr(text, "arrow_patch", None) is not None]


def boxed(patch):
    return patch.get_fill() and not patch.get_hatch()


def marked(figure):
    return [patch for axes in figure.axes for patch in axes.patches if patch.get_facecolor() == to_rgba(MARK)]


def test_an_arrow_leads_from_the_work_before_an_event_to_the_first_work_after_it():
    [found] = arrows(rl.draw.stream_timeline(two_streams(True)))
    assert (found.xyann[0], found.xy[0]) == (32.0, 32.0)
    assert arrows(rl.draw.stream_timeline(two_streams(False))) == []


def test_an_event_of_a_stream_that_only_waited_passes_the_order_on():
    with Device() as device:
        first, second = Stream(), Stream()
        launch("a", 100.0)
        first.wait_stream(default_stream())
        second.wait_stream(first)
        with stream(second):
            launch("b", 10.0)
    [found] = arrows(rl.draw.stream_timeline(device))
    assert (found.xyann[0], found.xy[0]) == (105.0, 105.0)


def test_work_that_races_is_marked():
    device = two_streams(False)
    races = find_races(device.trace)
    assert len(marked(rl.draw.stream_timeline([("", device, races)]))) == 2
    assert marked(rl.draw.stream_timeline(device)) == []


def test_the_host_waits_where_it_is_hatched():
    device = two_streams(True)
    assert device.host_timeline == [("wait", 4.0, 52.0)]
    [axes] = rl.draw.stream_timeline(device).axes
    [hatched] = [patch for patch in axes.patches if patch.get_hatch()]
    assert (hatched.get_x(), hatched.get_width()) == (4.0, 48.0)


def test_a_replay_is_one_launch_and_its_kernels_are_those_of_the_capture():
    eager, replay = replays()
    above, below = rl.draw.graph_replay(eager, replay).axes
    widths = [sorted(patch.get_width() for patch in axes.patches if boxed(patch)) for axes in (above, below)]
    assert widths == [[3, 3, 3, 3, 4, 4, 4, 4, 4, 5], [3, 3, 3, 3, 4, 5]]


def test_a_stream_is_hatched_until_its_next_kernel_is_launched():
    above, below = rl.draw.graph_replay(*replays()).axes
    hatched = [
        sorted((int(patch.get_y()), patch.get_x(), patch.get_width()) for patch in axes.patches if patch.get_hatch())
        for axes in (above, below)
    ]
    # launched at 4 (a), 8 (b), 12 (c), 16 (d) and 20 µs (e, while d runs): a, d, e on the first stream, b, c on the second
    assert [each for each in hatched[0] if each[0]] == [(1, 0, 4), (1, 7, 9), (2, 0, 8), (2, 11, 1)]
    assert [each for each in hatched[1] if each[0]] == [(1, 0, 4), (2, 0, 4)]


def test_the_nodes_of_a_graph_have_an_arrow_for_each_dependency():
    cuda_graph = program(captured=True)[1]
    figure = rl.draw.capture_graph(cuda_graph)
    assert len(arrows(figure)) == sum(len(node.dependencies) for node in cuda_graph.nodes) == 5


def test_the_last_wave_has_a_square_for_each_place():
    # 3 times 10 tiles, 14 places
    *_, squares = rl.draw.wave_steps(range(100, 201), 300, (64, 32), 7, 2, shown=130).axes
    hatched = [patch for patch in squares.patches if patch.get_hatch()]
    assert len(hatched) == 3 * 14 - 30


@pytest.mark.parametrize("step", [1, 23])
def test_the_waves_grow_at_the_row_that_is_one_too_many(step):
    waves, useful, _ = rl.draw.wave_steps(range(1, 301, step), 300, (64, 300), 2).axes
    steps = [1, 64, 65, 128, 129, 192, 193, 256, 257, 300]
    assert [*waves.lines[0].get_xdata()] == steps
    assert [*waves.lines[0].get_ydata()] == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert [*useful.lines[0].get_ydata()][:5] == pytest.approx([1 / 128, 64 / 128, 65 / 128, 1, 129 / 256])
