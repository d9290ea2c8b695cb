"""The checks of lab 06b, a module for each topic."""

TOPICS = ("fused_linear", "cases_of_students", "registration", "what_breaks", "cpp_ops")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
