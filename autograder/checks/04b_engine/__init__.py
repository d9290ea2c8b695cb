"""The checks of lab 04b, a module for each topic."""

TOPICS = ("formulas", "by_hand", "reviewed", "engine", "cases_of_students", "together")  # in the order of the lab
