"""The recordings in `phases/recorded/`: they say what they were made on, and are what their description says."""

import ast
import gzip
import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from sweep import failures, in_one_test

from autograder.course import READINGS

STAND_IN = READINGS / "recorded" / "stand_in"
RECORDINGS = json.loads(gzip.decompress((STAND_IN / "allocator.json.gz").read_bytes()))
PROGRAMS = RECORDINGS["programs"]
TRITON = json.loads(gzip.decompress((STAND_IN / "triton.json.gz").read_bytes()))
TRACES = json.loads(gzip.decompress((STAND_IN / "traces.json.gz").read_bytes()))
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
GRAPHS = json.loads(gzip.decompress((STAND_IN / "graphs.json.gz").read_bytes()))["graphs"]
RACES = json.loads(gzip.decompress((STAND_IN / "races.json.gz").read_bytes()))["loops"]
LAUNCHES = json.loads(gzip.decompress((STAND_IN / "code.json.gz").read_bytes()))["launches"]
DEVICE = {
    path.name.partition(".")[0]: json.loads(gzip.decompress(path.read_bytes()))
    for path in sorted((READINGS / "recorded").glob("h*/*.json.gz"))
}
AGAINST = DEVICE["stand_in"]
KEPT = "span", "busy", "gaps"  # of a trace, beside its events
BACKWARD = json.loads(gzip.decompress((STAND_IN / "streams.json.gz").read_bytes()))["programs"]


@pytest.mark.parametrize("path", sorted(STAND_IN.glob("*.json*")), ids=lambda path: path.name)
def test_a_recording_says_how_it_was_made_and_that_no_gpu_was_there(path):
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    assert "site-packages" not in text  # nothing of the machine that made it
    provenance = json.loads(text)["provenance"]
    assert {"what", "torch", "git", "cuda", "made by", "device"} <= provenance.keys()
    assert "no GPU" in provenance["what"] and "+cu" in provenance["torch"]
    assert (READINGS.parent / provenance["made by"]).exists()


@pytest.mark.parametrize("name", DEVICE)
def test_a_recording_of_a_device_says_which_device_and_which_versions(name):
    record = DEVICE[name]
    made = record["provenance"]
    assert made["what"] == "an NVIDIA GPU" and made["device"].startswith(
        "NVIDIA H200" if name == "lab_kernels" else "NVIDIA H100"
    )
    assert all(made[key] for key in ("driver", "cuda", "torch", "triton", "python", "date", "command"))
    assert made["torch"] == DEVICE["timings"]["provenance"]["torch"]
    assert (READINGS.parent / made["made by"]).exists()
    assert not re.search(r"site-packages|/(tmp|home|root)/", json.dumps(record))  # nothing of the machine that made it
    assert name in ("traces", "stand_in") or record["sections"]


def test_the_recordings_of_a_device_are_small_because_each_class_gets_a_copy():
    assert sum(path.stat().st_size for path in READINGS.glob("recorded/h*/*")) < 300_000


def test_what_the_stand_in_gave_is_what_the_device_gives_but_for_names_addresses_and_handles():
    assert all(each["same nodes"] and each["same steps"] for each in AGAINST["streams"])
    assert len(AGAINST["streams"]) == len(BACKWARD)
    on_device = {each["name"]: each["got"] for each in AGAINST["graphs"]}
    assert on_device == {each["name"]: {part: each[part] for part in ("partitions", "whole")} for each in GRAPHS}
    assert [each["name"] for each in AGAINST["triton"]] and all(each["equal"] for each in AGAINST["triton"])
    assert {each["name"] for each in AGAINST["triton"]} == {module["name"] for module in TRITON["modules"]}
    got = {each["name"]: each["got"] for each in AGAINST["launches"]}
    for program in LAUNCHES:
        pairs = zip(program["launches"], got[program["name"]], strict=True)
        for recorded, launch in pairs:
            assert (recorded["grid"], recorded["block"]) == (launch["grid"], launch["block"])
            assert _of_either_version(recorded["kernel"]) == _of_either_version(launch["kernel"])
    traces = {each["name"]: each["trace"] for each in AGAINST["traces"]}
    for program in TRACES["programs"]:
        assert _device_work(program["trace"]) == _device_work(traces[program["name"]])
    printed = {each["name"]: each["got"]["printed"] for each in AGAINST["races"]}
    for loop in RACES:
        assert _without_handles(loop["printed"]) == _without_handles(printed[loop["name"]])


def _of_either_version(kernel):
    """A kernel's name without what differs between torch 2.11 and 2.13."""
    kernel = re.sub(r"(softmax_warp_\w+<[^>]*?), 32>", r"\1>", kernel)
    return re.sub(r"<\d+, (at::native::compare_scalar_kernel)", r"<\1", kernel)


def _device_work(trace):
    return Counter(_of_either_version(each["name"]) for each in trace["traceEvents"] if each.get("cat") in ON_DEVICE)


def _without_handles(text):
    return re.sub(r"(pointer|stream) \d+", r"\1", text)


@pytest.mark.parametrize("program", DEVICE["traces"]["programs"], ids=lambda program: program["name"])
def test_a_trace_of_a_device_has_a_launch_for_each_kernel_and_gives_its_busy_time_and_gaps(program):
    timed = [event for event in program["trace"]["traceEvents"] if event["ph"] == "X"]
    calls = {each["args"]["correlation"]: each for each in timed if each["cat"] in ("cuda_runtime", "cuda_driver")}
    work = sorted((each for each in timed if each["cat"] in ON_DEVICE), key=lambda each: each["ts"])
    assert all(calls[each["args"]["correlation"]]["ts"] < each["ts"] for each in work)
    end, busy, gaps = work[0]["ts"], 0.0, []
    for each in work:
        gaps += [each["ts"] - end] if each["ts"] > end else []
        busy += max(0.0, each["ts"] + each["dur"] - max(end, each["ts"]))
        end = max(end, each["ts"] + each["dur"])
    assert program["span"] == pytest.approx(end - work[0]["ts"], abs=0.1)
    assert program["busy"] == pytest.approx(busy, abs=0.1) and sum(gaps) == pytest.approx(sum(program["gaps"]), abs=0.5)


def test_what_bench_gpu_writes_is_packed_as_it_was_recorded(tmp_path):
    raw, kept = tmp_path / "raw", DEVICE["timings"]
    (trace,) = (each for each in DEVICE["traces"]["programs"] if each["name"] == "streams")
    sections = {name: {"state": "done", "result": result} for name, result in kept["sections"].items()}
    failed = {"sends": {"state": "failed", "error": "Traceback\n  in a line\nRuntimeError: refused\n"}}
    profiles = {
        name: {"state": "done", "result": {"trace": f"2_profiles/{name}.json"} | {key: trace[key] for key in KEPT}}
        for name in ("small_step", "step", "starved", "streams")
    }
    memory = {"that differ from the stand-in": ["a"], "recording": "a.json"}
    parts = {
        "2_profiles": profiles,
        "3_timings": sections | failed,
        "6_memory": {"programs of the stand-in": {"state": "done", "result": memory}},
    }
    (raw / "2_profiles").mkdir(parents=True)
    (raw / "a.json").write_text(json.dumps([{"name": "a"}, {"name": "b"}]))
    for name, part in parts.items():
        (raw / f"{name}.json").write_text(json.dumps({"provenance": kept["provenance"], "sections": part}))
    events = [each | {"ts": each["ts"] + 5e6} for each in trace["trace"]["traceEvents"]]
    events = [each | {"pid": 7, "tid": each["tid"] - 900} if each["pid"] == 1000 else each for each in events]
    for name in profiles:
        (raw / "2_profiles" / f"{name}.json").write_text(json.dumps(trace["trace"] | {"traceEvents": events}))
    script = READINGS.parent / "bench" / "gpu_parts" / "keep.py"
    subprocess.run([sys.executable, script, raw, tmp_path / "packed"], check=True)
    packed = {path.name: json.loads(gzip.decompress(path.read_bytes())) for path in tmp_path.glob("packed/*")}
    assert packed["timings.json.gz"] == kept | {"failed": {"sends": "RuntimeError: refused"}}
    assert packed["traces.json.gz"]["programs"][-1] == trace
    assert packed["memory.json.gz"]["sections"]["programs of the stand-in"]["events that differ"] == [{"name": "a"}]


def test_on_the_device_a_clock_that_does_not_wait_measures_the_launch_and_item_waits_for_the_queue():
    sections = DEVICE["timings"]["sections"]
    products = sections["products"]["seconds"]
    assert all(each["without waiting"] < each["synchronised"] for each in products)
    assert products[-1]["synchronised"] > 40 * products[-1]["without waiting"]
    waits = sections["which calls wait"]
    queued = waits["x.item()"]
    waiting = "x.tolist()", "x.cpu()", "host.to(device)", "x.nonzero()", "x[x > 0]", "if x[0] > 0"
    assert all(waits[call] == pytest.approx(queued, rel=0.02) for call in waiting)
    assert all(
        waits[call] < queued / 50 for call in ("x + 1", "x.to('cpu', non_blocking=True)", "torch.where(x > 0, x, 0)")
    )


def test_on_the_device_small_functions_are_slower_compiled_and_a_replay_is_faster_with_the_same_losses():
    sections = DEVICE["triton_code"]["sections"]
    inner = [section["code"] if "from Triton" in section else section for section in sections.values()]
    timed = [each for each in inner if "seconds" in each]
    assert len(timed) == 7
    for each in timed:
        assert each["seconds"]["compiled"]["median"] > 1.5 * each["seconds"]["eager"]["median"]
    step = DEVICE["graphs"]["sections"]["a step of training"]
    assert step["eager"]["median"] > 10 * step["replayed"]["median"]
    assert step["losses, eager"][3:] == step["losses of steps 4 to 8, replayed"]


def test_programs_have_names_of_their_own_and_take_every_kind_of_step_and_event():
    names = Counter(program["name"] for program in PROGRAMS)
    assert max(names.values()) == 1
    steps = {step[0] for program in PROGRAMS for step in program["steps"]}
    kinds = {"alloc", "free", "record_stream", "finish", "synchronize", "empty_cache", "fraction", "reset_peak"}
    assert steps == kinds
    actions = {event[0] for program in PROGRAMS for events in program["events"] for event in events}
    assert actions == {"alloc", "free_requested", "free_completed", "oom"} | {
        f"segment_{what}" for what in ("alloc", "free", "map", "unmap")
    }


def test_the_events_of_a_program_give_its_bytes_and_its_segments():
    assert PROGRAMS and failures(check_events, ((program["name"], program) for program in PROGRAMS)) == {}


def check_events(program):
    assert len(program["steps"]) == len(program["events"]) == len(program["bytes"])
    reserved, live, pending = {}, {}, {}  # pages by segment; requested sizes by address
    for number, (events, (allocated, active, total)) in enumerate(
        zip(program["events"], program["bytes"], strict=True)
    ):
        for action, segment, offset, size, _stream in events:
            if action in ("segment_alloc", "segment_map"):
                assert not any(start < offset + size and offset < end for start, end in reserved.get(segment, []))
                reserved.setdefault(segment, []).append((offset, offset + size))
            elif action in ("segment_free", "segment_unmap"):
                reserved[segment] = _without(reserved[segment], offset, offset + size)
            elif action == "alloc":
                assert not any(
                    at == segment and start < offset + size and offset < start + length
                    for (at, start), length in [*live.items(), *pending.items()]
                )
                assert offset % 512 == 0
                live[segment, offset] = size
            elif action == "free_requested":
                pending[segment, offset] = live.pop((segment, offset))
            elif action == "free_completed":
                assert pending.pop((segment, offset)) == size
        assert (str(number) in program["errors"]) == any(event[0] == "oom" for event in events)
        assert total == sum(end - start for pieces in reserved.values() for start, end in pieces) <= program["total"]
        assert sum(live.values()) <= allocated <= active <= total
        assert (active == allocated) == (not pending)
    _check_segments(program["segments"], live, pending, total)


@in_one_test
@pytest.mark.parametrize("program", BACKWARD, ids=lambda program: program["name"])
def test_each_node_of_a_backward_pass_runs_once_on_a_stream_of_the_forward_pass(program):
    nodes, steps = program["nodes"], program["steps"]
    assert [step[1] for step in steps if step[0] == "run"] == [*range(len(nodes))]
    of_forward = {stream for *_, stream in program["forward"]}
    for i, node in enumerate(nodes):
        assert (node["stream"] is None) == (
            node["thread"] == 0
        )  # a node of the CPU runs in the thread that called backward
        assert node["stream"] is None or node["stream"] in of_forward
        assert all(i < to for to, _ in node["edges"])


@in_one_test
@pytest.mark.parametrize("program", BACKWARD, ids=lambda program: program["name"])
def test_each_event_of_a_backward_pass_is_recorded_once_and_another_stream_waits_for_it(program):
    recorded = {event: stream for kind, event, stream in (s for s in program["steps"] if s[0] == "record")}
    waits = [step[1:] for step in program["steps"] if step[0] == "wait"]
    assert [*recorded] == [*range(len(recorded))] == sorted(event for event, _ in waits)
    assert all(recorded[event] != stream for event, stream in waits)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["name"])
def test_the_code_calls_each_partition_that_may_be_captured_and_a_graph_without_a_reason_is_captured(graph):
    said, call = graph["partitions"]["messages"], graph["partitions"]["call"]
    counts = [int(each) for each in re.findall(r"\d+", said[0])]  # all, those to capture, the others
    kinds = [re.search(r"nodes, ([\w-]+),", line)[1] for line in said if "nodes," in line]
    assert counts == [len(kinds), kinds.count("cudagraphable"), kinds.count("non-cudagraphable")]
    assert len(re.findall(r"self\.partitions\[\d\]", call)) == counts[1]
    assert graph["whole"]["captured"] == (not graph["whole"]["messages"])


def _check_segments(segments, live, pending, total):
    assert sum(segment["size"] for segment in segments) == total
    in_use = {"active_allocated": {}, "active_pending_free": {}}
    for segment in segments:
        offset = segment["offset"]
        for start, size, requested, state in segment["blocks"]:
            assert start == offset and size % 512 == 0 and (state == "inactive" or requested <= size)
            if state != "inactive":
                in_use[state][segment["segment"], start] = requested
            offset += size
        assert offset == segment["offset"] + segment["size"]
    assert in_use == {"active_allocated": live, "active_pending_free": pending}


def _without(pieces, first, last):
    kept = [
        piece
        for start, end in pieces
        for piece in ((start, min(end, first)), (max(start, last), end))
        if piece[0] < piece[1]
    ]
    assert sum(end - start for start, end in pieces) - sum(end - start for start, end in kept) == last - first
    return kept


@in_one_test
@pytest.mark.parametrize("module", TRITON["modules"], ids=lambda module: module["name"])
def test_what_inductor_knew_about_its_kernels_stands_in_their_text(module):
    form = r"^(triton_\w+) = async_compile\.triton\('\w+', '{3}(.*?)^'{3}"
    kernels = dict(re.findall(form, module["text"], re.MULTILINE | re.DOTALL))
    assert kernels.keys() == module["kernels"].keys()
    assert module["interpreted"] in (True, None)
    for name, source in kernels.items():
        known, function = module["kernels"][name], ast.parse(source).body[-1]
        assert function.decorator_list[0].func.attr == known["kind"]
        values = {line.targets[0].id: line.value for line in function.body if _names_one(line)}
        sizes = {axis: values[f"{axis}numel"].value for axis in ("x", "y", "r0_") if f"{axis}numel" in values}
        assert known["numels"] == {axis: sizes.get(axis, 1) for axis in known["numels"]}
        assert sum(isinstance(line, ast.For) for line in function.body) == known["loops"]
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        accesses = [node for node in calls if getattr(node.func, "attr", "") in ("load", "store")]
        found = sorted((node.func.attr, node.args[0].left.id) for node in accesses)
        assert found == sorted((each["what"], each["argument"]) for each in known["accesses"])
        assert known["configs"] and all("num_warps" in each for each in known["all configs"])
    call = module["text"].partition("    def call(")[2]
    runs = re.findall(r"(triton_\w+)\.run\((.*), stream=raw_stream0", call)
    assert [[name, arguments.split(", ")] for name, arguments in runs] == [
        event[1:] for event in module["events"] if event[0] == "kernel"
    ]
    made = re.findall(r"(buf\d+) = empty_strided_cuda", call)
    assert made == [event[1] for event in module["events"] if event[0] == "allocate"]


def _names_one(line):
    return isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)


def test_the_traces_say_that_the_times_of_the_device_are_modelled():
    assert "modelled" in TRACES["provenance"]["times"]
    names = [program["name"] for program in TRACES["programs"]]
    assert len({*names}) == len(names)
    kinds = {event.get("cat") for program in TRACES["programs"] for event in program["trace"]["traceEvents"]}
    assert {"cpu_op", "user_annotation", "cuda_runtime", *ON_DEVICE, "ac2g", "fwdbwd", "cuda_sync"} <= kinds


@in_one_test
@pytest.mark.parametrize("program", TRACES["programs"], ids=lambda program: program["name"])
def test_each_kernel_of_a_trace_has_one_launch_in_the_operator_that_it_names(program):
    timed = [event for event in program["trace"]["traceEvents"] if event["ph"] == "X"]
    calls = {event["args"]["correlation"]: event for event in timed if event["cat"] == "cuda_runtime"}
    assert len(calls) == sum(event["cat"] == "cuda_runtime" for event in timed)
    operators = [event for event in timed if event["cat"] in ("cpu_op", "user_annotation")]
    streams = {}
    for event in timed:
        if event["cat"] not in ON_DEVICE:
            continue
        call = calls[event["args"]["correlation"]]
        assert event["ts"] > call["ts"] and event["tid"] == event["args"]["stream"]
        around = [each for each in operators if each["tid"] == call["tid"] and _is_within(call, each)]
        innermost = max(around, key=lambda each: each["ts"])
        assert event["args"]["External id"] == call["args"]["External id"] == innermost["args"]["External id"]
        streams.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    assert streams
    for times in streams.values():  # a stream does one thing at a time
        assert all(end <= start + 0.01 for (_, end), (start, _) in zip(sorted(times), sorted(times)[1:]))


def _is_within(inner, outer):
    return outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]


@in_one_test
@pytest.mark.parametrize("program", TRACES["programs"], ids=lambda program: program["name"])
def test_each_row_of_a_device_has_the_time_of_its_events_in_the_trace(program):
    microseconds = Counter()
    for event in program["trace"]["traceEvents"]:
        if event["ph"] == "X" and event["cat"] in ON_DEVICE:
            microseconds[event["name"]] += event["dur"]
    rows = {row["key"]: row["device time"] for row in program["rows"] if row["device"] == "CUDA"}
    assert microseconds and {name: rows[name] for name in microseconds} == pytest.approx(microseconds, abs=0.01)
