"""The command `rushlight`."""

from . import authors, instructors, students
from .base import app, main

__all__ = ["app", "authors", "instructors", "main", "students"]
