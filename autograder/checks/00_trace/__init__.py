"""The checks of lab 00, a module for each topic."""

TOPICS = ("trace",)  # in the order of the lab
