"""The checks of lab 06c, a module for each topic."""

TOPICS = ("wrapper", "backend", "cases_of_students", "predictions")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
