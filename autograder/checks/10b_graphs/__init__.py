"""The checks of lab 10b, a module for each topic."""

TOPICS = ("int8", "graphs", "predictions", "pruning")  # in the order of the lab
