"""The tensor library: strided tensors, the machinery of kernels, and in `native` the kernels themselves.

    strided, iterator, structured    views of memory, loops over operands, kernels in two halves
    generated/functions              each operator and the functions and methods that call it
    native/                          the kernels; `native_functions.yaml` declares the operators
    generated/register_kernels       which kernel runs for which key
    indexing, functional, printing, dlpack    Python in front of the operators

In PyTorch: `aten/src/ATen/`.
"""
