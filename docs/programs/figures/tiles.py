"""A product in tiles: what it asks of global and of shared memory, tile by tile, for each tile and each block of registers.

The counts are those of rushlight's runtime for kernels, which compiles the product and runs it. Where an H100 has counted the same
loads, its count must be equal.
"""

from __future__ import annotations

import gzip
import json

import numpy as np

from docs.programs import DOCS
from rushlight.on_torch import cuda_on_host

PHASE, SIZE = "14", (652, 432)
N, DEPTH = 128, 32  # of the matrices, and of a tile along the sum
CHOICES = [
    (16, 1),
    (16, 2),
    (32, 1),
    (32, 2),
    (32, 4),
    (64, 2),
    (64, 4),
    (64, 8),
]  # tiles, registers; 32 to 1,024 threads
TEXT = """
__global__ void naive(const float* a, const float* b, float* out, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[row * n + i] * b[i * n + column];
  out[row * n + column] = sum;
}
template <int T, int R> __global__ void tiled(const float* a, const float* b, float* out, int n, int k) {
  __shared__ float tile_a[T][33], tile_b[32][T];
  const int W = T / R;
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T, column = blockIdx.x * T;
  float sum[R][R] = {};
  for (int first = 0; first < k; first += 32) {
    for (int i = y * W + x; i < 32 * T; i += W * W) {
      tile_a[i / 32][i % 32] = a[(row + i / 32) * n + first + i % 32];
      tile_b[i / T][i % T] = b[(first + i / T) * n + column + i % T];
    }
    __syncthreads();
    for (int j = 0; j < 32; j++) {
      float left[R], right[R];
      for (int p = 0; p < R; p++) left[p] = tile_a[y + p * W][j], right[p] = tile_b[j][x + p * W];
      for (int p = 0; p < R; p++)
        for (int q = 0; q < R; q++) sum[p][q] += left[p] * right[q];
    }
    __syncthreads();
  }
  for (int p = 0; p < R; p++)
    for (int q = 0; q < R; q++) out[(row + y + p * W) * n + column + x + q * W] = sum[p][q];
}
"""
RECORDED = DOCS.parent / "phases" / "recorded" / "h100" / "counts.json.gz"


def data() -> dict:
    """The counts of the whole product after 0, 1, ... tiles of the sum: of the naive kernel, and for each tile and registers."""
    module = cuda_on_host.Module(TEXT, *(f"tiled<{tile}, {each}>" for tile, each in CHOICES))
    naive = [counted(module, "naive", 16, 16, k)["sectors"] for k in range(0, N + 1, DEPTH)]
    tiles = {}
    for tile, each in CHOICES:
        found = [counted(module, f"tiled<{tile}, {each}>", tile, tile // each, k) for k in range(0, N + 1, DEPTH)]
        tiles[f"{tile} {each}"] = {name: [counts[name] for counts in found] for name in ("sectors", "stored", "loaded")}
    for name, sectors in counted_by_a_device().items():
        mine = naive if name == "product_naive" else tiles[f"{name[14:16]} 1"]["sectors"]
        assert mine[-1] == sectors, name
    return {"n": N, "depth": DEPTH, "naive": naive, "tiles": tiles}


def counted(module: cuda_on_host.Module, kernel: str, tile: int, threads: int, k: int) -> dict[str, int]:
    """Sectors of loads from global memory and wavefronts of shared memory, of all blocks. One is run: all count the same."""
    a, b = (np.ones((N, N), "float32") for _ in range(2))
    out, blocks = np.zeros((N, N), "float32"), (N // tile) ** 2
    result = module.launch(kernel, 1, (threads, threads), a, b, out, N, k)
    counts = result.counts
    assert not result.findings and (out[:tile, :tile] == k).all()
    assert not counts.shared_load.conflicts and not counts.shared_store.conflicts
    asked = {"sectors": counts.global_load.sectors}
    asked |= {"stored": counts.shared_store.wavefronts, "loaded": counts.shared_load.wavefronts}
    return {name: blocks * count for name, count in asked.items()}


def counted_by_a_device() -> dict[str, int]:
    """The sectors of the loads of the products of 128 x 128 that an H100 has counted, of the kernels that are the same here."""
    launches = json.loads(gzip.decompress(RECORDED.read_bytes()))["sections"]["counters"]["launches"]
    blocks = {"product_naive": [8, 8], "product_tiled<16>": [8, 8], "product_tiled<32>": [4, 4]}
    return {x["kernel"]: x["global_load"][1] for x in launches if x["grid"] == blocks.get(x["kernel"])}
