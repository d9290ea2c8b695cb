"""Checks of lab 13c: the patients of the framework."""

from ..shared_13 import patient

patient(__name__, 1, statements=7, operators=7)
patient(__name__, 2, statements=5, operators=8)
patient(__name__, 3, statements=4, operators=6, is_named=False)
patient(__name__, 5, statements=5, operators=8)
