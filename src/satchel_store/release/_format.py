"""The format of release.json, of a release and of a site: written here and read here.

What is read may come from anybody: every path, digest and size is checked for its form.

Source: docs/reference/release-format.md.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeGuard, TypeVar, cast, get_args

from satchel.errors import InvalidReleaseError, LimitExceededError
from satchel.files import (
    digest_bytes,
    folded_name,
    folder_problem,
    is_digest,
    is_excluded_file,
    may_be_public,
    path_problem,
    tree_digest,
)
from satchel.model import (
    DEFAULT_LIMITS,
    RELEASE_FILE,
    SKILL_FILE,
    Bucket,
    Category,
    Descriptor,
    FileStat,
    Limits,
    Resource,
    bucket_of,
)
from satchel_store.release._release import Release, ReleasedSkill, release_path

SCHEMA_VERSION: Final = 1
FORMAT: Final = "satchel-release"
SITE_FORMAT: Final = "satchel-site"

_ID: Final = re.compile(r"sha256-tree-v1:[0-9a-f]{64}")
# A size that every reader of JSON takes for the same number (RFC 8259, section 6).
_MAX_SIZE: Final = 2**53 - 1

# Keys of a skill, which are also the names of the descriptor's fields.
_TEXT_FIELDS: Final = ("owner", "status", "replaced_by")
_LIST_FIELDS: Final = ("tools", "allowed_tools", "replaces", "keywords", "requires")
_FLAG_FIELDS: Final = ("model_invocable", "user_invocable")
_BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)

_T = TypeVar("_T")


class DuplicateMemberError(ValueError):
    """An object of JSON has a member twice; the message says which."""


def unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its members, and refuse one that has a name twice."""
    # Of two digests, one program would use the first and another the last.
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise DuplicateMemberError(f"an object has the member {name[:80]!r} twice")
        members[name] = value
    return members


def check_release_id(text: str, where: str) -> str:
    """Return ``text`` if it is an id; ``where`` names the option or file it is from."""
    if not _ID.fullmatch(text):
        detail = f"expected sha256-tree-v1: and 64 hex digits, got {text[:100]!r}"
        raise InvalidReleaseError(where, detail)
    return text


def canonical_json(value: object) -> bytes:
    """Return a document in its only spelling: ASCII, keys in their order, one LF."""
    # release.json is part of a release's id, so equal content needs equal bytes.
    return f"{json.dumps(value, indent=1)}\n".encode("ascii")


def render_release(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource]
) -> bytes:
    """Return release.json; fields that a skill does not declare are left out."""
    return canonical_json(
        {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "skills": [_skill_to_json(skill) for skill in skills],
            "files": [_resource_to_json(resource) for resource in others],
        }
    )


def render_pointer(release: str) -> bytes:
    """Return the release.json of a site, which names its current release."""
    head = {"format": SITE_FORMAT, "schema_version": SCHEMA_VERSION}
    return canonical_json({**head, "release": release})


def _skill_to_json(skill: ReleasedSkill) -> dict[str, object]:
    entry = skill.descriptor
    fields: dict[str, object] = {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "digest": skill.digest,
    }
    fields |= {key: getattr(entry, key) for key in _TEXT_FIELDS if getattr(entry, key)}
    fields |= {
        key: list(getattr(entry, key)) for key in _LIST_FIELDS if getattr(entry, key)
    }
    # True is the default, so only False is written.
    fields |= {key: False for key in _FLAG_FIELDS if not getattr(entry, key)}
    if entry.category != "standard":
        fields["category"] = entry.category
    by_bucket = entry.references, entry.scripts, entry.assets, entry.others
    buckets = {
        path: bucket
        for bucket, paths in zip(_BUCKETS, by_bucket, strict=True)
        for path in paths
        if bucket != bucket_of(path)
    }
    fields["resources"] = [
        _resource_to_json(resource)
        | ({"bucket": buckets[resource.path]} if resource.path in buckets else {})
        for resource in skill.resources
    ]
    return fields


def _resource_to_json(resource: Resource) -> dict[str, object]:
    return {"path": resource.path, "digest": resource.digest, "size": resource.size}


def parse_release_file(
    data: bytes, where: str, limits: Limits = DEFAULT_LIMITS
) -> Release | str:
    """Return what a release.json says: a release, or the current id of a site.

    ``where`` is what errors call it. The release's id is computed from ``data``, so
    compare it with the id that you expect.

    Raises:
        InvalidReleaseError: It is not in this format, or in a later version of it.
    """
    most = limits.release_bytes
    if len(data) > most:
        raise LimitExceededError("release_bytes", most, len(data), "bytes", where)
    try:
        document = json.loads(data, object_pairs_hook=unique_members)
    except DuplicateMemberError as error:
        raise InvalidReleaseError(where, str(error)) from error
    except RecursionError as error:
        raise InvalidReleaseError(where, "it is nested too deeply") from error
    except ValueError as error:
        raise InvalidReleaseError(where, f"it is not JSON: {error}") from error
    return _ReleaseParser(where, limits).document(document, data)


def parse_release(data: bytes, where: str, limits: Limits = DEFAULT_LIMITS) -> Release:
    """Return the release that a release.json describes; that of a site is an error."""
    release = parse_release_file(data, where, limits)
    if isinstance(release, str):
        raise InvalidReleaseError(where, "it is that of a site, not of a release")
    return release


class _ReleaseParser:
    """Turns the JSON of one release.json into values, or says where it is wrong.

    ``at`` is the path into the document that errors begin with.
    """

    def __init__(self, where: str, limits: Limits) -> None:
        self._where = where
        self._limits = limits

    def document(self, document: object, data: bytes) -> Release | str:
        top = self._object(document, "the document")
        kind, version = top.get("format"), top.get("schema_version")
        if kind not in (FORMAT, SITE_FORMAT):
            raise self._error("format", f"expected {FORMAT!r}")
        if not _is_count(version) or version < 1:
            raise self._error("schema_version", "expected a number from 1")
        if version > SCHEMA_VERSION:
            detail = f"{version} is of a later Satchel; upgrade this one"
            raise self._error("schema_version", detail)
        if kind == SITE_FORMAT:
            return check_release_id(self._text(top, "release", ""), self._where)
        skills = tuple(
            self._skill(fields, f"{at}.")
            for at, fields in self._objects(top, "skills", "")
        )
        others = tuple(self._others(top))
        self._check_names([skill.id for skill in skills], "skills")
        self._check_names([resource.path for resource in others], "files")
        own = Resource(RELEASE_FILE, digest_bytes(data), len(data))
        # The id covers release.json too, so it is computed after the document is
        # checked.
        files = Release("", skills, others, own).files
        # All together: a skill's files and the other ones may not collide either.
        self._check_names([resource.path for resource in files], "files")
        return Release(tree_digest(files), skills, others, own)

    def _others(self, top: Mapping[str, object]) -> Iterator[Resource]:
        for at, fields in self._objects(top, "files", ""):
            resource = self._resource(fields, f"{at}.")
            problem = path_problem(resource.path)
            if resource.path.startswith("skills/") or resource.path == RELEASE_FILE:
                problem = "it is among the skills' own"
            if problem:
                raise self._error(f"{at}.path", problem)
            yield resource

    def _skill(self, fields: Mapping[str, object], at: str) -> ReleasedSkill:
        skill_id = self._name(fields, "id", at)
        problem = folder_problem(skill_id)
        if problem:
            raise self._error(f"{at}id", problem)
        files: list[Resource] = []
        buckets: dict[Bucket, list[str]] = {bucket: [] for bucket in _BUCKETS}
        for here, entry in self._objects(fields, "resources", at):
            resource = self._resource(entry, f"{here}.")
            path = resource.path
            problem = path_problem(release_path(skill_id, path))
            if not problem and is_excluded_file(path) and not may_be_public(path):
                problem = "no pack hands out files of this kind"
            if problem:
                raise self._error(f"{here}.path", problem)
            files.append(resource)
            if resource.path != SKILL_FILE:
                bucket = entry.get("bucket", bucket_of(resource.path))
                if bucket not in _BUCKETS:
                    raise self._error(f"{here}.bucket", "there is none of this name")
                buckets[bucket].append(resource.path)
        self._check_names([resource.path for resource in files], f"{at}resources")
        own = next((file for file in files if file.path == SKILL_FILE), None)
        if own is None:
            raise self._error(f"{at}resources", f"there is no {SKILL_FILE}")
        digest = self._text(fields, "digest", at)
        if digest != tree_digest(files):
            raise self._error(f"{at}digest", "it is not that of the files listed")
        descriptor = self._descriptor(fields, at, own, buckets, files)
        return ReleasedSkill(descriptor, digest, tuple(files))

    def _descriptor(
        self,
        fields: Mapping[str, object],
        at: str,
        own: Resource,
        buckets: Mapping[Bucket, list[str]],
        files: list[Resource],
    ) -> Descriptor:
        category = fields.get("category", "standard")
        if category not in get_args(Category):
            raise self._error(f"{at}category", "expected standard or raw")
        optional: dict[str, Any] = {
            key: self._text(fields, key, at) for key in _TEXT_FIELDS if key in fields
        }
        optional |= {key: self._texts(fields, key, at) for key in _LIST_FIELDS}
        for key in _FLAG_FIELDS:
            flag = fields.get(key, True)
            optional[key] = self._typed(flag, bool, f"{at}{key}", "true or false")
        references, scripts, assets, others = (tuple(buckets[b]) for b in _BUCKETS)
        return Descriptor(
            id=self._name(fields, "id", at),
            name=self._name(fields, "name", at),
            description=self._text(fields, "description", at),
            references=references,
            scripts=scripts,
            assets=assets,
            others=others,
            digest=own.digest,
            size=own.size,
            category=cast("Category", category),
            files=tuple(
                FileStat(file.path, file.size, file.digest, file.digest)
                for file in files
            ),
            **optional,
        )

    def _check_names(self, names: list[str], at: str) -> None:
        """Check that names are sorted, and that no two are one on any system."""
        # One order, so that equal releases have equal bytes.
        if names != sorted(names):
            raise self._error(at, "they are not sorted")
        if len({folded_name(name) for name in names}) != len(names):
            raise self._error(at, "two of them are one on some systems")

    def _resource(self, fields: Mapping[str, object], at: str) -> Resource:
        digest, size = self._text(fields, "digest", at), fields.get("size")
        if not is_digest(digest):
            raise self._error(f"{at}digest", "expected sha256: and 64 hex digits")
        if not _is_count(size) or size > _MAX_SIZE:
            raise self._error(f"{at}size", "expected a count of bytes")
        return Resource(self._text(fields, "path", at), digest, size)

    def _name(self, fields: Mapping[str, object], key: str, at: str) -> str:
        text = self._text(fields, key, at)
        if not text.strip():
            raise self._error(f"{at}{key}", "it is empty")
        most = self._limits.name_chars
        if len(text) > most:
            raise self._error(f"{at}{key}", f"it has more than {most} characters")
        return text

    def _text(self, fields: Mapping[str, object], key: str, at: str) -> str:
        text = self._typed(fields.get(key), str, f"{at}{key}", "a text")
        return self._encodable(text, f"{at}{key}")

    def _texts(
        self, fields: Mapping[str, object], key: str, at: str
    ) -> tuple[str, ...]:
        items = self._list(fields, key, at) if key in fields else []
        at += key
        texts = (self._typed(item, str, at, "a list of texts") for item in items)
        return tuple(self._encodable(text, at) for text in texts)

    def _encodable(self, text: str, at: str) -> str:
        # JSON can hold a lone surrogate, which no output could encode.
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise self._error(at, "it is not valid Unicode") from error
        return text

    def _list(self, fields: Mapping[str, object], key: str, at: str) -> list[object]:
        value = fields.get(key)
        return cast("list[object]", self._typed(value, list, f"{at}{key}", "a list"))

    def _objects(
        self, fields: Mapping[str, object], key: str, at: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of a list, each with its place in the document."""
        for number, item in enumerate(self._list(fields, key, at)):
            place = f"{at}{key}[{number}]"
            yield place, self._object(item, place)

    def _object(self, value: object, at: str) -> dict[str, Any]:
        return cast("dict[str, Any]", self._typed(value, dict, at, "an object"))

    def _typed(self, value: object, kind: type[_T], at: str, expected: str) -> _T:
        if not isinstance(value, kind):
            raise self._error(at, f"expected {expected}")
        return value

    def _error(self, at: str, detail: str) -> InvalidReleaseError:
        return InvalidReleaseError(self._where, f"{at}: {detail}")


def _is_count(value: object) -> TypeGuard[int]:
    # In Python, JSON's true is an int.
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
