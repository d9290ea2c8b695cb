"""The checks of lab 09a, a module for each topic."""

TOPICS = ("collectives", "cost")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
