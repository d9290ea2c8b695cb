"""The accelerators of this machine. No process that judges or is judged sees them, so a verdict does not depend on the machine.

CUDA, ROCm and oneAPI read these variables when a process first asks for a device. Importing torch does not ask.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

HIDING = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "-1", "ONEAPI_DEVICE_SELECTOR": "*:cpu"}
ON_CPU = {"RUSHLIGHT_DEVICE": "cpu", **HIDING}  # for ranks too, which a process that sees no device may give one
DRIVERS = "/dev/nvidiactl", "/dev/kfd", "/dev/dxg"  # of NVIDIA, of AMD, and of both in WSL


@contextlib.contextmanager
def on_cpu() -> Iterator[None]:
    """Within: the processes that this one starts see no accelerator."""
    before = {name: os.environ.get(name) for name in ON_CPU}
    os.environ |= ON_CPU
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def hide_from_kernel() -> bool:
    """Hide the accelerators from a notebook's kernel, which is the subject of its checks, but not from the ranks that it starts
    outside a check. `RUSHLIGHT_DEVICE=cuda` leaves them visible. Returns whether there is a device that is now hidden."""
    if os.environ.get("RUSHLIGHT_DEVICE") == "cuda" or "RUSHLIGHT_VISIBLE_DEVICES" in os.environ:
        return False
    os.environ["RUSHLIGHT_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "all")  # for ranks
    os.environ.update(HIDING)
    return any(Path(driver).exists() for driver in DRIVERS)
