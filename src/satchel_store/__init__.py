"""Skills that travel: archives, releases, sites."""
