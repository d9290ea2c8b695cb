"""Counts of what was generated. Source: `torch/_inductor/metrics.py`."""

generated_kernel_count = 0  # loops compiled from here on; calls of BLAS and of operators are none of them


def reset() -> None:
    global generated_kernel_count
    generated_kernel_count = 0
