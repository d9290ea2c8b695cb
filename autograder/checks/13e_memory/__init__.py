"""The checks of lab 13e, a module for each topic."""

TOPICS = ("patients", "growth", "precision", "transfers", "digits", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch too
