"""The properties that loaders differ by, each with the look that finds it."""

from typing import Final

from satchel.compat.candidate import Candidate
from satchel.compat.properties import (
    broken,
    descriptions,
    fences,
    fields,
    names,
    place,
    yaml,
)
from satchel.compat.property import Property
from satchel.compat.reading import Reading

__all__ = ["PLAIN", "PROPERTIES", "properties_of"]

PLAIN: Final = "plain"
"""The key of a pack that has none of the properties."""

PROPERTIES: Final[dict[str, Property]] = {
    each.key: each
    for module in (place, fences, broken, yaml, names, descriptions, fields)
    for each in module.PROPERTIES
}
"""By key, in the order of the table."""


def properties_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys of a pack's properties, in the order of the table.

    A pack that no loader has trouble with has none.
    """
    reading = Reading(candidate)
    return tuple(key for key, each in PROPERTIES.items() if each.applies(reading))
