"""The checks of lab 14d, a module for each topic."""

PACKAGES = ("triton",)  # that the lab needs beside those of the course
TOPICS = ("blocks", "softmaxes", "products", "attentions")  # in the order of the lab
TOPICS += ("compiler", "masks", "reductions", "programs")
