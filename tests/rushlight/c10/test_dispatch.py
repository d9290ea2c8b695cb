"""Key sets, tables, calls and modes: the same registrations on rushlight and on torch run the same kernels."""

import pytest
import torch
from both import agree
from hypothesis import given, seed
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from autograder.engine.check import find
from rushlight.c10 import dispatch, fast_paths

KEYS = [key for key in dispatch.DispatchKey if key != dispatch.DispatchKey.Undefined]
SCHEMA = "f(Tensor x, int a=2) -> Tensor"


def key_sets_of(xp):
    return xp._C.DispatchKeySet, xp._C.DispatchKey, xp._C._dispatch_keyset_to_string


def mode_of(xp):
    return xp.utils._python_dispatch.TorchDispatchMode if xp is torch else dispatch.DispatchMode


def library(xp, *schemas):
    made = xp.library.Library("test_dispatch", "DEF")
    for schema in schemas or [SCHEMA]:
        made.define(schema)
    return made


def op(xp, name="f"):
    return getattr(xp.ops.test_dispatch, name).default


def logging(log, name, result=lambda *args: args[0]):
    def kernel(*args, **kwargs):
        log.append(name)
        return result(*args)

    return kernel


def going_on(xp, log, key, name="f"):
    """A kernel that takes the key set, says what is in it, and goes on below its key."""

    def kernel(key_set, *args, **kwargs):
        log.append([key, xp._C._dispatch_keyset_to_string(key_set)])
        below = xp._C._dispatch_keyset_full_after(getattr(xp._C.DispatchKey, key))
        return op(xp, name).redispatch(key_set & below, *args, **kwargs)

    return kernel


# Key sets


@in_one_test
@pytest.mark.parametrize("key", [key.name for key in KEYS])
def test_a_key_is_in_a_set_of_its_own_as_in_torch(key):
    def program(xp):
        of, keys, show = key_sets_of(xp)
        return show(of(getattr(keys, key)))

    agree(program)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_tensor_has_the_keys_that_torch_gives_it(device):
    agree(lambda xp: xp._C._dispatch_keyset_to_string(xp._C._dispatch_keys(xp.ones(2, device=device))))


@pytest.mark.parametrize("names", [dispatch.FUNCTIONALITIES, dispatch.BACKENDS])
def test_the_order_of_bits_is_torchs(names):
    ranks = [int(getattr(torch._C.DispatchKey, name)) for name in names]
    assert ranks == sorted(ranks)


def test_a_thread_begins_with_what_torch_includes_and_excludes():
    def names(text):
        return text[15:-1].split(", ")

    agree(lambda xp: xp._C._dispatch_keyset_to_string(xp._C._dispatch_tls_local_include_set()))
    theirs = names(str(torch._C._dispatch_tls_local_exclude_set()))
    assert names(dispatch.show_key_set(dispatch.local.excluded)) == [n for n in theirs if n in dispatch.FUNCTIONALITIES]


def test_an_import_calls_no_exercise(tmp_path):
    """A lab's edition of the framework has these bodies removed, and is imported all the same."""
    import subprocess
    import sys

    from autograder.engine.edition import framework_files
    from autograder.model import Course

    for name, content in framework_files([name for lab in Course().find_labs("02") for name in lab.exercises]).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    subprocess.run([sys.executable, "-c", "import rushlight"], cwd=tmp_path, check=True)


# Tables


def test_the_table_of_an_operator_reads_as_torchs():
    def program(xp):
        made = library(xp)
        made.impl("f", print, "CPU")
        made.impl("f", print)
        made.impl("f", xp.library.fallthrough_kernel, "AutogradMeta")
        lines = xp._C._dispatch_dump_table("test_dispatch::f").splitlines()
        entries = [(line.partition(":")[0], line.rpartition("[")[2], "fallthrough" in line) for line in lines]
        return [entry for entry in entries if entry[0] in [key.name for key in KEYS]]

    agree(program)


@pytest.mark.parametrize("key", ["CPU", "Meta", "AutogradCPU", "CompositeImplicitAutograd", "Autograd"])
def test_what_is_registered_can_be_asked(key):
    def program(xp):
        made = library(xp)
        made.impl("f", print, "CPU")
        made.impl("f", print, "Autograd")
        return xp._C._dispatch_has_kernel_for_dispatch_key("test_dispatch::f", key)

    agree(program)


# Calls


def test_kernels_run_from_the_highest_key_down():
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")
        for key in ("ADInplaceOrView", "AutogradCPU", "AutocastCPU"):
            made.impl("f", going_on(xp, log, key), key, with_keyset=True)
        op(xp)(xp.ones(1))
        with xp.autocast("cpu", dtype=xp.float16):
            op(xp)(xp.ones(1))
        return log

    agree(program)


def test_all_tensors_have_a_say_those_in_lists_included():
    def program(xp):
        made, log = library(xp, "f(Tensor?[] xs, Tensor? y=None) -> int"), []
        for key in ("CPU", "Meta", "CompositeExplicitAutograd"):
            made.impl("f", logging(log, key, lambda *args: 1), key)
        a, b = xp.ones(1), xp.ones(1, device="meta")
        for args in ([[]], [[None, a]], [[a, b]], [[], b], [(a,), a]):
            op(xp)(*args)
        return log

    agree(program)


@pytest.mark.parametrize("excluded", ["AutogradCPU", "AutogradMeta", "ADInplaceOrView", "CPU", "AutogradFunctionality"])
def test_excluding_a_key_excludes_its_functionality_on_every_backend(excluded):
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")
        made.impl("f", logging(log, "Composite"), "CompositeExplicitAutograd")
        made.impl("f", going_on(xp, log, "AutogradCPU"), "AutogradCPU", with_keyset=True)
        (of, keys, _), x = key_sets_of(xp), xp.ones(1)
        with xp._C._ExcludeDispatchKeyGuard(of(getattr(keys, excluded))):
            op(xp)(x)
        op(xp)(x)
        return log

    agree(program)


def test_a_fallthrough_is_looked_up_on_the_highest_backend():
    def program(xp):
        made, log = library(xp, "f(Tensor[] xs) -> int"), []
        made.impl("f", xp.library.fallthrough_kernel, "AutogradCPU")
        made.impl("f", logging(log, "AutogradMeta", lambda xs: 1), "AutogradMeta")
        made.impl("f", logging(log, "CPU", lambda xs: 1), "CPU")
        made.impl("f", logging(log, "Meta", lambda xs: 1), "Meta")
        op(xp)([xp.ones(1)])
        op(xp)([xp.ones(1), xp.ones(1, device="meta")])
        return log

    agree(program)


@pytest.mark.parametrize(
    "keys", [["CPU"], ["Meta"], ["CPU", "ADInplaceOrView"], ["Undefined"], ["CPU", "AutogradMeta"]]
)
@pytest.mark.parametrize("composite", [True, False])
def test_redispatch_asks_neither_the_tensors_nor_for_fallthroughs(keys, composite):
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")
        if composite:
            made.impl("f", logging(log, "composite"))
        of, names, _ = key_sets_of(xp)
        key_set = of(names.Undefined)
        for key in keys:
            key_set = key_set | of(getattr(names, key))
        with xp._C._ExcludeDispatchKeyGuard(of(names.ADInplaceOrView)):
            op(xp).redispatch(key_set, xp.ones(1))
        return log

    agree(program)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_missing_kernel_is_an_error_that_says_what_to_do(device):
    made = library(rl)
    made.impl("f", print, "PrivateUse1")
    with pytest.raises(
        NotImplementedError, match=r"test_dispatch::f.*Library\('test_dispatch', 'IMPL'\).impl\(.*'(CPU|Meta)'"
    ):
        op(rl)(rl.ones(1, device=device))


def test_no_tensors_and_no_kernel_for_that_is_an_error_that_says_so():
    made = library(rl, "f(Tensor[] xs) -> int")
    made.impl("f", print, "CPU")
    with pytest.raises(NotImplementedError, match="no tensor arguments to test_dispatch::f"):
        op(rl)([])


def test_a_trace_shows_calls_and_redispatches_by_depth():
    made, lines = library(rl), []
    made.impl("f", going_on(rl, [], "AutogradCPU"), "Autograd", with_keyset=True)
    made.impl("f", lambda x, a=2: x + 1, "CPU")
    x = rl.ones(1)
    with dispatch.show_dispatch_trace(lines.append):
        op(rl)(x)
    assert lines == [
        "[call] op=[test_dispatch::f], key=[AutogradCPU]",
        " [redispatch] op=[test_dispatch::f], key=[CPU]",
        "  [call] op=[aten::add.Tensor], key=[AutogradCPU]",
        "   [redispatch] op=[aten::add.Tensor], key=[CPU]",
    ]


def test_a_layer_that_is_set_while_another_is_forced_holds_afterwards():
    try:
        with dispatch.show_dispatch_trace(lambda line: None), fast_paths.disabled(None):
            fast_paths.disable("autograd")
            assert fast_paths.disabled_from() is None
        assert fast_paths.disabled_from() == "autograd"
    finally:
        fast_paths.disable(None)


def test_fast_paths_are_as_before_whatever_context_ends_first():
    first, second = fast_paths.disabled(None), fast_paths.disabled("aten")
    first.__enter__(), second.__enter__()
    first.__exit__(None, None, None)
    assert fast_paths.disabled_from() == "aten"
    second.__exit__(None, None, None)
    assert fast_paths.disabled_from() is None and len(fast_paths._layers) == 1


# Modes


class Seen:
    """Makes modes that say what they see."""

    def __init__(self, xp, log):
        self.xp, self.log = xp, log

    def __call__(self, name, answer=None):
        log, xp = self.log, self.xp

        class Mode(mode_of(xp)):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                log.append([name, str(func), len(args), types, kwargs])
                return func(*args, **(kwargs or {})) if answer is None else answer(func, *args)

        return Mode()


def test_the_innermost_mode_sees_a_call_first_and_what_it_calls_goes_to_the_next():
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")
        made.impl("f", going_on(xp, log, "AutogradCPU"), "Autograd", with_keyset=True)
        x, mode = xp.ones(1), Seen(xp, log)
        with mode("outer"), mode("inner"):
            op(xp)(x, 5)
        op(xp)(x)
        return log

    agree(program)


def test_a_mode_that_raises_leaves_everything_as_it_was():
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")

        def refuse(func, *args):
            raise KeyError(str(func))

        x, mode = xp.ones(1), Seen(xp, log)
        with mode("outer"), mode("raising", refuse):
            for _ in range(2):
                with pytest.raises(KeyError):
                    op(xp)(x)
        op(xp)(x)
        return log

    agree(program)


@pytest.mark.parametrize("answer", [3, NotImplemented, None, (1, 2)])
def test_a_mode_that_answers_what_is_no_tensor_is_refused(answer):
    def program(xp):
        made, log = library(xp), []
        made.impl("f", logging(log, "CPU"), "CPU")
        x = xp.ones(1)
        with Seen(xp, log)("mode", lambda func, *args: answer):
            return op(xp)(x)

    agree(program)


def test_a_mode_sees_the_parts_of_a_composite_operator():
    def program(xp):
        made, log = library(xp, SCHEMA, "g(Tensor x) -> Tensor"), []
        made.impl("g", logging(log, "CPU"), "CPU")
        made.impl("f", lambda x, a=2: op(xp, "g")(x))
        x = xp.ones(1)
        with Seen(xp, log)("mode"):
            op(xp)(x)
        return log

    agree(program)


def test_a_mode_sees_calls_without_tensors():
    def program(xp):
        made, log = library(xp, "f(int a) -> int"), []
        made.impl("f", logging(log, "kernel"), "CompositeExplicitAutograd")
        with Seen(xp, log)("mode"):
            return op(xp)(3), log

    agree(program)


# Everything together

PROGRAM = find("together.dispatcher")


@seed(2)
@given(PROGRAM.cases(st))
def test_any_program_of_registrations_and_calls_runs_the_same_kernels(case):
    agree(PROGRAM.program, *PROGRAM.in_order(case).values())
