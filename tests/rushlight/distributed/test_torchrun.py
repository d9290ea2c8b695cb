import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from rushlight.distributed import run_ranks

PROGRAM = Path(__file__).resolve().parents[3] / "phases/09_distributed/train_head.py"


@pytest.mark.sweep
def test_torchrun_runs_the_same_function():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(PROGRAM)]
    environ = os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    losses = [float(word) for word in done.stdout.split()]
    here = run_ranks(runpy.run_path(str(PROGRAM))["train"], 2)
    assert here[0] == here[1] == losses and len(losses) == 10 and losses[-1] < losses[0] - 1
