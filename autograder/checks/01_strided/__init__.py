"""The checks of lab 01, a module for each topic."""

TOPICS = ("views", "shapes", "memory")  # in the order of the lab
