"""The pictures of a call, a profile and a device fit on their paper, and show what they were given."""

import pytest
from pictures import is_legible, is_whole

import rushlight as rl
from rushlight.on_torch.trace import Event, FakeDevice

FRONTEND, DISPATCHER, ATEN, COMPILER = rl.draw.LAYERS


@pytest.mark.parametrize(
    "paths",
    [
        [("a + b", [(FRONTEND, "a + b"), (DISPATCHER, "aten::add.Tensor"), (ATEN, "add_kernel")])],
        [
            ("a title that is longer than all of its steps", [(FRONTEND, "f"), (COMPILER, "g")]),
            ("second", [(ATEN, "h")]),
        ],
    ],
)
def test_the_layers_of_a_call_fit_on_their_paper(paths):
    figure = rl.draw.layers(paths)
    assert is_whole(figure) and is_legible(figure)


@pytest.mark.parametrize("own", [None, [4.0, 6.0, 3.0]])
def test_a_profile_has_a_bar_for_each_event_and_a_panel_for_each_thread(own):
    events = [Event("aten::linear", 1, 0, 10), Event("aten::addmm", 1, 2, 8), Event("aten::mm", 2, 5, 8)]
    figure = rl.draw.spans(events, own)
    assert is_whole(figure) and is_legible(figure)
    assert [len(axes.patches) for axes in figure.axes] == [2, 1]


def test_what_a_profile_calls_stands_below_its_caller():
    events = [Event("inner", 1, 2, 8), Event("outer", 1, 0, 10), Event("innermost", 1, 3, 4)]
    inner, outer, innermost = (patch.get_y() for patch in rl.draw.spans(events).axes[0].patches)
    assert outer < inner < innermost


def test_a_device_and_its_program_fit_on_their_paper():
    device = FakeDevice(overhead=1.0)
    device.launch(5.0)
    work = [("work", device.now, device.done)]
    assert is_whole(
        rl.draw.queues([("one", [("launch", 0.0, 1.0), ("wait", 1.0, 6.0)], work, [("start", 0.0), ("stop", 6.0)])])
    )
