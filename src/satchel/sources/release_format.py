"""What a release.json looks like: that of a release, and that of a site.

Source: docs/reference/release-format.md.
"""

import json
import re
from collections.abc import Iterable
from typing import Final, get_args

from satchel.errors import InvalidReleaseError
from satchel.files import path_problem
from satchel.model import Descriptor, Resource, bucket_of
from satchel.model.pack import Bucket
from satchel.model.release import ReleasedSkill

__all__ = [
    "BUCKETS",
    "FLAGS",
    "FORMAT",
    "LISTS",
    "SCHEMA_VERSION",
    "SITE_FORMAT",
    "TEXTS",
    "check_release_id",
    "folder_problem",
    "folds_to",
    "render_document",
    "render_pointer",
    "to_json",
]

SCHEMA_VERSION: Final = 1
FORMAT: Final = "satchel-release"
SITE_FORMAT: Final = "satchel-site"

_ID: Final = re.compile(r"sha256-tree-v1:[0-9a-f]{64}")

BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)
TEXTS: Final = ("owner", "status", "replaced_by")
LISTS: Final = ("tools", "allowed_tools", "replaces", "keywords")
FLAGS: Final = ("model_invocable", "user_invocable")


def check_release_id(text: str, where: str) -> str:
    """Return ``text`` where it has the form of a release's id.

    Raises:
        InvalidReleaseError: It has not; ``where`` says what it was given as.
    """
    if not _ID.fullmatch(text):
        detail = f"want sha256-tree-v1: and 64 hex digits, got {text[:100]!r}"
        raise InvalidReleaseError(where, detail)
    return text


def folder_problem(skill_id: str) -> str:
    """Return what keeps an id from being a folder's name anywhere; empty if nothing."""
    if "/" in skill_id:
        return "it holds a slash"
    if skill_id.startswith("."):
        return "it begins with a dot"
    return path_problem(skill_id)


def folds_to(path: str) -> str:
    """Return what macOS and Windows take ``path`` for: equal ones are one there."""
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def to_json(value: object) -> bytes:
    """Return the one spelling of a document: ASCII, keys in their order, one LF."""
    return f"{json.dumps(value, indent=1)}\n".encode("ascii")


def render_document(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource]
) -> bytes:
    """Return release.json; what a skill does not say is left out."""
    return to_json(
        {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "skills": [_skill(each) for each in skills],
            "files": [_resource(each) for each in others],
        }
    )


def render_pointer(release: str) -> bytes:
    """Return the release.json of a site, which says what release is current there."""
    head = {"format": SITE_FORMAT, "schema_version": SCHEMA_VERSION}
    return to_json({**head, "release": release})


def _skill(skill: ReleasedSkill) -> dict[str, object]:
    entry = skill.descriptor
    said: dict[str, object] = {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "digest": skill.digest,
    }
    said |= {key: getattr(entry, key) for key in TEXTS if getattr(entry, key)}
    said |= {key: list(getattr(entry, key)) for key in LISTS if getattr(entry, key)}
    said |= {key: False for key in FLAGS if not getattr(entry, key)}
    if entry.category != "standard":
        said["category"] = entry.category
    buckets = {
        path: bucket
        for bucket, paths in zip(BUCKETS, _paths(entry), strict=True)
        for path in paths
        if bucket != bucket_of(path)
    }
    said["resources"] = [
        _resource(each)
        | ({"bucket": buckets[each.path]} if each.path in buckets else {})
        for each in skill.resources
    ]
    return said


def _paths(entry: Descriptor) -> tuple[tuple[str, ...], ...]:
    return entry.references, entry.scripts, entry.assets, entry.others


def _resource(resource: Resource) -> dict[str, object]:
    return {
        "path": resource.path,
        "digest": resource.digest,
        "size": resource.size,
    }
