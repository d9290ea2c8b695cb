import os
import signal
import sys
import threading
import time
import types
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from autograder.engine.exercise import fill, unplug
from rushlight.distributed import RanksFailed, cost, ranks, run_ranks


def other():
    return (dist.get_rank() + 1) % dist.get_world_size()


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end between opening and reading
        return False


def gone(pids, seconds=300.0):
    """Whether these processes end by themselves."""
    limit = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < limit:
        time.sleep(0.05)
    return not any(map(alive, pids))


def failing(fn, n=2, *args, **options):
    """Return the error of a call that fails. The call leaves nothing behind."""
    with pytest.raises(RanksFailed) as caught:
        run_ranks(fn, n, *args, **{"timeout": 600.0, "still": 0.6} | options)
    server = ranks._fork_server.process.pid
    assert Path(f"/proc/{server}/task/{server}/children").read_text() == ""
    return caught.value


# What comes back ---------------------------------------------------------------------------------------------------------------


def summed(x, offset):
    x = x + offset * dist.get_rank()
    dist.all_reduce(x)
    print("one\ntwo" if dist.get_rank() else "sum")
    return {"sum": x, "ranks": dist.get_world_size(), "seen": [os.environ[name] for name in ("RANK", "WORLD_SIZE")]}


def test_what_ranks_return_comes_back_and_what_they_print_is_shown(capsys):
    results = run_ranks(summed, 2, torch.zeros(3), 5)
    assert [result.pop("sum").tolist() for result in results] == [[5.0] * 3] * 2
    assert results == [{"ranks": 2, "seen": [str(rank), "2"]} for rank in range(2)]
    assert capsys.readouterr().out == "[rank 0] sum\n[rank 1] one\n[rank 1] two\n"


def test_a_call_leaves_nothing_to_the_next():
    def leave():
        torch.set_default_dtype(torch.float64)
        torch.distributed.left = torch.rand(1)

    run_ranks(leave, 2)
    left, dtype = run_ranks(lambda: (hasattr(dist, "left"), torch.ones(1).dtype), 1)[0]
    assert (left, dtype) == (False, torch.float32)


def test_ranks_of_several_threads_wait_for_each_other():
    found = []
    threads = [threading.Thread(target=lambda: found.append(run_ranks(dist.get_world_size, 2))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[2, 2]] * 3


def test_a_fork_has_ranks_of_its_own(tmp_path):
    run_ranks(dist.get_rank, 1)
    server = ranks._fork_server.process.pid
    pid = os.fork()
    if pid == 0:
        (tmp_path / "mine").write_text(repr(ranks._fork_server.process))
        os._exit(0)
    os.waitpid(pid, 0)
    assert (tmp_path / "mine").read_text() == "None"
    assert run_ranks(dist.get_world_size, 1) == [1] and ranks._fork_server.process.pid == server


def test_what_fills_an_exercise_is_sent_along_until_it_is_taken_out():
    word = "filled"

    def call():
        try:
            return cost.ring_cost()
        except TypeError:
            return "empty"

    assert run_ranks(call, 1) == ["empty"]
    fill(cost.ring_cost, lambda: word)
    try:
        assert run_ranks(call, 1) == ["filled"]
    finally:
        unplug(cost.ring_cost)
    assert run_ranks(call, 1) == ["empty"]


# What fails --------------------------------------------------------------------------------------------------------------------


def wrong():
    if dist.get_rank() == 1:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("bad\nindeed") from error
    dist.recv(torch.ones(2), 1)


def test_a_traceback_begins_at_the_function_and_the_others_say_only_what_they_waited_in():
    error = failing(wrong)
    first, *lines = str(error).splitlines()
    assert first == "rank 1 of 2 failed: ValueError: bad"
    assert lines[0] == "[rank 0] waited in recv when rank 1 failed"
    assert lines[1] == "[rank 1] Traceback (most recent call last):" and "in wrong" in lines[2]
    assert "KeyError" in error.errors[1] and 'raise ValueError("bad\\nindeed") from error' in error.errors[1]


def test_a_rank_that_dies_is_named_and_so_is_who_lost_a_connection_by_it():
    def die(how):
        if dist.get_rank() == 1:
            os._exit(3) if how == "exit" else os.kill(os.getpid(), signal.SIGSEGV)
        dist.all_reduce(torch.ones(2))

    assert str(failing(die, 2, "exit")).splitlines() == [
        "rank 1 of 2 died: exit code 3",
        "[rank 0] lost its connection when rank 1 failed",
        "[rank 1] died: exit code 3",
    ]
    said = failing(die, 2, "signal").errors[1]
    assert said.startswith("died: SIGSEGV\nit was here:") and said.endswith("os.kill(os.getpid(), signal.SIGSEGV)")


def test_of_collectives_that_do_not_match_it_says_what_gloo_says_and_where():
    def mismatched():
        dist.broadcast(torch.ones(2 - dist.get_rank()), 0)

    error = failing(mismatched)
    assert "SIGABRT" in str(error) and "collective mismatch" in str(error) and "it was in broadcast" in str(error)


def test_a_rank_that_dies_and_leaves_a_child_has_died_all_the_same():
    def die():
        if dist.get_rank() == 1:
            if os.fork() == 0:
                time.sleep(60)
            os._exit(4)
        return dist.get_rank()

    error = failing(die)
    assert error.errors == {1: "died: exit code 4"} and "[rank 0] is done" in str(error)


def crossed():
    print("before")
    if dist.get_rank() < 2:
        dist.recv(torch.ones(2), other())
        print("after")


@pytest.mark.skipif(torch.__version__ < "2.13", reason="needs torch 2.13: before it, gloo's polling thread has no name")
def test_of_a_deadlock_it_says_where_each_stands(capsys):
    error = failing(crossed, 3)
    first, *lines = str(error).splitlines()
    assert first == "a deadlock: ranks 0 and 1 of 3" and lines[-1] == "[rank 2] is done"
    for rank in range(2):
        assert error.errors[rank].startswith("waits in recv\n") and error.errors[rank].count("File") == 1
        assert error.errors[rank].endswith("dist.recv(torch.ones(2), other())")
    assert capsys.readouterr().out.splitlines() == [f"[rank {rank}] before" for rank in range(3)]


def test_a_rank_that_loops_is_ended_when_the_time_is_over():
    def loop():
        while dist.get_rank() == 0:
            pass

    error = failing(loop, timeout=1.0)
    assert str(error).startswith("not done within 1 s: rank 0 of 2\n[rank 0] is ")


@pytest.mark.sweep
def test_ranks_that_sleep_or_compute_are_not_taken_for_waiting():
    def slow():
        if dist.get_rank() == 0:
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                pass
        dist.barrier()
        return True

    assert run_ranks(slow, 2, still=0.5) == [True, True]


def test_what_cannot_be_copied_is_named():
    lock = threading.Lock()
    with pytest.raises(TypeError, match="argument 1, a lock, cannot be copied to the ranks"):
        run_ranks(summed, 2, torch.ones(1), lock)
    with pytest.raises(TypeError, match="the function cannot be copied to the ranks"):
        run_ranks(lambda: lock, 2)
    assert "what rank 0 returned cannot be copied" in failing(lambda: dist.group.WORLD, 1).errors[0]
    with pytest.raises(ValueError, match="at least one rank"):
        run_ranks(summed, 0)


# In a notebook -----------------------------------------------------------------------------------------------------------------

CELL = """
import os, sys, time
import torch, torch.distributed as dist
from rushlight.distributed import run_ranks, ranks

def double(x):
    return 2 * x

def work(seconds):
    x = double(torch.ones(2))
    dist.all_reduce(x)
    with open(f"{os.environ['SEEN']}/{os.getpid()}", "w"):
        time.sleep(seconds)
    return x.tolist()
"""


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """`said(source)` of a kernel whose folder for temporary files has a long name, and `seen`, where ranks leave their ids."""
    seen, long = tmp_path / "seen", tmp_path / ("long" * 50)
    seen.mkdir(), long.mkdir()
    monkeypatch.setenv("SEEN", str(seen))
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    manager, client = pytest.importorskip("jupyter_client.manager").start_new_kernel(kernel_name="python3")

    def rest(request):
        text = ""
        while True:
            message = client.get_iopub_msg(timeout=600)
            if message["parent_header"].get("msg_id") == request:
                text += message["content"].get("text", "") + message["content"].get("ename", "")
                if message["content"].get("execution_state") == "idle":
                    return text

    def said(source):
        return rest(client.execute(source))

    yield types.SimpleNamespace(said=said, rest=rest, manager=manager, client=client, seen=seen)
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def begin(notebook):
    """Ranks that are at work, and the request that began it."""
    for path in notebook.seen.iterdir():
        path.unlink()
    request, limit = notebook.client.execute("run_ranks(work, 2, 100, still=100)"), time.monotonic() + 300
    while len(names := [*notebook.seen.iterdir()]) < 2 and time.monotonic() < limit:
        time.sleep(0.05)
    return [int(path.name) for path in names], request


@pytest.mark.sweep
def test_in_a_notebook_an_interrupt_or_the_kernels_end_leaves_no_rank(notebook):
    assert notebook.said(CELL + "print(run_ranks(work, 2, 0))") == "[[4.0, 4.0], [4.0, 4.0]]\n"
    pids, request = begin(notebook)
    notebook.manager.interrupt_kernel()
    assert len(pids) == 2 and gone(pids)
    assert notebook.rest(request) == "KeyboardInterrupt"
    assert notebook.said("print(run_ranks(work, 2, 0))") == "[[4.0, 4.0], [4.0, 4.0]]\n"
    server = int(notebook.said("print(ranks._fork_server.process.pid)"))
    pids, _ = begin(notebook)
    os.kill(notebook.manager.provisioner.process.pid, signal.SIGKILL)
    assert len(pids) == 2 and gone([server, *pids])
    assert not [*Path(os.environ["TMPDIR"]).glob("ranks-*")]


@pytest.mark.parametrize(
    "gpus, count, devices, backend, line",
    [
        (0, 2, ["cpu", "cpu"], "gloo", "2 ranks on the CPU over gloo: no GPU here"),
        (1, 1, ["cuda:0"], "cpu:gloo,cuda:nccl", "1 ranks over NCCL, a GPU each"),
        (1, 2, ["cuda:0", "cuda:0"], "gloo", "2 ranks share cuda:0 over gloo"),
        (2, 2, ["cuda:0", "cuda:1"], "cpu:gloo,cuda:nccl", "2 ranks over NCCL, a GPU each"),
        (3, 4, ["cuda:0"] * 4, "gloo", "4 ranks share cuda:0 over gloo"),
    ],
)
def test_where_there_is_a_gpu_every_number_of_ranks_is_on_it(monkeypatch, gpus, count, devices, backend, line):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.delenv("RUSHLIGHT_DEVICE", raising=False)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(count))
    found = []
    for rank in range(count):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        found.append(str(ranks.device()))
    assert (found, ranks.backend(count), ranks.describe_devices()) == (devices, backend, line)
    monkeypatch.setenv("RUSHLIGHT_DEVICE", "cpu")
    assert str(ranks.device()) == "cpu" and ranks.backend(count) == "gloo"
    assert ranks.describe_devices() == f"{count} ranks on the CPU over gloo: RUSHLIGHT_DEVICE is cpu"


def test_ranks_on_the_cpu_see_no_gpu(monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_DEVICE", "cpu")
    seen = lambda: (os.environ["CUDA_VISIBLE_DEVICES"], dist.get_backend(), str(ranks.device()))  # noqa: E731
    assert run_ranks(seen, 2) == [("", "gloo", "cpu")] * 2


@pytest.mark.sweep
def test_ranks_have_the_environment_of_the_call_and_not_that_of_the_first_one(monkeypatch):
    own = lambda: {name: os.environ.get(name) for name in ("RUSHLIGHT_DEVICE", "FIRST", "SECOND")}  # noqa: E731
    ranks.stop()
    monkeypatch.setenv("RUSHLIGHT_DEVICE", "cpu")  # as in a check
    monkeypatch.setenv("FIRST", "1")
    assert run_ranks(own, 1) == [{"RUSHLIGHT_DEVICE": "cpu", "FIRST": "1", "SECOND": None}]
    monkeypatch.delenv("RUSHLIGHT_DEVICE")
    monkeypatch.delenv("FIRST")
    monkeypatch.setenv("SECOND", "2")
    assert run_ranks(own, 1) == [{"RUSHLIGHT_DEVICE": None, "FIRST": None, "SECOND": "2"}]


@pytest.mark.parametrize(
    "named, device, visible",
    [("all", "", None), ("1,0", "", "1,0"), ("", "", ""), (None, "", ""), ("all", "cpu", ""), ("1", "cpu", "")],
)
def test_ranks_see_the_gpus_that_are_hidden_from_their_notebook(monkeypatch, named, device, visible):
    monkeypatch.delenv("RUSHLIGHT_VISIBLE_DEVICES", raising=False)
    given = {"RUSHLIGHT_VISIBLE_DEVICES": named, "RUSHLIGHT_DEVICE": device, "CUDA_VISIBLE_DEVICES": ""}
    for name, value in (given | {"HIP_VISIBLE_DEVICES": "-1"}).items():
        if value is not None:
            monkeypatch.setenv(name, value)
    environ = ranks._environment()
    assert environ.get("CUDA_VISIBLE_DEVICES") == visible
    assert ("HIP_VISIBLE_DEVICES" in environ) == (device == "cpu" or not named)


def test_ranks_on_a_gpu_have_no_deadlock_but_a_limit(monkeypatch):
    """Threads of CUDA poll, so on a GPU sleeping threads prove nothing. Here a rank only says that it is on one."""
    received = ranks._Rank.receive

    def on_gpu(rank):
        received(rank)
        rank.on_gpu = True

    monkeypatch.setattr(ranks._Rank, "receive", on_gpu)
    assert run_ranks(lambda: time.sleep(1.0), 1, still=0.2) == [None]
    error = failing(crossed, 2, timeout=2.0, still=0.2)
    assert str(error).startswith(
        "not done within 2 s (on a GPU, a deadlock cannot be told from long work): ranks 0 and 1 of 2\n[rank 0] is in recv"
    )
