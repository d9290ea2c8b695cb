"""Record the work of PyTorch on an NVIDIA GPU in thirteen parts: one command, at most nine minutes, no network.

    python bench/gpu.py                       # into gpu_recordings/<device>/
    python bench/gpu.py --only 1 4 --out /tmp/trial
    python bench/gpu.py --cpu                 # without a GPU: tries the code of each part as far as the CPU has a counterpart

Each part runs in a process of its own, within a limit, and writes one JSON file with its provenance, and texts and pictures beside
it. Parts that measure times run one after the other. The others run at once, at the end. A section that fails is recorded as
failed, with its traceback, and the rest goes on. `docs/gpu.md` says what to do with the folder. It needs torch 2.11 or newer. Exit
code: 0 if nothing failed, 1 if something did, 2 without a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # a machine with a GPU need not have the course installed

from bench.gpu_parts import NEEDS, PARTS, TOGETHER, TRITON  # noqa: E402

SLOW = 6  # without a GPU nothing is recorded, and a busy machine may take its time
NO_COMPILER = "install a compiler for C and Python's headers: apt-get install gcc python3-dev (part {parts} cannot do all without)"
MISSING = "install {names}: {python} -m pip install {names} (part {parts} cannot do all without)"
NO_GPU = "there is no NVIDIA GPU that torch can use here ({why}): --cpu tries the parts without one"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the folder, new or empty; gpu_recordings/<device>/ by default")
    parser.add_argument("--only", type=int, nargs="+", choices=PARTS, metavar="N", help="these parts, and no others")
    parser.add_argument("--cpu", action="store_true", help="try the code of each part without a GPU")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)  # this process is that part
    arguments = parser.parse_args()
    if arguments.part:
        return run_part(arguments)
    device, why = ("cpu", "") if arguments.cpu else ask_for_device()
    if why:
        print(NO_GPU.format(why=why), file=sys.stderr)
        return 2
    folder = arguments.out or ROOT / "gpu_recordings" / device
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        parser.error(f"{folder} is not empty")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the parts end too, and keep what they have
    wanted = arguments.only or [*PARTS]
    ask_for_packages(wanted)
    begun, allowed = time.monotonic(), 0.0
    groups = [[number] for number in wanted if number not in TOGETHER]
    groups += [group] if (group := [number for number in wanted if number in TOGETHER]) else []
    for group in groups:  # a group may use what those before it have left
        allowed += max(limit_of(PARTS[number]) for number in group) * (SLOW * len(group) if arguments.cpu else 1)
        run_together(group, folder.resolve(), arguments, begun + allowed)
    text = summary(folder)
    print(f"\n{text}\n{time.monotonic() - begun:.0f} s; written to {folder}")
    return int(bool(re.search(r"^   .{44} (failed|out of time)", text, re.MULTILINE)))


def ask_for_packages(wanted: list[int]) -> None:
    """Print a line with the packages that are missing, and one if Triton cannot compile. Parts do without them what they can."""
    missing = {
        package: number
        for number in wanted
        for package, module in NEEDS.get(number, {}).items()
        if importlib.util.find_spec(module) is None
    }
    if missing:
        parts = in_words(missing.values())
        print(MISSING.format(names=" ".join(missing), python=sys.executable, parts=parts), file=sys.stderr, flush=True)
    if (with_triton := TRITON & {*wanted}) and not compiles():
        print(NO_COMPILER.format(parts=in_words(with_triton)), file=sys.stderr, flush=True)


def compiles() -> bool:
    """Whether this machine compiles and links a module of Python, as Triton does first of all."""
    compiler = next(filter(shutil.which, filter(None, (os.environ.get("CC"), "gcc", "clang"))), None)
    if compiler is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, "-x", "c", "-", "-shared", "-fPIC", "-lm", "-I", sysconfig.get_path("include")]
        text = "#include <Python.h>\n#include <math.h>\n"
        return not subprocess.run(
            [*command, "-o", f"{folder}/a.so"], input=text, text=True, capture_output=True
        ).returncode


def in_words(parts: Iterable[int]) -> str:
    return " and ".join(map(str, sorted({*parts})))


def ask_for_device() -> tuple[str, str]:
    """The device's name for a folder, and why there is none. Another process asks, so that this one holds no memory of the GPU."""
    program = """if True:
        import torch
        if torch.version.cuda is None:
            print("\\ntorch", torch.__version__, "is a build without CUDA")
        elif not torch.cuda.is_available():
            print("\\nits build for CUDA finds no device")
        else:
            print(torch.cuda.get_device_name())
    """
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    if completed.returncode:
        return "", completed.stderr.strip().splitlines()[-1]
    name, *why = completed.stdout.splitlines()
    return re.sub(r"\W+", "_", name.removeprefix("NVIDIA ")).strip("_").lower(), " ".join(why)


class Part:
    """A part in a new process, which ends, with what it has started, when its time is over."""

    def __init__(self, number: int, folder: Path, arguments: argparse.Namespace, limit: float):
        self.number, self.folder, self.limit, self.begun = number, folder, limit, time.monotonic()
        self.name = f"{number}_{PARTS[number]}"
        command = [sys.executable, str(Path(__file__).resolve()), "--part", str(number), "--out", str(folder)]
        command += ["--cpu"] if arguments.cpu else []
        print(f"part {self.name} (at most {limit:.0f} s)", flush=True)
        self.temporary = tempfile.TemporaryDirectory(prefix="rushlight-gpu-", ignore_cleanup_errors=True)
        with open(folder / f"{self.name}.log", "w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True,
                env=environment(self.temporary.name, arguments.cpu, limit),
            )  # fmt: skip

    def end(self) -> None:
        code = self.process.poll()
        end_group(self.process)
        self.temporary.cleanup()
        ending = f"ended after {self.limit:.0f} s" if code is None else f"the process ended with exit code {code}"
        finish(self.folder, self.name, self.number, "" if code == 0 else ending, time.monotonic() - self.begun)
        (self.folder / "summary.txt").write_text(summary(self.folder), encoding="utf-8")


def run_together(numbers: list[int], folder: Path, arguments: argparse.Namespace, until: float) -> None:
    """Run parts at once, until all have ended or the time is over."""
    running = [Part(number, folder, arguments, until - time.monotonic()) for number in numbers]
    try:
        while running and time.monotonic() < until:
            time.sleep(0.05)
            for part in [part for part in running if part.process.poll() is not None]:
                running.remove(part)
                part.end()
    finally:
        for part in running:
            part.end()


def end_group(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def environment(temporary: str, cpu: bool, limit: float) -> dict[str, str]:
    """Caches of its own, and nothing that leaves this machine."""
    own = {
        "TMPDIR": temporary,
        "TORCHINDUCTOR_CACHE_DIR": f"{temporary}/inductor",
        "TRITON_CACHE_DIR": f"{temporary}/triton",
        "GLOO_SOCKET_IFNAME": "lo",
        "NCCL_SOCKET_IFNAME": "lo",
        "NCCL_IB_DISABLE": "1",
        "MPLBACKEND": "agg",
        "PYTHONUNBUFFERED": "1",
        "RUSHLIGHT_GPU_UNTIL": f"{time.time() + limit:.0f}",
    }
    own["RUSHLIGHT_GPU_COMMAND"] = " ".join(["python", "bench/gpu.py", *sys.argv[1:]])  # for the provenance
    own |= {"RUSHLIGHT_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": ""} if cpu else {}
    settings = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"  # a recording is of the defaults
    return {name: value for name, value in os.environ.items() if name not in settings} | own


def limit_of(module: str) -> int:
    """The seconds of a part, read from its text, because importing it imports torch."""
    text = (ROOT / "bench" / "gpu_parts" / f"{module}.py").read_text(encoding="utf-8")
    return int(re.search(r"^LIMIT = (\d+)", text, re.MULTILINE)[1])


def finish(folder: Path, name: str, number: int, ending: str, seconds: float) -> None:
    """Add to a part's JSON how its process ended. The JSON is made here if the process could not."""
    from bench.gpu_parts.recording import without_paths

    path, log = folder / f"{name}.json", folder / f"{name}.log"
    printed = without_paths(log.read_text(encoding="utf-8", errors="replace"))
    recording = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"part": number, "sections": {}}
    recording |= {"seconds": round(seconds, 1), "ending": ending or "done"}
    if ending:
        recording["printed at the end"] = printed[-5000:]
    path.write_text(json.dumps(recording, indent=1), encoding="utf-8")
    path.with_suffix(".partial").unlink(missing_ok=True)
    if printed:
        log.write_text(printed[-100_000:], encoding="utf-8")
    else:
        log.unlink()


def summary(folder: Path) -> str:
    """A table of the parts and their sections: what was recorded, what failed and why."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("[0-9]*_*.json")]
    records.sort(key=lambda record: record["part"])
    made = next((record["provenance"] for record in records if "provenance" in record), {})
    lines = [f"{key:16}{value}" for key, value in made.items()]
    for record in records:
        lines += ["", f"{record['part']}. {record.get('title', '')} ({record.get('seconds', 'running')} s)"]
        if (ending := record.get("ending", "done")) != "done":
            lines.append(f"   {'process':44} failed: {ending}")
        for name, section in record["sections"].items():
            reason = section.get("why") or section.get("summary") or last_line(section.get("error", ""))[:160]
            lines.append(f"   {name:44} {section['state']}{': ' + reason if reason else ''}")
    return "\n".join(lines) + "\n"


def last_line(error: str) -> str:
    """The line of a traceback that has the exception's type. Lines of its message may follow."""
    lines = [line for line in error.splitlines() if re.match(r"[\w.]+(: |$)", line)]
    return lines[-1] if lines else ""


def run_part(arguments: argparse.Namespace) -> int:
    from bench.gpu_parts.recording import Run

    Run(arguments.part, PARTS[arguments.part], arguments.out, arguments.cpu).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
