"""The checks of lab 15a, a module for each topic."""

TOPICS = ("cases", "together")  # in the order of the lab
ON_TORCH = True  # what they say is about torch
