"""The checks of lab 08, a module for each topic."""

# in the order of the lab
TOPICS = ("output_code", "index", "lowering", "scheduler", "cpp", "compiled", "memory", "predictions")
TOPICS += ("codecache", "products")
