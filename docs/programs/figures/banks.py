"""What a warp asks of shared memory: the wavefronts of a load by 32 lanes, for each size of an element, stride and offset.

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

PHASE, SIZE = "14", (652, 400)
STRIDES, OFFSETS, LANES = range(34), range(9), 32
TYPES = {"float4": 16, "float2": 8, "float": 4}  # bytes
TEXT = """
template <typename T> __global__ void load(T* out, int stride, int offset) {
  extern __shared__ T s[];
  int lane = threadIdx.x;
  for (int k = lane; k <= offset + 31 * stride; k += 32) s[k] = T();
  __syncwarp();
  out[lane] = s[offset + lane * stride];
}
"""
RECORDED = DOCS.parent / "phases" / "recorded" / "h100" / "counts.json.gz"


def data() -> dict:
    """The bytes of an element of each type, and the wavefronts of a request: `wavefronts[type][stride][offset]`."""
    module = cuda_on_host.Module(TEXT, *(f"load<{name}>" for name in TYPES))
    wavefronts = {name: [[asked(module, name, s, o) for o in OFFSETS] for s in STRIDES] for name in TYPES}
    for (name, stride), count in counted_by_a_device().items():
        assert wavefronts[name][stride] == [count] * len(OFFSETS), (name, stride)
    return {"bytes": TYPES, "wavefronts": wavefronts}


def asked(module: cuda_on_host.Module, name: str, stride: int, offset: int) -> int:
    """The wavefronts of one warp's request if lane i reads element `offset + i * stride`."""
    size, out = TYPES[name], np.zeros(LANES * TYPES[name] // 4, "float32")
    elements = offset + (LANES - 1) * stride + 1
    result = module.launch(f"load<{name}>", 1, LANES, out, stride, offset, shared=size * elements)
    assert not result.findings and result.counts.shared_load.requests == 1
    return result.counts.shared_load.wavefronts


def counted_by_a_device() -> dict[tuple[str, int], float]:
    """The wavefronts of a request, by type and stride, of the loads that an H100 has counted."""
    counts = {}
    for launch in json.loads(gzip.decompress(RECORDED.read_bytes()))["sections"]["counters"]["launches"]:
        match = re.fullmatch(r"shared_read<(\w+), (\d+)>", launch["kernel"])
        if match and match[1] in TYPES:
            warps = launch["grid"][0] * launch["block"][0] // LANES
            counts[match[1], int(match[2])] = launch["shared_load"][0] / warps
    return counts
