"""The checks of lab 07, a module for each topic."""

TOPICS = ("capture",)  # in the order of the lab
