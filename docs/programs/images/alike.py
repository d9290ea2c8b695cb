"""Draw what *far out* means for `docs/alike.md`: `python docs/programs/images/alike.py`.

The class is made up: 30 students write ten functions of calls in random order, and one takes half of the functions from another.
The bits of its pairs are computed as `rushlight alike` computes them.
"""

from __future__ import annotations

import random

import numpy

from autograder.classroom.winnowing import answer, outlier_bits, pairs
from docs.programs import IMAGES

PICTURE, PHONE = IMAGES / "alike.svg", IMAGES / "alike-panels.svg"
CALLS = ["reversed", "sorted", "tuple", "list", "set", "sum", "max", "min", "len", "zip", "map", "any"]
STUDENTS, EXERCISES, COPIED = 30, 10, 5
WIDTH, NARROW, HEIGHT, LEFT, BASE, BINS, TOP = 720, 358, 170, 20, 120, 60, 90  # pixels; and columns of the drawing


def bits() -> tuple[list[float], float]:
    """The bits of all pairs of the class, and the limit above which a pair is far out."""
    draw = random.Random(0)

    def own(exercise: int) -> str:
        lines = "".join(f"    x = {one}({two}(x))\n" for one, two in [draw.sample(CALLS, 2) for _ in range(4)])
        return f"def e{exercise}(x):\n{lines}    return x\n"

    written = [[own(exercise) for exercise in range(EXERCISES)] for _ in range(STUDENTS)]
    written[7][:COPIED] = written[21][:COPIED]
    found = pairs(
        answer(f"{student}", f"e{exercise}", source)
        for student, given in enumerate(written)
        for exercise, source in enumerate(given)
    )
    return [pair.bits for pair in found], outlier_bits(found)


def drawn(width: int = WIDTH) -> str:
    """The picture: a column for each range of bits, whose height is the square root of the pairs, and the limit."""
    found, limit = bits()
    first, third = (float(quantile) for quantile in numpy.quantile(found, [0.25, 0.75]))
    scale = (width - 2 * LEFT) / (1.05 * max(found))
    counts = [0] * BINS
    for value in found:
        counts[int(BINS * value / (1.05 * max(found)))] += 1
    wide, shapes = (width - 2 * LEFT) / BINS, []
    for column, count in enumerate(counts):
        high = TOP * (count / max(counts)) ** 0.5
        fill = "#c93c37" if column * wide / scale >= limit else "#656d76"
        box = f'x="{LEFT + column * wide:.1f}" y="{BASE - high:.1f}" width="{wide - 1:.1f}" height="{high:.1f}"'
        shapes += [f'<rect {box} fill="{fill}"/>'] * bool(count)
    one, two, three = (LEFT + scale * value for value in (first, third, limit))
    below = BASE + 14
    shapes += [
        f'<path d="M{LEFT} {BASE}H{width - LEFT}" stroke="#848d97"/>',
        f'<path d="M{one:.0f} {below}H{two:.0f}" stroke="#22282c" stroke-width="6"/>',
        f'<path d="M{two:.0f} {below}H{three:.0f}" stroke="#22282c" stroke-dasharray="4 3"/>',
        f'<path d="M{three:.0f} {BASE - TOP}V{below + 6}" stroke="#c93c37" stroke-dasharray="4 3"/>',
        _text(one - (8 if width == WIDTH else 4), below + 5, "middle half", "end"),
        _text((two + three) / 2, below + 22, "three times as wide", "middle"),
        _text(three + 6, BASE - TOP + 12, f"far out: above {limit:.0f} bits"),
        _text(three + 16, BASE - 18, "a pair by chance"),
        _text(width - LEFT, BASE - (18 if width == WIDTH else 36), "half of the answers copied", "end"),
        _text(width - LEFT, below + 22, "bits of a pair →", "end"),
    ]
    size = f'viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
    size += f' font-family="system-ui, sans-serif" font-size="{14 if width == WIDTH else 9.5}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *shapes, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="#22282c" text-anchor="{anchor}">{text}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    PHONE.write_text(drawn(NARROW), encoding="utf-8")
