"""The checks of lab 06a, a module for each topic."""

# In the order of the lab
TOPICS = ("schemas", "cases_of_students", "fused_linear", "registration", "judges", "mutation", "together")
ON_TORCH = True  # it works on torch itself
