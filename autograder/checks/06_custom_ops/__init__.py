"""The checks of lab 06, a module for each topic."""

TOPICS = ("custom_ops",)  # in the order of the lab
