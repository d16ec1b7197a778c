"""One skill as its server describes it.

In the Skills extension or in the older index: checked.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from satchel.errors import LimitExceededError
from satchel.files import Listing, digest_bytes, tree_digest
from satchel.model import SKILL_FILE, FileStat, Finding, Json, Limits, Resource
from satchel.sources._mcp._uris import (
    EntryRefusedError,
    path_in,
    plain_uri,
    short_line,
    skill_name,
    skill_root,
)

MAX_FILES: Final = 512
"""Files of one skill. Source: the Skills extension, "Limits"."""
MAX_SKILL_BYTES: Final = 16 * 1024 * 1024
"""Bytes of one skill. Source: the Skills extension, "Limits"."""

DYNAMIC: Final = "dynamic"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_NESTED: Final = f"/{SKILL_FILE}"


class ListedFile(NamedTuple):
    """A file that may be read: where, and what it has to be; empty where not said."""

    uri: str
    digest: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class McpSkillEntry:
    """One skill of a server, held until its server is asked again.

    ``root`` is the URI of its folder and the key of the source. ``files`` are what may
    be read, SKILL.md included. ``digest`` is over the whole set of URIs and digests,
    those of files that are never handed out among them; empty where the server
    publishes none (``"dynamic"``). ``whole`` tells that ``frontmatter`` has every
    field; in the older index it has two. ``archive`` is the URI of the archive that
    holds the skill, in that index alone.
    """

    root: str
    frontmatter: Mapping[str, Json]
    files: tuple[FileStat, ...]
    listed: Mapping[str, ListedFile]
    digest: str = ""
    whole: bool = True
    archive: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md: with the server's label, what the skill is."""
        return self.root + _NESTED

    @property
    def name(self) -> str:
        """The name in its frontmatter: a label, and no identifier."""
        return str(self.frontmatter["name"])

    @property
    def stamp(self) -> str:
        """What changes when anything that the server said of it does."""
        said = json.dumps([self.frontmatter, self.digest], sort_keys=True)
        return digest_bytes(said.encode())


def parse_entry(raw: object, limits: Limits) -> McpSkillEntry:
    """Return an entry of ``skills/list`` or ``skills/get``.

    Raises:
        RefusedError: It is not what the extension says an entry is, or too large.

    Source: "Skill Entries" of the Skills extension.
    """
    if not isinstance(raw, dict):
        raise EntryRefusedError("it is no object")
    given = cast("dict[str, object]", raw)
    root = skill_root(given.get("uri"))
    frontmatter = parse_entry_frontmatter(given.get("frontmatter"), root, limits)
    resources = given.get("resources")
    if resources == DYNAMIC:
        return _dynamic_entry(root, frontmatter)
    if not isinstance(resources, list):
        raise EntryRefusedError(
            f'its resources are neither a list nor "{DYNAMIC}"',
            "list every file of it, with digest and size",
        )
    listed = _parse_resources(root, cast("list[object]", resources), limits)
    listing = Listing(limits)
    for path in sorted(listed):
        if not _is_nested(path) and listing.admits(path):
            listing.add(_file_stat(path, listed[path]))
    files = listing.files()
    return McpSkillEntry(
        root,
        frontmatter,
        files,
        {file.path: listed[file.path] for file in files},
        tree_digest(Resource(p, each.digest, 0) for p, each in listed.items()),
        findings=(*listing.findings(), *_nested_skill_findings(listed)),
    )


def parse_entry_frontmatter(raw: object, root: str, limits: Limits) -> dict[str, Json]:
    """Return the frontmatter of an entry, with a name and a description.

    Raises:
        RefusedError: One of the two is missing or no text, the name is not the last
            part of ``root``, or there is more than a frontmatter may hold.
    """
    if not isinstance(raw, dict):
        raise EntryRefusedError("its frontmatter is no object")
    given = cast("dict[str, Json]", raw)
    for field in ("name", "description"):
        value = given.get(field)
        if not isinstance(value, str) or not value.strip():
            raise EntryRefusedError(f"its frontmatter has no {field}")
    if given["name"] != skill_name(root):
        name, last = short_line(given["name"]), short_line(skill_name(root))
        raise EntryRefusedError(
            f"its name is {name!r}, the last part of its URI {last!r}",
            "serve it under its own name",
        )
    _check_frontmatter_size(given, limits)
    return given


def _check_frontmatter_size(frontmatter: object, limits: Limits) -> None:
    """Hold the frontmatter to the limits of a file's, without recursion."""
    nodes, level = 0, [frontmatter]
    for depth in range(limits.yaml_depth + 1):
        inner: list[object] = []
        for node in level:
            nodes += 1
            if isinstance(node, dict):
                inner += cast("dict[str, object]", node).values()
            elif isinstance(node, list):
                inner += cast("list[object]", node)
        if nodes > limits.yaml_nodes:
            break
        if not inner:
            size = len(json.dumps(frontmatter, ensure_ascii=False))
            if size > limits.frontmatter_bytes:
                raise _frontmatter_limit_error(
                    "frontmatter_bytes", limits.frontmatter_bytes, "bytes"
                )
            return
        if depth == limits.yaml_depth:
            raise _frontmatter_limit_error("yaml_depth", limits.yaml_depth, "levels")
        level = inner
    raise _frontmatter_limit_error("yaml_nodes", limits.yaml_nodes, "nodes")


def _frontmatter_limit_error(limit: str, maximum: int, unit: str) -> EntryRefusedError:
    why = f"its frontmatter is over {limit} = {maximum:,} {unit}"
    return EntryRefusedError(why, "shorten it", LimitExceededError.code)


def _parse_resources(
    root: str, resources: list[object], limits: Limits
) -> dict[str, ListedFile]:
    """Return the files by path; the set is complete, so one bad line spoils it."""
    most = min(MAX_FILES, limits.pack_files)
    if len(resources) > most:
        raise _limit_error("pack_files", most, len(resources), "files")
    found: dict[str, ListedFile] = {}
    for raw in resources:
        path, listed = _parse_resource(root, raw)
        if path in found:
            raise EntryRefusedError(f"it lists {short_line(path)!r} twice")
        found[path] = listed
    if SKILL_FILE not in found:
        raise EntryRefusedError(f"its resources are without {SKILL_FILE}")
    most = min(MAX_SKILL_BYTES, limits.pack_bytes)
    total = sum(each.size or 0 for each in found.values())
    if total > most:
        raise _limit_error("pack_bytes", most, total, "bytes")
    size = found[SKILL_FILE].size or 0
    if size > limits.skill_md_bytes:
        raise _limit_error("skill_md_bytes", limits.skill_md_bytes, size, "bytes")
    return found


def _parse_resource(root: str, raw: object) -> tuple[str, ListedFile]:
    if not isinstance(raw, dict):
        raise EntryRefusedError("one of its resources is no object")
    given = cast("dict[str, object]", raw)
    uri, digest, size = given.get("uri"), given.get("digest"), given.get("size")
    path = path_in(root, uri)
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise EntryRefusedError(
            f"{short_line(path)!r} has no digest",
            "give sha256: and 64 lowercase hex digits",
        )
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise EntryRefusedError(f"{short_line(path)!r} has no size", "give it in bytes")
    return path, ListedFile(str(uri), digest, size)


def _limit_error(limit: str, most: int, actual: int, unit: str) -> EntryRefusedError:
    error = LimitExceededError(limit, most, actual, unit)
    return EntryRefusedError(str(error), "make the skill smaller", error.code)


def _file_stat(path: str, listed: ListedFile) -> FileStat:
    return FileStat(path, listed.size or 0, listed.digest, listed.digest)


def _is_nested(path: str) -> bool:
    return path.endswith(_NESTED)


def _nested_skill_findings(listed: Mapping[str, ListedFile]) -> Iterator[Finding]:
    for path in filter(_is_nested, sorted(listed)):
        yield Finding.of("nested-skill", path)


def _dynamic_entry(root: str, frontmatter: Mapping[str, Json]) -> McpSkillEntry:
    said = Finding.of("unverified-skill", SKILL_FILE)
    listed = {SKILL_FILE: ListedFile(root + _NESTED)}
    files = (FileStat(SKILL_FILE, 0),)
    return McpSkillEntry(root, frontmatter, files, listed, findings=(said,))


def shared_names(entries: Mapping[str, McpSkillEntry]) -> frozenset[str]:
    """Return the names that several skills of one server have."""
    counts = Counter(entry.name for entry in entries.values())
    return frozenset(name for name, count in counts.items() if count > 1)


_INDEX_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_ASK_FOR_EXTENSION: Final = "ask the server's owner for the Skills extension"


def index_items(raw: object) -> list[object]:
    """Return the items of an index.

    Raises:
        RefusedError: It is no index.
    """
    skills = cast("Mapping[str, object]", raw).get("skills") if _is_map(raw) else None
    if not isinstance(skills, list):
        raise EntryRefusedError("it has no list of skills", _ASK_FOR_EXTENSION)
    return cast("list[object]", skills)


def parse_index_entry(raw: object, limits: Limits) -> McpSkillEntry:
    """Return an item as an entry that knows of one file, and of two fields.

    Raises:
        RefusedError: It is none, or of a kind that is not read.
    """
    if not _is_map(raw):
        raise EntryRefusedError("it is no object")
    given = cast("Mapping[str, object]", raw)
    kind = given.get("type")
    if kind not in ("skill-md", "archive"):  # a set would want it to be hashable
        raise EntryRefusedError(
            f"it is of an unknown type, {short_line(kind)!r}", _ASK_FOR_EXTENSION
        )
    archive = plain_uri(given.get("url")) if kind == "archive" else ""
    root = f"{archive}/{given.get('name')}" if archive else skill_root(given.get("url"))
    fields = {key: given.get(key) for key in ("name", "description")}
    frontmatter = parse_entry_frontmatter(fields, root, limits)
    digest = given.get("digest")
    if digest is None:
        digest = ""
    elif not isinstance(digest, str) or not _INDEX_DIGEST.fullmatch(digest):
        raise EntryRefusedError(
            "its digest is none", "give sha256: and 64 lowercase hex digits"
        )
    return McpSkillEntry(
        root,
        frontmatter,
        (_skill_md_stat(digest, archive),),
        {SKILL_FILE: ListedFile(archive or f"{root}/{SKILL_FILE}", digest)},
        digest,
        whole=False,
        archive=archive,
        findings=(_older_index_finding(digest),),
    )


def _skill_md_stat(digest: str, archive: str) -> FileStat:
    """Return what is known of SKILL.md; a digest of an archive is not its own."""
    own = "" if archive else digest
    return FileStat(SKILL_FILE, 0, digest or None, own)


def _older_index_finding(digest: str) -> Finding:
    if digest:
        return Finding.of(
            "older-index", SKILL_FILE, ASK_FOR_EXTENSION=_ASK_FOR_EXTENSION
        )
    return Finding.of(
        "unverified-skill",
        SKILL_FILE,
        sentence="older-index",
        ASK_FOR_EXTENSION=_ASK_FOR_EXTENSION,
    )


def _is_map(raw: object) -> bool:
    return isinstance(raw, Mapping)
