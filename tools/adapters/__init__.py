"""The adapters under their real frameworks, each in an environment of its own."""
