"""The checks of lab 01a, a module for each topic."""

TOPICS = ("views", "shapes", "cases_of_students", "together")  # in the order of the lab
