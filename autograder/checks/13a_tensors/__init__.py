"""The checks of lab 13a, a module for each topic."""

TOPICS = ("patients", "scripts", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch too
