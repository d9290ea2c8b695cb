"""The checks of lab 03, a module for each topic."""

TOPICS = ("loops", "forms", "reductions", "matrices", "cpp_operator", "together")  # in the order of the lab
