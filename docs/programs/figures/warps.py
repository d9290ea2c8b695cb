"""What a warp asks of memory: the sectors of a load by 32 lanes, for each dtype, stride and offset.

The counts are those of rushlight's runtime for kernels, which compiles the load and runs it. Where an H100 has counted the same
load, its count must be equal.
"""

from __future__ import annotations

import gzip
import json
import re

import numpy as np

from docs.programs import DOCS
from rushlight.on_torch import cuda_on_host

PHASE, SIZE = "14", (652, 432)
STRIDES, OFFSETS, LANES = range(33), range(17), 32
TYPES = {"float16": "__half", "float32": "float", "float64": "double"}
TEXT = """
template <typename T> __global__ void load(const T* in, T* out, int stride, int offset) {
  int lane = threadIdx.x;
  out[lane] = in[offset + lane * stride];
}
"""
RECORDED = DOCS.parent / "phases" / "recorded" / "h100" / "counts.json.gz"


def data() -> dict:
    """The bytes of an element of each dtype, and the sectors of a request: `sectors[dtype][stride][offset]`."""
    module = cuda_on_host.Module(TEXT, *(f"load<{name}>" for name in TYPES.values()))
    sectors = {dtype: [[asked(module, dtype, s, o) for o in OFFSETS] for s in STRIDES] for dtype in TYPES}
    for (dtype, stride, offset), count in counted_by_a_device().items():
        if stride in STRIDES:
            assert sectors[dtype][stride][offset] == count, (dtype, stride, offset)
    return {"bytes": {dtype: np.dtype(dtype).itemsize for dtype in TYPES}, "sectors": sectors}


def asked(module: cuda_on_host.Module, dtype: str, stride: int, offset: int) -> int:
    """The sectors that one warp asks for when lane i reads element `offset + i * stride`."""
    array, out = np.zeros(offset + (LANES - 1) * stride + 1, dtype), np.zeros(LANES, dtype)
    result = module.launch(f"load<{TYPES[dtype]}>", 1, LANES, array, out, stride, offset)
    assert not result.findings and result.counts.global_load.requests == 1
    return result.counts.global_load.sectors


def counted_by_a_device() -> dict[tuple[str, int, int], float]:
    """The sectors of a request, by dtype, stride and offset, of the loads that an H100 has counted."""
    dtypes, counts = {name: dtype for dtype, name in TYPES.items()}, {}
    for launch in json.loads(gzip.decompress(RECORDED.read_bytes()))["sections"]["counters"]["launches"]:
        match = re.fullmatch(r"load<(\w+), (\d+), (\d+)>", launch["kernel"])
        if match and match[1] in dtypes:
            requests, sectors = launch["global_load"]
            counts[dtypes[match[1]], int(match[2]), int(match[3])] = sectors / requests
    return counts
