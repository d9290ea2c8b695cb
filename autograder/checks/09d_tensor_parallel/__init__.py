"""The checks of lab 09d, a module for each topic."""

TOPICS = ("checkpoint", "tensor_parallel", "mesh")  # in the order of the lab
ON_TORCH = True  # it works on torch itself
