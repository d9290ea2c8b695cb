"""The checks of lab 07a, a module for each topic."""

TOPICS = ("graphs", "cases_of_students", "passes")  # in the order of the lab
