"""The checks of lab 04c, a module for each topic."""

TOPICS = ("formulas", "modes", "functions", "shrinking", "together")  # in the order of the lab
