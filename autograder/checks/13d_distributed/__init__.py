"""The checks of lab 13d, a module for each topic."""

TOPICS = ("patients", "waits", "unused", "drifts", "losses", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch
