"""The checks of lab 02, a module for each topic."""

TOPICS = ("dispatcher",)  # in the order of the lab
