"""The checks of lab 03a, a module for each topic."""

TOPICS = ("loops", "forms", "predictions", "together")  # in the order of the lab
