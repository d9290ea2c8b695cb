"""The checks of lab 09e, a module for each topic."""

TOPICS = ("pipeline", "mesh", "cost", "patterns")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
