"""Pictures as notebooks keep them."""

import io
import re

import numpy as np
from PIL import Image

import rushlight as rl
from rushlight.course.draw.slim import CLOSE, OFF, slim_png, slim_svg

PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">\n<defs>\n<style type="text/css">*{}</style>\n</defs>\n'
)


def drawn(*shapes):
    """The shapes of a picture, after it has been made slim."""
    return slim_svg(PICTURE + "\n".join(shapes) + "</svg>").partition("</defs>\n")[2].removesuffix("</svg>")


def path(numbers):
    return f'<path d="{numbers}"/>'


def test_a_path_loses_points_that_a_line_passes_and_no_others():
    steps = "M 0 0 \nL 1.0004 0 \nL 1.0004 0 \nL 2 0 \nL 2 5.129 \nL 1 5.129 \nL 3 5.129 \nz\n"
    assert drawn(path(steps)) == path("M0 0L1 0L2 0L2 5.13L1 5.13L3 5.13z")
    assert drawn(path("M 0 0 Q 1 1 2 0 L 3 3 L 4 4")) == path("M0 0Q1 1 2 0L3 3L4 4")
    assert drawn(path("M 0 0 L 0 0 Q 1 1 2 0 L 2 0")) == path("M0 0Q1 1 2 0L2 0")
    assert drawn(path("M 1 1 L 1 1")) == path("M1 1L1 1")


def test_a_line_stays_close_to_every_point_of_a_curve():
    x = np.linspace(0, 100, 2000)
    y = 20 * np.sin(x / 5) + 0.02 * np.sin(50 * x)
    line = "M 0 0 " + " ".join(f"L {a:.6f} {b:.6f}" for a, b in zip(x, y))
    kept = np.array([pair.split() for pair in re.findall(r"L([^LM\"]+)", drawn(path(line)))], float)
    assert len(kept) < 200
    assert np.abs(np.interp(x, *kept.T) - y).max() < 10 * CLOSE  # at a steep place the distance is far less
    assert {tuple(kept[0]), tuple(kept[-1])} == {(0, 0), (100, round(y[-1], 2))}


def test_equal_styles_are_a_class_that_holds_in_this_picture_only():
    picture = slim_svg(PICTURE + '<rect style="fill: red"/><rect style="fill: red"/><rect style="fill: blue"/></svg>')
    key = re.search(r'<svg id="(\w+)"', picture)[1]
    assert f"#{key} .c0{{fill: red}}" in picture and picture.count('class="c0"') == 2
    assert picture.count("style=") == 1


def test_neighbouring_lines_of_one_style_are_one_path_and_other_shapes_stay():
    def styled(numbers, style, clip=""):
        return f'<path d="{numbers}"{clip} style="{style}"/>'

    line, filled, pale = "fill: none; stroke: red", "fill: red", "fill: none; stroke: red; stroke-opacity: 0.5"
    clipped = styled("M6 6L7 7", line, ' clip-path="url(#a)"')
    shapes = [styled("M0 0L1 1", line), styled("M2 2L3 3z", line), styled("M4 4L5 5", line), clipped]
    shapes += [styled(numbers, style) for style in (line, filled, pale) for numbers in ("M0 0L1 0", "M0 0L2 0")]
    paths = re.findall(r'd="([^"]*)"', drawn(*shapes))
    assert paths == ["M0 0L1 1M2 2L3 3zM4 4L5 5", "M6 6L7 7", "M0 0L1 0M0 0L2 0", *["M0 0L1 0", "M0 0L2 0"] * 2]


def test_groups_that_have_only_a_name_are_unwrapped():
    shapes = (
        '<g id="axes_1">',
        '<g id="text_1"/>',
        '<g clip-path="url(#a)">',
        '<g id="patch_1">',
        "<rect/>",
        "</g>",
        "</g>",
        "</g>",
    )
    assert drawn(*shapes).split() == ["<g", 'clip-path="url(#a)">', "<rect/></g>"]


def test_a_number_in_a_text_stays():
    text = '<text x="1.23456" y="2" transform="rotate(-0 1.23456 2)">0.123456</text>'
    assert drawn('<g id="text_1">', text, "</g>").strip() == '<text x="1.23" y="2">0.123456</text>'


def test_a_clip_to_the_whole_picture_goes_and_another_stays():
    def clip(name, size):
        return (
            f'<defs>\n<clipPath id="{name}">\n<rect x="0" y="0" width="{size}" height="{size}"/>\n</clipPath>\n</defs>'
        )

    shapes = '<rect clip-path="url(#all)"/>', '<rect clip-path="url(#part)"/>'
    picture = drawn(*shapes, clip("all", 9), clip("part", 4))
    assert "url(#all)" not in picture and 'id="all"' not in picture
    assert shapes[1] in picture and 'id="part"' in picture


def test_a_picture_keeps_its_size_its_resolution_and_its_colours():
    figure = rl.draw.strides(rl.arange(12).view(3, 4))
    whole = io.BytesIO()
    figure.savefig(whole, format="png", dpi=96 * figure._scale())
    with Image.open(whole) as before, Image.open(io.BytesIO(slim_png(whole.getvalue()))) as after:
        assert (after.mode, after.size, after.info["dpi"]) == ("P", before.size, before.info["dpi"])
        assert np.abs(np.asarray(after.convert("RGB"), int) - np.asarray(before.convert("RGB"), int)).max() <= OFF
