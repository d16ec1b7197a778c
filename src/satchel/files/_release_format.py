"""The format of release.json, that of a release and that of a site: written here.

And read from untrusted bytes.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast, get_args

from satchel.errors import InvalidReleaseError, LimitExceededError
from satchel.files._listing import digest_bytes, tree_digest
from satchel.files._paths import is_excluded_file, path_problem
from satchel.model import (
    DEFAULT_LIMITS,
    RELEASE_FILE,
    SKILL_FILE,
    Bucket,
    Category,
    Descriptor,
    FileStat,
    Limits,
    Release,
    ReleasedSkill,
    Resource,
    bucket_of,
    release_path,
)

SCHEMA_VERSION: Final = 1
FORMAT: Final = "satchel-release"
SITE_FORMAT: Final = "satchel-site"

_ID: Final = re.compile(r"sha256-tree-v1:[0-9a-f]{64}")

_BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)
_TEXT_FIELDS: Final = ("owner", "status", "replaced_by")
_LIST_FIELDS: Final = ("tools", "allowed_tools", "replaces", "keywords")
_FLAG_FIELDS: Final = ("model_invocable", "user_invocable")


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


def folded_name(path: str) -> str:
    """Return what macOS and Windows take ``path`` for: equal ones are one there."""
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def canonical_json(value: object) -> bytes:
    """Return the one spelling of a document: ASCII, keys in their order, one LF."""
    return f"{json.dumps(value, indent=1)}\n".encode("ascii")


def render_release(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource]
) -> bytes:
    """Return release.json; what a skill does not say is left out."""
    return canonical_json(
        {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "skills": [_skill_to_json(each) for each in skills],
            "files": [_resource_to_json(each) for each in others],
        }
    )


def render_pointer(release: str) -> bytes:
    """Return the release.json of a site, which says what release is current there."""
    head = {"format": SITE_FORMAT, "schema_version": SCHEMA_VERSION}
    return canonical_json({**head, "release": release})


def _skill_to_json(skill: ReleasedSkill) -> dict[str, object]:
    entry = skill.descriptor
    said: dict[str, object] = {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "digest": skill.digest,
    }
    said |= {key: getattr(entry, key) for key in _TEXT_FIELDS if getattr(entry, key)}
    said |= {
        key: list(getattr(entry, key)) for key in _LIST_FIELDS if getattr(entry, key)
    }
    said |= {key: False for key in _FLAG_FIELDS if not getattr(entry, key)}
    if entry.category != "standard":
        said["category"] = entry.category
    buckets = {
        path: bucket
        for bucket, paths in zip(_BUCKETS, _paths_by_bucket(entry), strict=True)
        for path in paths
        if bucket != bucket_of(path)
    }
    said["resources"] = [
        _resource_to_json(each)
        | ({"bucket": buckets[each.path]} if each.path in buckets else {})
        for each in skill.resources
    ]
    return said


def _paths_by_bucket(entry: Descriptor) -> tuple[tuple[str, ...], ...]:
    return entry.references, entry.scripts, entry.assets, entry.others


def _resource_to_json(resource: Resource) -> dict[str, object]:
    return {
        "path": resource.path,
        "digest": resource.digest,
        "size": resource.size,
    }


_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_SIZE: Final = 2**53 - 1
"""A size that every reader of JSON takes for the same number (RFC 8259, section 6)."""


def parse_release_file(
    data: bytes, where: str, limits: Limits = DEFAULT_LIMITS
) -> Release | str:
    """Return what a release.json says: a release, or the id that is current on a site.

    Every path, digest and size is checked for its form, and each pack's digest against
    its files; unknown keys are passed over. The id is computed from ``data``, so that
    whoever has it from elsewhere need only compare.

    Raises:
        InvalidReleaseError: It is not in the format, or in a later one; ``where`` is
            the place to name.
        LimitExceededError: It is larger than ``limits.release_bytes``.
    """
    if len(data) > limits.release_bytes:
        raise LimitExceededError(
            "release_bytes", limits.release_bytes, len(data), "bytes", where
        )
    try:
        given = json.loads(data)
    except RecursionError as error:
        raise InvalidReleaseError(where, "it is nested too deeply") from error
    except ValueError as error:
        raise InvalidReleaseError(where, f"it is no JSON: {error}") from error
    return _ReleaseParser(where, limits).document(given, data)


def parse_release(data: bytes, where: str, limits: Limits = DEFAULT_LIMITS) -> Release:
    """Return the release that a release.json describes; see `parse_document`.

    Raises:
        InvalidReleaseError: It is that of a site, too.
        LimitExceededError: As for `parse_document`.
    """
    found = parse_release_file(data, where, limits)
    if isinstance(found, str):
        raise InvalidReleaseError(where, "it is that of a site, and not of a release")
    return found


class _ReleaseParser:
    """One document on its way from JSON to values; says where it goes wrong."""

    def __init__(self, where: str, limits: Limits) -> None:
        self._where = where
        self._limits = limits

    def document(self, given: object, data: bytes) -> Release | str:
        top = self._mapping(given, "the document")
        form, version = top.get("format"), top.get("schema_version")
        if form not in (FORMAT, SITE_FORMAT):
            raise self._error("format", f"want {FORMAT!r}")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise self._error("schema_version", "want a number from 1")
        if version > SCHEMA_VERSION:
            raise self._error(
                "schema_version", f"{version} is of a later Satchel; upgrade this one"
            )
        if form == SITE_FORMAT:
            return check_release_id(self._text(top, "release", ""), self._where)
        skills = tuple(self._skills(top))
        others = tuple(self._others(top))
        self._check_names([skill.id for skill in skills], "skills")
        self._check_names([each.path for each in others], "files")
        document = Resource(RELEASE_FILE, digest_bytes(data), len(data))
        release = Release("", skills, others, document)
        files = release.files
        self._check_names([each.path for each in files], "files")
        return Release(tree_digest(files), skills, others, document)

    def _skills(self, top: Mapping[str, object]) -> Iterator[ReleasedSkill]:
        for number, each in enumerate(self._list(top, "skills", "")):
            at = f"skills[{number}]"
            yield self._skill(self._mapping(each, at), f"{at}.")

    def _others(self, top: Mapping[str, object]) -> Iterator[Resource]:
        for number, each in enumerate(self._list(top, "files", "")):
            at = f"files[{number}]"
            found = self._resource(self._mapping(each, at), f"{at}.")
            if found.path.startswith("skills/") or found.path == RELEASE_FILE:
                raise self._error(f"{at}.path", "it is among the skills' own")
            problem = path_problem(found.path)
            if problem:
                raise self._error(f"{at}.path", problem)
            yield found

    def _skill(self, given: Mapping[str, object], at: str) -> ReleasedSkill:
        skill_id = self._name(given, "id", at)
        problem = folder_problem(skill_id)
        if problem:
            raise self._error(f"{at}id", problem)
        files: list[Resource] = []
        buckets: dict[Bucket, list[str]] = {each: [] for each in _BUCKETS}
        for number, each in enumerate(self._list(given, "resources", at)):
            here = f"{at}resources[{number}]"
            one = self._mapping(each, here)
            found = self._resource(one, f"{here}.")
            self._check_path(skill_id, found.path, here)
            files.append(found)
            if found.path != SKILL_FILE:
                bucket = one.get("bucket", bucket_of(found.path))
                if bucket not in _BUCKETS:
                    raise self._error(f"{here}.bucket", "there is none of this name")
                buckets[bucket].append(found.path)
        self._check_names([each.path for each in files], f"{at}resources")
        own = next((each for each in files if each.path == SKILL_FILE), None)
        if own is None:
            raise self._error(f"{at}resources", f"there is no {SKILL_FILE}")
        digest = self._text(given, "digest", at)
        if digest != tree_digest(files):
            raise self._error(f"{at}digest", "it is not that of the files listed")
        descriptor = self._descriptor(given, at, own, buckets, files)
        return ReleasedSkill(descriptor, digest, tuple(files))

    def _descriptor(
        self,
        given: Mapping[str, object],
        at: str,
        own: Resource,
        buckets: Mapping[Bucket, list[str]],
        files: list[Resource],
    ) -> Descriptor:
        category = given.get("category", "standard")
        if category not in get_args(Category):
            raise self._error(f"{at}category", "want standard or raw")
        # Their names are the keys, as those of the format are.
        said: dict[str, Any] = {
            **{key: self._text(given, key, at) for key in _TEXT_FIELDS if key in given},
            **{key: self._texts(given, key, at) for key in _LIST_FIELDS},
            **{key: self._flag(given, key, at) for key in _FLAG_FIELDS},
        }
        references, scripts, assets, others = (tuple(buckets[b]) for b in _BUCKETS)
        return Descriptor(
            id=self._name(given, "id", at),
            name=self._name(given, "name", at),
            description=self._text(given, "description", at),
            references=references,
            scripts=scripts,
            assets=assets,
            others=others,
            digest=own.digest,
            size=own.size,
            category=cast("Category", category),
            files=tuple(
                FileStat(each.path, each.size, each.digest, each.digest)
                for each in files
            ),
            **said,
        )

    def _check_path(self, skill_id: str, path: str, at: str) -> None:
        problem = path_problem(release_path(skill_id, path))
        if not problem and is_excluded_file(path):
            problem = "it is of a kind that no pack hands out"
        if problem:
            raise self._error(f"{at}.path", problem)

    def _check_names(self, names: list[str], at: str) -> None:
        """See that names are sorted, and that no system takes two for one."""
        if names != sorted(names):
            raise self._error(at, "they are not sorted")
        folded = {folded_name(name) for name in names}
        if len(folded) != len(names):
            raise self._error(at, "two of them are one on some systems")

    def _resource(self, given: Mapping[str, object], at: str) -> Resource:
        digest, size = self._text(given, "digest", at), given.get("size")
        if not _DIGEST.fullmatch(digest):
            raise self._error(f"{at}digest", "want sha256: and 64 hex digits")
        if isinstance(size, bool) or not isinstance(size, int):
            raise self._error(f"{at}size", "want a count of bytes")
        if not 0 <= size <= _MAX_SIZE:
            raise self._error(f"{at}size", "want a count of bytes")
        return Resource(self._text(given, "path", at), digest, size)

    def _name(self, given: Mapping[str, object], key: str, at: str) -> str:
        text = self._text(given, key, at)
        if not text.strip():
            raise self._error(f"{at}{key}", "it is empty")
        most = self._limits.name_chars
        if len(text) > most:
            raise self._error(f"{at}{key}", f"it has more than {most} characters")
        return text

    def _text(self, given: Mapping[str, object], key: str, at: str) -> str:
        value = given.get(key)
        if not isinstance(value, str):
            raise self._error(f"{at}{key}", "want a text")
        return self._encodable(value, f"{at}{key}")

    def _texts(self, given: Mapping[str, object], key: str, at: str) -> tuple[str, ...]:
        values = self._list(given, key, at) if key in given else []
        texts = tuple(each for each in values if isinstance(each, str))
        if len(texts) != len(values):
            raise self._error(f"{at}{key}", "want a list of texts")
        return tuple(self._encodable(each, f"{at}{key}") for each in texts)

    def _encodable(self, text: str, at: str) -> str:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise self._error(at, "it is no valid Unicode") from error
        return text

    def _flag(self, given: Mapping[str, object], key: str, at: str) -> bool:
        value = given.get(key, True)
        if not isinstance(value, bool):
            raise self._error(f"{at}{key}", "want true or false")
        return value

    def _list(self, given: Mapping[str, object], key: str, at: str) -> list[object]:
        value = given.get(key)
        if not isinstance(value, list):
            raise self._error(f"{at}{key}", "want a list")
        return cast("list[object]", value)

    def _mapping(self, given: object, at: str) -> Mapping[str, object]:
        if not isinstance(given, dict):
            raise self._error(at, "want an object")
        return cast("dict[str, object]", given)

    def _error(self, at: str, detail: str) -> InvalidReleaseError:
        return InvalidReleaseError(self._where, f"{at}: {detail}")
