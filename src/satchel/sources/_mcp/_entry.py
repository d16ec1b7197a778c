"""One skill as its server describes it, by the Skills extension or the older index.

Source: "Skill Entries" and "Limits" of ``io.modelcontextprotocol/skills`` (SEP-2640);
for the index MCPSkillsSource of Microsoft's Agent Framework 1.23, which reads it.
"""

# The older index, `skill://index.json`, has a name and a description of each skill, the
# URI of its SKILL.md or of an archive, and perhaps a digest; no list of files. So only
# the SKILL.md of such a skill is read.

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from satchel.errors import LimitExceededError
from satchel.files import Listing, digest_bytes, is_digest, tree_digest
from satchel.model import SKILL_FILE, FileStat, Finding, Json, Limits, Resource
from satchel.sources._mcp._uris import (
    EntryRefusedError,
    path_in,
    plain_uri,
    short_line,
    skill_name,
    skill_root,
)

# Files of one skill. Source: the Skills extension, "Limits".
MAX_FILES: Final = 512
# Bytes of one skill. Source: the Skills extension, "Limits".
MAX_SKILL_BYTES: Final = 16 * 1024 * 1024

DYNAMIC: Final = "dynamic"
_DIGEST_FIX: Final = "give sha256: and 64 lowercase hex digits"
_NESTED: Final = f"/{SKILL_FILE}"


class ListedFile(NamedTuple):
    """A file that may be read: where, and what it must be; empty if not announced."""

    uri: str
    digest: str = ""
    size: int | None = None


@dataclass(frozen=True, slots=True)
class McpSkillEntry:
    """One skill of a server, in use until the server is asked again.

    ``root`` is the URI of its folder and the key of the source. ``files`` are what may
    be read, SKILL.md included. ``digest`` covers the whole set of URIs and digests,
    also of files that are never handed out; it is empty if the server publishes none
    (``"dynamic"``). ``complete`` is whether ``frontmatter`` has every field; in the
    older index it has two. ``archive`` is the URI of the archive that has the skill, in
    that index only.
    """

    root: str
    frontmatter: Mapping[str, Json]
    files: tuple[FileStat, ...]
    listed: Mapping[str, ListedFile]
    digest: str = ""
    complete: bool = True
    archive: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md: with the server's label it identifies the skill."""
        return self.root + _NESTED

    @property
    def name(self) -> str:
        """The name in its frontmatter, which other skills may share."""
        return str(self.frontmatter["name"])

    @property
    def stamp(self) -> str:
        """A value that changes with anything that the server says about it."""
        content = json.dumps([self.frontmatter, self.digest], sort_keys=True)
        return digest_bytes(content.encode())


def shared_names(entries: Mapping[str, McpSkillEntry]) -> frozenset[str]:
    """Return the names that several skills of one server have."""
    counts = Counter(entry.name for entry in entries.values())
    return frozenset(name for name, count in counts.items() if count > 1)


def parse_entry(raw: object, limits: Limits) -> McpSkillEntry:
    """Return an entry of ``skills/list`` or ``skills/get``."""
    fields = _fields(raw)
    root = skill_root(fields.get("uri"))
    frontmatter = _frontmatter(fields.get("frontmatter"), root, limits)
    resources = fields.get("resources")
    # Without a list of files, only SKILL.md may be read, and nothing verifies it.
    if resources == DYNAMIC:
        return McpSkillEntry(
            root,
            frontmatter,
            (FileStat(SKILL_FILE, 0),),
            {SKILL_FILE: ListedFile(root + _NESTED)},
            findings=(Finding.of("unverified-skill", SKILL_FILE),),
        )
    if not isinstance(resources, list):
        raise EntryRefusedError(
            f'its resources are neither a list nor "{DYNAMIC}"',
            "list every file of it, with digest and size",
        )
    listed = _listed_files(root, cast("list[object]", resources), limits)
    listing = Listing(limits)
    for path, file in sorted(listed.items()):
        # A SKILL.md further down is a skill of its own, with its own approval.
        if not path.endswith(_NESTED) and listing.admits(path):
            listing.add(FileStat(path, file.size or 0, file.digest, file.digest))
    files = listing.files()
    return McpSkillEntry(
        root,
        frontmatter,
        files,
        {file.path: listed[file.path] for file in files},
        # An approval binds to these digests, also of files that are never handed out.
        tree_digest(Resource(path, file.digest, 0) for path, file in listed.items()),
        findings=(*listing.findings(), *_nested_skill_findings(listed)),
    )


def index_items(raw: object) -> list[object]:
    """Return the items of the older index, or raise `EntryRefusedError`."""
    skills = None
    if isinstance(raw, dict):
        skills = cast("dict[str, object]", raw).get("skills")
    if not isinstance(skills, list):
        raise _older_error("it has no list of skills")
    return cast("list[object]", skills)


def parse_index_entry(raw: object, limits: Limits) -> McpSkillEntry:
    """Return an item of the older index: an entry with one file and two fields."""
    fields = _fields(raw)
    kind = fields.get("type")
    if kind not in ("skill-md", "archive"):  # not a set: the value may be a list
        raise _older_error(f"it is of an unknown type, {short_line(kind)!r}")
    archive = plain_uri(fields.get("url")) if kind == "archive" else ""
    named = f"{archive}/{fields.get('name')}"
    root = named if archive else skill_root(fields.get("url"))
    declared = {key: fields.get(key) for key in ("name", "description")}
    digest = fields.get("digest")
    if digest is None:
        digest = ""
        finding = Finding.of("unverified-skill", SKILL_FILE, sentence="older-index")
    elif isinstance(digest, str) and is_digest(digest):
        finding = Finding.of("older-index", SKILL_FILE)
    else:
        raise EntryRefusedError("its digest is not a digest", _DIGEST_FIX)
    return McpSkillEntry(
        root,
        _frontmatter(declared, root, limits),
        # The digest of an archive is not that of the SKILL.md in it.
        (FileStat(SKILL_FILE, 0, digest or None, "" if archive else digest),),
        {SKILL_FILE: ListedFile(archive or root + _NESTED, digest)},
        digest,
        complete=False,
        archive=archive,
        findings=(finding,),
    )


def _older_error(problem: str) -> EntryRefusedError:
    return EntryRefusedError(problem, "ask the server's owner for the Skills extension")


def _fields(raw: object, what: str = "it") -> dict[str, object]:
    if not isinstance(raw, dict):
        raise EntryRefusedError(f"{what} is not an object")
    return cast("dict[str, object]", raw)


def _frontmatter(raw: object, root: str, limits: Limits) -> dict[str, Json]:
    """Return the frontmatter of an entry, which has a name and a description."""
    fields = cast("dict[str, Json]", _fields(raw, "its frontmatter"))
    for field in ("name", "description"):
        value = fields.get(field)
        if not isinstance(value, str) or not value.strip():
            raise EntryRefusedError(f"its frontmatter has no {field}")
    if fields["name"] != skill_name(root):
        name, last = short_line(fields["name"]), short_line(skill_name(root))
        raise EntryRefusedError(
            f"its name is {name!r}, the last part of its URI {last!r}",
            "serve it under its own name",
        )
    _check_frontmatter_size(fields, limits)
    return fields


def _check_frontmatter_size(frontmatter: object, limits: Limits) -> None:
    """Apply the limits for a file's frontmatter, without recursion."""
    # JSON of a server may be nested deeper than Python may call itself.
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
            # Only now: `json.dumps` calls itself for each level.
            text = json.dumps(frontmatter, ensure_ascii=False)
            most = limits.frontmatter_bytes
            if len(text.encode("utf-8", "surrogatepass")) > most:
                raise _frontmatter_limit_error("frontmatter_bytes", most, "bytes")
            return
        if depth == limits.yaml_depth:
            raise _frontmatter_limit_error("yaml_depth", limits.yaml_depth, "levels")
        level = inner
    raise _frontmatter_limit_error("yaml_nodes", limits.yaml_nodes, "nodes")


def _frontmatter_limit_error(limit: str, most: int, unit: str) -> EntryRefusedError:
    problem = f"its frontmatter is over {limit} = {most:,} {unit}"
    return EntryRefusedError(problem, "shorten it", LimitExceededError.code)


def _listed_files(
    root: str, resources: list[object], limits: Limits
) -> dict[str, ListedFile]:
    """Return the files by path; the set must be complete, so no file may be wrong."""
    _check_limit("pack_files", limits.pack_files, MAX_FILES, len(resources), "files")
    files: dict[str, ListedFile] = {}
    for raw in resources:
        path, file = _listed_file(root, raw)
        if path in files:
            raise EntryRefusedError(f"it lists {short_line(path)!r} twice")
        files[path] = file
    if SKILL_FILE not in files:
        raise EntryRefusedError(f"its resources are without {SKILL_FILE}")
    # These sizes are only announced; `read` compares them with the bytes.
    total = sum(file.size or 0 for file in files.values())
    _check_limit("pack_bytes", limits.pack_bytes, MAX_SKILL_BYTES, total, "bytes")
    most, size = limits.skill_md_bytes, files[SKILL_FILE].size or 0
    _check_limit("skill_md_bytes", most, most, size, "bytes")
    return files


def _listed_file(root: str, raw: object) -> tuple[str, ListedFile]:
    fields = _fields(raw, "one of its resources")
    uri, digest, size = fields.get("uri"), fields.get("digest"), fields.get("size")
    path = path_in(root, uri)
    if not isinstance(digest, str) or not is_digest(digest):
        raise EntryRefusedError(f"{short_line(path)!r} has no digest", _DIGEST_FIX)
    # In Python, JSON's true is an int.
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise EntryRefusedError(f"{short_line(path)!r} has no size", "give it in bytes")
    return path, ListedFile(str(uri), digest, size)


def _check_limit(name: str, own: int, extension: int, actual: int, unit: str) -> None:
    """Apply a limit of ours or of the extension, whichever is smaller."""
    most = min(own, extension)
    if actual > most:
        error = LimitExceededError(name, most, actual, unit)
        raise EntryRefusedError(str(error), "make the skill smaller", error.code)


def _nested_skill_findings(listed: Mapping[str, ListedFile]) -> Iterator[Finding]:
    for path in sorted(listed):
        if path.endswith(_NESTED):
            yield Finding.of("nested-skill", path)
