"""What the operators are built on: dtypes, storage, memory formats, schemas, the dispatcher.

In PyTorch: `c10/` and `aten/src/ATen/core/`. The modules do not know any operator.
"""
