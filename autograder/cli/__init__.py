"""The command `rushlight`."""

from . import authors, exam, instructors, pytorch, review, students
from .base import app, main

__all__ = ["app", "authors", "exam", "instructors", "main", "pytorch", "review", "students"]
