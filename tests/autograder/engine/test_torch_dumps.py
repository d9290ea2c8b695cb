"""The judge reads Inductor's texts, and a text does not depend on this machine."""

import random
import re

import pytest

from autograder.engine import torch_dumps
from autograder.engine.torch_dumps import EDGES, random_calls, random_program

BY_SEVERAL_THREADS = next(each for each in EDGES if each["threads"] > 1 and "sum" in each["source"])


@pytest.mark.sweep
def test_every_kernel_that_is_noted_stands_in_the_text():
    for dump in torch_dumps.edges() + torch_dumps.pool():
        assert dump["text"].startswith("# AOT ID")
        assert all(f"\n{name} = " in dump["text"] for name in dump["kernels"])
        assert all(kernel["source"].strip() in dump["text"] for kernel in dump["kernels"].values())


@pytest.mark.sweep
def test_texts_of_every_kind_are_among_the_edges():
    kernels = [kernel for dump in torch_dumps.edges() for kernel in dump["kernels"].values()]
    assert {step for kernel in kernels for _, _, _, step, _ in kernel["loops"]} >= {1, 8, 16}
    assert {shared for kernel in kernels for _, _, _, _, shared in kernel["loops"]} >= {0, 1, 2}
    found = {each for kernel in kernels for each in kernel["reductions"]}
    assert found == {"sum", "prod", "max", "min", "any", "argmax", "argmin", "welford_reduce"}
    assert {event[0] for dump in torch_dumps.edges() for event in dump["events"]} >= {"reuse", "free", "outside"}


@pytest.mark.sweep
def test_numbers_of_two_digits_and_names_with_digits_are_among_the_edges():
    texts = "".join(dump["text"] for dump in torch_dumps.edges())
    kernels = ("cpp_fused_mul_10(", "cpp_fused_atan2_expm1_log1p_0(", "cpp_fused_add_atan2_0(")
    assert all(word in texts for word in ("del buf10", " tmp_acc10 = ", *kernels))


@pytest.mark.sweep
def test_an_alias_that_goes_is_among_the_edges_and_an_operand_given_by_keyword():
    texts = [dump["text"] for dump in torch_dumps.edges()]
    assert any(f"    del {name}\n" in text for text in texts for name in re.findall(r"(\w+) = .*# alias", text))
    assert any("sorter=arg2_1)" in text for text in texts)


@pytest.mark.sweep
def test_a_program_is_the_same_program_again_and_one_from_elsewhere_is_made_anew():
    program = random_program(random.Random("elsewhere"))
    assert program == random_program(random.Random("elsewhere"))
    given = {name: program[name] for name in ("inputs", "isa", "threads")}
    dump = torch_dumps.known(program["source"], given)
    assert dump["source"] == program["source"]
    assert dump == torch_dumps._in_a_child([EDGES[0], program])[1]


def test_no_compiler_is_needed(monkeypatch):
    from torch._inductor import cpp_builder

    def none():
        raise RuntimeError("there is no compiler")

    (made,) = torch_dumps._in_a_child([BY_SEVERAL_THREADS])
    monkeypatch.setattr(cpp_builder, "get_cpp_compiler", none)
    assert torch_dumps._in_a_child([BY_SEVERAL_THREADS]) == [made]


def test_a_log_has_neither_this_day_nor_this_process_in_it():
    calls = random_calls(random.Random("calls"))
    first, second = torch_dumps._in_a_child([calls, calls])
    assert first == second
    assert first["text"].startswith("V0101 00:00:00.000000 1 torch/_dynamo/guards.py")
