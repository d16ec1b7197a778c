"""Skills of a site: by anybody's index, or one release of ours by its pin."""
