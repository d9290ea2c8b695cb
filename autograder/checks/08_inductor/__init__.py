"""The checks of lab 08, a module for each topic."""

TOPICS = ("inductor",)  # in the order of the lab
