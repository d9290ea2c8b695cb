"""The surroundings of a student's code while it is graded."""

import contextlib
import errno
import marshal
import mmap
import platform
import re
import socket
import time
from itertools import islice
from pathlib import Path

import nbformat
import psutil
import pytest
from sweep import sweep

from autograder.engine import sandbox, seccomp
from autograder.engine.edition import _compiled, edition, without_bodies
from autograder.engine.limits import Allowance
from autograder.engine.observe import SubjectDied, SubjectTimedOut
from autograder.engine.run import Session
from autograder.engine.sandbox import Sandbox, _in_use
from autograder.model import Course, Lab
from rushlight.aten import strided
from rushlight.inductor import triton_heuristics

LAB = "01a_views"


@pytest.fixture
def box(isolated):
    box = Sandbox(edition(Lab(LAB)))
    yield box
    box.close()


def run(box, source, seconds=20):
    """Return the output of a cell, or the error that it ended with."""
    outputs = box.request({"cell": source}, seconds)["outputs"]
    return "".join(o["text"] if o["output_type"] == "stream" else o.get("ename", "") for o in outputs)


def test_a_cell_runs_and_its_outputs_come_back(box):
    assert run(box, "import rushlight as rl; print(rl.float32)") == "rushlight.float32\n"
    outputs = box.request({"cell": "1 + 1"}, 5)["outputs"]
    assert outputs[0]["data"]["text/plain"] == "2"
    assert run(box, "1 / 0") == "ZeroDivisionError"
    assert run(box, "%matplotlib inline\nprint(2)").endswith("2\n")
    assert run(box, "print(rl.bfloat16.numpy.type(1.004) + 1)") == "2\n"  # with a package of its own


def test_what_is_printed_past_python_does_not_reach_the_channel(box):
    run(box, "import os; os.write(1, b'forged' * 100); os.system('echo forged'); os.write(2, b'x')")
    assert run(box, "print('still there')") == "still there\n"


@pytest.mark.parametrize(
    "name", ["torch", "functorch", "nbgrader", "hypothesis", "autograder.engine.judge", "autograder.classroom.plugin"]
)
def test_neither_torch_nor_the_judge_is_there(shared_box, name):
    assert run(shared_box, f"import {name}") == "ModuleNotFoundError"


def test_the_answers_are_not_there(shared_box):
    for name in Lab(LAB).exercises:
        module, _, function = name.rpartition(".")
        call = f"import rushlight, inspect; f = rushlight.{module}.{function}; f(*[None] * len(inspect.signature(f).parameters))"
        assert run(shared_box, call) == "NotImplementedError"


def test_no_file_of_this_machine_is_there(shared_box, root, tmp_path):
    (tmp_path / "secret").write_text("x")
    for place in (root, tmp_path, "/home", "/etc/passwd", "/root/.bashrc"):
        assert run(shared_box, f"import os; print(os.path.exists({str(place)!r}))") == "False\n"


def test_a_course_and_a_class_under_usr_are_not_there(isolated, monkeypatch):
    course = next(path for path in sorted(Path("/usr/share").iterdir()) if path.is_dir() and any(path.iterdir()))
    monkeypatch.setattr("autograder.course.ROOT", course)
    box = Sandbox(edition(Lab(LAB)), private=Course().private_folders)
    try:
        assert run(box, f"import os; print(os.listdir({str(course)!r}))") == "[]\n"
    finally:
        box.close()


def test_a_class_in_the_folder_of_its_course_is_not_there(isolated):
    box = Sandbox(edition(Lab(LAB)), private=(Path("/usr/share"), Path("/usr/share/doc")))
    try:
        assert run(box, "import os; print(os.listdir('/usr/share'))") == "[]\n"
    finally:
        box.close()


def torch_below(folder):
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("here = True")
    return folder


def test_packages_of_every_python_are_hidden_and_libraries_of_torch_elsewhere(tmp_path):
    below_python = torch_below(tmp_path / "anaconda3/envs/class/lib/python3.12/site-packages/torch")
    (tmp_path / "lib").mkdir()
    (library := tmp_path / "lib/libtorch_cpu.so").write_text("here")
    assert sandbox._installed((str(tmp_path),)) == ({str(below_python.parent)}, {str(library)})


def test_a_submission_reads_no_packages_and_no_library_of_torch_below_usr(isolated, monkeypatch):
    packages, other = (path for path in islice(filter(file_below, sorted(Path("/usr/share").iterdir())), 2))
    library = file_below(other)
    monkeypatch.setattr(sandbox, "_installed", lambda roots: ({str(packages)}, {str(library)}))
    box = Sandbox(edition(Lab(LAB)))
    try:
        assert run(box, f"import os; print(os.listdir({str(packages)!r}))") == "[]\n"
        assert run(box, f"print(len(open({str(library)!r}).read()))") in ("PermissionError", "0\n")
        assert run(box, f"import os; print(os.path.exists({str(other)!r}))") == "True\n"
    finally:
        box.close()


def file_below(folder):
    return next((path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()), None)


def test_grading_does_not_begin_where_a_submission_could_read_torch(isolated, tmp_path, monkeypatch):
    assert sandbox.missing() is None
    torch_below(tmp_path / "torch")
    tmp_path.chmod(0o755)
    system = sandbox._system(())
    monkeypatch.setattr(sandbox, "_system", lambda private: [*system, "--ro-bind", str(tmp_path), "/opt"])
    assert "/opt/torch" in sandbox._tried.__wrapped__(())


def test_there_is_no_network(shared_box):
    assert run(shared_box, "import socket; socket.create_connection(('127.0.0.1', 22), 1)") in (
        "ConnectionRefusedError",
        "OSError",
    )
    # a loopback of its own, nothing else
    assert run(shared_box, "print(open('/proc/net/dev').read().count(':'))") == "1\n"


def test_only_its_own_processes_are_there(box):
    assert int(run(box, "import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))")) <= 3


@pytest.mark.parametrize("place", ["/edition/rushlight/aten/strided.py", "/packages/x", "/usr/x"])
def test_what_it_sees_cannot_be_written(shared_box, place):
    assert run(shared_box, f"open({place!r}, 'w')") in ("OSError", "PermissionError")


def test_an_endless_loop_is_ended(box):
    with pytest.raises(SubjectTimedOut):
        run(box, "while True: pass", seconds=0.5)
    assert box.process.poll() is not None


@pytest.mark.parametrize(
    ("source", "says"),
    sweep(
        [
            ("import os; os._exit(0)", "the process that ran this code ended (exit code 0)"),
            ("import os; os.kill(os.getpid(), 9)", "the process that ran this code was ended by SIGKILL"),
            ("import ctypes; ctypes.string_at(0)", "the process that ran this code was ended by SIGSEGV"),
            (
                "import os; os.write(2, b'one\\n/usr/lib/x.so: \\x1b[1mbad\\x1b[0m free at 0x7f01, 1/2\\n\\n'); os._exit(3)",
                'the process that ran this code ended (exit code 3); the last line that it printed is "x.so: bad free at 0x, 1/2"',
            ),
            (
                "import os; [os.write(2, b'y' * 1000) for _ in range(60)]; os._exit(3)",
                f'the process that ran this code ended (exit code 3); the last line that it printed is "{"y" * 200} ... (cut)"',
            ),
        ],
        every=3,
    ),
)
def test_an_exit_is_noticed_and_the_last_line_is_quoted(box, source, says):
    with pytest.raises(SubjectDied, match=f"^{re.escape(says)}$"):
        run(box, source)


WRITERS = {
    "print": "for _ in range(300): print('y' * 10_000, file=sys.__stderr__)",
    "write": "assert sum(os.write(2, b'y' * 10_000) for _ in range(300)) == 3_000_000",
    "library": "assert {ctypes.CDLL(None).write(2, b'y' * 10_000, 10_000) for _ in range(300)} == {10_000}",
    "program": "assert os.system('head -c 3000000 /dev/zero >&2; echo >&2') == 0",
    "child": "assert subprocess.run([sys.executable, '-c', 'import sys; sys.stderr.write(\"y\" * 3_000_000)']).returncode == 0",
}


@pytest.mark.parametrize("writer", sweep(WRITERS.values(), every=3), ids=[*WRITERS])
def test_errors_of_any_length_are_written_and_their_end_is_kept(box, writer):
    assert run(box, f"import ctypes, os, subprocess, sys\n{writer}\nprint('still there')").endswith("still there\n")
    with pytest.raises(SubjectDied, match='the last line that it printed is "the end"$'):
        run(box, "os.write(2, b'\\nthe end\\n'); os._exit(3)")
    assert len(box.printed) <= sandbox.MAX_PRINTED


def test_memory_has_a_limit(box):
    assert run(box, "x = bytearray(8 << 30)") == "MemoryError"


def test_what_it_started_ends_with_it(box):
    said = run(
        box, "import subprocess; p = subprocess.Popen(['sleep', '98765'], start_new_session=True); print('begun')"
    )
    assert said == "begun\n"
    _wait(lambda: "sleep 98765" in _processes())
    box.close()
    _wait(lambda: "sleep 98765" not in _processes())


def _wait(condition):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline


def _processes():
    lines = Path("/proc").glob("[0-9]*/cmdline")
    return " ".join(read(path) for path in lines)


def read(path):
    try:
        return path.read_text().replace("\0", " ")
    except OSError:  # it ended meanwhile
        return ""


def test_an_edition_keeps_signatures_and_docstrings():
    source = 'def f(x, y=2):\n    """Doc."""\n    return x\n\n\ndef g():\n    return 1\n'
    assert without_bodies(source, ["f"]) == (
        'def f(x, y=2):\n    """Doc."""\n    raise NotImplementedError("f is this lab\'s exercise")\n\n\ndef g():\n    return 1\n'
    )
    with pytest.raises(LookupError):
        without_bodies(source, ["h"])


def test_the_bytecode_of_an_edition_is_that_of_its_text_also_if_python_has_compiled_the_file_before():
    name = "rushlight/aten/strided.py"
    text = Path(strided.__file__).read_text(encoding="utf-8")
    for each in (text, text.replace("return", "pass; return")):
        code = marshal.loads(_compiled(name, each)[16:])
        assert code == compile(each, name, "exec", dont_inherit=True)
        assert (
            code.co_filename == name == next(inner for inner in code.co_consts if hasattr(inner, "co_code")).co_filename
        )


def test_the_subject_runs_the_kernels_that_the_judge_runs(isolated, monkeypatch):
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    box = Sandbox(edition(Lab(LAB)), with_torch=True)
    try:
        assert run(box, "import torch; print(torch.backends.cpu.get_cpu_capability())") == "DEFAULT\n"
    finally:
        box.close()


def test_a_bench_lab_has_torch_and_nothing_else_of_the_judge(isolated):
    box = Sandbox(edition(Lab(LAB)), with_torch=True)
    try:
        source = (
            "import torch; x = torch.ones(64, 64, requires_grad=True); (x @ x).sum().backward(); print(x.grad.sum())"
        )
        assert "524288" in run(box, source)
        assert run(box, "import hypothesis") == "ModuleNotFoundError"
        assert run(box, "import autograder.engine.judge") == "ModuleNotFoundError"
    finally:
        box.close()


def test_a_lab_has_the_packages_that_it_needs_and_no_other_lab_has(isolated):
    pytest.importorskip("triton", reason="Triton is not installed: it is no requirement of the course")
    for lab, said in (("14d_triton", "3.7.1"), ("14c_products", "ModuleNotFoundError")):
        session = Session(Lab(lab), True, Allowance(False), [])
        try:
            (shown,) = session.run_cell(nbformat.v4.new_code_cell("import triton; print(triton.__version__)"))
        finally:
            session.close()
        assert said in str(shown)


def test_a_machine_without_triton_is_told_so_for_the_lab_that_needs_it(monkeypatch):
    monkeypatch.setattr(triton_heuristics, "is_installed", lambda: False)
    said = "lab 14d_triton runs kernels in Triton: Triton is not installed: `pip install triton==3.7.1` (Linux only)"
    assert sandbox.unavailable(Lab("14d_triton"), False) == said
    assert sandbox.unavailable(Lab("13a_tensors"), False) is None


# Ways to another submission that is graded at the same time ------------------------------------------------------------

LOCKS = """
import fcntl, struct
file = open("/edition/rushlight/__init__.py")
for lock in (
    lambda: fcntl.flock(file, fcntl.LOCK_EX),
    lambda: fcntl.lockf(file, fcntl.LOCK_SH),
    lambda: fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)),
    lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    lambda: fcntl.fcntl(file, fcntl.F_NOTIFY, 1),
):
    try:
        lock()
        print("locked")
    except OSError as error:
        print(error.errno)
"""

CALLS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in {numbers}:
    print(ctypes.get_errno() if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0 else "allowed")
"""

SOCKETS = """
import socket
for family, kind in [(family, kind) for family in range(64) for kind in (1, 2, 3, 5)]:
    try:
        socket.socket(family, kind).close()
        print(family)
    except OSError:
        pass
"""


def test_files_that_all_subjects_see_cannot_be_locked_or_watched(shared_box):
    assert run(shared_box, LOCKS) == f"{errno.ENOLCK}\n" * 5


def test_system_calls_that_no_lab_needs_are_refused(shared_box):
    column = list(seccomp._ARCHITECTURES).index(platform.machine())
    numbers = [each[column] for each in seccomp._REFUSED.values() if each[column] is not None]
    assert run(shared_box, CALLS.format(numbers=numbers)) == f"{errno.EPERM}\n" * len(numbers)


def test_only_sockets_that_a_network_space_separates_can_be_made(shared_box):
    assert {*map(int, run(shared_box, SOCKETS).split())} <= {
        socket.AF_UNIX,
        socket.AF_INET,
        socket.AF_INET6,
        socket.AF_NETLINK,
    }


def test_no_namespace_can_be_made_in_a_sandbox(shared_box):
    source = "import ctypes; print(ctypes.CDLL(None).syscall({}, 0x10000000 | 17, 0, 0, 0, 0))"
    assert run(shared_box, source.format(220 if platform.machine() == "aarch64" else 56)) == "-1\n"


def test_memory_that_no_process_has_cannot_be_made(box):
    assert run(box, "import mmap; mmap.mmap(-1, 4096)") == "PermissionError"
    assert run(box, "import mmap; mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); print(1)") == "1\n"
    assert run(box, "import os; os.memfd_create('x')") == "PermissionError"
    assert run(box, "open('/dev/zero', 'r+b')") == "PermissionError"
    assert run(box, "import multiprocessing as m; print(m.Value('i', 7).value)") == "7\n"


def test_no_terminal_can_be_opened(shared_box):
    """A number of them is shared by all of the host."""
    assert run(shared_box, "import os; os.openpty()") in ("FileNotFoundError", "OSError")


def test_tables_of_pages_are_memory_too():
    before = _in_use(psutil.Process())
    pages = mmap.mmap(-1, 2 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
    with contextlib.suppress(OSError):  # a kernel without huge pages
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    assert sum(pages[i] for i in range(0, 2 << 30, 4096)) == 0  # all are the kernel's page of zeros
    assert _in_use(psutil.Process()) - before > 3 << 20


FILES = """
import os, time
for n in range(150_000):
    os.symlink("x", f"{}/{n}")
time.sleep(60)
"""

SOCKETPAIRS = """
import os, socket, time
for _ in range(10):
    if os.fork() == 0:
        pairs = [socket.socketpair() for _ in range(100)]
        time.sleep(60)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "source",
    sweep([FILES.replace("{}", "/tmp"), FILES.replace("{}", "/dev/shm"), SOCKETPAIRS], every=3),
    ids=["tmp", "shm", "sockets"],
)
def test_files_and_sockets_have_a_number(box, source):
    with pytest.raises(SubjectDied, match="more than"):
        run(box, source, seconds=120)


def test_a_parent_has_to_wait_for_its_children(box):
    """The kernel forgets the CPU time of a child that nobody waits for."""
    assert run(box, "import signal; print(signal.getsignal(signal.SIGCHLD))") == "0\n"
    assert run(box, "signal.signal(signal.SIGCHLD, signal.SIG_IGN)") == "PermissionError"
    source = "import ctypes; print(ctypes.CDLL(None).sigaction(17, {}, ctypes.create_string_buffer(152)))"
    assert run(box, source.format("bytes(152)") + "\n" + source.format("None")) == "-1\n0\n"
    assert run(box, "signal.signal(signal.SIGUSR1, signal.SIG_IGN)") == ""


def test_a_subject_stays_in_one_session(box):
    assert run(box, "import os; before = os.getsid(0); os.setsid(); print(os.getsid(0) == before)") == "True\n"


def test_a_filter_is_made_for_each_architecture_and_lets_others_pass():
    both = {seccomp.program(False, machine) for machine in ("x86_64", "aarch64")}
    assert len(both) == 2 and all(len(each) % 8 == 0 and len(each) < 4096 * 8 for each in both)
    assert len(seccomp.program(False, "riscv64")) == 8
