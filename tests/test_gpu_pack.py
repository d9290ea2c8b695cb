"""The GPU pack without a GPU: each part's code runs as far as the CPU has a counterpart, and a failure stays where it is."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.gpu_parts import NEEDS, PARTS, TOGETHER, TOTAL

ROOT = Path(__file__).resolve().parents[1]


def pack(*arguments, **environment):
    command = [sys.executable, ROOT / "bench" / "gpu.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def constants(module):
    """The constants of a part, without importing it."""
    tree = ast.parse((ROOT / "bench" / "gpu_parts" / f"{module}.py").read_text())
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {node.targets[0].id: node.value for node in assigned}


def test_all_parts_take_less_than_nine_minutes():
    limits = {number: ast.literal_eval(constants(module)["LIMIT"]) for number, module in PARTS.items()}
    alone = sum(limit for number, limit in limits.items() if number not in TOGETHER)
    assert alone + max(limits[number] for number in TOGETHER) <= TOTAL < 540
    assert {*NEEDS} <= {*PARTS} == {*range(1, 14)}
    assert all({"TITLE", "SECTIONS"} <= constants(module).keys() for module in PARTS.values())


@pytest.mark.sweep
@pytest.mark.parametrize("part", [*PARTS])
def test_without_a_gpu_no_section_of_a_part_fails(part, tmp_path):
    done = pack("--cpu", "--only", part, "--out", tmp_path / "out")
    record = json.loads((tmp_path / "out" / f"{part}_{PARTS[part]}.json").read_text())
    states = {name: section["state"] for name, section in record["sections"].items()}
    wrong = {name: record["sections"][name] for name, state in states.items() if state not in ("done", "needs a GPU")}
    assert not wrong and done.returncode == 0, f"{wrong}\n{done.stdout}\n{done.stderr}"
    assert record["ending"] == "done"
    assert {"device", "cuda", "torch", "python", "date", "command", "what"} <= record["provenance"].keys()
    assert str(ROOT) not in json.dumps(record)
    named = {f"{path.parent.name}/{path.name}" for path in (tmp_path / "out").glob("*/*")}
    assert all(name in json.dumps(record) for name in named)
    assert f"{part}. {record['title']}" in (tmp_path / "out" / "summary.txt").read_text()


@pytest.mark.sweep
def test_without_a_gpu_one_line_says_so(tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    done = pack("--out", tmp_path / "out")
    assert done.returncode == 2 and not (tmp_path / "out").exists()
    assert len(done.stderr.splitlines()) == 1 and "no NVIDIA GPU" in done.stderr


@pytest.mark.sweep
def test_a_pack_that_is_cut_keeps_what_it_has(tmp_path):
    """Within part 3, which has ended a section."""
    command = [sys.executable, ROOT / "bench" / "gpu.py", "--cpu", "--only", "3", "--out", tmp_path / "out"]
    process, path = subprocess.Popen(command), tmp_path / "out" / "3_timings.json"
    while not path.exists() or json.loads(path.read_text())["sections"]["products"]["state"] != "done":
        assert process.poll() is None
    process.terminate()
    assert process.wait() == 143
    record = json.loads(path.read_text())
    assert record["ending"].startswith("ended after") and record["sections"]["products"]["result"]
    assert "products" in (tmp_path / "out" / "summary.txt").read_text()


TROUBLE = """
import sys, time, types
from pathlib import Path
from bench.gpu_parts import recording

def fails(run):
    raise ValueError("this one")

def gives_no_json(run):
    return {{1, 2}}

def absent(run):
    run.need_gpu("no counterpart")

part = types.ModuleType("bench.gpu_parts.trouble")
part.TITLE, part.LIMIT = "trouble", 10
part.SECTIONS = [("fails", fails), ("no json", gives_no_json), ("absent", absent), ("works", lambda run: 5),
                 ("hangs", lambda run: time.sleep(600)), ("after", lambda run: 6)]
sys.modules["bench.gpu_parts.trouble"] = part
recording.Run(1, "trouble", Path({folder!r}), True).run()
"""


@pytest.mark.sweep
def test_a_section_that_fails_or_hangs_leaves_the_others(tmp_path):
    program = TROUBLE.format(folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program])
    path = tmp_path / "1_trouble.json"
    try:
        while True:
            sections = json.loads(path.read_text())["sections"] if path.exists() else {}
            if sections.get("works", {}).get("state") == "done":
                break
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    states = {name: section["state"] for name, section in sections.items()}
    late = "out of time"
    assert states == {
        "fails": "failed", "no json": "failed", "absent": "needs a GPU", "works": "done", "hangs": late, "after": late,
    }  # fmt: skip
    assert "ValueError: this one" in sections["fails"]["error"] and sections["works"]["result"] == 5
