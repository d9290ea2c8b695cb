"""The checks of lab 12, a module for each topic."""

# in the order of the labs
TOPICS = ("anatomy", "costs", "generations", "sharding", "serving", "bottleneck", "everything")
