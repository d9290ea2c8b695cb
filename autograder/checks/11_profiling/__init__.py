"""The checks of lab 11, a module for each topic."""

# in the order of the labs
TOPICS = ("events", "queue", "device_times", "measured", "blocks", "allocator", "attribution", "trade")
TOPICS += ("launches", "races", "copies", "capture", "waves", "backward", "compiled", "race_free")
