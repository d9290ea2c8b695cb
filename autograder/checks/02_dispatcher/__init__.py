"""The checks of lab 02, a module for each topic."""

TOPICS = ("keys", "schemas", "table", "calls", "autocast", "predictions", "together")  # in the order of the lab
