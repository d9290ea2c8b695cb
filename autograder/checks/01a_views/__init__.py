"""The checks of lab 01a, a module for each topic."""

TOPICS = ("views", "shapes", "together")  # in the order of the lab
