"""The checks of lab 06a, a module for each topic."""

TOPICS = ("schemas", "fused_linear", "registration", "judges", "mutation", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
