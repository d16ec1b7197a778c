"""How other loaders see packs: measured by running them, each in its environment."""
