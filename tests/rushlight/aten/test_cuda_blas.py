"""Kernels of `aten.native.cuda.blas`: their products are torch's, and what is computed about them is what a device says."""

import gzip
import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl
from rushlight.aten.native.cuda import blas, loops
from rushlight.course.predictions import TILES, faulty_line
from rushlight.on_torch.cuda_on_host import Module

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)

RECORDED = Path(__file__).resolve().parents[3] / "phases" / "recorded" / "h100" / "counts.json.gz"


def test_a_device_has_room_for_as_many_blocks():
    launches = json.loads(gzip.decompress(RECORDED.read_bytes()))["sections"]["counters"]["launches"]
    for launch in launches:
        dynamic = 1024 if launch["kernel"] == "sum_tree" else 0
        threads, shared = math.prod(launch["block"]), launch["shared"] + dynamic
        blocks, warps = blas.occupancy(threads, launch["registers"], shared)
        assert blocks == min(launch["limits"]), launch["kernel"]
        assert 100 * warps / 64 == launch["occupancy"], launch["kernel"]


def test_a_product_by_tiles_moves_as_many_bytes_as_are_counted():
    for m, n, k in ((20, 17, 34), (16, 32, 48)):
        a, b, out = (np.ones(size, np.float32) for size in ((m, k), (k, n), (m, n)))
        for kernel, tile, text in (
            ("product", 1, blas.product_source()),
            ("product_tiled", 16, blas.product_tiled_source()),
        ):
            result = Module(text).launch(kernel, (-(-n // 16), -(-m // 16)), (16, 16), a, b, out, m, n, k)
            moved = result.counts.global_load.bytes + result.counts.global_store.bytes
            assert (moved, result.findings) == (blas.bytes_of_product(m, n, k, tile, tile)[0], [])


def test_the_faulty_line_is_the_one_with_a_race_a_conflict_or_sectors_that_its_bytes_do_not_fill():
    a, b, out = (np.ones(1 << 13, np.float32) for _ in range(3))
    module, before = Module("\n".join(TILES.values())), 0
    for name, text in TILES.items():
        arguments = (a, b, out, 64) if "const float* b" in text else (a, out)
        result = module.launch(name.replace(" ", "_"), 1, (32, 32), *arguments)
        slow = {
            line - before
            for line, counts in result.lines.items()
            if counts.shared_load.conflicts + counts.shared_store.conflicts
            or any(of.sectors > of.bytes / 32 + of.requests for of in (counts.global_load, counts.global_store))
        }
        loads = {line for line, counts in result.lines.items() if counts.shared_load.requests}
        races = {line for found in result.findings for line in (found.line, found.other_line) if found.kind == "race"}
        assert slow | {line - before for line in races & loads} == {faulty_line(name)} - {None}, name
        before += len(text.splitlines())


MATRICES = {
    "rows": lambda x: x.contiguous(),
    "columns": lambda x: x.t().contiguous().t(),
    "rows of a wider one": lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
    "columns of a higher one": lambda x: torch.cat([x, x]).t().contiguous().t()[: x.shape[0]],
    "each second column": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "one row": lambda x: x[:1].expand(x.shape),
}


@given(
    st.tuples(*[st.integers(1, 70)] * 2, st.integers(0, 20)),
    st.sampled_from([*MATRICES]),
    st.sampled_from([*MATRICES]),
    st.booleans(),
)
def test_a_product_of_views_is_torchs(sizes, a, b, relu):
    m, n, k = sizes
    x, y = (
        torch.arange(rows * columns).remainder(7).float().reshape(rows, columns) - 3
        for rows, columns in ((m, k), (k, n))
    )
    x, y, bias = MATRICES[a](x), MATRICES[b](y), torch.arange(n).remainder(5).float()
    result = blas.addmm(*map(rl.from_dlpack, (bias, x, y)), relu=relu)
    expected = torch.addmm(bias, x, y)
    np.testing.assert_array_equal(result.numpy(), (expected.relu() if relu else expected).numpy())
    assert loops.launches[-1].result.findings == []


def test_a_copy_is_made_only_of_a_matrix_without_contiguous_rows_or_columns():
    x = torch.arange(30.0).reshape(5, 6)
    for name, view in MATRICES.items():
        matrix = rl.from_dlpack(view(x))
        prepared = blas.prepare_matrix(matrix)
        is_copy = prepared.tensor.untyped_storage() is not matrix.untyped_storage()
        assert is_copy == (name in ("each second column", "one row")), name


def test_a_linear_layer_reads_its_weight_transposed_and_takes_any_dimensions():
    x, weight, bias = rl.arange(24.0).reshape(2, 3, 4), rl.arange(20.0).reshape(5, 4), rl.arange(5.0)
    prepared = blas.prepare_matrix(weight.t())
    assert (prepared.ld, prepared.transposed) == (4, True)
    assert prepared.tensor.untyped_storage() is weight.untyped_storage()
    result = blas.linear(x, weight, bias)
    expected = torch.nn.functional.linear(*(torch.from_numpy(of.numpy()) for of in (x, weight, bias)))
    np.testing.assert_array_equal(result.numpy(), expected.numpy())
