"""The command `rushlight`."""

from . import authors, instructors, pytorch, students
from .base import app, main

__all__ = ["app", "authors", "instructors", "main", "pytorch", "students"]
