"""The format of release.json, of a release and of a site: written here and read here.

What is read may come from anybody: every path, digest and size is checked for its form.

Source: docs/reference/release-format.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast, get_args

from satchel.errors import InvalidReleaseError
from satchel.files import (
    digest_bytes,
    folder_problem,
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
from satchel_store.release._document import (
    DocumentParser,
    canonical_json,
    resource_to_json,
)
from satchel_store.release._release import Release, ReleasedSkill, release_path

SCHEMA_VERSION: Final = 1
FORMAT: Final = "satchel-release"
SITE_FORMAT: Final = "satchel-site"

_ID: Final = re.compile(r"sha256-tree-v1:[0-9a-f]{64}")

# Keys of a skill, which are also the names of the descriptor's fields.
_TEXT_FIELDS: Final = ("owner", "status", "replaced_by")
_LIST_FIELDS: Final = ("tools", "allowed_tools", "replaces", "keywords", "requires")
_FLAG_FIELDS: Final = ("model_invocable", "user_invocable")
_BUCKETS: Final[tuple[Bucket, ...]] = get_args(Bucket)


def check_release_id(text: str, where: str) -> str:
    """Return ``text`` if it is an id; ``where`` names the option or file it is from."""
    if not _ID.fullmatch(text):
        detail = f"expected sha256-tree-v1: and 64 hex digits, got {text[:100]!r}"
        raise InvalidReleaseError(where, detail)
    return text


def render_release(
    skills: Iterable[ReleasedSkill], others: Iterable[Resource]
) -> bytes:
    """Return release.json; fields that a skill does not declare are left out."""
    return canonical_json(
        {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSION,
            "skills": [_skill_to_json(skill) for skill in skills],
            "files": [resource_to_json(resource) for resource in others],
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
        resource_to_json(resource)
        | ({"bucket": buckets[resource.path]} if resource.path in buckets else {})
        for resource in skill.resources
    ]
    return fields


def parse_release_file(
    data: bytes, where: str, limits: Limits = DEFAULT_LIMITS
) -> Release | str:
    """Return what a release.json says: a release, or the current id of a site.

    ``where`` is what errors call it. The release's id is computed from ``data``, so
    compare it with the id that you expect.

    Raises:
        InvalidReleaseError: It is not in this format, or in a later version of it.
    """
    return _ReleaseParser(where, limits, InvalidReleaseError).document(data)


def parse_release(data: bytes, where: str, limits: Limits = DEFAULT_LIMITS) -> Release:
    """Return the release that a release.json describes; that of a site is an error."""
    release = parse_release_file(data, where, limits)
    if isinstance(release, str):
        raise InvalidReleaseError(where, "it is that of a site, not of a release")
    return release


class _ReleaseParser(DocumentParser):
    """Turns the JSON of one release.json into values, or says where it is wrong."""

    def document(self, data: bytes) -> Release | str:
        top = self.load(data)
        kind = self.check_head(top, FORMAT, SITE_FORMAT, version=SCHEMA_VERSION)
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
