"""The manifest of what was loaded."""

from dataclasses import replace

from satchel.catalog.entry import Acceptance
from satchel.errors import SkillManifestError
from satchel.model import Loaded, Manifest
from satchel.spec import parse

__all__ = ["manifest_of"]


def manifest_of(loaded: Loaded, accept: Acceptance) -> Manifest:
    """Parse a loaded SKILL.md.

    Raises:
        SkillManifestError: There is no frontmatter: the source made its manifest up.
    """
    parsed = parse(
        loaded.data,
        profile=accept.profile,
        directory=loaded.descriptor.origin.key.rpartition("/")[2],
        limits=accept.limits,
        allow_empty_description=accept.allow_empty_description,
    )
    if parsed.manifest is None:
        place = loaded.descriptor.origin.location
        raise SkillManifestError(place, parsed.findings[0].message)
    if loaded.descriptor.remote:  # what it asks for is not what it was given
        granted = loaded.descriptor.allowed_tools
        return replace(parsed.manifest, allowed_tools=granted)
    return parsed.manifest
