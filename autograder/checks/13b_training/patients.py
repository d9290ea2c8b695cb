"""Checks of lab 13b: the patients of the framework."""

from ..shared_13 import patient

patient(__name__, 1, statements=6, operators=9)
patient(__name__, 2, statements=6, operators=6)
patient(__name__, 3, statements=7, operators=40)
