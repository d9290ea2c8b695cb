"""New memory under `use_deterministic_algorithms`: the same program on rushlight and on torch."""

import pytest
import torch.utils.deterministic
from both import agree, written
from sweep import in_one_test

import rushlight.utils.deterministic

DTYPES = ["float16", "bfloat16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"]
PROGRAMS = [
    *[f"xp.empty(2, dtype=xp.{dtype})" for dtype in DTYPES],
    *[f"xp.ones(2, dtype=xp.{dtype}).resize_(4)" for dtype in DTYPES],
    *("xp.empty(0)", "xp.empty(())", "xp.empty(1, 2, 1, 2, memory_format=xp.channels_last)", "xp.empty(2, device='meta').shape"),
    *("xp.empty_like(m)", "xp.empty_like(m.t())", "xp.empty_strided((2, 2), (3, 1))", "m.new_empty(3)"),
    *("m.new_empty_strided((2,), (2,))",),
    *("xp.ones(4).resize_(2)", "xp.ones(4).resize_(2).resize_(4)", "xp.ones(2).resize_as_(m)", "xp.empty(3, out=xp.ones(2))"),
    *("xp.Tensor(2)", "xp.FloatTensor(2)", "m.new(2)", "xp.ones(2) + 1", "xp.zeros(2)", "xp.zeros_like(m)", "m.to(xp.float64)"),
    "z = xp.ones(4)[1:3]; z.resize_(5)",
]  # fmt: skip


@pytest.mark.parametrize("fill", [True, False])
def test_the_setting_is_a_property_of_the_module(fill):
    for framework in (torch, rushlight):
        deterministic = framework.utils.deterministic
        assert deterministic.fill_uninitialized_memory is True
        deterministic.fill_uninitialized_memory = fill
        framework.use_deterministic_algorithms(True, warn_only=fill)
        try:
            assert deterministic.fill_uninitialized_memory is fill
            assert framework.is_deterministic_algorithms_warn_only_enabled() is fill
            assert framework.empty(3).mul(0).isnan().all().item() is fill or not fill
            assert framework.ones(2).resize_(2).tolist() == [1, 1]
        finally:
            deterministic.fill_uninitialized_memory = True
            framework.use_deterministic_algorithms(False)


@in_one_test
@pytest.mark.parametrize("text", PROGRAMS)
def test_new_memory_is_filled_as_in_torch(text):
    def program(xp):
        xp.use_deterministic_algorithms(True)
        try:
            return written(text)(xp)
        finally:
            xp.use_deterministic_algorithms(False)

    agree(program)
