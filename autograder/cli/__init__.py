"""The command `rushlight`."""

from . import authors, exam, instructors, pytorch, students
from .base import app, main

__all__ = ["app", "authors", "exam", "instructors", "main", "pytorch", "students"]
