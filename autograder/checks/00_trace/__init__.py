"""The checks of lab 00, a module for each topic."""

TOPICS = ("sources", "calls", "keys", "registrations", "timing", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
