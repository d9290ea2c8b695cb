"""The checks of lab 07d, a module for each topic."""

TOPICS = ("functional", "reviewed", "cases_of_students", "joint")  # in the order of the lab
