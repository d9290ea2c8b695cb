"""The checks of lab 05a, a module for each topic."""

TOPICS = ("modules", "cases_of_students", "state_dict", "losses", "together")  # in the order of the lab
