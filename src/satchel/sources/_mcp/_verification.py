"""What a server's word is good for: bytes are compared with what was announced.

Tools are given only where approved.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from satchel.errors import DigestMismatchError
from satchel.files import digest_bytes
from satchel.model import SKILL_FILE, Finding, Json, Limits, Manifest
from satchel.skill_md import corrected_keys, parse
from satchel.sources._mcp._entry import ListedFile, McpSkillEntry
from satchel.sources._mcp._uris import short_line


def raw_bytes(text: str | None, blob: str | None) -> bytes | None:
    """Return the bytes of a resource, given as text or in base64; None for neither.

    The text is what its bytes say in UTF-8: no line end is changed and no mark left
    out, for the digest is over the bytes.
    """
    try:
        if text is not None:
            return text.encode()
        return None if blob is None else base64.b64decode(blob, validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        return None


def check_bytes(name: str, path: str, data: bytes | None, listed: ListedFile) -> bytes:
    """Return bytes of the announced size and digest; None is an answer without any.

    Raises:
        DigestMismatchError: They are not; whichever of the two differs is named.

    Source: "Verification on Read" of the Skills extension.
    """
    if data is None:
        detail = "the answer does not hold just this file"
        raise DigestMismatchError(name, path, detail=detail)
    if listed.size is not None and len(data) != listed.size:
        detail = f"{listed.size:,} bytes were announced, {len(data):,} came"
        raise DigestMismatchError(name, path, detail=detail)
    digest = digest_bytes(data)
    if listed.digest and digest != listed.digest:
        detail = f"{listed.digest} was announced, {digest} came"
        raise DigestMismatchError(name, path, detail=detail)
    return data


def check_frontmatter(entry: McpSkillEntry, data: bytes, limits: Limits) -> None:
    """Let a SKILL.md pass that says in every field what its entry says.

    Raises:
        DigestMismatchError: It does not; names the first field that differs.

    Source: "Frontmatter Verification" of the Skills extension.
    """
    manifest = parse(data, limits=limits).manifest
    if manifest is None:
        detail = "its frontmatter cannot be read"
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)
    said = manifest.frontmatter
    if not entry.whole:
        said = {key: said[key] for key in entry.frontmatter if key in said}
    field = first_difference(entry.frontmatter, said)
    if field is not None:
        detail = (
            f"the field {short_line(field)!r} of its frontmatter "
            "is not as it was listed"
        )
        raise DigestMismatchError(entry.name, SKILL_FILE, detail=detail)


def first_difference(
    one: Mapping[str, Json], other: Mapping[str, Json], within: str = ""
) -> str | None:
    """Return the first field, by name, in which two mappings differ; None if in none.

    As JSON compares: true is not 1, and 1 is 1.0. A nested field is ``metadata.owner``.
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
    """Return a value that is equal to another one exactly where JSON says so."""
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, Mapping):
        return {
            key: _json_value(item)
            for key, item in cast("dict[str, Json]", value).items()
        }
    return value


OPENING_KEYS: Final = ("tools", "adk_additional_tools", "include_tools")
"""Keys of ``metadata`` whose tools would open with the skill: those of
`satchel.catalog._declarations`, which a source knows nothing of."""

_ALLOWED_TOOLS_KEYS: Final = ("allowed-tools", "allowed_tools")


def without_ungranted_tools(
    manifest: Manifest, entry: McpSkillEntry, approved: Mapping[str, str]
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


def ungranted_tools_finding(
    entry: McpSkillEntry, approved: Mapping[str, str]
) -> Finding | None:
    """Return what to tell of a skill that asks for tools; None where all is settled."""
    frontmatter = corrected_keys(entry.frontmatter)
    fields = [
        key for key in _ALLOWED_TOOLS_KEYS if frontmatter.get(key) not in (None, "", [])
    ]
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
    return Finding.of(
        "tools-not-granted",
        SKILL_FILE,
        fields=", ".join(fields),
        changed=changed,
        fix=fix,
    )


def _is_approved(entry: McpSkillEntry, approved: Mapping[str, str]) -> bool:
    return bool(entry.digest) and approved.get(entry.uri) == entry.digest
