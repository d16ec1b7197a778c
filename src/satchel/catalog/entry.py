"""One pack as it was read, and what a registry takes in."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from satchel.model import DEFAULT_LIMITS, Descriptor, Finding, Limits, Manifest
from satchel.protocols import NamesByPlace, NamesSkills

if TYPE_CHECKING:
    from satchel.spec import Profile

__all__ = ["RETIRED", "Acceptance", "Entry", "Identify", "identify_by"]

RETIRED: Final = frozenset({"deprecated", "retired"})
"""Values of ``metadata.status`` that take a pack out of the catalog."""

Identify = Callable[[Manifest, str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What a registry takes in: the profile, the limits, and D's empty description."""

    profile: "Profile" = "auto"
    limits: Limits = DEFAULT_LIMITS
    allow_empty_description: bool = False


class Entry(NamedTuple):
    """A pack as it was when it had this ``stamp``.

    ``refused`` and ``filtered`` ones have no place in the catalog.
    """

    descriptor: Descriptor
    stamp: Hashable
    findings: tuple[Finding, ...] = ()
    refused: bool = False
    filtered: bool = False

    @property
    def listable(self) -> bool:
        """Whether nothing about the pack itself keeps it out."""
        return not (self.refused or self.filtered)


def identify_by(source: object) -> Identify:
    """Return what gives the id of a manifest and a key: the name, unless it says."""
    if isinstance(source, NamesByPlace):
        return source.identify_at
    if isinstance(source, NamesSkills):
        named = source
        return lambda manifest, _: named.identify(manifest)
    return lambda manifest, _: manifest.name
