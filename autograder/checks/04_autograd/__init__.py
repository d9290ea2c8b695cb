"""The checks of lab 04, a module for each topic."""

TOPICS = ("autograd",)  # in the order of the lab
