"""Checks of lab 13e: the patients of the framework."""

from ..shared_13 import patient

patient(__name__, 1, statements=5, operators=8)
patient(__name__, 2, statements=9, operators=24)
patient(__name__, 3, statements=6, operators=10)
