"""The base of the operators: dtypes, storage, memory formats, schemas, the dispatcher.

In PyTorch: `c10/` and `aten/src/ATen/core/`. These modules name no operator.
"""
