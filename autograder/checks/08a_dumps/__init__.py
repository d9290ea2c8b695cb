"""The checks of lab 08a, a module for each topic."""

TOPICS = ("output_code",)  # in the order of the lab
