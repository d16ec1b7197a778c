"""The catalog section as text, with what a budget did to it."""

from dataclasses import dataclass, field

from satchel.model.finding import Finding

__all__ = ["Rendered"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A catalog section; ``str()`` of it is the text, empty where there are no skills.

    ``tokens`` is counted by ``counted_by`` (the default is an estimate, and says so).
    ``shortened``, ``names_only`` and ``left_out`` hold ids, in order; together with
    those listed in full they are the whole catalog.
    """

    text: str = field(repr=False)
    tokens: int
    counted_by: str
    budget_tokens: int | None = None
    shortened: tuple[str, ...] = ()
    names_only: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        """Return the section's text."""
        return self.text

    @property
    def complete(self) -> bool:
        """Whether every skill stands in the text with its whole description."""
        return not (self.shortened or self.names_only or self.left_out)
