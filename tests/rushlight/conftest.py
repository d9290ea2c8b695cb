"""Shared by the framework's tests: one hypothesis profile, which leaves nothing behind."""

from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

home = TemporaryDirectory()  # also without a database, hypothesis would write .hypothesis/constants here
set_hypothesis_home_dir(home.name)

settings.register_profile(
    "rushlight",
    database=None,
    deadline=None,
    derandomize=True,  # a run tries the same as the one before
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("rushlight")
