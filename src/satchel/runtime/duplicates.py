"""Names that several packs claim, whatever else is wrong with them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from satchel.model import SKILL_FILE, Finding

__all__ = ["Claim", "duplicates"]


class Claim(NamedTuple):
    """A pack's claim to a name: where the pack is, and on which line it says so.

    ``content`` is equal for packs that are one, a copy of the other.
    """

    name: str
    location: str
    line: int | None
    content: object


def duplicates(claims: Iterable[Claim]) -> Iterator[Finding]:
    """Tell each claimant of a name but the first who has it too.

    The first is the one that comes first. Copies of one pack are no rivals.
    """
    first: dict[str, Claim] = {}
    for claim in claims:
        holder = first.setdefault(claim.name, claim)
        if holder.content != claim.content:
            yield Finding(
                "duplicate-skill",
                "error",
                f"{holder.location} has the name {claim.name!r} too",
                f"{claim.location}/{SKILL_FILE}",
                claim.line,
                "rename one of the two",
            )
