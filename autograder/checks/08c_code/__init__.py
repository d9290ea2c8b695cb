"""The checks of lab 08c, a module for each topic."""

TOPICS = ("cpp", "compiled", "triton_code", "memory", "predictions", "codecache", "products")  # in the order of the lab
