"""The checks of lab 01, a module for each topic."""

TOPICS = ("strided",)  # in the order of the lab
