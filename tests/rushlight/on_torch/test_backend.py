"""The device "rush" computes what the CPU does, forward and backward, and shows how.

A device is there for a whole process: what needs it runs in a child, and backward in a process of its own.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import torch

from rushlight.on_torch import backend
from rushlight.on_torch.backend import run_in_child, run_on_device


def fresh(code):
    """Return the output and the warnings of a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_linear_runs_forward_and_backward_and_a_step_of_sgd_and_is_shown():
    shown, warned = fresh("""
        import torch
        from rushlight.on_torch import backend

        backend.register_backend()
        backend.register_backend()

        def step(device):
            torch.manual_seed(0)
            head = torch.nn.Linear(3, 5).to(device)
            optimiser = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
            x = torch.randn(4, 3).to(device).requires_grad_()
            losses = []
            for _ in range(3):
                loss = torch.relu(head(x)).square().mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            return [torch.tensor(losses), x.grad.cpu(), *(p.detach().cpu() for p in head.parameters())]

        for there, here in zip(step("rush"), step("cpu")):
            torch.testing.assert_close(there, here)
        head, x = torch.nn.Linear(3, 5).to("rush"), torch.randn(4, 3).to("rush")
        with backend.trace() as lines:
            head(x).sum().backward()
        print(len(lines), head.weight.grad.is_rush)
    """)
    assert not warned
    names = [line.strip().partition("(")[0] for line in shown.splitlines()]
    for name in (
        "aten::as_strided",
        "aten::empty.memory_format",
        "aten::addmm.out",
        "aten::sum.IntList_out",
        "aten::mm.out",
    ):
        assert name in names
    assert shown.splitlines()[-1] == f"{len(names) - 1} True"


@pytest.mark.sweep
def test_a_device_that_comes_after_the_first_backward_pass_is_warned_of():
    _, warned = fresh("""
        import torch
        from rushlight.on_torch import backend

        torch.ones(2, requires_grad=True).sum().backward()
        backend.register_backend()
        assert (torch.ones(2, device="rush") * 3).tolist() == [3, 3]
    """)
    assert "a backward pass has run" in warned


def test_apart_leaves_this_process_without_the_device():
    def program(x):
        print("there")
        return (x.to("rush") * 2 + 1).cpu(), torch._C._get_privateuse1_backend_name(), os.getpid()

    doubled, name, process = run_on_device(program, torch.arange(3.0))
    assert (doubled.tolist(), name) == ([1, 3, 5], "rush")
    assert process != os.getpid()
    assert torch._C._get_privateuse1_backend_name() == "privateuseone"


def test_what_is_raised_apart_is_raised_here(capfd):
    def fall():
        print("printed before")
        torch.ones(2, 3).to("rush") @ torch.ones(2).to("rush")

    with pytest.raises(RuntimeError, match="size mismatch|mat|vec"):
        run_on_device(fall)
    assert capfd.readouterr().out == "printed before\n"
    with pytest.raises(ChildProcessError, match=r"died \(7\)"):
        run_on_device(lambda: os._exit(7))
    with pytest.raises(RuntimeError, match="cannot be sent"):
        run_on_device(lambda: lambda: 1)


def test_what_breaks_a_forked_child_is_told_by_its_name():
    assert run_in_child(lambda: torch._C._get_privateuse1_backend_name()) == "privateuseone"
    with pytest.raises(ChildProcessError, match=r"died \(SIGSEGV\)"):
        run_in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV))
    before = signal.signal(signal.SIGALRM, lambda *_: None)  # which a child would inherit
    try:
        with pytest.raises(ChildProcessError, match=r"died \(SIGALRM\)"):
            run_in_child(time.sleep, 30, seconds=1)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_views_share_the_memory_and_strides_are_real():
    def program():
        x = torch.arange(6.0).view(2, 3).to("rush")
        memory = x.untyped_storage().memory
        for view in (x.t(), x[1], x[:, 1:], x.view(3, 2), x.expand(4, 2, 3), x.detach()):
            assert view.untyped_storage().memory is memory
        x.t()[0] += 10
        assert (x.t().is_contiguous(), x.t().contiguous().stride(), memory.nbytes) == (False, (2, 1), 24)
        return x.cpu(), x.t()[1:].cpu(), x.t().reshape(6).cpu()

    x, part, flat = run_on_device(program)
    assert x.tolist() == [[10, 1, 2], [13, 4, 5]]
    assert part.tolist() == [[1, 4], [2, 5]]
    assert flat.tolist() == [10, 13, 1, 4, 2, 5]


def test_operators_without_a_kernel_run_on_the_cpu():
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    programs = [
        lambda x, y: x.softmax(1),
        lambda x, y: torch.cat([x, y], 1),
        lambda x, y: x.sort(1).indices,
        lambda x, y: x.add_(y, alpha=2) + x,
        lambda x, y: torch.abs(x, out=torch.empty(0, device=x.device)),
        lambda x, y: torch.addmm(y[0, :3], x, y.t(), beta=2, alpha=0.5),
        lambda x, y: torch.addmm(y[0, :3] * float("nan"), x, y.t(), beta=0),
        lambda x, y: x[x > 0].sum(),
        lambda x, y: torch.arange(5, device=x.device) * 2,
        lambda x, y: x.mean(0).to(torch.float64),
        lambda x, y: torch._foreach_add([x, y], 1.0)[1],
        lambda x, y: x.masked_fill_(y > 0, 0.0),
        lambda x, y: torch.stack([x, y.t().contiguous().t()]),
    ]

    def there():
        results = [program(x.to("rush"), y.to("rush")) for program in programs]
        assert all(result.device.type == "rush" for result in results)
        return [result.cpu() for result in results], str(x.to("rush"))

    results, text = run_on_device(there)
    for result, program in zip(results, programs):
        torch.testing.assert_close(result, program(x.clone(), y.clone()))
    assert "device='rush:0'" in text


def test_a_view_without_a_kernel_is_refused_and_not_copied():
    with pytest.raises(NotImplementedError, match="aten::unfold is a view"):
        run_on_device(lambda: torch.ones(4).to("rush").unfold(0, 2, 1))


def test_a_call_within_a_call_is_a_line_further_in():
    def program():
        x = torch.ones(2).to("rush")
        with backend.trace() as lines:
            x.exp()
        return lines

    lines = run_on_device(program)
    outer = next(line for line in lines if line.startswith("aten::exp.out on the CPU"))
    inner = lines[lines.index(outer) + 1 :]
    assert inner
    assert all(line.startswith("  aten::") for line in inner)
