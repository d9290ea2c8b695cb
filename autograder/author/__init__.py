"""The author's side: notebooks from their sources, and the mistakes that the checks must catch."""


class BuildError(Exception):
    """Raised for a source that cannot be built. The message has the position and the reason."""
