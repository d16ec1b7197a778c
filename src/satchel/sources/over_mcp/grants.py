"""What a skill of a server asks for itself: not given, unless this very skill was."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from satchel.model import SKILL_FILE, Finding, Manifest
from satchel.sources.over_mcp.entry import SkillEntry
from satchel.spec.misspelled import meant_keys

__all__ = ["OPENING_KEYS", "as_granted", "asked_for"]

OPENING_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")
"""Keys of ``metadata`` whose tools would open with the skill: those of
`satchel.catalog.tool_names`, which a source knows nothing of."""

_ALLOWED: Final = ("allowed-tools", "allowed_tools")


def as_granted(
    manifest: Manifest, entry: SkillEntry, approved: Mapping[str, str]
) -> Manifest:
    """Return the manifest, without the tools that it asks for where nobody gave them.

    ``approved`` has digests by URI; one that is not that of the set as it is now gives
    nothing. Hooks and the like, which Satchel never acts on, stay where they are: in
    ``frontmatter``, as they were written.

    Source: "No implicit permission grants" and "Content-bound approval" of the Skills
    extension.
    """
    if _is_approved(entry, approved):
        return manifest
    metadata = manifest.metadata
    if any(key in metadata for key in OPENING_KEYS):
        metadata = {k: v for k, v in metadata.items() if k not in OPENING_KEYS}
    return replace(manifest, allowed_tools=(), metadata=metadata)


def asked_for(entry: SkillEntry, approved: Mapping[str, str]) -> Finding | None:
    """Return what to tell of a skill that asks for tools; None where all is settled."""
    frontmatter = meant_keys(entry.frontmatter)
    fields = [key for key in _ALLOWED if frontmatter.get(key) not in (None, "", [])]
    metadata = frontmatter.get("metadata")
    if isinstance(metadata, Mapping):
        fields += [f"metadata.{key}" for key in OPENING_KEYS if key in metadata]
    if not fields or _is_approved(entry, approved):
        return None
    fix = "nothing, unless you want it to have them: no digest binds an approval"
    if entry.digest:
        approval = f'{{"{entry.uri}": "{entry.digest}"}}'
        fix = f"to give them to it as it is now: allowed_tools={approval}"
    changed = " (it changed since it was approved)" if entry.uri in approved else ""
    return Finding(
        "tools-not-granted",
        "note",
        f"ignored, since it comes from a server: {', '.join(fields)}{changed}",
        SKILL_FILE,
        fix=fix,
    )


def _is_approved(entry: SkillEntry, approved: Mapping[str, str]) -> bool:
    return bool(entry.digest) and approved.get(entry.uri) == entry.digest
