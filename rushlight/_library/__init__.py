"""Operators that a program defines with one function: `rushlight.library.custom_op` and its registrations.

In PyTorch: `torch/_library/`. `rushlight.library` has the public names.
"""
