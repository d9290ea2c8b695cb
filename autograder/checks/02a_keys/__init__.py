"""The checks of lab 02a, a module for each topic."""

TOPICS = ("keys", "devices", "table", "calls", "together")  # in the order of the lab
