"""Skills of a site, by the index that it publishes."""
