"""Pictures of the dispatcher: key sets as bits, the path of a call through the keys, tables of kernels, traces."""

import math
import re
from collections.abc import Mapping, Sequence

from rushlight.c10 import dispatch
from rushlight.c10.dispatch import BACKENDS, FALLTHROUGH, FUNCTIONALITIES, MISSING, DispatchKey, Operator, bits
from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MONO, cell, ink_on, rectangle, sheet

# A table's reasons, each with its letter and its grey. A fallthrough and a missing kernel have no grey.
REASONS = {
    "kernel": ("K", "0.35"),
    "autograd kernel": ("A", "0.46"),
    "math kernel": ("M", "0.68"),
    "default backend kernel": ("D", "0.80"),
    "backend fallback": ("F", "0.92"),
    "fallthrough": ("\u2193", "white"),
    "missing": ("", None),
}
SLANTED = {"rotation": 60, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}  # a text above a column


def key_sets(rows: Sequence[tuple[str, int]]) -> paper.Picture:
    """Key sets as rows of bits, the highest bit on the left. A bar marks the highest functionality."""
    names = [*reversed(FUNCTIONALITIES), *reversed(BACKENDS)]
    label = max(len(text) for text, _ in rows) * 8 * CHARACTER + 0.4
    head, gap, slant = 3.3, 0.6, 0.2
    figure, axes = sheet(MARGIN + label + len(names) + gap + slant + MARGIN, head + 1.25 * len(rows) + 0.9)
    lefts = [MARGIN + label + i + (gap if i >= len(FUNCTIONALITIES) else 0) for i in range(len(names))]
    for left, name in zip(lefts, names):
        paper.write(axes, left + 0.45, head - 0.15, name, 8, **SLANTED)
    for row, (text, key_set) in enumerate(rows):
        top = head + 1.25 * row
        axes.text(MARGIN, top + 0.5, text, size=8, **MONO)
        for i, left in enumerate(lefts):
            is_set = key_set >> len(names) - 1 - i & 1
            fill, ink = ("0.45", "white") if is_set else ("white", FAINT)
            cell(axes, left, top, 1, 1, fill, is_set, color=ink)
        highest = (key_set >> len(BACKENDS)).bit_length()
        if highest:
            rectangle(axes, lefts[len(FUNCTIONALITIES) - highest], top + 1.05, 1, 0.13, INK, "none")
    under = head + 1.25 * len(rows) + 0.4
    middles = lefts[0] + len(FUNCTIONALITIES) / 2, lefts[len(FUNCTIONALITIES)] + len(BACKENDS) / 2
    for middle, text in zip(middles, ("functionalities", "backends")):
        axes.text(middle, under, text, size=7.5, ha="center", **MONO | {"color": FAINT})
    return figure


def ladder(calls: Sequence[tuple[Operator, int]]) -> paper.Picture:
    """The path of each call through the keys, from the highest to the lowest, with the calls side by side. A filled rung is a
    key whose kernel runs. A rung with a down arrow is a key in the set that falls through. A hatched rung is a key without a
    kernel. Keys in faint letters are not in the set. A call ends at a backend's kernel, or at a composite kernel, which calls
    other operators."""
    names = [*reversed(FUNCTIONALITIES)]
    slot = min(8, (paper.ROOM - MARGIN + 0.8) / len(calls))
    rung, step, head = slot - 1.6, 1.4, 1.3
    figure, axes = sheet(MARGIN + len(calls) * slot - 0.8, head + step * len(names) + 0.2)
    for column, (op, key_set) in enumerate(calls):
        left = MARGIN + column * slot
        axes.text(left, 0.6, op.full_name, size=10, weight="bold", **MONO)
        path, ended = [], False
        for row, name in enumerate(names):
            bit = bits(DispatchKey[name])
            key = dispatch.highest_priority_key(key_set & (bit | (1 << len(BACKENDS)) - 1))
            in_set = bool(key_set & bit)
            kernel, reason = op.entry(key) if in_set else (None, "not in the set")
            runs = in_set and kernel is not FALLTHROUGH and kernel is not MISSING and not ended
            top = head + step * row
            fill = REASONS[reason][1] if runs else None if kernel is MISSING and not ended else "white"
            rectangle(axes, left, top, rung, 1.15, fill)
            ink = ink_on(fill) if runs else INK if in_set else FAINT
            label_text = "not reached" if in_set and ended else reason
            if kernel is FALLTHROUGH:  # such a key is removed from the set before anything runs
                label_text = f"{REASONS['fallthrough'][0]} fallthrough"
            paper.write(axes, left + 0.25, top + 0.38, key.name if in_set else name, 8, fill, color=ink)
            paper.write(axes, left + 0.25, top + 0.84, label_text, fill=fill, color=ink)
            if runs:
                path.append(top)
                ended = reason in ("math kernel", "default backend kernel") or name == "Dense"
        x = left + rung + 0.35
        for i, top in enumerate(path if len(path) > 1 else ()):
            axes.plot([left + rung, x], [top + 0.57] * 2, color=INK, linewidth=1)
            if i:
                paper.arrow(axes, (x, path[i - 1] + 0.57), (x, top + 0.57))
    return figure


def tables(panels: Sequence[tuple[str, Mapping[str, Mapping[str, str]]]], keys: Sequence[str]) -> paper.Picture:
    """Operators' tables, side by side or one below the other: for each operator (row) and key (column) the reason for the
    entry. A panel is a name and, by operator, the reasons by key, in the words of `REASONS`. A key may be absent
    if an operator has no entry for it."""
    label = max(len(op) for _, rows in panels for op in rows) * 7.5 * CHARACTER + 0.4
    count = max(len(rows) for _, rows in panels)
    shown = {reasons.get(key, "missing") for _, rows in panels for reasons in rows.values() for key in keys}
    used = [reason for reason in REASONS if reason in shown]
    head, slant = 3.9, 0.3
    width = MARGIN + label + len(panels) * (len(keys) + 0.8) + slant
    if below := width > paper.ROOM:  # each panel has a row of its own
        width = MARGIN + label + len(keys) + 0.8 + slant
    per_line = 4 if below or len(panels) == 1 else 7
    lines = math.ceil(len(used) / per_line)
    if per_line == 4:  # with few keys the legend below may need more room
        width = max(width, 2 * MARGIN + min(per_line, len(used)) * (max(map(len, used)) * 7.5 * CHARACTER + 1.3))
    panel = head + count + 0.5
    bottom = panel * (len(panels) if below else 1)
    figure, axes = sheet(width, bottom + 0.2 + 0.95 * lines + 0.2)
    for i, (title, rows) in enumerate(panels):
        left, up = MARGIN + label + (0 if below else i * (len(keys) + 0.8)), i * panel if below else 0
        paper.write_title(axes, left, up + 0.5, title, 10)
        for column, key in enumerate(keys):
            paper.write(axes, left + column + 0.45, up + head - 0.15, key, **SLANTED)
        for row, (op, reasons) in enumerate(rows.items()):
            if below or not i:
                axes.text(MARGIN, up + head + row + 0.5, op, size=7.5, **MONO)
            for column, key in enumerate(keys):
                letter, fill = REASONS[reasons.get(key, "missing")]
                cell(axes, left + column, up + head + row, 1, 1, fill, letter)
    for i, reason in enumerate(used):
        line, column = divmod(i, per_line)
        letter, fill = REASONS[reason]
        left = MARGIN + column * (width - 2 * MARGIN) / min(per_line, len(used))
        top = bottom + 0.2 + 0.95 * line
        cell(axes, left, top, 0.7, 0.7, fill, letter, size=7.5)
        axes.text(left + 0.9, top + 0.35, reason, size=7.5, **MONO)
    return figure


def trace(lines: Sequence[str]) -> paper.Picture:
    """The lines of a dispatch trace as nested boxes, one for each call, from top to bottom. A redispatch is dashed. The
    higher the functionality of the key, the darker the grey."""
    parts = [re.match(r"( *)\[(\w+)\] op=\[(.*)\], key=\[(.*)\]$", line).groups() for line in lines]
    calls = [(len(spaces), how, op.removeprefix("aten::"), key) for spaces, how, op, key in parts]
    deepest = max(depth for depth, *_ in calls)
    text = max(len(op) for _, _, op, _ in calls) * 8 * CHARACTER + 0.6
    indent, height = 1.1, 0.86
    right = MARGIN + deepest * indent + text
    name = max(len(key) for *_, key in calls) * 8 * CHARACTER
    figure, axes = sheet(right + 0.5 + name + MARGIN, 2 * MARGIN + height * len(calls))
    ranks = {key.name: (bits(key) >> len(BACKENDS)).bit_length() for key in dispatch.RUNTIME_KEYS}
    for row, (depth, how, op, key) in enumerate(calls):
        inside = next((i for i, call in enumerate(calls[row + 1 :]) if call[0] <= depth), len(calls) - row - 1)
        left, top = MARGIN + depth * indent, MARGIN + row * height
        grey = f"{1 - 0.5 * ranks.get(key, 0) / len(FUNCTIONALITIES):.2f}"
        box, line = (left, top, right - left, height * (inside + 1) - 0.08), "--" if how == "redispatch" else "-"
        rectangle(axes, *box, grey, INK, linestyle=line)
        paper.write(axes, left + 0.25, top + height / 2, op, 8, grey)
        axes.text(right + 0.4, top + height / 2, key, size=8, **MONO)
    return figure
