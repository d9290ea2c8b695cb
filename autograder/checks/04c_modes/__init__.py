"""The checks of lab 04c, a module for each topic."""

TOPICS = ("formulas", "modes", "functions", "together")  # in the order of the lab
