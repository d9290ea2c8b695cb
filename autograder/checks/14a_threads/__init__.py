"""The checks of lab 14a, a module for each topic."""

TOPICS = ("sectors", "single", "strides", "vectors", "choice", "together")  # in the order of the lab
