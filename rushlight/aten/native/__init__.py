"""The kernels, and the table that declares the operators: `native_functions.yaml`. In PyTorch: `aten/src/ATen/native/`."""
