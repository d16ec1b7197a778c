"""The properties that loaders differ by, each with the look that finds it."""
