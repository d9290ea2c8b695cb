"""How a part is run: section by section, each on its own, written to the disk after each.

A section is a function of a `Run` that returns what JSON can hold. A line under the key `summary` also goes into `summary.txt`. If
a section raises, its traceback is what is recorded, and the next section begins. Without a GPU a section goes as far as the CPU has
a counterpart and then says `run.need_gpu(...)`.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import importlib
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

DONE, FAILED, ABSENT, LATE = "done", "failed", "needs a GPU", "out of time"
LARGE = 100_000  # characters from which a text is packed
Section = tuple[str, Callable[["Run"], Any]]


class NeedsGPU(Exception):
    """Skip the rest of a part: it has no counterpart on this machine."""


class Run:
    """One part: its device, its folder, and what its sections have given."""

    def __init__(self, part: int, module: str, folder: Path, cpu: bool):
        self.part, self.module = part, importlib.import_module(f"bench.gpu_parts.{module}")
        self.cpu, self.device = cpu, torch.device("cpu" if cpu else "cuda")
        self.name, self.folder = f"{part}_{module}", folder
        self.sections: dict[str, Any] = {}
        self.begun, self.lock = time.time(), threading.Lock()
        self.provenance = provenance(cpu)

    def run(self) -> None:
        for name, _ in self.module.SECTIONS:  # if the process is ended, those that have not run say so
            self.sections[name] = {"state": LATE}
        self.write_sections()
        if not (workers := getattr(self.module, "WORKERS", 0)):  # on the main thread, as a user's program
            for name, section in self.module.SECTIONS:
                self.run_section(name, section)
            return
        with ThreadPoolExecutor(1 if self.cpu else workers) as executor:
            list(executor.map(self.run_section, *zip(*self.module.SECTIONS)))

    def run_section(self, name: str, section: Callable[[Run], Any]) -> None:
        begun, entry = time.monotonic(), {}
        try:
            result = section(self)
            entry = {"summary": result["summary"]} if isinstance(result, dict) and "summary" in result else {}
            entry |= {"state": DONE, "result": result}
            json.dumps(entry)
        except NeedsGPU as error:
            entry = {"state": ABSENT, "why": str(error)}
        except Exception:
            entry = {"state": FAILED, "error": without_paths(traceback.format_exc())}
        with self.lock:
            self.sections[name] = entry | {"seconds": round(time.monotonic() - begun, 2)}
            self.write_sections()

    def write_sections(self) -> None:
        record = {
            "provenance": self.provenance,
            "part": self.part,
            "title": self.module.TITLE,
            "sections": self.sections,
        }
        path = self.folder / f"{self.name}.json"
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(record, indent=1), encoding="utf-8")
        partial.replace(path)

    # For sections

    def need_gpu(self, why: str) -> None:
        if self.cpu:
            raise NeedsGPU(why)

    def need_gpus(self, count: int) -> None:
        available = 0 if self.cpu else torch.cuda.device_count()
        if available < count:
            raise NeedsGPU(f"{count} GPUs are needed, and {available} are here")

    def left(self) -> float:
        """Seconds until this part is ended."""
        return float(os.environ.get("RUSHLIGHT_GPU_UNTIL", self.begun + self.module.LIMIT)) - time.time()

    def program(self, arguments: list[str], seconds: float, **options: Any) -> tuple[str, str]:
        """Run Python in a new process group, for at most these seconds. Returns what it printed, and how it ended: "" if well."""
        command = [sys.executable, *arguments]
        limit = 10 * seconds if self.cpu else max(1.0, min(seconds, self.left() - 5))
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **options,
            )
            try:
                code = process.wait(limit)
                ending = describe_exit(code) if code else ""
            except subprocess.TimeoutExpired:
                ending = f"ended after {limit:.0f} s"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            output.seek(0)
            return without_paths(output.read()), ending

    def synchronize(self) -> None:
        if not self.cpu:
            torch.cuda.synchronize()

    def seconds(self, function: Callable[[], Any], rounds: int = 11, warm: int = 3) -> dict[str, float]:
        """The median and the extremes of the seconds of a call, the device's work included."""
        if self.cpu:  # they are not recorded
            rounds, warm = 2, 1
        for _ in range(warm):
            function()
        times = []
        for _ in range(rounds):
            self.synchronize()
            begun = time.perf_counter()
            function()
            self.synchronize()
            times.append(time.perf_counter() - begun)
        return {"median": statistics.median(times), "least": min(times), "most": max(times), "rounds": rounds}

    def write(self, name: str, text: str) -> str:
        """Write a text into the part's own folder, packed if it is large. Returns the file's path beside the JSON."""
        data = text.encode()
        if len(data) > LARGE:
            name, data = f"{name}.gz", gzip.compress(data, 9, mtime=0)
        self.beside(name).write_bytes(data)
        return f"{self.name}/{name}"

    def picture(self, name: str, draw: Callable[[Any], None]) -> str:
        """Write what `draw(axes)` draws as an SVG. Returns the file's path beside the JSON."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.6, 3.2), layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.spines[["top", "right"]].set_visible(False)
        FigureCanvasSVG(figure).print_svg(self.beside(f"{name}.svg"), metadata={"Date": None})
        return f"{self.name}/{name}.svg"

    def beside(self, name: str) -> Path:
        (self.folder / self.name).mkdir(exist_ok=True)
        return self.folder / self.name / name


def provenance(cpu: bool) -> dict[str, Any]:
    """On what a recording was made, with which versions and by which command."""
    machine: dict[str, Any] = {
        "what": "a machine without a GPU: this tries the pack, and is no recording" if cpu else "an NVIDIA GPU",
        "made by": "bench/gpu.py",
        "command": os.environ.get("RUSHLIGHT_GPU_COMMAND", ""),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torch": torch.__version__,
        "git": torch.version.git_version,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": platform.processor() or platform.machine(),
    }
    try:
        import triton

        machine["triton"] = triton.__version__
    except ImportError:
        machine["triton"] = None
    if not cpu:
        if "stand-in" in torch.cuda.get_device_name():
            machine["what"] = "the stand-in of bench/stand_in/, no GPU: this tries the pack, and is no recording"
        nccl = torch.distributed.is_available() and torch.distributed.is_nccl_available()
        machine |= {
            "device": torch.cuda.get_device_name(),
            "devices": torch.cuda.device_count(),
            "capability": list(torch.cuda.get_device_capability()),
            "memory": torch.cuda.get_device_properties(0).total_memory,
            "multiprocessors": torch.cuda.get_device_properties(0).multi_processor_count,
            "driver": driver(),
            "cudnn": torch.backends.cudnn.version(),
            "nccl": ".".join(map(str, torch.cuda.nccl.version())) if nccl else None,
        }
    return machine


def driver() -> str | None:
    """The version of the driver, which PyTorch does not say."""
    try:
        completed = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=10,
        )  # fmt: skip
        if completed.returncode == 0 and completed.stdout.strip():
            return completed.stdout.splitlines()[0].strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    version = Path("/proc/driver/nvidia/version")
    match = re.search(r"Kernel Module\D*([\d.]+)", version.read_text()) if version.exists() else None
    return match[1] if match else None


def describe_exit(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def without_paths(text: str) -> str:
    """A text without the folders of this machine: of the course, of torch, of Python and of temporary files."""
    root = str(Path(__file__).resolve().parents[2])
    text = text.replace(f"{root}/", "")
    text = re.sub(r"(/[\w.@+-]+)+/(?=(?:site|dist)-packages/)", "", text)
    text = re.sub(rf"{re.escape(sys.base_prefix)}/", "", text)
    return re.sub(r"/(?:tmp|var/folders|root|home/\w+)/[\w./@+-]*/", ".../", text)
