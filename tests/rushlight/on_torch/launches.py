"""The launches of `kernels.cu`: sizes, arguments and what torch computes. Used for the host's counts and for a device's."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.on_torch import cuda_on_host


@dataclass
class In:
    """An array of drawn values. With `below`: whole numbers from 0."""

    count: int
    dtype: str = "float32"
    below: int = 0
    offset: int = 0  # in elements: the pointer is so far into the array


@dataclass
class Out:
    count: int
    dtype: str = "float32"
    offset: int = 0
    zero: bool = False


@dataclass
class Launch:
    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: list[Any]
    torch: str = ""  # of the arguments `x`, a list of tensors; the result is that of the (flat) output
    shared: int = 0
    tolerance: float = 0.0


ADD, N = "x[0] + x[1]", 100_003
SUM = "torch.nn.functional.pad(x[0], (0, 48)).view(8, 256).sum(1)"
PRODUCT = "x[0].view({0}, {0}) @ x[1].view({0}, {0})"
LAUNCHES = [
    Launch("add", (391,), (256,), [In(N), In(N), Out(N), N], ADD),
    Launch("add_half", (391,), (256,), [In(N, "float16"), In(N, "float16"), Out(N, "float16"), N], ADD),
    Launch("add_grid_stride", (16,), (256,), [In(N), In(N), Out(N), N], ADD),
    Launch(
        "add_strided", (240,), (256,),
        [In(61440), In(61440), Out(61440), 61440, 16, 16, 16, 15, 15, 240, 3840, 1, 0, 240, 15, 1],
        "x[0].as_strided((16, 16, 16, 15), (15, 240, 3840, 1)) + x[1].as_strided((16, 16, 16, 15), (0, 240, 15, 1))",
    ),
    Launch("scale_vectorised", (98,), (256,), [In(N + 1, offset=1), Out(N + 1, offset=1), N], "x[0] * 2"),
    Launch("sum_tree", (8,), (256,), [In(2000), Out(8), 2000], SUM, 1024, 1e-5),
    Launch("sum_shuffles", (8,), (256,), [In(2000), Out(8), 2000], SUM, 0, 1e-5),
    Launch("softmax_warp<8>", (16,), (32, 4), [In(62 * 250), Out(62 * 250), 62, 250], "x[0].view(62, 250).softmax(1)", 0, 1e-6),
    Launch("softmax_block", (16,), (256,), [In(16 * 1000), Out(16 * 1000), 1000], "x[0].view(16, 1000).softmax(1)", 0, 1e-6),
    Launch(
        "layer_norm", (32,), (32,), [In(32 * 600), In(600), In(600), Out(32 * 600), 600],
        "torch.nn.functional.layer_norm(x[0].view(32, 600), (600,), x[1], x[2])", 0, 1e-4,
    ),
    Launch(
        "index_add", (64,), (128,), [Out(10 * 200, zero=True), In(64, "int32", 10), In(64 * 200), 200],
        "torch.zeros(10, 200, device=x[0].device).index_add(0, x[1].long(), x[2].view(64, 200))", 0, 1e-4,
    ),
    Launch("histogram", (16,), (256,), [In(4000, "int32", 64), Out(64, "int32", zero=True), 4000],
        "torch.bincount(x[0], minlength=64).int()"),
    Launch("transpose_naive", (8, 8), (32, 32), [In(65536), Out(65536), 256], "x[0].view(256, 256).t().contiguous()"),
    Launch("transpose<0>", (8, 8), (32, 32), [In(65536), Out(65536), 256], "x[0].view(256, 256).t().contiguous()"),
    Launch("transpose<1>", (8, 8), (32, 32), [In(65536), Out(65536), 256], "x[0].view(256, 256).t().contiguous()"),
    *(
        Launch(name, grid, block, [In(128 * 128), In(128 * 128), Out(128 * 128), 128], PRODUCT.format(128), 0, 1e-4)
        for name, grid, block in [
            ("product_naive", (8, 8), (16, 16)),
            ("product_tiled<16>", (8, 8), (16, 16)),
            ("product_tiled<32>", (4, 4), (32, 32)),
        ]
    ),
    Launch("product_tiled<16>", (7, 7), (16, 16), [In(10000), In(10000), Out(10000), 100], PRODUCT.format(100), 0, 1e-4),
    Launch(
        "product_registers", (2, 2), (16, 16), [In(128 * 128), In(128 * 128), In(128), Out(128 * 128), 128],
        "(x[0].view(128, 128) @ x[1].view(128, 128) + x[2]).relu()", 0, 1e-4,
    ),
]  # fmt: skip
C = {"float": "float32", "__half": "float16", "unsigned char": "uint8", "double": "float64"}
C_OF_DTYPE = {dtype: c for c, dtype in C.items()} | {"int32": "int"}
VECTORS = {"float2": 2, "float4": 4}
WIDE = [
    ("float", stride, offset) for stride, offset in [(1, 0), (1, 1), (1, 8), (2, 0), (3, 1), (8, 0), (9, 0), (33, 0)]
]
WIDE += [
    ("__half", 1, 0),
    ("__half", 1, 1),
    ("__half", 3, 1),
    ("unsigned char", 1, 1),
    ("unsigned char", 3, 0),
    ("double", 1, 0),
]
WIDE += [("double", 3, 0), ("float2", 1, 0), ("float4", 1, 0), ("float4", 2, 0), ("float4", 1, 1)]
BANKS = [
    ("float", 1),
    ("float", 2),
    ("float", 3),
    ("float", 4),
    ("float", 32),
    ("float", 33),
    ("__half", 1),
    ("__half", 2),
]
BANKS += [
    ("__half", 32),
    ("unsigned char", 1),
    ("unsigned char", 4),
    ("double", 1),
    ("double", 2),
    ("double", 16),
    ("double", 17),
]
BANKS += [("float2", 1), ("float4", 1), ("float4", 2), ("float4", 9)]
for T, stride, offset in WIDE:
    type_, lanes, few = C.get(T, "float32"), VECTORS.get(T, 1), 16 * 256
    many = few * stride + offset
    LAUNCHES += [
        Launch(f"load<{T}, {stride}, {offset}>", (16,), (256,), [In(many * lanes, type_), Out(few * lanes, type_)])
    ]
    LAUNCHES += [
        Launch(f"store<{T}, {stride}, {offset}>", (16,), (256,), [In(few * lanes, type_), Out(many * lanes, type_)])
    ]
for name in ("masked<1>", "masked<8>", "masked<9>", "same", "twice", "divergent"):
    LAUNCHES += [Launch(name, (16,), (256,), [In(4096), Out(4096)])]
for T, stride in BANKS:
    type_, lanes = C.get(T, "float32"), VECTORS.get(T, 1)
    many = (32 * stride + 1) * lanes
    LAUNCHES += [
        Launch(f"{way}<{T}, {stride}>", (4,), (128,), [In(many, type_), Out(512 * lanes, type_)])
        for way in ("shared_read", "shared_write")
    ]
for spread in (1, 32, 4096):
    LAUNCHES += [Launch(f"atomics<{spread}>", (16,), (256,), [Out(spread, zero=True)])]
    LAUNCHES += [Launch(f"atomics_used<{spread}>", (16,), (256,), [Out(spread, zero=True), Out(4096)])]


def instances() -> list[str]:
    """The templates that the launches name."""
    return sorted({launch.name for launch in LAUNCHES if "<" in launch.name})


def arrays(launch: Launch, seed: int = 0) -> list[Any]:
    """The arguments of a launch: bases of arrays, and numbers."""
    random, values = np.random.default_rng(seed), []
    for argument in launch.arguments:
        if isinstance(argument, In):
            if argument.below or "int" in argument.dtype:
                values.append(random.integers(0, argument.below or 100, argument.count).astype(argument.dtype))
            else:
                values.append(random.standard_normal(argument.count).astype(argument.dtype))
        elif isinstance(argument, Out):
            values.append(np.zeros(argument.count, argument.dtype))
        else:
            values.append(argument)
    return values


def output(launch: Launch) -> int:
    """The position of the argument that is the result."""
    return next(i for i, argument in enumerate(launch.arguments) if isinstance(argument, Out))


def run(module: cuda_on_host.Module, launch: Launch) -> tuple[cuda_on_host.Result, list[Any]]:
    """The result of a launch on the host, and its arguments, with arrays as the kernel got them."""
    given = []
    for value, argument in zip(arrays(launch), launch.arguments, strict=True):
        given.append(value[argument.offset :] if isinstance(argument, In | Out) else value)
    marked = [
        cuda_on_host.uninitialized(value) if isinstance(argument, Out) and not argument.zero else value
        for value, argument in zip(given, launch.arguments, strict=True)
    ]
    return module.launch(launch.name, launch.grid, launch.block, *marked, shared=launch.shared), given


def columns(counts: cuda_on_host.Counts) -> dict[str, list[int]]:
    """The counts that a device has too. Its requests of shared memory include instructions that no lane runs."""
    names = {"global_load": ("requests", "sectors"), "shared_load": ("wavefronts", "conflicts")}
    names |= {"global_store": names["global_load"], "global_atomic": names["global_load"]}
    names |= {"shared_store": names["shared_load"]}
    return {kind: [getattr(getattr(counts, kind), name) for name in of] for kind, of in names.items()}
