"""The properties that loaders differ by, each with the look that finds it."""

from typing import Final

from satchel.clients._pack import Candidate, PackProperty, PackReader
from satchel.clients._properties import (
    broken,
    descriptions,
    fences,
    fields,
    files as place,
    names,
    yaml,
)

PLAIN: Final = "plain"
"""The key of a pack that has none of the properties."""

GROUPS: Final[dict[str, tuple[PackProperty, ...]]] = {
    "Place and bytes": place.PROPERTIES,
    "Fences": fences.PROPERTIES,
    "Frontmatter that is no YAML": broken.PROPERTIES,
    "YAML that not every loader reads": yaml.PROPERTIES,
    "Names": names.PROPERTIES,
    "Descriptions": descriptions.PROPERTIES,
    "Further fields": fields.PROPERTIES,
}
"""By what they are about, in the order of the table."""

PROPERTIES: Final[dict[str, PackProperty]] = {
    each.key: each for group in GROUPS.values() for each in group
}
"""By key, in the order of the table."""


def properties_of(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys of a pack's properties, in the order of the table.

    A pack that no loader has trouble with has none.
    """
    return properties_in(PackReader(candidate))


def properties_in(reading: PackReader) -> tuple[str, ...]:
    """Return the same of a pack that is being read already."""
    return tuple(key for key, each in PROPERTIES.items() if each.applies(reading))
