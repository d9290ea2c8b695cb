"""The checks of lab 01b, a module for each topic."""

TOPICS = ("shapes", "predictions", "memory")  # in the order of the lab
