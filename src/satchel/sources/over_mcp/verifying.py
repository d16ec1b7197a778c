"""Whether what a server answered is what it had announced."""

import base64
import binascii
from collections.abc import Mapping
from typing import cast

from satchel.errors import DigestMismatchError
from satchel.files import digest_bytes
from satchel.model import SKILL_FILE, Json, Limits
from satchel.sources.over_mcp.entry import Listed, SkillEntry
from satchel.sources.over_mcp.refusal import told
from satchel.spec import parse

__all__ = ["check_bytes", "check_frontmatter", "first_difference", "raw_bytes"]


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


def check_bytes(name: str, path: str, data: bytes | None, listed: Listed) -> bytes:
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


def check_frontmatter(entry: SkillEntry, data: bytes, limits: Limits) -> None:
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
        detail = f"the field {told(field)!r} of its frontmatter is not as it was listed"
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
        elif _plain(ours) != _plain(theirs):
            return field
    return None


def _plain(value: Json) -> object:
    """Return a value that is equal to another one exactly where JSON says so."""
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {
            key: _plain(item) for key, item in cast("dict[str, Json]", value).items()
        }
    return value
