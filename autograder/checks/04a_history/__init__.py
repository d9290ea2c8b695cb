"""The checks of lab 04a, a module for each topic."""

TOPICS = ("predictions", "graph", "engine", "together")  # in the order of the lab
