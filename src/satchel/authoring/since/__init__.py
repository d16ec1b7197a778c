"""What a change adds to a library, by the history that git keeps of it."""

from satchel.authoring.since.checking import check_since

__all__ = ["check_since"]
