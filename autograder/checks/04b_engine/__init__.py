"""The checks of lab 04b, a module for each topic."""

TOPICS = ("formulas", "by_hand", "reviewed", "engine", "together")  # in the order of the lab
