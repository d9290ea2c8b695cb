"""The checks of lab 09, a module for each topic."""

TOPICS = ("distributed",)  # in the order of the lab
