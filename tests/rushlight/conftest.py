"""Shared by the framework's tests: one hypothesis profile, and a way to run one program on both frameworks."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "rushlight",
    database=None,  # leave no .hypothesis folder behind
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("rushlight")
