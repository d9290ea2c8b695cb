"""Counts of generated code. Source: `torch/_inductor/metrics.py`."""

generated_kernel_count = 0  # kernels of loops; calls of BLAS and of eager kernels do not count


def reset() -> None:
    """Set the counter of generated kernels to 0. Source: `torch/_inductor/metrics.py`, `reset`."""
    global generated_kernel_count
    generated_kernel_count = 0
