"""Shared by the framework's tests: one hypothesis profile, which leaves nothing behind, and one seed."""

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import rushlight as rl
from bench import parity

# What is drawn depends on the test alone. Otherwise hypothesis parses all modules that are loaded, and draws their constants too.
providers._get_local_constants = providers.Constants
torch.set_num_threads(1)  # on a busy machine threads wait for each other, and take the time of other processes by it


def pytest_configure(config):
    """`make test` tries the first fifteenth of the examples that hypothesis draws for a test in `make test-all`."""
    settings.register_profile(
        "rushlight",
        database=None,
        deadline=None,
        derandomize=True,  # a run tries the same as the one before
        max_examples=20 if config.option.markexpr else 300,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    settings.load_profile("rushlight")


def _seed():
    rl.manual_seed(0)
    torch.default_generator.manual_seed(0)  # `torch.manual_seed` also notes the stack for each device that may come


def pytest_collectstart(collector):
    """Seed each file of tests before its import, so that `x = rl.randn(4, 6)` in it is the same in every run."""
    if isinstance(collector, pytest.Module):
        _seed()


@pytest.fixture(autouse=True)
def seeded():
    _seed()
    return _seed


@pytest.fixture(scope="session")
def database():
    """torch's samples of operators. In `make test` one process runs all tests that use them."""
    return parity.database()
