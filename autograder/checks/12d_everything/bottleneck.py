"""Lab 12d, two profiles: what became slow."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawing, rows

NAMES = ["attention", "mlp", "aten::mm", "aten::to", "aten::cat"]


@drawing
def _profiles(draw, st):
    """Two profiles of a small tree of events: a name, a gap before it, its own time, and what is inside of it.

    After a gap of -1 an event begins with the one around it, or before its neighbour ends."""

    def tree(depth):
        inside = st.just([]) if depth == 0 else st.lists(st.deferred(lambda: tree(depth - 1)), max_size=2)
        return st.tuples(st.sampled_from(NAMES), st.integers(-1, 2), st.integers(1, 6), inside).map(list)

    before = draw(st.lists(tree(2), max_size=3))
    after = draw(st.lists(tree(2), max_size=3)) if draw(st.booleans()) else [_slower(node, draw, st) for node in before]
    return {"before": before, "after": after, "backwards": draw(st.booleans())}


def _slower(event, draw, st):
    name, gap, own, inside = event
    more = [[draw(st.sampled_from(NAMES)), 0, draw(st.integers(1, 9)), []]] if draw(st.integers(0, 2)) == 0 else []
    return [name, gap, own + draw(st.sampled_from([0, 0, 3])), [_slower(node, draw, st) for node in inside] + more]


def _leaf(name, own, gap=0):
    return [name, gap, own, []]


@program(
    "course.bottleneck.find_bottleneck",
    cases=_profiles,
    edges=rows("before after backwards", *(
        ([], [], False), ([], [_leaf("mlp", 3)], False), ([_leaf("mlp", 3)], [], False),
        ([_leaf("mlp", 3)], [_leaf("mlp", 3, 5)], False),
        ([_leaf("mlp", 3)], [_leaf("mlp", 1), _leaf("mlp", 2)], False),
        ([_leaf("mlp", 3)], [_leaf("mlp", 2), _leaf("mlp", 2)], False),
        ([["attention", 0, 6, [_leaf("aten::mm", 4)]]], [["attention", 0, 6, [_leaf("aten::mm", 4), _leaf("aten::to", 9)]]], True),
        ([["attention", 0, 2, [_leaf("aten::mm", 4)]]], [["attention", 0, 9, [_leaf("aten::mm", 2)]]], False),
        ([["mlp", 1, 2, [["aten::mm", 1, 2, [_leaf("aten::to", 3)]]]]],
        [["mlp", 1, 2, [["aten::mm", 1, 3, [_leaf("aten::to", 8)]]]]], True),
        ([_leaf("mlp", 2), _leaf("attention", 2)], [_leaf("mlp", 5), _leaf("attention", 5)], False),
        ([_leaf("attention", 2), _leaf("mlp", 2)], [_leaf("mlp", 5), _leaf("attention", 5)], True),
        ([["mlp", 0, 3, [_leaf("aten::to", 2)]], _leaf("aten::to", 4)],
        [["mlp", 0, 3, [_leaf("aten::to", 5)]], _leaf("aten::to", 4)], False),
        ([["mlp", 0, 2, [_leaf("mlp", 2)]]], [["mlp", 0, 3, [_leaf("mlp", 3), _leaf("mlp", 1)]]], False),
        ([_leaf("aten::cat", 9), _leaf("mlp", 1)], [_leaf("aten::cat", 2), _leaf("mlp", 3), _leaf("aten::to", 1)], False),
        ([], [["mlp", 0, 1, [_leaf("aten::to", 3)]], _leaf("mlp.up", 3), _leaf("attention", 3), _leaf("Linear", 3)], False),
        ([_leaf("mlp", 1)], [["mlp", 0, 1, [_leaf("mlp", 1)]]], False),
        *(([], [["mlp", 0, 1, [_leaf("aten::mm", 2, -1)]], _leaf("aten::to", 4, -1)], flag) for flag in (False, True)),
    )),
    show=lambda torch, before, after, backwards: f"find_bottleneck({_events(before, backwards)},\n    {_events(after, backwards)})",
)  # fmt: skip
def rows_of(rl, before, after, backwards):
    given = _events(before, backwards), _events(after, backwards)
    result = rl.course.bottleneck.find_bottleneck(*given)
    assert given == (_events(before, backwards), _events(after, backwards)), "the events have changed"
    return result


@rows_of.oracle
def _(torch, before, after, backwards):
    util, totals = torch.autograd.profiler_util, []
    for profile in (before, after):
        made = [
            util.FunctionEvent(i, name, 1, start, end)
            for i, (name, start, end) in enumerate(_events(profile, backwards))
        ]
        util.EventList(made)._populate_cpu_children()
        table = {}
        for event in made:
            name, outer = event.name, event.cpu_parent
            while outer is not None:
                name, outer = f"{outer.name}/{name}", outer.cpu_parent
            row = table.setdefault(name, [0, 0])
            row[0], row[1] = row[0] + event.self_cpu_time_total, row[1] + 1
        totals.append(table)
    changed = []
    for name in sorted({*totals[0], *totals[1]}):
        (old, calls), (new, more) = (table.get(name, (0, 0)) for table in totals)
        changed += [[name, int(new - old), more - calls]] if new != old else []
    return sorted(changed, key=lambda row: -row[1])


def _events(forest, backwards):
    """The events as tuples, one after the other. An event begins before what is inside of it, and ends with its own time."""
    made = []

    def lay(event, now):
        name, gap, own, inside = event
        start = now + gap
        position = len(made)
        made.append(None)
        end = start + 1
        for node in inside:
            end = lay(node, end)
        made[position] = (name, start, end + own - 1)
        return end + own - 1

    now = 0
    for event in forest:
        now = lay(event, now)
    return made[::-1] if backwards else made
