"""Checks of lab 13a: the patients of the framework."""

from ..shared_13 import patient

patient(__name__, 1, statements=4, operators=5)
patient(__name__, 2, statements=2, operators=4)
patient(__name__, 3, statements=4, operators=5)
patient(__name__, 4, statements=4, operators=6)
patient(__name__, 5, statements=3, operators=5)
patient(__name__, 6, statements=2, operators=4)
