"""Profiles of programs. In PyTorch: `torch/profiler/`."""

from rushlight.autograd.profiler import record_function
from rushlight.profiler import _utils  # noqa: F401
from rushlight.profiler.profiler import ProfilerAction, ProfilerActivity, profile, schedule, tensorboard_trace_handler

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "tensorboard_trace_handler"]
