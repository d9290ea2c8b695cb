"""The checks of lab 05b, a module for each topic."""

TOPICS = ("losses", "optimisers", "data", "predictions", "together")  # in the order of the lab
