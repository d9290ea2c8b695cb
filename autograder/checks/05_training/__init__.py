"""The checks of lab 05, a module for each topic."""

TOPICS = ("training",)  # in the order of the lab
