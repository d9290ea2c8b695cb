"""The checks of lab 08b, a module for each topic."""

TOPICS = ("index", "reviewed", "lowering", "scheduler", "compiled", "sources")  # in the order of the lab
