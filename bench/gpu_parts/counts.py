"""Part 12: what kernels in CUDA C++ ask of memory, counted by the device.

The reference kernels of `rushlight/on_torch/cuda_on_host/` are one program, which launches each kernel once. Nsight Compute (`ncu`)
counts the requests, sectors and wavefronts of each launch, and the summary compares them with the counts of the host. The kernels
with a counterpart in torch are also compiled by NVRTC and compared with it. The device's counters may include the work of other
processes: `--only 12` runs this part alone.
"""

from __future__ import annotations

import csv
import functools
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from bench.gpu_parts.recording import NeedsGPU

TITLE = "what kernels ask of memory, counted"
LIMIT = 150
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "rushlight" / "on_torch"))

import launches  # type: ignore[import-not-found]  # noqa: E402

KERNELS = ROOT / "tests" / "rushlight" / "on_torch" / "kernels.cu"
C = launches.C_OF_DTYPE
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SHARED = "l1tex__data_{}_mem_shared_op_{}.sum"
WAVES = "pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu"
COUNTS = {  # column of `launches.columns`: the counters, each a sum
    "global_load": [[GLOBAL.format(what, "ld")] for what in ("requests", "sectors")],
    "global_store": [[GLOBAL.format(what, "st")] for what in ("requests", "sectors")],
    "global_atomic": [[GLOBAL.format(what, op) for op in ("red", "atom")] for what in ("requests", "sectors")],
    "shared_load": [[SHARED.format(what, "ld")] for what in WAVES],
    "shared_store": [[SHARED.format(what, "st")] for what in WAVES],
}
OTHERS: dict[str, str | list[str]] = {
    "registers": "launch__registers_per_thread",
    "shared": "launch__shared_mem_per_block_static",
    "limits": [f"launch__occupancy_limit_{what}" for what in ("registers", "shared_mem", "warps", "blocks")],
    "occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "L1 hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "bytes of DRAM": "dram__bytes_read.sum",
    "nanoseconds": "gpu__time_duration.sum",
}
MAIN = """
#include <cstdio>
#include <vector>
{kernels}
char* room(size_t bytes, int below) {{
  std::vector<int> values(bytes / 4 + 1);
  for (size_t i = 0; i < values.size(); i++) values[i] = below ? (int)(i * 7919u % 65537u % below) : 0;
  char* address = nullptr;
  cudaMalloc(&address, bytes), cudaMemcpy(address, values.data(), bytes, cudaMemcpyHostToDevice);
  return address;
}}
int main() {{
{calls}
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
}}
"""


def call(launch: launches.Launch) -> str:
    """A launch in CUDA C++. Its memory is never freed."""
    values, element = [], re.match(r"(?:load|store|shared_\w+)<([^,]+)", launch.name)
    for argument in launch.arguments:
        if not isinstance(argument, launches.In | launches.Out):
            values.append(str(argument))
            continue
        of = C[argument.dtype]
        room = f"({of}*)room({argument.count} * sizeof({of}), {getattr(argument, 'below', 0)}) + {argument.offset}"
        values.append(f"({element[1]}*)({room})" if element else room)
    grid, block = (f"dim3({', '.join(map(str, sizes))})" for sizes in (launch.grid, launch.block))
    return f"  {launch.name}<<<{grid}, {block}, {launch.shared}>>>({', '.join(values)});"


def program() -> str:
    """The kernels, and a `main` that launches them in the order of `LAUNCHES`."""
    return MAIN.format(kernels=KERNELS.read_text(encoding="utf-8"), calls="\n".join(map(call, launches.LAUNCHES)))


def read_counters(text: str) -> list[dict[str, Any]]:
    """The launches in what `ncu --csv --page raw` printed, with the names and columns of `launches`."""
    rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"]]

    def number(row: dict[str, str], *names: str) -> int:
        return sum(round(float(row[name].replace(",", "") or 0)) for name in names)

    counted = []
    for launch, row in zip(launches.LAUNCHES, rows, strict=True):
        if launch.name.partition("<")[0] not in row["Kernel Name"]:
            raise ValueError(f"{launch.name} is {row['Kernel Name']}")
        others = {key: [number(row, n) for n in names] if isinstance(names, list) else number(row, names)
                  for key, names in OTHERS.items()}  # fmt: skip
        columns = {key: [number(row, *each) for each in names] for key, names in COUNTS.items()}
        counted.append({"kernel": launch.name, "grid": launch.grid, "block": launch.block, **others, **columns})
    return counted


def on_host() -> list[dict[str, list[int]]]:
    """The host's counts of the same launches."""
    from rushlight.on_torch import cuda_on_host

    module = cuda_on_host.Module(KERNELS.read_text(encoding="utf-8"), *launches.instances())
    return [launches.columns(launches.run(module, launch)[0].counts) for launch in launches.LAUNCHES]


def counters(run: Any) -> dict[str, Any]:
    """The device's counts, and how many of them are the host's, column by column."""
    text, host = program(), on_host() if shutil.which("g++") and shutil.which("addr2line") else None
    run.need_gpu("the program is written, and its launches are counted on the host")
    missing = [name for name in ("nvcc", "ncu") if not shutil.which(name)]
    if missing:
        raise NeedsGPU(f"{' and '.join(missing)} of the CUDA toolkit must be on the PATH")
    metrics = [name for names in [*COUNTS.values()] for each in names for name in each]
    metrics += [name for names in OTHERS.values() for name in ([names] if isinstance(names, str) else names)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.cu").write_text(text)
        capability = "{}{}".format(*torch.cuda.get_device_capability())
        build = ["nvcc", "-std=c++17", "-O2", f"-arch=sm_{capability}", "-o", "kernels", "main.cu"]
        command = [
            "ncu",
            "--csv",
            "--page",
            "raw",
            "--clock-control",
            "none",
            "--metrics",
            ",".join(metrics),
            "kernels",
        ]
        command[-1] = f"{folder}/kernels"
        for each in (build, command):
            done = subprocess.run(each, cwd=folder, capture_output=True, text=True, timeout=max(1.0, run.left() - 5))
            if done.returncode or each is command and '"ID"' not in done.stdout:
                raise RuntimeError(f"{each[0]}: {(done.stdout + done.stderr)[-2000:]}")
    device = read_counters(done.stdout)
    told = "not compared: g++ or addr2line is missing"
    if host:
        pairs = [(key, ours[key] == theirs[key]) for ours, theirs in zip(host, device, strict=True) for key in COUNTS]
        equal = {key: sum(same for name, same in pairs if name == key) for key in COUNTS}
        told = f"equal to the host's, of {len(device)}: " + ", ".join(f"{key} {n}" for key, n in equal.items())
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout
    return {"summary": told, "nvcc": re.findall(r"V([\d.]+)", version), "launches": device}


def values(run: Any) -> list[dict[str, Any]]:
    """The values and microseconds of each kernel that torch has, compiled by NVRTC: `torch.cuda._compile_kernel`."""
    run.need_gpu("NVRTC is part of a build for CUDA")
    text, rows = KERNELS.read_text(encoding="utf-8"), []
    for launch in filter(lambda launch: launch.torch, launches.LAUNCHES):
        kernel = torch.cuda._compile_kernel(text, launch.name)
        bases = [
            torch.as_tensor(value).cuda() if hasattr(value, "dtype") else value for value in launches.arrays(launch)
        ]
        x = [b[a.offset :] if hasattr(a, "offset") else b for a, b in zip(launch.arguments, bases, strict=True)]
        grid, block = ((*sizes, 1, 1)[:3] for sizes in (launch.grid, launch.block))
        kernel(grid=grid, block=block, args=x, shared_mem=launch.shared)
        got = x[launches.output(launch)].clone()
        compute = compile(launch.torch, launch.name, "eval")
        expected = eval(compute, {"torch": torch, "x": x}).reshape(-1)
        call_kernel = functools.partial(kernel, grid=grid, block=block, args=x, shared_mem=launch.shared)
        seconds = run.seconds(call_kernel), run.seconds(functools.partial(eval, compute, {"torch": torch, "x": x}))
        rows.append({
            "kernel": launch.name, "grid": launch.grid, "equal": torch.equal(got, expected), "tolerance": launch.tolerance,
            "difference": float((got.double() - expected.double()).abs().max()),
            "microseconds": [round(each["median"] * 1e6, 1) for each in seconds],  # the kernel's, torch's
        })  # fmt: skip
    return rows


SECTIONS = [("counters", counters), ("values", values)]
