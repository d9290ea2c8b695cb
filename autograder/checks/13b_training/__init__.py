"""The checks of lab 13b, a module for each topic."""

TOPICS = (
    "patients",
    "gradients",
    "optimizers",
    "losses",
    "written",
    "loaders",
    "states",
    "together",
)  # in the order of the lab
BENCH = True  # it works on torch too
