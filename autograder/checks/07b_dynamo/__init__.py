"""The checks of lab 07b, a module for each topic."""

TOPICS = ("bytecode", "guards", "calls", "logs")  # in the order of the lab
