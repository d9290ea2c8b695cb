"""Programs that were written for PyTorch run on rushlight as they run on PyTorch, and what is missing is said in one line."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from sweep import swept

from autograder.notebook.run_command import difference
from rushlight.course.as_torch import TorchVersion

STRANGERS = Path(__file__).parent / "strangers"
if not hasattr(os, "fork"):
    pytest.skip("each program runs in a fork of one process", allow_module_level=True)
RUN_EACH = """
import json, os, sys
from rushlight.course import as_torch
if sys.argv[1] == "torch":
    import torch
if sys.argv[1] == "without torch":
    as_torch._torch_folder = lambda: None
for number, words in enumerate(json.loads(sys.argv[2])):
    if not (child := os.fork()):
        for stream in 1, 2:
            os.dup2(os.open(f"{number}.{stream}", os.O_CREAT | os.O_WRONLY), stream)
        if sys.argv[1] == "torch":
            as_torch.execute(words)
        else:
            as_torch.run(words)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def run_each(folder, *commands, on="rushlight"):
    """The exit code, the output and the errors of each program."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_EACH, on, json.dumps(commands)],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    read = [[(folder / f"{number}.{stream}").read_text() for stream in (1, 2)] for number in range(len(commands))]
    return [(int(code), *texts) for code, texts in zip(done.stdout.split(), read, strict=True)]


def write(folder, **sources):
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source))


PROGRAMS = sorted(STRANGERS.glob("*.py"))


@pytest.mark.parametrize("paths", [PROGRAMS[:1], swept(PROGRAMS[1:])], ids=["first", "others"])
def test_what_strangers_write_prints_what_it_prints_on_torch(paths, tmp_path):
    commands = [[str(path)] for path in paths]
    (tmp_path / "torch").mkdir()
    theirs = run_each(tmp_path / "torch", *commands, on="torch")
    for path, (code, out, errors), (our_code, our_out, our_errors) in zip(paths, theirs, run_each(tmp_path, *commands)):
        assert (code, our_code) == (0, 0), (path.name, errors, our_errors)
        assert difference(out, our_out)[0] in ("equal", "last digit"), path.name


def test_a_program_finds_its_names_its_arguments_and_itself(tmp_path):
    write(
        tmp_path,
        other="import torch",
        one="""
        import os, sys
        import torch, torch.nn as nn, torch.onnx
        import torch.nn.functional as F
        from torch.nn.modules.module import Module
        from torch import onnx
        from other import torch as same

        print(sys.argv, __name__, os.path.basename(__file__), sys.path[0] == os.path.dirname(__file__))
        print(torch is same, Module is nn.Module, F is nn.functional, onnx is torch.onnx, Module.__module__)
        print(torch.ones(1, 2).shape, torch.int8, f"{torch.half}", type(torch.ones(2)), torch.ones(2).max(0))
        print(torch.__version__ >= "2.2", hasattr(torch.onnx, "export"), hasattr(torch, "fft_of_nothing"))
        for statement in "from torch.onnx import export", "import torch.fft_of_nothing", "from torch import fft_of_nothing":
            try:
                exec(statement)
            except ImportError as error:
                print(type(error).__name__)
        sys.exit(3)
        """,
    )
    ((code, out, errors),) = run_each(tmp_path, ["one.py", "-m", "x"])
    lines = out.splitlines()
    assert (code, errors) == (3, "")
    assert lines[0] == "['one.py', '-m', 'x'] __main__ one.py True"
    assert lines[1] == "True True True True torch.nn.modules.module"
    assert lines[2] == "torch.Size([1, 2]) torch.int8 torch.float16 <class 'torch.Tensor'> torch.return_types.max("
    assert lines[5:] == ["True False False", "ImportError", "ModuleNotFoundError", "ImportError"]


MISSING = {
    "torch.onnx.export()": "torch.onnx.export is not in rushlight",
    "from torch.onnx import export": "torch.onnx.export is not in rushlight",
    "torch.nn.functional.fractional_max_pool2d": "torch.nn.functional.fractional_max_pool2d is not in rushlight",
    "torch.ones(2).to_mkldnn()": "torch.Tensor.to_mkldnn is not in rushlight",
    "torch.nn.Parameter(torch.ones(2)).to_mkldnn()": "torch.Tensor.to_mkldnn is not in rushlight",
    "nn.Linear(2, 2).get_extra_state_of()": "",
    "nn.Linear(2, 2).nothing": "",
    "torch.nothing": "",
    "import torch.nothing": "",
    "import functorch": "functorch is built on PyTorch itself and does not run on rushlight (it uses torch._functorch.",
    "import torchvision.transforms": "torchvision is built on PyTorch itself and does not run on rushlight",
}


@pytest.mark.sweep
def test_a_missing_name_is_one_line_and_other_errors_are_pythons(tmp_path):
    head = "import torch, torch.onnx\nfrom torch import nn\n"
    for number, code in enumerate(MISSING):
        (tmp_path / f"{number}.py").write_text(f"{head}{code}\n")
    results = run_each(tmp_path, *([f"{number}.py"] for number in range(len(MISSING))))
    for number, ((code, said), (exit_code, _, errors)) in enumerate(zip(MISSING.items(), results)):
        assert exit_code == 1
        if said:
            assert errors.startswith(f"rushlight: {number}.py, line 3: {said}"), code
            assert errors.count("\n") == 1
        else:
            assert errors.startswith(f'Traceback (most recent call last):\n  File "{tmp_path}/{number}.py", line 3'), (
                code
            )
            assert "as_torch" not in errors


def test_without_torch_a_module_that_is_imported_and_not_used_does_not_stop_a_program(tmp_path):
    write(
        tmp_path,
        one="""
        import torch.onnx
        for statement in "from torch.onnx import export", "from torch import nothing":
            try:
                exec(statement)
            except ImportError as error:
                print(type(error).__name__)
        import torch.utils.tensorboard
        """,
    )
    said = "rushlight: one.py, line 8: torch.utils.tensorboard is not in rushlight\n"
    assert run_each(tmp_path, ["one.py"], on="without torch") == [(1, "ImportError\nImportError\n", said)]


def test_a_programs_own_error_has_pythons_traceback(tmp_path):
    write(
        tmp_path,
        one="import two\ntwo.f()",
        two="def f():\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        {}[3]",
    )
    write(tmp_path, unclosed="print(1")
    for name, (code, out, errors) in zip(("one.py", "unclosed.py"), run_each(tmp_path, ["one.py"], ["unclosed.py"])):
        python = subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True)
        assert (code, out, errors) == (python.returncode, python.stdout, python.stderr)


def notebook(*cells):
    cells = [{"cell_type": "code", "source": cell} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Title"}, *cells]})


@pytest.mark.sweep
def test_the_cells_of_a_notebook_run_in_turn_and_show_values_and_magics_work(tmp_path):
    cells = [
        "%matplotlib inline\nimport torch\nx = torch.ones(2)\nx + 1",
        "x.sum();",
        "!echo said\n__name__",
        "def f(): x.sparse_mask(1)",
        "f()",
    ]
    (tmp_path / "one.ipynb").write_text(notebook(*cells))
    (tmp_path / "none.ipynb").write_text(notebook())
    (tmp_path / "no.ipynb").write_text("[]")
    first, none, no, missing = run_each(tmp_path, ["one.ipynb"], ["none.ipynb"], ["no.ipynb"], ["missing.py"])
    assert first == (
        1,
        "tensor([2., 2.])\nsaid\n'__main__'\n",
        "rushlight: one.ipynb, cell 4, line 1: torch.Tensor.sparse_mask is not in rushlight\n",
    )
    assert none == (0, "", "")
    assert no == (1, "", "rushlight: no.ipynb does not run: it is not a notebook\n")
    assert missing == (1, "", "rushlight: missing.py does not run: No such file or directory\n")


def test_versions_compare_as_numbers():
    version = TorchVersion("2.13.0")
    assert "2.9" < version < "2.14" and version >= (2, 13) and version <= "2.13.0" and version == "2.13.0"
    assert not version > "2.13.1"
