"""Streams, events and graphs on a simulated GPU; and what a script asks of `torch.cuda` before it chooses a device.

There is no GPU here, and `is_available()` says so. Inside `with Device():`, of `rushlight.cuda.simulator`, streams, events, copies
and graphs work on a device that computes with numpy and has a clock of its own. In PyTorch: `torch/cuda/__init__.py`.
"""

from rushlight.aten.native.creation import TENSOR_TYPES
from rushlight.backends import no, none, nothing, own_functions, refuses, returns
from rushlight.c10 import storage
from rushlight.c10.cuda.caching_allocator import OutOfMemoryError
from rushlight.c10.packages import names_of
from rushlight.cuda import _sanitizer, amp, memory, overlap, waves  # noqa: F401 - reached as attributes
from rushlight.cuda.graphs import CUDAGraph, graph, is_current_stream_capturing
from rushlight.cuda.simulator import AcceleratorError, Device
from rushlight.cuda.streams import Event, Stream, current_stream, default_stream, stream, synchronize

__all__ = [
    "AcceleratorError", "CUDAGraph", "Device", "Event", "OutOfMemoryError", "Stream", "current_stream", "default_stream",
    "device_count", "graph", "is_available", "is_current_stream_capturing", "manual_seed", "manual_seed_all", "stream",
    "synchronize",
]  # fmt: skip

Place = int | str | storage.device | None  # a device, or its index
NOT_COMPILED = "Torch not compiled with CUDA enabled"

_initialized = False
is_available = is_initialized = is_bf16_supported = no  # a script cannot choose the simulated device
"""False, as in PyTorch's build for CPUs."""
device_count = memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = nothing
"""0, as in PyTorch's build for CPUs."""
manual_seed = manual_seed_all = seed = seed_all = empty_cache = set_rng_state = set_rng_state_all = none
"""Does nothing, as in PyTorch's build for CPUs."""
get_rng_state_all = returns([])
"""An empty list, as in PyTorch's build for CPUs."""
current_device = get_device_name = get_device_capability = get_device_properties = refuses(AssertionError, NOT_COMPILED)
"""Raises an `AssertionError`, as in PyTorch's build for CPUs."""
mem_get_info = initial_seed = get_rng_state = init = ipc_collect = current_device
"""Raises an `AssertionError`, as in PyTorch's build for CPUs."""
reset_peak_memory_stats = reset_max_memory_allocated = refuses(AttributeError, NOT_COMPILED)
"""Raises an `AttributeError`, as in PyTorch's build for CPUs."""


def set_device(device: Place) -> None:
    """Does nothing for a negative index, and refuses all others, as in PyTorch's build for CPUs.

    Raises:
        ValueError: the device is not a CUDA device, or has no index.
        AttributeError: the index is not negative.
    """
    index = _index(device)
    if index is None:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    if index >= 0:
        raise AttributeError(NOT_COMPILED)


class device:
    """`with device(index):` makes another device the current one. A negative index changes nothing.

    Raises:
        ValueError: when it is made, the device is not a CUDA device.
        RuntimeError: at the beginning of the block, the index is not negative, as in PyTorch's build for CPUs.
        TypeError: at the beginning of the block, there is no index, because no device is the current one.
    """

    def __init__(self, device: Place) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, *_: object) -> None:
        pass


def _index(device: Place) -> int | None:
    """The index of a CUDA device. Source: `torch/cuda/_utils.py`, `_get_device_index`."""
    place = storage.device(device) if isinstance(device, str) else device
    if isinstance(place, storage.device):
        if place.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {place}")
        return place.index
    return place


globals().update(own_functions(__name__, globals()))
globals().update((kind.__name__, kind) for kind in TENSOR_TYPES.values() if kind.is_cuda)

__getattr__ = names_of(__name__)
