"""The checks of lab 05a, a module for each topic."""

TOPICS = ("modules", "state_dict", "losses", "together")  # in the order of the lab
