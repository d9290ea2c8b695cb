"""The checks of lab 03, a module for each topic."""

TOPICS = ("kernels",)  # in the order of the lab
