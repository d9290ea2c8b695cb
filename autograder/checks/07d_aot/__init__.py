"""The checks of lab 07d, a module for each topic."""

TOPICS = ("functional", "joint")  # in the order of the lab
