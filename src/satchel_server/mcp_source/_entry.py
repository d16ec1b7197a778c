"""One skill as its server describes it, by the Skills extension or the older index.

Source: "Skill Entries" and "Limits" of ``io.modelcontextprotocol/skills`` (SEP-2640);
for the index MCPSkillsSource of Microsoft's Agent Framework 1.23, which reads it.
"""

# The older index, `skill://index.json`, has a name and a description of each skill, the
# URI of its SKILL.md or of an archive, and perhaps a digest; no list of files. So only
# the SKILL.md of such a skill is read.

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast
from urllib.parse import unquote

from satchel.errors import LimitExceededError
from satchel.files import Listing, digest_bytes, is_digest, tree_digest
from satchel.model import SKILL_FILE, FileStat, Finding, Json, Limits, Resource
from satchel.text import clean_line

# Files of one skill. Source: the Skills extension, "Limits".
MAX_FILES: Final = 512
# Bytes of one skill. Source: the Skills extension, "Limits".
MAX_SKILL_BYTES: Final = 16 * 1024 * 1024

DYNAMIC: Final = "dynamic"
_DIGEST_FIX: Final = "give sha256: and 64 lowercase hex digits"
_SKILL_FILE_SUFFIX: Final = f"/{SKILL_FILE}"
_MAX_LINE_CHARS: Final = 120
# Far above a name and a path of 1,024 bytes with every byte escaped.
MAX_URI_CHARS: Final = 8_192

_SHAPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://([^/]+(?:/[^/]+)*)")
_FORBIDDEN_CHARS: Final = re.compile(
    r"[\s\\?#\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
)
_FORBIDDEN_ESCAPES: Final = re.compile(
    r"(?i)%(?:2e|2f|5c|0[0-9a-f]|1[0-9a-f]|7f)|%(?![0-9a-f]{2})"
)


class EntryRefusedError(Exception):
    """One entry of a server cannot be used; the others can. Caught in this package.

    ``fix`` is what the server's owner can do.
    """

    def __init__(
        self, problem: str, fix: str = "", code: str = "invalid-entry"
    ) -> None:
        super().__init__(problem, fix, code)
        self.problem = problem
        self.fix = fix
        self.code = code


def short_line(text: object) -> str:
    """Return text of a server as one short line, with its hidden characters shown."""
    line = clean_line(text) if isinstance(text, str) else type(text).__name__
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}..."


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
        return self.root + _SKILL_FILE_SUFFIX

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
            {SKILL_FILE: ListedFile(root + _SKILL_FILE_SUFFIX)},
            findings=(Finding.of("unverified-skill", SKILL_FILE),),
        )
    if not isinstance(resources, list):
        raise EntryRefusedError(
            f'its resources are neither a list nor "{DYNAMIC}"',
            "list every file of it, with digest and size",
        )
    listed = _listed_files(root, cast("list[object]", resources), limits)
    listing = Listing(limits)
    # A SKILL.md further down is a skill of its own, with its own approval.
    nested = [path for path in sorted(listed) if path.endswith(_SKILL_FILE_SUFFIX)]
    for path, file in sorted(listed.items()):
        if path not in nested and listing.admits(path):
            listing.add(FileStat(path, file.size or 0, file.digest, file.digest))
    files = listing.files()
    return McpSkillEntry(
        root,
        frontmatter,
        files,
        {file.path: listed[file.path] for file in files},
        # An approval binds to these digests, also of files that are never handed out.
        tree_digest(Resource(path, file.digest, 0) for path, file in listed.items()),
        findings=(
            *listing.findings(),
            *(Finding.of("nested-skill", path) for path in nested),
        ),
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
        {SKILL_FILE: ListedFile(archive or root + _SKILL_FILE_SUFFIX, digest)},
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
    for _ in range(limits.yaml_depth + 1):
        nodes += len(level)
        if nodes > limits.yaml_nodes:
            raise _frontmatter_limit_error("yaml_nodes", limits.yaml_nodes, "nodes")
        level = [inner for node in level for inner in _values_of(node)]
    if level:
        raise _frontmatter_limit_error("yaml_depth", limits.yaml_depth, "levels")
    # Only now: `json.dumps` calls itself for each level.
    text, most = json.dumps(frontmatter, ensure_ascii=False), limits.frontmatter_bytes
    if len(text.encode("utf-8", "surrogatepass")) > most:
        raise _frontmatter_limit_error("frontmatter_bytes", most, "bytes")


def _values_of(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return cast("dict[str, object]", node).values()
    return cast("list[object]", node) if isinstance(node, list) else ()


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


# URIs are checked as text: nothing is resolved.
def skill_root(uri: object) -> str:
    """Return the URI of a skill's folder, given that of its SKILL.md.

    Source: "Resource Mapping" of the Skills extension.
    """
    text = plain_uri(uri)
    if not text.endswith(_SKILL_FILE_SUFFIX):
        raise EntryRefusedError(f"its URI does not end in {_SKILL_FILE_SUFFIX}")
    root = text.removesuffix(_SKILL_FILE_SUFFIX)
    plain_uri(root)  # `skill://SKILL.md` has no folder
    return root


def skill_name(root: str) -> str:
    """Return the last part of a skill's folder, which must be the skill's name."""
    return _unquote(root.rpartition("/")[2])


def skill_path(root: str) -> str:
    """Return the folder without its scheme, to tell skills of one name apart."""
    return root.partition("://")[2]


def path_in(root: str, uri: object) -> str:
    """Return the path of a file inside a skill's folder, decoded."""
    text = plain_uri(uri)
    # With the slash: "skill://ab/x" is not inside "skill://a".
    inside = text.removeprefix(f"{root}/")
    if inside == text:
        raise EntryRefusedError("it lists a file that is not in its own folder")
    return _unquote(inside)


def plain_uri(uri: object) -> str:
    """Return a URI of folders and a file, if it has only one reading."""
    if not isinstance(uri, str):
        raise EntryRefusedError("a URI is not a text")
    if len(uri) > MAX_URI_CHARS:
        raise EntryRefusedError(f"a URI has more than {MAX_URI_CHARS:,} characters")
    match = _SHAPE.fullmatch(uri)
    if match is None or _FORBIDDEN_CHARS.search(uri):
        raise EntryRefusedError("a URI is not of the form scheme://folder/file")
    # A program that decodes it first would see another path.
    if _FORBIDDEN_ESCAPES.search(uri):
        raise EntryRefusedError("a URI has an encoded dot, slash or control character")
    if any(part in {".", ".."} for part in match[1].split("/")):
        raise EntryRefusedError("a URI has a part that is . or ..")
    return uri


def _unquote(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise EntryRefusedError("a URI is not encoded as UTF-8") from None
