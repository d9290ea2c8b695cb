"""Predictions: the dispatch keys of tensors on devices that this machine does not have."""

from __future__ import annotations

import re

from rushlight.course.predictions import DEVICES

from ...engine.check import program
from ..cases import predicted


@program("course.predictions.device_keys", **predicted(DEVICES, draws=len(DEVICES)))
def device_keys(rl, program):
    return list(rl.course.predictions.device_keys(program))


@device_keys.oracle
def keys_without_the_device(torch, program):
    """The keys that torch gives to a wrapper of the device, which needs no memory, without the keys that make it a wrapper."""

    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, *_):
            raise NotImplementedError

    class Framework:
        inference_mode, sparse_coo = torch.inference_mode, torch.sparse_coo

        @staticmethod
        def empty(*sizes, **options):
            return torch.Tensor._make_wrapper_subclass(Wrapper, sizes, **options)

    names = {"xp": Framework}
    exec(DEVICES[program], names)
    lowest_first = re.findall(r"\w+", str(torch._C._dispatch_keys(names["x"])))[1:]
    return [name for name in reversed(lowest_first) if not name.startswith("Python")]
