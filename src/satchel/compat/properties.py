"""Which of the properties that loaders differ by a pack has."""

from satchel.compat.candidate import Candidate

__all__ = ["properties_of"]


def properties_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys of a pack's properties, in the order of the table.

    A pack that no loader has trouble with has none.
    """
    found: list[str] = []
    if candidate.file != "SKILL.md":
        found.append("lower-case-file")
    return tuple(found)
