"""What is not taken on trust from a server: bytes are compared, tools are approved."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from mcp_types import BlobResourceContents, TextResourceContents

from satchel.errors import DigestMismatchError
from satchel.files import digest_bytes
from satchel.model import SKILL_FILE, Finding, Json, Limits, Manifest
from satchel.skill_md import corrected_keys, parse
from satchel.sources._mcp._entry import ListedFile, McpSkillEntry
from satchel.sources._mcp._uris import short_line


def raw_bytes(content: TextResourceContents | BlobResourceContents) -> bytes | None:
    """Return the bytes of a resource with its line ends; None if it has none."""
    try:
        if isinstance(content, TextResourceContents):
            return content.text.encode()
        # Without `validate`, Python skips characters that are not base64.
        return base64.b64decode(content.blob, validate=True)
    except ValueError:
        return None


def check_bytes(name: str, path: str, data: bytes | None, listed: ListedFile) -> bytes:
    """Return bytes that have the announced size and digest, or raise an error.

    Source: "Verification on Read" of the Skills extension.
    """
    if data is None:
        detail = "the answer does not have exactly this file"
    # The size first: it says more about what went wrong than two digests.
    elif listed.size is not None and len(data) != listed.size:
        detail = f"{listed.size:,} bytes were announced, {len(data):,} came"
    elif listed.digest and digest_bytes(data) != listed.digest:
        detail = f"{listed.digest} was announced, {digest_bytes(data)} came"
    else:
        return data
    raise DigestMismatchError(name, path, detail=detail)


def check_frontmatter(entry: McpSkillEntry, data: bytes, limits: Limits) -> None:
    """Check that a SKILL.md has the same value as its entry in every field.

    Source: "Frontmatter Verification" of the Skills extension.
    """
    manifest = parse(data, limits=limits).manifest
    if manifest is None:
        detail = "its frontmatter cannot be read"
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)
    fields = manifest.frontmatter
    if not entry.complete:
        fields = {key: fields[key] for key in entry.frontmatter if key in fields}
    field = first_difference(entry.frontmatter, fields)
    if field is not None:
        name = short_line(field)
        detail = f"the field {name!r} of its frontmatter differs from what was listed"
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)


def first_difference(
    one: Mapping[str, Json], other: Mapping[str, Json], within: str = ""
) -> str | None:
    """Return the name of the first field in which two mappings differ, or None.

    Values are compared as JSON: true is not 1, and 1 is 1.0. A nested field is
    ``metadata.owner``.
    """
    for key in sorted({*one, *other}):
        field = f"{within}{key}"
        if key not in one or key not in other:
            return field
        ours, theirs = one[key], other[key]
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            inner = first_difference(ours, theirs, f"{field}.")
            if inner is not None:
                return inner
        elif _json_value(ours) != _json_value(theirs):
            return field
    return None


def _json_value(value: Json) -> object:
    """Return a value that equals another one exactly if they are equal in JSON."""
    if isinstance(value, bool):
        # In Python True equals 1; in JSON they are two values.
        return ("truth", value)
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, Mapping):
        return {
            key: _json_value(item)
            for key, item in cast("dict[str, Json]", value).items()
        }
    return value


# Keys of ``metadata`` whose tools would open with the skill: those of the catalog,
# which a source may not import.
OPENING_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")

_ALLOWED_TOOLS_KEYS: Final = ("allowed-tools", "allowed_tools")


def without_ungranted_tools(
    manifest: Manifest, entry: McpSkillEntry, approved: Mapping[str, str]
) -> Manifest:
    """Return the manifest without the tools that it asks for, unless it is approved.

    ``approved`` has digests by URI; a digest of another state of the skill approves
    nothing. Hooks and the like, which Satchel ignores, stay in ``frontmatter``.

    Source: "No implicit permission grants" and "Content-bound approval" of the Skills
    extension.
    """
    if _is_approved(entry, approved):
        return manifest
    metadata = manifest.metadata
    # A copy is made only if something is removed.
    if any(key in metadata for key in OPENING_KEYS):
        metadata = {k: v for k, v in metadata.items() if k not in OPENING_KEYS}
    return replace(manifest, allowed_tools=(), metadata=metadata)


def ungranted_tools_finding(
    entry: McpSkillEntry, approved: Mapping[str, str]
) -> Finding | None:
    """Return a finding on a skill that asks for tools and gets none; None otherwise."""
    frontmatter = corrected_keys(entry.frontmatter)
    fields = [
        key for key in _ALLOWED_TOOLS_KEYS if frontmatter.get(key) not in (None, "", [])
    ]
    metadata = frontmatter.get("metadata")
    if isinstance(metadata, Mapping):
        fields += [f"metadata.{key}" for key in OPENING_KEYS if key in metadata]
    if not fields or _is_approved(entry, approved):
        return None
    fix = "nothing; without a digest it cannot be approved"
    if entry.digest:
        approval = f'{{"{entry.uri}": "{entry.digest}"}}'
        fix = f"to give it these tools as it is now: allowed_tools={approval}"
    changed = " (it changed since it was approved)" if entry.uri in approved else ""
    return Finding.of(
        "tools-not-granted",
        SKILL_FILE,
        fields=", ".join(fields),
        changed=changed,
        fix=fix,
    )


def _is_approved(entry: McpSkillEntry, approved: Mapping[str, str]) -> bool:
    return bool(entry.digest) and approved.get(entry.uri) == entry.digest
