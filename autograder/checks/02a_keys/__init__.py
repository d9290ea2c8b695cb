"""The checks of lab 02a, a module for each topic."""

TOPICS = ("keys", "devices", "table", "calls", "bindings", "together")  # in the order of the lab
