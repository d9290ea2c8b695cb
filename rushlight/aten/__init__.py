"""The tensor library: strided tensors, the tools that kernels share, and the kernels themselves, in `native`.

    strided, iterator, structured    views of memory, loops over operands, structured kernels
    generated/functions              each operator, and the functions and methods that call it
    native/                          the kernels; `native_functions.yaml` declares the operators
    generated/register_kernels       which kernel runs for which key
    indexing, functional, printing, dlpack    Python code that calls the operators

In PyTorch: `aten/src/ATen/`.
"""
