"""The older index of skills, ``skill://index.json``: before the extension was final.

It has a name and a description of each skill, the URI of its SKILL.md or of an archive,
and perhaps a digest; no list of files. So SKILL.md is all that is read of such a skill.

Source: MCPSkillsSource of Microsoft's Agent Framework 1.23, which reads it.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

from satchel.model import SKILL_FILE, FileStat, Finding, Limits
from satchel.sources.over_mcp.entry import Listed, SkillEntry, frontmatter_of
from satchel.sources.over_mcp.refusal import RefusedError, told
from satchel.sources.over_mcp.uris import plain_uri, skill_root

__all__ = ["index_entry", "items_of"]

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_NEWER: Final = "ask the server's owner for the Skills extension"


def items_of(raw: object) -> list[object]:
    """Return the items of an index.

    Raises:
        RefusedError: It is no index.
    """
    skills = cast("Mapping[str, object]", raw).get("skills") if _is_map(raw) else None
    if not isinstance(skills, list):
        raise RefusedError("it has no list of skills", _NEWER)
    return cast("list[object]", skills)


def index_entry(raw: object, limits: Limits) -> SkillEntry:
    """Return an item as an entry that knows of one file, and of two fields.

    Raises:
        RefusedError: It is none, or of a kind that is not read.
    """
    if not _is_map(raw):
        raise RefusedError("it is no object")
    given = cast("Mapping[str, object]", raw)
    kind = given.get("type")
    if kind not in ("skill-md", "archive"):  # a set would want it to be hashable
        raise RefusedError(f"it is of an unknown type, {told(kind)!r}", _NEWER)
    archive = plain_uri(given.get("url")) if kind == "archive" else ""
    root = f"{archive}/{given.get('name')}" if archive else skill_root(given.get("url"))
    fields = {key: given.get(key) for key in ("name", "description")}
    frontmatter = frontmatter_of(fields, root, limits)
    digest = given.get("digest")
    if digest is None:
        digest = ""
    elif not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise RefusedError(
            "its digest is none", "give sha256: and 64 lowercase hex digits"
        )
    return SkillEntry(
        root,
        frontmatter,
        (_stat(digest, archive),),
        {SKILL_FILE: Listed(archive or f"{root}/{SKILL_FILE}", digest)},
        digest,
        whole=False,
        archive=archive,
        findings=(_said(digest),),
    )


def _stat(digest: str, archive: str) -> FileStat:
    """Return what is known of SKILL.md; a digest of an archive is not its own."""
    own = "" if archive else digest
    return FileStat(SKILL_FILE, 0, digest or None, own)


def _said(digest: str) -> Finding:
    if digest:
        return Finding(
            "older-index",
            "note",
            f"the server lists no files of it, so only its {SKILL_FILE} is read",
            SKILL_FILE,
            fix=_NEWER,
        )
    return Finding(
        "unverified-skill",
        "warning",
        "its server publishes no digest of it, so nothing tells whether it is what it "
        f"was; only its {SKILL_FILE} is read",
        SKILL_FILE,
        fix=_NEWER,
    )


def _is_map(raw: object) -> bool:
    return isinstance(raw, Mapping)
