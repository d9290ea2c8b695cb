"""The checks of lab 04c, a module for each topic."""

TOPICS = ("formulas", "cases_of_students", "modes", "functions", "shrinking", "together")  # in the order of the lab
