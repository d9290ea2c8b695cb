"""Bench labs: the subject has torch at hand, and works on its tensors."""

import signal
import subprocess
import sys
import textwrap
import threading
import types
from functools import partial
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight
from autograder.author.build import exercise_source
from autograder.checks.cases import tensors
from autograder.engine import judge as judging
from autograder.engine.check import find, function_of, program, registry
from autograder.engine.edition import edition
from autograder.engine.exercise import exercise, fill, unplug
from autograder.engine.limits import limited
from autograder.engine.observe import SubjectTimedOut, differences, result_of
from autograder.engine.recorder import fresh_namespace, recorded
from autograder.engine.sandbox import Sandbox
from autograder.engine.subject import answer
from autograder.engine.torch_side import TorchSide, call_and_restore
from autograder.engine.verdict import DISAGREED, PASSED
from autograder.model import Lab
from rushlight.distributed import ranks

TINY = """
import torch

def double(x: torch.Tensor) -> torch.Tensor:
    'Twice x.'
    return x + x
"""


module = types.ModuleType("rushlight.tiny")  # the same in every test: torch's compiler keeps what it has once imported


@pytest.fixture
def tiny(monkeypatch):
    """A lab on torch of one exercise, filled with a copy of the reference."""
    monkeypatch.setitem(sys.modules, "rushlight.tiny", module)
    monkeypatch.setattr(rushlight, "tiny", module, raising=False)
    exec(TINY, vars(module))
    monkeypatch.setattr(sys.modules["autograder.engine.check"], "_registry", dict(registry()))

    def twice(xp, x):
        with recorded(allowed=["add", "mul"]) as beyond:
            result = xp.tiny.double(x)
        return {"double": result, "called beyond what is allowed": beyond}

    def oracle(torch, x):
        return {"double": x + x, "called beyond what is allowed": []}

    twice.__module__ = "autograder.checks.00_trace.tiny"
    floats = dict(dtypes=("float32", "float64"))
    program("tiny.double", cases=lambda st: st.fixed_dictionaries({"x": tensors(st, **floats)}), draws=7)(twice)
    find("tiny.double").oracle(oracle)
    fill(module.double, lambda x: x + x)
    yield module
    unplug(module.double)


def test_importing_the_framework_or_a_check_does_not_import_torch():
    source = "import sys, autograder.engine.recorder; from autograder.engine.check import registry; registry()"
    source += "; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", source], check=True)


def test_the_students_function_gets_torchs_tensors_and_they_are_observed(judge, tiny):
    seen = []
    fill(tiny.double, lambda x: seen.append(type(x)) or x + x)
    verdict = judge.verdict("tiny.double", answer)
    assert verdict.outcome == PASSED and verdict.cases == 7, str(verdict)
    assert {*seen} == {torch.Tensor}


def test_a_wrong_answer_in_a_bench_lab_is_shown_on_its_smallest_case(judge, tiny):
    fill(tiny.double, lambda x: x + x if x.dim() < 2 else x)
    verdict = judge.verdict("tiny.double", answer)
    assert verdict.outcome == DISAGREED and "with recorded(" in verdict.program


def test_a_function_that_delegates_does_not_pass(judge, tiny):
    fill(tiny.double, lambda x: torch.logaddexp(x, x) * 0 + torch.cat([x.unsqueeze(0)] * 2).sum(0))
    verdict = judge.verdict("tiny.double", answer)
    assert verdict.outcome == DISAGREED and "logaddexp" in verdict.mine


def test_few_cases_are_drawn_and_tried_where_the_check_says_so(judge, tiny, monkeypatch):
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 60.0)
    asked = []

    def ask(name, cases):
        asked.append(len(cases))
        return answer(name, cases)

    fill(tiny.double, lambda x: x)
    assert judge.verdict("tiny.double", ask).outcome == DISAGREED
    assert sum(count for count in asked if count > 1) == 7 and len(asked) <= 5 + 7  # the seven in two portions


class Leaving(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise AssertionError("left on")


def grad_mode():
    torch.set_grad_enabled(False)


def inference_mode():
    torch.inference_mode().__enter__()


def autocast():
    torch.autocast("cpu").__enter__()


def mode():
    Leaving().__enter__()


def device():
    torch.set_default_device("meta")


def excluded_key():
    torch._C._dispatch_tls_set_dispatch_key_excluded(torch._C.DispatchKey.CPU, True)


def transform():
    torch._C._functorch._vmap_increment_nesting(2, "error")


def saved_hooks():
    torch.autograd.graph.save_on_cpu().__enter__()


def default_dtype():
    torch.set_default_dtype(torch.float64)


def generator():
    torch.rand(3)


def deterministic():
    torch.use_deterministic_algorithms(True)


def anomaly():
    torch.autograd.set_detect_anomaly(True)


LEFT = [grad_mode, inference_mode, autocast, mode, device, excluded_key, transform, saved_hooks]
LEFT += [default_dtype, generator, deterministic, anomaly]


def surroundings():
    """Return the state of torch that a program sees."""
    w = torch.ones(2, 2, requires_grad=True)
    y = w @ w
    state = [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), y.dtype, y.device, y.requires_grad]
    state += [torch.is_autocast_enabled("cpu"), torch.rand(2).tolist()]
    state += [torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled(), y.shape]
    state += [
        torch._C._functorch.maybe_current_level(),
        y.grad_fn._saved_self.untyped_storage().data_ptr() == w.data_ptr(),
    ]
    return state


@pytest.mark.parametrize("leave", LEFT, ids=lambda leave: leave.__name__)
def test_what_an_answer_leaves_behind_in_torch_is_gone_with_its_case(leave):
    before, outside = call_and_restore(surroundings), torch.get_rng_state()
    call_and_restore(leave)
    assert call_and_restore(surroundings) == before
    assert torch.equal(torch.get_rng_state(), outside)


def test_an_error_in_a_case_comes_out_of_its_thread():
    with pytest.raises(ZeroDivisionError):
        call_and_restore(lambda: 1 / 0)


@pytest.fixture
def interruptible():
    """As from a terminal: what is started in the background of a script ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_a_case_that_loops(interruptible):
    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def loop():
        threading.Timer(0.2, interrupt).start()
        while True:
            pass

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        call_and_restore(loop)
    assert threading.active_count() <= before + 1  # the timer may still be ending


def test_a_case_that_takes_too_long_leaves_no_thread_that_takes_time_from_later_ones():
    def loop():
        while True:
            pass

    before = {*threading.enumerate()}  # one of another test may end meanwhile, and is not alive for a moment
    with pytest.raises(SubjectTimedOut):
        limited(partial(call_and_restore, loop), 0.5)
    assert {thread for thread in threading.enumerate() if thread.is_alive()} <= before


x, w, b = torch.randn(2, 3), torch.randn(4, 3), torch.randn(4)
LINEAR = ["mm", "add"]


def delegating_by_compiled_operator():
    torch.ops.aten.linear(x, w, b)


def in_place():
    x.clone().add_(1)


def with_out():
    torch.add(x, x, out=torch.empty(0))


def views():
    x.T[0].unsqueeze(0).expand(3, 2).reshape(-1)


def backward():
    y = x.clone().requires_grad_()
    (y @ y.T).sum().backward()


def custom():
    name = fresh_namespace()

    @torch.library.custom_op(f"{name}::op", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return x.relu()

    with recorded(allowed=[f"{name}::op"]) as beyond:
        op(x)
    assert beyond == []


@pytest.mark.parametrize(
    ("call", "beyond"),
    [
        (lambda: x @ w.T + b, []),
        (lambda: torch.ops.aten.mm.default(x, w.T), []),
        (lambda: torch.nn.functional.linear(x, w, b), ["addmm"]),
        (lambda: torch.einsum("ij,kj->ik", x, w), ["bmm"]),
        (lambda: torch.vmap(lambda row: row @ w.T)(x), []),
        (lambda: torch.from_numpy(x.numpy() @ w.numpy().T), []),
        (lambda: x.tolist(), []),
        (delegating_by_compiled_operator, ["addmm"]),
        (in_place, []),
        (with_out, []),
        (views, []),
        (backward, ["ones_like", "sum"]),
        (custom, []),
    ],
)
def test_the_recorder_notes_operators_that_are_not_allowed(call, beyond):
    with recorded(allowed=LINEAR) as seen:
        call()
    assert [name for name in seen if not name.startswith("case")] == beyond


def test_the_recorder_notes_named_functions_under_any_name_whoever_calls_them():
    watched = ["torch.library.infer_schema", "torch.vmap", "torch._C._nn.gelu"]
    with recorded(allowed=["gelu"], watched=watched) as seen:
        torch.func.vmap(lambda row: row)(x)
        torch.nn.functional.gelu(x)
        torch.library.custom_op(f"{fresh_namespace()}::op", lambda x: None, mutates_args=(), schema="(Tensor x) -> ()")
    assert seen == ["torch._C._nn.gelu", "torch.vmap"]
    with recorded(watched=watched) as seen:
        torch.library.custom_op(f"{fresh_namespace()}::op", mutates_args=())(annotated)
    assert seen == ["torch.library.infer_schema"]


def annotated(x: torch.Tensor) -> torch.Tensor:
    return x.relu()


def test_the_recorder_is_gone_after_an_error():
    with pytest.raises(ZeroDivisionError), recorded(watched=["torch.vmap"]):
        raise ZeroDivisionError
    assert sys.getprofile() is None
    x.relu()


def test_names_for_registering_are_never_used_twice():
    assert len({fresh_namespace() for _ in range(10)}) == 10


def test_what_has_no_data_of_its_own_is_told_in_words():
    side, meta = TorchSide(), torch.empty(2, 3, device="meta")
    assert side.take(meta) == {"other": "Tensor float32 (2, 3), strides (3, 1), on meta"}
    assert side.take(torch.nn.Parameter(x)) == side.take(x)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torchs_compiler_follows_a_filled_slot(tiny, backend):
    def double(x, times=2):
        return times * x

    exercise(tiny)(double)

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return tiny.double(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            return tiny.double(grad)

    def run():
        y = torch.ones(2, requires_grad=True)
        torch.compile(lambda x: Doubled.apply(x) + tiny.double(x), backend=backend, fullgraph=True)(y).sum().backward()
        return y.grad.tolist()

    assert call_and_restore(run) == [4.0, 4.0]


def test_a_compiled_function_may_be_checked_on_more_cases_than_torch_keeps_versions():
    def compiled(factor):
        return torch.compile(lambda x: x * factor, backend="eager", fullgraph=True)(torch.ones(1))

    most = torch._dynamo.config.recompile_limit
    assert [call_and_restore(compiled, n).item() for n in range(most + 2)] == [*range(most + 2)]


def test_annotations_stay_in_the_notebook_and_in_the_slot_where_they_are_data(tiny, tmp_path):
    path = tmp_path / "tiny.py"
    path.write_text(TINY)
    unplug(tiny.double)
    exec(compile(TINY, str(path), "exec"), vars(tiny))
    assert "def double(x: torch.Tensor) -> torch.Tensor:" in exercise_source("tiny.double")
    assert "def contiguous_strides(sizes):" in exercise_source("aten.strided.contiguous_strides")
    fill(tiny.double, lambda x: x + x)
    assert torch.library.infer_schema(tiny.double, mutates_args=()) == "(Tensor x) -> Tensor"


# In the sandbox ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def box(isolated):
    box = Sandbox(edition(Lab("01a_views")), with_torch=True)
    yield box
    box.close()


@pytest.mark.sweep
def test_a_bench_lab_compiles_in_the_sandbox(box, said):
    source = """
        import torch
        def f(x, w):
            return (x @ w).relu().sum()
        x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)
        torch.compile(f, backend="aot_eager", fullgraph=True)(x, w).backward()
        print(x.grad.sum().item(), len(list(torch.export.export(torch.nn.Linear(3, 4), (x,)).graph.nodes)))
        """
    assert said(box, textwrap.dedent(source)) == "24.0 5\n"


@pytest.mark.parametrize("source", ["bytearray(8 << 30)", "import torch; torch.empty(8 << 30, dtype=torch.uint8)"])
def test_memory_has_a_limit_in_a_bench_lab_too(box, source, said):
    assert said(box, source) in ("MemoryError", "RuntimeError")


def test_a_slot_that_dynamo_has_traced_can_be_filled_and_emptied():
    from rushlight.on_torch import custom_ops

    def compiled():
        torch._dynamo.reset()
        tensors = [torch.full((3,), float(i)) for i in range(3)]
        step = torch.compile(lambda *each: custom_ops.momentum_step(*each, 0.5, 0.9), fullgraph=True, backend="eager")
        step(*tensors)
        return tensors[1].tolist()

    def forgetful(weight, buffer, grad, lr, momentum):
        buffer.copy_(grad)

    expected = compiled()
    fill(custom_ops.momentum_step, forgetful)
    assert compiled() == [2.0, 2.0, 2.0] != expected
    unplug(custom_ops.momentum_step)
    assert compiled() == expected


# Torch's own judges -------------------------------------------------------------------------------------------------


@pytest.fixture
def once(judge):
    """An edge of the check by torch's judges, torch's answer, and in the slot an operator that can be differentiated once."""
    from torch.autograd.function import once_differentiable

    from rushlight.on_torch import custom_ops

    def register(namespace):
        op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
        op.register_fake(custom_ops.fused_linear_fake)
        backward = once_differentiable(custom_ops.fused_linear_backward)
        op.register_autograd(backward, setup_context=custom_ops.fused_linear_setup_context)
        return op

    check = find("on_torch.custom_ops.register_fused_linear.judged")
    fill(custom_ops.register_fused_linear, register)
    yield check.edges[3], judge.answer(check, check.edges[3])
    unplug(custom_ops.register_fused_linear)


def differences_of(case, theirs):
    [mine] = answer("on_torch.custom_ops.register_fused_linear.judged", [case])
    return [part.words for part in differences(mine, theirs)]


def test_an_operator_differs_from_torch_in_its_numbers_and_in_what_the_judge_says(once):
    numbers, *_, said = differences_of(*once)
    assert numbers.startswith("second gradients")
    assert said.startswith("gradgradcheck: yours 'GradcheckError: ")


def test_what_a_patched_judge_says_does_not_make_an_operator_right(once, monkeypatch):
    for name in ("gradcheck", "gradgradcheck"):
        monkeypatch.setattr(torch.autograd, name, lambda *args: True)
    said = dict(dict(once[1]["dict"])["opcheck"]["dict"])
    monkeypatch.setattr(torch.library, "opcheck", lambda *args, **options: said)
    found = differences_of(*once)
    assert found and all(words.startswith("second gradients") for words in found)


# Ranks ---------------------------------------------------------------------------------------------------------------

REDUCED = "distributed.collectives.ring_all_reduce"
WRONG = """
import os
import torch.distributed as dist
from rushlight.distributed import collectives

def waiting(tensor, op=None, group=None):
    dist.recv(tensor, (dist.get_rank() + 1) % dist.get_world_size())

def dying(tensor, op=None, group=None):
    if dist.get_rank() == 1:
        os._exit(3)
    dist.all_reduce(tensor)
"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "words"), [("waiting", "a deadlock: ranks 0 and 1"), ("dying", "rank 1 of 2 died: exit code 3")]
)
def test_an_answer_whose_ranks_wait_for_ever_or_die_fails_and_leaves_no_process(judge, name, words, monkeypatch):
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 0.0)
    names = {}
    exec(WRONG, names)
    slot, case = function_of(REDUCED), next(case for case in find(REDUCED).edges if case["ranks"] == 2)
    fill(slot, names[name])
    try:
        verdict = judge.replay(REDUCED, case, answer)
    finally:
        unplug(slot)
    assert verdict.outcome == DISAGREED and words in verdict.mine, str(verdict)
    server = ranks._fork_server.process.pid
    assert Path(f"/proc/{server}/task/{server}/children").read_text() == ""


@pytest.mark.sweep
def test_ranks_work_and_fail_in_the_sandbox_and_four_fit(isolated, said):
    box = Sandbox(edition(Lab("09a_collectives")), with_torch=True)
    try:
        work = "def work():\n    x = torch.ones(1 << 22)\n    dist.all_reduce(x)\n    return int(x[0])\n"
        source = "import os, torch\nfrom rushlight.distributed import run_ranks\n" + work + "print(run_ranks(work, 4))"
        assert said(box, WRONG + source) == "[4, 4, 4, 4]\n"
        case = next(case for case in find(REDUCED).edges if case["ranks"] == 2)
        filled = "from autograder.engine.exercise import fill\nfill(collectives.ring_all_reduce, dying)"
        assert said(box, filled) == ""
        tree = result_of(box.request({"check": REDUCED, "cases": [case]}, 60)["observed"][0])
        assert tree["type"] == "RanksFailed" and tree["message"].startswith("rank 1 of 2 died: exit code 3")
        left = "print(sum(name.isdigit() for name in os.listdir('/proc')))"
        assert said(box, left) == "3\n"  # who made the sandbox, this, and whom ranks are forks of
    finally:
        box.close()
