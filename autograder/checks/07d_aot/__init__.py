"""The checks of lab 07d, a module for each topic."""

TOPICS = ("functional", "reviewed", "joint")  # in the order of the lab
