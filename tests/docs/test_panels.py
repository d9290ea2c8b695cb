"""A drawing that is too wide for a phone has a narrow one, with letters of the same size."""

import re
from functools import partial

import pytest

import rushlight as rl
from docs.programs import IMAGES
from docs.programs.hooks import panels, schemes
from docs.programs.hooks.narrow import LABEL, PHONE, narrow
from rushlight.course.draw import paper, quantization
from rushlight.course.draw.backward import graph, graphs

WIDE = "a_parameter_with_a_long_name"


def of(*titles: str, name: str = WIDE) -> str:
    x = rl.ones(2, requires_grad=True)
    return graphs([(title, (x * 2).exp().sum(), {name: x}) for title in titles])._repr_svg_()


def chart() -> str:
    """Bars of 10, 20 and 30 units with names, a long title and a name in each bar."""
    figure, [[axes]] = paper.charts(8, 3)
    for row, long in enumerate((10, 20, 30)):
        paper.bar(axes, (0, row, long, 0.8), "0.8", f"a bar of {long}", 0.2)
    axes.set(xlim=(0, 30), ylim=(3, 0), xlabel="units", xticks=[0, 10, 20, 30])
    axes.set_title(
        "a title that is too long for a phone in one line of letters that one can read, " * 2, loc="left", size=9
    )
    paper.name_rows(axes, ["the first", "the second", "the third"], 9.5)
    return figure._repr_svg_()


def areas() -> str:
    """Two areas, from 0 to 10 and from 0 to 4, and a bar as wide as the second."""
    figure, [[axes]] = paper.charts(8, 3)
    for end, height in (10, 1), (4, 2):
        axes.fill_between([0, end], 0, height, color="0.8")
    paper.bar(axes, (0, 3, 4, 0.8), "0.8")
    axes.set(xlim=(0, 10), ylim=(0, 4))
    return figure._repr_svg_()


def tree(count: int = 6) -> str:
    """A node that reads others, which are in one row."""
    leaves = [rl.ones(2, requires_grad=True) for _ in range(count)]
    return graph(rl.stack(leaves), {f"parameter_{i}": leaf for i, leaf in enumerate(leaves)})._repr_svg_()


def boxes(drawing: str) -> list[list[float]]:
    """The left, the foot and the right of each bar."""
    edged = re.findall(r'<path d="M(\S+) (\S+)L(\S+) \S+L\S+ \S+L\S+ \S+\s*z" [^>]*clip-path[^>]*class', drawing)
    return [[*map(float, box)] for box in edged]


def places(drawing: str, *titles: str) -> tuple[set[float], set[int]]:
    """The different x, and the different lines, of the titles."""
    found = [re.search(rf"translate\((\S+) (\S+)\)[^>]*>{title}<", drawing) for title in titles]
    return {float(title[1]) for title in found}, {round(float(title[2]) / 20) for title in found}


@pytest.mark.parametrize(("name", "beside"), [(WIDE, 1), ("a_parameter", 2), ("x", 3)])
def test_graphs_side_by_side_are_below_each_other_where_they_do_not_fit(name, beside):
    titles = "torch", "rushlight", "again"
    narrow = panels.fitted(of(*titles, name=name))
    across, down = places(narrow, *titles)
    assert (len(across), len(down)) == (beside, -(-3 // beside))
    assert narrow.count("AccumulateGrad") == 3


def test_a_drawing_that_fits_a_phone_has_no_other():
    assert panels.fitted(of("torch")) is None


def rows() -> str:
    """Sixteen boxes in a row, each with a word."""
    figure, axes = paper.sheet(paper.ROOM, 2)
    for i in range(16):
        paper.cell(axes, i * paper.ROOM / 16, 0, paper.ROOM / 16, 1, "0.9", "wide")
    return figure._repr_svg_()


def names() -> str:
    """Twelve points in a row, each with its name."""
    points = [(f"point number {i}", 10 + 5 * i, 0.9) for i in range(12)]
    return quantization.trade_off([("all", points)], "size", "score")._repr_svg_()


def test_a_drawing_is_wider_than_its_column_rather_than_with_smaller_letters_cut_words_or_names_on_each_other():
    for drawing in tree, rows, names:
        narrow = panels.fitted(drawing())
        width, units = (float(re.search(name, narrow)[1]) for name in (r' width="([\d.]+)"', r'viewBox="0 0 ([\d.]+)'))
        assert width > PHONE and 7.5 * width / units > 8.9
    words = re.findall(r">([^<>]*)</t(?:span|ext)>", panels.fitted(tree()))
    assert words.count("Accumulate") == words.count("Grad") > 1


@pytest.mark.parametrize(
    ("drawing", "column", "letter"), [(chart, PHONE, 11), (partial(tree, 5), PHONE, 9), (chart, 688, 11)]
)
def test_a_narrow_drawing_fits_its_column_and_its_letters_are_eleven_pixels_high_or_nine_if_a_word_would_be_cut(
    drawing, column, letter
):
    narrow = panels.fitted(drawing(), column)
    width, units = (float(re.search(name, narrow)[1]) for name in (r' width="([\d.]+)"', r'viewBox="0 0 ([\d.]+)'))
    sizes = [*map(float, re.findall(r"font-size: ([\d.]+)px", narrow))]
    assert width <= column + 0.1 and min(sizes) * width / units > letter - 0.1


def test_a_chart_shrinks_evenly():
    lefts, rights = zip(*[(left, right) for left, _, right in boxes(panels.fitted(chart()))], strict=True)
    assert len({*lefts}) == 1 and [right - lefts[0] for right in rights] == pytest.approx(
        [(rights[0] - lefts[0]) * times for times in (1, 2, 3)], abs=0.1
    )


def test_an_area_ends_where_a_bar_of_its_width_does():
    paths = re.findall(r'<path (?:class="c2" )?d="([^"]*z)"', panels.fitted(areas()))[2:]  # after two grounds
    rights = [max(map(float, re.findall(r"[\d.]+", path)[::2])) for path in paths]
    assert rights[0] > 2 * rights[1] and rights[1] == pytest.approx(rights[2], abs=0.1)


def test_a_panel_beside_a_higher_one_ends_where_its_own_drawing_does():
    def high(*titles: str) -> float:
        x = rl.ones(2, requires_grad=True)
        sums = {"low": x.sum(), "high": (x * 2).exp().sin().exp().sum()}
        drawing = graphs([(title, sums[title], {WIDE: x}) for title in titles])._repr_svg_()
        return float(re.search(r'viewBox="0 0 \S+ ([\d.]+)"', panels.fitted(drawing))[1])

    assert high("low", "low", "high") < high("high", "high", "high") - 100


def test_the_ground_of_a_text_on_hatching_is_as_high_as_its_lines():
    figure, axes = paper.sheet(20, 4)
    paper.cell(axes, 1, 1, 18, 2, None, "words " * 12, bbox=paper.PLATE | {"pad": 1})
    narrow = panels.fitted(figure._repr_svg_())
    _, path = re.findall(r'd="(M[^"]*z)" class="c0"', narrow)  # the first is the ground of the drawing
    lines, ys = narrow.count("<tspan"), [*map(float, re.findall(r"[\d.]+", path))][1::2]
    assert lines > 1 and max(ys) - min(ys) > 8 * lines


def test_a_name_stays_beside_its_marker():
    figure, [[axes]] = paper.charts(9, 3)
    axes.plot([5], [1], "o", markersize=7)
    axes.annotate("a name of it", (5, 1), xytext=(9, 0), textcoords="offset points", va="center", size=10)
    axes.set(xlim=(0, 10))
    narrow = panels.fitted(figure._repr_svg_())
    marker, name = re.search(
        r'use [^>]*x="(\S+)" [^>]*fill:.*translate\((\S+) [^>]*>a name', narrow, re.DOTALL
    ).groups()
    assert float(name) - float(marker) == pytest.approx(9, abs=0.1)


def test_each_of_several_charts_keeps_two_marks_of_its_axis():
    figure, [charts] = paper.charts(9, 3, columns=4)
    for axes in charts:
        axes.set(xlim=(0, 11))
        axes.set_xticks([1, 4, 7, 10], ["0.5", "0.04", "0.00032", "1e-05"])
    narrow = panels.fitted(figure._repr_svg_())
    assert narrow.count(">0.5<") == narrow.count(">0.00032<") == 4


def test_the_lines_of_a_box_of_the_map_stay_together_when_a_box_beside_it_has_more():
    drawing = narrow((IMAGES / "map.svg").read_text(encoding="utf-8"))
    rows = {said: float(y) for y, said in re.findall(r'translate\(\S+ ([\d.]+)\)"[^>]*>([^<]+)</text>', drawing)}
    assert "custom operators" not in rows  # it has two lines
    for first, second in ("modules", "and training"), ("profiling", "and memory"):
        assert rows[second] - rows[first] < 1.3 * LABEL


def test_the_number_of_a_hatched_bar_is_in_both_drawings():
    mib = 2**20
    blocks = [{"size": size * mib, "state": state} for size, state in ((5, "active_allocated"), (15, "inactive"))]
    moments = [("a segment of twenty", [{"total_size": 20 * mib, "blocks": blocks}])]
    drawing = rl.draw.memory_map(moments)._repr_svg_()
    assert all(
        re.search(rf">{number}</text>", each) for each in (drawing, panels.fitted(drawing)) for number in (5, 15)
    )


@pytest.mark.parametrize("others, follows", [([], True), ([(255, 160, 0)], False)], ids=["greys", "colours"])
def test_a_drawing_with_an_image_follows_the_scheme_unless_an_image_has_colours(others, follows):
    figure = paper.Picture(figsize=(9, 3), facecolor="white")
    for axes, pixel in zip(figure.subplots(1, 2), [(90, 90, 90), *others]):
        axes.imshow([[(0, 0, 0), pixel]])
    drawing = figure._repr_svg_()
    for each in drawing, panels.fitted(drawing):
        shown = schemes.following(each)
        assert (shown != each, "invert(" in shown, "light-dark(" in shown) == (follows,) * 3
