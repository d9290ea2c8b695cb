"""The checks of lab 08, a module for each topic."""

# in the order of the lab
TOPICS = ("output_code", "index", "lowering", "scheduler", "cpp", "compiled", "triton_code", "memory", "predictions")
TOPICS += ("codecache", "products")
