"""Graphs that a drawing has side by side are below each other on a phone."""

import re

import rushlight as rl
from docs.programs.hooks import panels
from rushlight.course.draw.backward import graphs


def drawing(*titles: str) -> str:
    x = rl.ones(2, requires_grad=True)
    return graphs([(title, (x * 2).exp().sum(), {"x": x}) for title in titles])._repr_svg_()


def test_graphs_side_by_side_are_windows_on_the_same_drawing_one_below_the_other():
    stacked = panels.stacked(drawing("torch", "rushlight", "again"))
    views = [[float(number) for number in view.split()] for view in re.findall(r'viewBox="([^"]*)"', stacked)]
    whole, *parts = views
    assert len(parts) == 3 and stacked.count("AccumulateGrad") == 3
    assert whole[3] == sum(part[3] for part in parts) and whole[2] == max(part[2] for part in parts)
    assert [part[0] for part in parts] == sorted({part[0] for part in parts})


def test_one_graph_stays_as_it_is():
    assert panels.stacked(drawing("torch")) is None
