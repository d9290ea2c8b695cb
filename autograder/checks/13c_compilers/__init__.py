"""The checks of lab 13c, a module for each topic."""

TOPICS = ("patients", "breaks", "operators", "written", "recompiles", "together")  # in the order of the lab
BENCH = True  # it works on torch too
