"""The checks of lab 12, a module for each topic."""

# in the order of the labs
TOPICS = ("rules", "steps", "runs", "casts", "chosen", "caches", "pretraining", "speculation")
