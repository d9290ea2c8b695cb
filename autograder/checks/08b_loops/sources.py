"""Lab 08b, the source: which function of Inductor writes a line of a log or of the generated program."""

from __future__ import annotations

import sys
from functools import cache
from unittest import mock

from rushlight.course.predictions import GENERATED

from ...engine.check import program
from ..cases import predicted
from ..shared_07 import messages, place


@program("course.predictions.generated_by", **predicted(GENERATED))
def generators(rl, program):
    return rl.course.predictions.generated_by(program)


@generators.oracle
def torch_generators(torch, program):
    where, beginning = GENERATED[program].strip().split("\n")
    log = where.removeprefix("TORCH_LOGS=")
    return next(place for name, text, place in _lines(torch) if name == log and text.startswith(beginning))


def _function(x, weight):
    scaled = (x @ weight).relu() * 2
    return scaled.sum(1), (scaled + 1).t().contiguous()


@cache
def _lines(torch):
    """The log or "in the generated program", the text, and the file and function, of each line of one compilation.

    No C++ is compiled, and nothing of what is generated runs.
    """
    import torch._inductor.compile_fx
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.utils import IndentedBuffer

    written, write = [], IndentedBuffer.writeline

    def writeline(self, line):
        frame = sys._getframe(1)
        while frame.f_code.co_name in ("writelines", "dispatch"):  # they pass on a text that they are given
            frame = frame.f_back
        by = place(torch, frame.f_code.co_filename, frame.f_code.co_name)
        written.append(("in the generated program", str(line), by))
        return write(self, line)

    logs = {text.strip().split("\n")[0].removeprefix("TORCH_LOGS=") for text in GENERATED.values()}
    with (
        torch._inductor.config.patch({"force_disable_caches": True, "cpp.simdlen": 1}),
        # with this `simdlen` none is picked, and the test of what the CPU can do would compile ten programs
        mock.patch.object(torch._inductor.cpu_vec_isa, "valid_vec_isa_list", lambda: []),
        mock.patch.object(AsyncCompile, "cpp_pybinding", lambda *args, **kwargs: lambda *args: None),
        mock.patch.object(IndentedBuffer, "writeline", writeline),
        messages(torch, *logs - {"in the generated program"}) as found,
    ):
        torch.compile(_function)(torch.ones(64, 64), torch.ones(64, 64))
    return [*found, *written]
