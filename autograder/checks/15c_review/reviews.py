"""Checks of lab 15c: reviews of patches."""

from ..shared_15 import review

review(__name__, 1)
review(__name__, 2)
review(__name__, 3)
review(__name__, 4)
review(__name__, 5)
