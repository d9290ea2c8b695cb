"""The parts of `rushlight.utils.benchmark`, as in `torch/utils/benchmark/utils/`."""
