"""A prediction: the operators that modes and wrappers of small programs receive."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

for part in PARTS:

    @program(f"course.predictions.calls_received{part}", **predicting("calls_received", part))
    def calls_received(rl, number=0):
        return rl.course.predictions.calls_received()


@calls_received.oracle
def calls_of_programs(torch, number=0):
    received = []
    exec(
        draws.program("calls_received", number),
        {"torch": torch, "F": torch.nn.functional} | _receivers(torch, received),
    )
    return received


def _receivers(torch, received):
    """The classes `Mode` and `Noted` as in the lab, which write into this list."""
    from torch.utils._python_dispatch import TorchDispatchMode

    def note(who, func):
        received.append(f"{who} {func._schema.name.removeprefix('aten::')}")

    class Mode(TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            note(self.name, func)
            return func(*args, **(kwargs or {}))

    class Noted(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inner):
            declared = {"strides": inner.stride(), "dtype": inner.dtype}
            wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.shape, **declared)
            wrapper.inner = inner
            return wrapper

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            note("wrapper", func)
            return cls(func(*(each.inner if isinstance(each, cls) else each for each in args), **(kwargs or {})))

    return {"Mode": Mode, "Noted": Noted}
