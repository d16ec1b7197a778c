"""One query, and which skills should answer it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One query, and which skills should answer it.

    A case is of one of three kinds: with ``expected`` it is a query that one of these
    skills should get; with ``forbidden`` alone it is a control of these skills, that
    others may get; with neither it is a control of the whole library, for which no
    skill should be loaded.
    """

    query: str
    expected: tuple[str, ...] = ()
    """Names of skills, each of which is a right answer."""
    forbidden: tuple[str, ...] = ()
    """Names of skills that should not get the query."""
    path: str = ""
    """The file that it was read from, as it was found; empty for none."""
    line: int = 0
    """The line in that file, from 1; 0 where it is unknown."""
    fields: Mapping[str, Any] = field(
        default_factory=dict[str, Any], compare=False, hash=False
    )
    """What the file says of the case, unknown fields included."""

    @property
    def is_control(self) -> bool:
        """Whether it says who should not answer, and not who should."""
        return not self.expected
