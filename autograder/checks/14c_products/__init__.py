"""The checks of lab 14c, a module for each topic."""

TOPICS = ("arithmetic", "naive", "tiles", "faults", "blocked", "operands", "together")  # in the order of the lab
