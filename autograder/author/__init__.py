"""The author's side: notebooks from their sources, and the mistakes that the checks must catch."""
