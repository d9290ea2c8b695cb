"""A machine with a GPU gives every verdict that a machine without one gives.

`make test GPU=1` runs this on a build of torch for CUDA, with the stand-in for a device of `bench/stand_in/`. The
stand-in computes nothing, so a check that passes has kept to the CPU.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.model import lab_names

ROOT = Path(__file__).parents[1]
RUNNER = "-m", "bench.gpu_parts.labs"
COUNT = "import torch; print(torch.cuda.device_count(), torch.accelerator.is_available())"

pytestmark = pytest.mark.sweep  # apart from the suite, which has torch's build for the CPU


@pytest.fixture(scope="session")
def beside_a_gpu(tmp_path_factory):
    """Run Python beside the stand-in: a function of the arguments of its command line. Returns what it printed."""
    import torch

    if torch.version.cuda is None:
        pytest.skip("this torch is a build for the CPU: `make test GPU=1` installs the other one")
    from bench.stand_in.record import LIBRARY, compile_stand_in, headers

    libraries = compile_stand_in(tmp_path_factory.mktemp("stand_in"), headers())
    preloaded = {"LD_PRELOAD": ":".join(map(str, libraries)), LIBRARY: str(libraries[-1]), "PYTHONPATH": str(ROOT)}
    given = {name: value for name, value in os.environ.items() if name != "RUSHLIGHT_DEVICE"} | preloaded

    def run(*arguments, **variables):
        command = [sys.executable, *map(str, arguments)]
        done = subprocess.run(command, env=given | variables, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


def test_the_stand_in_is_a_device(beside_a_gpu):
    assert beside_a_gpu("-c", COUNT) == "1 True\n"


@pytest.mark.parametrize("process", ["import autograder.engine.torch_source", "from autograder import check"])
def test_what_judges_and_what_is_judged_see_none(beside_a_gpu, process):
    assert beside_a_gpu("-c", f"{process}\n{COUNT}") == "0 False\n"


def test_a_kernel_sees_it_if_its_user_asks_for_it(beside_a_gpu):
    assert beside_a_gpu("-c", f"from autograder import check\n{COUNT}", RUSHLIGHT_DEVICE="cuda") == "1 True\n"


RANKS = """
from autograder import check  # hides the device from this process
from autograder.engine.devices import on_cpu
from rushlight.distributed import describe_devices, run_ranks

with on_cpu():  # the fork server starts in a check
    print(run_ranks(describe_devices, 2)[0])
for ranks in 2, 4:
    print(run_ranks(describe_devices, ranks)[0])
"""


def test_ranks_share_it_except_in_a_check(beside_a_gpu):
    in_check, *lines = beside_a_gpu("-c", RANKS).splitlines()
    assert in_check == "2 ranks on the CPU over gloo: RUSHLIGHT_DEVICE is cpu"
    assert lines == [f"{ranks} ranks share cuda:0 over gloo" for ranks in (2, 4)]


@pytest.mark.parametrize("lab", lab_names())
def test_each_check_of_a_lab_passes(beside_a_gpu, lab):
    """The other cells may fail: those of labs 09 that compute on their ranks' device."""
    cells = [json.loads(line) for line in beside_a_gpu(*RUNNER, lab, CUDA_VISIBLE_DEVICES="0").splitlines()]
    checks = [cell for cell in cells if cell["check"]]
    assert checks and [cell for cell in checks if "error" in cell] == []
