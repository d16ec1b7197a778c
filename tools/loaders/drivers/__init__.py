"""The loaders, by the way they are run."""
