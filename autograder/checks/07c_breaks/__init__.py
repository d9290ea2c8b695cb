"""The checks of lab 07c, a module for each topic."""

TOPICS = ("breaks", "effects", "predictions")  # in the order of the lab
