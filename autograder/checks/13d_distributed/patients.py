"""Checks of lab 13d: the patients of the framework."""

from ..shared_13 import patient

patient(__name__, 1, statements=13, operators=12)
patient(__name__, 2, statements=6, operators=4)
patient(__name__, 3, statements=7, operators=6)
