"""The properties that loaders differ by: their texts with their detectors."""

import tomllib
from importlib.resources import files as resources
from typing import Final

from satchel_lab.clients._pack import PackProperty, PackReader
from satchel_lab.clients._properties import files, frontmatter, yaml

# The key of a pack that has none of the properties.
PLAIN: Final = "plain"

_DETECTORS: Final = {**files.DETECTORS, **yaml.DETECTORS, **frontmatter.DETECTORS}
# Read when the first prediction is asked for: the room's door imports this late.
_TEXTS: Final = resources("satchel_lab.clients").joinpath("properties.toml")

# By what they are about, in the order of the table.
GROUPS: Final[dict[str, tuple[PackProperty, ...]]] = {
    title: tuple(
        PackProperty(key, detect=_DETECTORS[key], **texts)
        for key, texts in group.items()
    )
    for title, group in tomllib.loads(_TEXTS.read_text("utf-8")).items()
}

# By key, in the order of the table.
PROPERTIES: Final = {one.key: one for group in GROUPS.values() for one in group}


def properties_in(pack: PackReader) -> tuple[str, ...]:
    return tuple(key for key, one in PROPERTIES.items() if one.detect(pack))
