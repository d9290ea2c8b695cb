"""The checks of lab 03a, a module for each topic."""

TOPICS = ("loops", "forms", "together")  # in the order of the lab
