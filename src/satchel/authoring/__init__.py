"""Making packs, changing them, and moving them between formats."""

__all__: list[str] = []
