"""Recordings of PyTorch's own CUDA caching allocator, made without a GPU.

The allocator in a CUDA build of PyTorch runs on the stand-in for the CUDA runtime in `cuda.c`. So its segments, its splits and its
peaks are PyTorch's own. Only the device is not real: its memory is a number, and no kernel runs. `programs.py` has the programs
of allocations that are recorded. `phases/recorded/README.md` describes what is written.

By hand, on Linux, with a CUDA build of PyTorch in an environment of its own, whose Triton has the headers of CUDA:

    python3 -m venv cuda && cuda/bin/pip install "torch===2.13.0" numpy
    cuda/bin/pip install --no-deps --editable .
    cuda/bin/python bench/stand_in/record.py

It writes `phases/recorded/stand_in/allocator.json.gz` in about two minutes. The same programs give the same file, byte by byte.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OUTPUT = HERE.parent.parent / "phases" / "recorded" / "stand_in" / "allocator.json.gz"
LIBRARY = "RUSHLIGHT_STAND_IN"  # the compiled stand-in, in the process that records

# The counters of `torch.cuda.memory_stats` that are kept: those that do not count the recorder's own work.
_STATISTICS = [f"{name}.all.{kind}" for name in
               ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "inactive_split_bytes", "segment")
               for kind in ("current", "peak")]  # fmt: skip
_STATISTICS += ["num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free", "num_sync_all_streams"]

Program = dict[str, Any]  # name, why, total (bytes), settings, steps


# One program ---------------------------------------------------------------------------------------------------------


class Recorder:
    """Runs one program in a fresh process, and records what the allocator does at each step."""

    def __init__(self, program: Program):
        import torch

        self.torch, self.device = torch, ctypes.CDLL(os.environ[LIBRARY])
        self.device.stand_in_begin.argtypes = [ctypes.c_size_t]
        self.device.stand_in_locate.argtypes = [ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        self.device.stand_in_begin(program["total"])
        if program["settings"]:
            torch._C._accelerator_setAllocatorSettings(program["settings"])
        torch.cuda.init()
        torch.cuda.memory._record_memory_history("all", context=None, max_entries=1_000_000)
        count = 1 + max((_stream_of(step) for step in program["steps"]), default=0)
        self.streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(count - 1))]
        self.handles = [stream.cuda_stream for stream in self.streams]
        assert self.handles == sorted(self.handles)  # the allocator orders its blocks by these
        self.program, self.tensors, self.seen = program, {}, 0

    def run(self) -> dict[str, Any]:
        events, counts, errors = [], [], {}
        for number, (what, *arguments) in enumerate(self.program["steps"]):
            try:
                getattr(self, what)(*arguments)
            except self.torch.OutOfMemoryError as error:
                errors[str(number)] = str(error)
            events.append(self._new_events())
            counts.append(self._bytes())
        statistics = self.torch.cuda.memory_stats()
        return {
            **self.program,
            "events": events,
            "bytes": counts,
            "errors": errors,
            "segments": self._segments(),
            "statistics": {name: statistics[name] for name in _STATISTICS if name in statistics},
        }

    # The steps

    def alloc(self, name: str, size: int, stream: int = 0) -> None:
        with self.torch.cuda.stream(self.streams[stream]):
            self.tensors[name] = self.torch.empty(size, dtype=self.torch.uint8, device="cuda")

    def free(self, name: str) -> None:
        self.tensors.pop(name, None)  # an allocation that failed has no tensor

    def record_stream(self, name: str, stream: int) -> None:
        if name in self.tensors:
            self.tensors[name].record_stream(self.streams[stream])

    def finish(self, stream: int) -> None:
        self.device.stand_in_finish(self.handles[stream] >> 8)

    def synchronize(self) -> None:
        self.torch.cuda.synchronize()

    def empty_cache(self) -> None:
        self.torch.cuda.empty_cache()

    def fraction(self, share: float) -> None:
        self.torch.cuda.set_per_process_memory_fraction(share)

    def reset_peak(self) -> None:
        self.torch.cuda.reset_peak_memory_stats()

    # What is kept

    def _bytes(self) -> list[int]:
        statistics = self.torch.cuda.memory_stats()
        return [statistics[f"{name}_bytes.all.current"] for name in ("allocated", "active", "reserved")]

    def _new_events(self) -> list[list[Any]]:
        trace = self.torch.cuda.memory._snapshot()["device_traces"][0]
        trace = [event for event in trace if event["action"] != "snapshot"]
        new, self.seen = trace[self.seen :], len(trace)
        return [self._event(event) for event in new]

    def _event(self, event: dict[str, Any]) -> list[Any]:
        stream = self.handles.index(event["stream"])
        if event["action"] == "oom":
            return ["oom", None, event["device_free"], event["size"], stream]
        return [event["action"], *self._locate(event["addr"]), event["size"], stream]

    def _locate(self, address: int) -> tuple[int, int]:
        offset = ctypes.c_size_t()
        number = self.device.stand_in_locate(address, ctypes.byref(offset))
        assert number >= 0, "the allocator named an address that is on no segment"
        return number, offset.value

    def _segments(self) -> list[dict[str, Any]]:
        segments = []
        for segment in self.torch.cuda.memory._snapshot()["segments"]:
            number, offset = self._locate(segment["address"])
            blocks = [
                [block["address"] - segment["address"] + offset, block["size"], block["requested_size"], block["state"]]
                for block in segment["blocks"]
            ]
            segments.append(
                {
                    "segment": number,
                    "offset": offset,
                    "size": segment["total_size"],
                    "stream": self.handles.index(segment["stream"]),
                    "type": segment["segment_type"],
                    "expandable": segment["is_expandable"],
                    "blocks": blocks,
                }
            )
        return sorted(segments, key=lambda segment: (segment["segment"], segment["offset"]))


def _stream_of(step: Sequence[Any]) -> int:
    return {
        "alloc": lambda: step[3] if len(step) > 3 else 0,
        "record_stream": lambda: step[2],
        "finish": lambda: step[1],
    }.get(step[0], lambda: 0)()


def apart(function: Callable[[], Any]) -> Any:
    """Call a function in a fork of this process, because an allocator cannot be started again."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with open(writing, "w") as pipe:
                json.dump(function(), pipe)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        text = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise SystemExit("a program could not be recorded")
    return json.loads(text)


# All of them ---------------------------------------------------------------------------------------------------------


def record_all() -> dict[str, Any]:
    """The recordings, in the process that has the stand-in: each program runs in a fork, because an allocator has no restart."""
    import torch  # noqa: F401 - once here, and not in every fork

    from bench.stand_in import programs

    wanted = [*programs.by_hand(), *programs.for_the_course(), *apart(programs.training_steps), *programs.drawn()]
    recorded = [apart(lambda program=program: Recorder(program).run()) for program in wanted]
    return {
        "provenance": provenance(
            "PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp of a CUDA build)", "record.py"
        ),
        "programs": recorded,
    }


def provenance(what: str, script: str) -> dict[str, str]:
    import torch

    return {
        "what": f"{what}, on a stand-in for the CUDA runtime; no GPU",
        "torch": torch.__version__,
        "git": torch.version.git_version,
        "cuda": torch.version.cuda,
        "made by": f"bench/stand_in/{script}",
        "device": "the stand-in of bench/stand_in/cuda.c: memory is a number, a segment's address is above all before it, "
        "work on a stream is done when a step says so, no kernel runs; it calls itself a device of capability 9.0 with 132 SMs",
    }


def main(
    script: str,
    output: Path,
    record_all: Callable[[], dict[str, Any]],
    counted: Sequence[str],
    indent: int | None = None,
    profiler: bool = False,
) -> None:
    """The command of a script, which its docstring `script` describes: makes the recordings on the stand-in, and writes them.

    Args:
        counted: the keys of the recordings whose numbers it prints.
        indent: of the JSON; without it there is no white space.
        profiler: whether CUPTI is needed too.
    """
    parser = argparse.ArgumentParser(description=script, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", default=headers(), help="the folder of cuda.h and cupti.h, by default Triton's")
    parser.add_argument("--output", type=Path, default=output)
    arguments = parser.parse_args()
    on_stand_in(arguments.include, profiler)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        recordings = record_all()
    write(arguments.output, json.dumps(recordings, indent=indent, separators=None if indent else (",", ":")))
    counts = ", ".join(f"{len(recordings[name])} {name}" for name in counted)
    print(f"{counts}, {arguments.output.stat().st_size >> 10} KiB: {arguments.output}")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def on_stand_in(include: str, profiler: bool = False) -> None:
    """Goes on with the stand-in loaded: the first time, runs this command again with it, and exits."""
    if LIBRARY in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        libraries = compile_stand_in(Path(folder), include, profiler)
        environment = os.environ | {"LD_PRELOAD": ":".join(map(str, libraries)), LIBRARY: str(libraries[-1])}
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment).returncode)


def headers() -> str:
    """The folder of CUDA's headers in the wheel of Triton, which torch's build for CUDA requires."""
    found = importlib.util.find_spec("triton")
    return str(Path(found.origin).parent / "backends/nvidia/include") if found and found.origin else ""


def compile_stand_in(folder: Path, include: str, profiler: bool = False) -> list[Path]:
    """The stand-ins, compiled: of CUPTI if a profiler is to run, of NVML, and of the device, which is the last.

    They carry the real names, so that PyTorch finds them loaded already. The first is asked first."""
    libraries = []
    wanted = [(["cupti.c"], "libcupti.so.13")] if profiler else []
    for sources, name in (*wanted, (["nvml.c"], "libnvidia-ml.so.1"), (["cuda.c", "kernels.c"], "libcuda.so.1")):
        libraries.append(folder / name)
        flags = ["-O1", "-Wall", "-shared", "-fPIC", f"-Wl,-soname,{name}", f"-I{include}"]
        subprocess.run(
            ["cc", *flags, *(str(HERE / source) for source in sources), "-o", str(libraries[-1])], check=True
        )
    return libraries


if __name__ == "__main__":
    main(__doc__, OUTPUT, record_all, ["programs"])
