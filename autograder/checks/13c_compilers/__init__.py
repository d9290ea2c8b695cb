"""The checks of lab 13c, a module for each topic."""

TOPICS = ("patients", "breaks", "operators", "written", "recompiles", "together")  # in the order of the lab
ON_TORCH = True  # it works on torch too
