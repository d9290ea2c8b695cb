"""The checks of lab 05, a module for each topic."""

TOPICS = ("modules", "state_dict", "losses", "optimisers", "data", "together")  # in the order of the lab
