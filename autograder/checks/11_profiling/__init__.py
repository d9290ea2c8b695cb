"""The checks of lab 11, a module for each topic."""

# in the order of the labs
TOPICS = ("events", "queue", "device", "measured", "blocks", "allocator", "attribution", "trade")
