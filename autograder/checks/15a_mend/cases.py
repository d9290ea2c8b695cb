"""Checks of lab 15a: bugs of PyTorch."""

from ..shared_15 import case

case(__name__, 1)
case(__name__, 2)
case(__name__, 3)
case(__name__, 4)
case(__name__, 5)
