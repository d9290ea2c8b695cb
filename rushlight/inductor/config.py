"""Settings of the compiler. Source: `torch/_inductor/config.py`."""

cpu_backend = "cpp"  # the language of kernels: "cpp" or "triton"
