"""The checks of lab 15c, a module for each topic."""

TOPICS = ("reviews", "together")  # in the order of the lab
ON_TORCH = True  # what they say is about torch
