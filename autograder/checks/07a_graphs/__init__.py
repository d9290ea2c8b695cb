"""The checks of lab 07a, a module for each topic."""

TOPICS = ("graphs", "passes")  # in the order of the lab
