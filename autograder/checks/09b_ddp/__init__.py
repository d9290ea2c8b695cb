"""The checks of lab 09b, a module for each topic."""

TOPICS = ("collectives", "ddp", "samplers")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
