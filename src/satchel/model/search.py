"""One answer of a ranking."""

from dataclasses import dataclass

__all__ = ["Hit"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A skill that matches a query; ``score`` grows with the match, without a unit."""

    id: str
    description: str
    score: float
    source: str = ""
