"""The profiler of rushlight records what torch's records, as far as rushlight's kernels call operators."""

import gzip
import json
import os

os.environ["KINETO_LOG_LEVEL"] = "99"  # read at import: the profiler keeps its log to itself
import pytest
import torch

import rushlight as rl
import rushlight.profiler
from rushlight.c10 import dispatch, fast_paths


def head(xp):
    w, b, x = xp.ones(60, 8, requires_grad=True), xp.ones(60, requires_grad=True), xp.ones(4, 8)
    with xp.profiler.record_function("forward"):
        y = xp.nn.functional.linear(x, w, b).relu().sum()
    y.backward()


def broadcast(xp):
    w, x = xp.ones(3, requires_grad=True), xp.ones(2, 3)
    (x * w + w).sum().backward()


def without_grad(xp):
    with xp.no_grad():
        xp.cat([xp.ones(2, 3), xp.ones(1, 3)]).exp().mean(0)


def product(xp):
    x, w = xp.ones(5, 3, requires_grad=True), xp.ones(3, 2, requires_grad=True)
    xp.mm(x, w).tanh().sum().backward()


PROGRAMS = [head, broadcast, without_grad, product]


def profiled(xp, program, **options):
    with xp.profiler.profile(**options) as found:
        program(xp)
    return found


def trace(profiler, path):
    profiler.export_chrome_trace(str(path))
    return json.loads(path.read_text())["traceEvents"]


def spans(events):
    """(name, depth, number relative to the first, shapes) of each event, in order."""
    rows, ends = [], []
    found = sorted((e for e in events if e["ph"] == "X" and e["cat"] != "Trace"), key=lambda e: (e["ts"], -e["dur"]))
    numbers = [e["args"]["Sequence number"] for e in found if "Sequence number" in e["args"]]
    order = sorted(set(numbers))
    for event in found:
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        number = event["args"].get("Sequence number")
        rows.append(
            (
                event["name"],
                len(ends),
                None if number is None else order.index(number),
                event["args"].get("Input Dims", []),
            )
        )
        ends.append(event["ts"] + event["dur"])
    return rows


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_the_events_are_among_torchs_with_the_same_nesting_shapes_and_numbers(program, tmp_path):
    """(Torch's kernels call further operators, and its `AccumulateGrad` need not copy.)"""
    mine = spans(trace(profiled(rl, program, record_shapes=True), tmp_path / "mine.json"))
    theirs = iter(spans(trace(profiled(torch, program, record_shapes=True), tmp_path / "theirs.json")))
    for name, depth, number, dims in mine:
        if name == "aten::clone" or name in ("aten::ones", "aten::cat", "aten::expand", "aten::mean"):
            dims = None  # other arguments
        assert name == "aten::clone" or any(
            (name, depth, number) == each[:3] and dims in (None, each[3]) for each in theirs
        ), (name, depth, number, dims)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_the_events_outside_of_kernels_are_exactly_torchs(program, tmp_path):
    def outside(events):
        return [row[:3] for row in spans(events) if "Backward" in row[0] or "Accumulate" in row[0] or row[1] == 0]

    mine = outside(trace(profiled(rl, program), tmp_path / "mine.json"))
    assert mine == outside(trace(profiled(torch, program), tmp_path / "theirs.json"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_arrows_lead_from_an_operator_to_its_node(program, tmp_path):
    def arrows(events):
        ends = {kind: {e["id"]: e["ts"] for e in events if e["ph"] == kind} for kind in "sf"}
        starts = sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["ts"], e.get("dur", 0)))
        at = [{e["ts"]: e["name"] for e in starts if "evaluate_function" not in e["name"]}.get for _ in "ab"]
        return sorted((at[0](ends["s"][i]), at[1](ends["f"][i])) for i in ends["s"])

    assert arrows(trace(profiled(rl, program), tmp_path / "mine.json")) == arrows(
        trace(profiled(torch, program), tmp_path / "theirs.json")
    )


def test_the_bytes_of_a_forward_pass_are_torchs(tmp_path):
    def forward(xp):
        w, x = xp.ones(60, 8), xp.ones(4, 8)
        return xp.nn.functional.linear(x, w).relu().exp().sum()

    def notes(xp, name):
        events = trace(profiled(xp, forward, profile_memory=True), tmp_path / name)
        return [e["args"]["Bytes"] for e in events if e["name"] == "[memory]"]

    assert notes(rl, "mine.json") == notes(torch, "theirs.json")


def test_flops_are_those_of_torchs_profiler():
    def program(xp):
        x, w, b = xp.ones(4, 8), xp.ones(8, 6), xp.ones(6)
        xp.addmm(b, x, w) * xp.mm(x, w) + xp.bmm(xp.ones(2, 3, 4), xp.ones(2, 4, 5)).sum()

    def counts(xp):
        return {row.key: row.flops for row in profiled(xp, program, with_flops=True).key_averages() if row.flops}

    assert counts(rl) == counts(torch)


def test_a_formula_gets_the_shapes_of_the_tensors_and_of_nothing_else(monkeypatch):
    calls = []
    monkeypatch.setattr("rushlight.profiler.profiler.operator_flops", lambda *call: calls.append(call) or 0)
    profiled(rl, lambda xp: xp.addmm(xp.ones(6), xp.ones(4, 8), xp.ones(8, 6)), with_flops=True)
    assert calls == [("addmm", [[6], [4, 8], [8, 6]], [])]


def test_the_rows_of_a_table_are_those_of_the_events():
    found = profiled(rl, head, record_shapes=True)
    rows = found.key_averages(group_by_input_shape=True)
    assert sum(row.count for row in rows) == len(found.events())
    averages = found.key_averages()
    longest = sorted(averages, key=lambda row: -row.self_cpu_time_total)[:5]  # which these are differs from run to run
    table = averages.table(sort_by="self_cpu_time_total", row_limit=5)
    assert [row.key[:40] for row in longest if row.key[:40] not in table] == []  # a long name is cut
    assert rows.self_cpu_time_total == pytest.approx(
        sum(each.cpu_time_total for each in found.events() if not each.cpu_parent)
    )


def test_a_stack_names_the_lines_of_the_program():
    found = profiled(rl, head, with_stack=True)
    [event] = [each for each in found.events() if each.name == "aten::relu"]
    assert "test_profiler.py" in event.stack[0] and event.stack[0].endswith(": head")


def test_a_table_by_stack_has_a_line_for_each_of_its_entries():
    lines = profiled(rl, head, with_stack=True).key_averages(group_by_stack_n=2).table().splitlines()
    [at] = [i for i, line in enumerate(lines) if "aten::relu" in line]
    assert lines[1].endswith("Source Location") and lines[at].endswith(": head")
    assert lines[at + 1].endswith("): profiled") and "Source" not in profiled(rl, head).key_averages().table()


def test_a_schedule_keeps_the_active_steps(tmp_path):
    for xp in (torch, rl):
        kept = []
        settings = {"schedule": xp.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)}

        def keep(profiler, kept=kept):
            events = trace(profiler, tmp_path / "trace.json")
            kept.append([e["name"] for e in events if e["name"].startswith("ProfilerStep")])

        with xp.profiler.profile(on_trace_ready=keep, **settings) as found:
            for _ in range(9):
                xp.ones(2).add(1)
                found.step()
        assert kept == [["ProfilerStep#2", "ProfilerStep#3"], ["ProfilerStep#6", "ProfilerStep#7"]], xp


def test_a_handler_writes_traces_for_tensorboard(tmp_path):
    with rl.profiler.profile(on_trace_ready=rl.profiler.tensorboard_trace_handler(tmp_path, "me", use_gzip=True)):
        rl.ones(2).exp()
    [file] = tmp_path.glob("me.*.pt.trace.json.gz")
    assert any(event["name"] == "aten::exp" for event in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"])


def test_torchs_own_tree_of_events_is_ours(tmp_path):
    from torch.autograd.profiler_util import EventList, FunctionEvent

    found = profiled(rl, head).events()
    theirs = EventList(FunctionEvent(i, e.name, e.thread, e.start, e.end) for i, e in enumerate(found))
    theirs._build_tree()
    parents = [e.cpu_parent and e.cpu_parent.name for e in found]
    assert [e.cpu_parent and e.cpu_parent.name for e in theirs] == parents


def test_nothing_is_asked_while_no_profiler_is_on():
    profiled(rl, head)
    assert dispatch.observer is None and fast_paths.disabled_from() is None
    rl.ones(2).exp()
    functions = [getattr(kernel, "func", None) for kernel in rl.ops.aten.exp.default.table.values()]
    assert dispatch._observed not in functions


def test_an_error_ends_the_profile():
    with pytest.raises(ZeroDivisionError), rl.profiler.profile() as found:
        1 / 0  # noqa: B018
    assert dispatch.observer is None and found.events() == []
