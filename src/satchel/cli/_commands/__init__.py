"""One file a command: what it is called with, and one call of the core."""
