"""The checks of lab 03b, a module for each topic."""

TOPICS = ("reductions", "matrices", "cpp_operator", "races", "together")  # in the order of the lab
