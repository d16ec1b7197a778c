"""The format of a discovery index, which lists a site's skills: written and read here.

Source: the Agent Skills Discovery RFC (cloudflare/agent-skills-discovery-rfc), v0.2.0,
and v0.1.0, which older clients still ask for and whose index has no ``$schema``.
"""

# An index of another publisher is read leniently: a wrong entry costs only itself, and
# a finding says how it should be. Nothing that decides which bytes are used is guessed.

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias, cast

from satchel.errors import LimitExceededError
from satchel.files import is_digest, path_problem
from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Finding,
    Limits,
    Severity,
    is_name,
)
from satchel_store.release._document import DuplicateMemberError, unique_members

INDEX_V2: Final = ".well-known/agent-skills/index.json"
# The header of a request for an artifact that has the digest its index announced.
DIGEST_HEADER: Final = "Satchel-Digest"
INDEX_V1: Final = ".well-known/skills/index.json"
SCHEMA_V2: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

# Findings on one index; more of them are only counted.
MAX_INDEX_FINDINGS: Final = 100

# What an entry leads to; ``files`` is how v0.1.0 lists a pack, file by file.
EntryType: TypeAlias = Literal["skill-md", "archive", "files"]

_V2_TYPES: Final = ("skill-md", "archive")
# Field names that publishers use instead.
_WRONG_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("id", "slug", "title"),
    "type": ("kind", "format"),
    "description": ("summary", "desc"),
    "url": ("uri", "href", "path", "file", "source", "location"),
    "digest": ("sha256", "hash", "checksum", "integrity", "sha"),
    "files": ("resources", "paths"),
    "$schema": ("schema", "$Schema", "schema_version", "version"),
}


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One skill as an index lists it.

    ``url`` is relative to the index. ``digest`` is of the artifact's raw bytes; v0.1.0
    has none. ``files`` are the pack's paths, SKILL.md included: v0.1.0 lists them, and
    they are at ``<name>/`` next to its index. ``description`` is only written: of an
    index that is read, the description in SKILL.md is used.
    """

    name: str
    type: EntryType
    url: str
    digest: str = ""
    files: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class DiscoveryIndex:
    """What an index lists, by name, and what is wrong with it.

    ``is_known`` is False for a later format, of which nothing is read.
    """

    entries: tuple[IndexEntry, ...] = ()
    findings: tuple[Finding, ...] = ()
    is_known: bool = True

    @property
    def has_digests(self) -> bool:
        """Whether it says which bytes its publisher means."""
        return all(entry.digest for entry in self.entries)


class NotAnIndexError(ValueError):
    """The bytes are not an index of skills; the message says what they are."""


class _EntryError(ValueError):
    """An entry that is not used, and how to fix it."""

    def __init__(self, problem: str, fix: str, severity: Severity = "error") -> None:
        super().__init__(problem)
        self.fix = fix
        self.severity: Severity = severity


def index_v2(entries: Iterable[IndexEntry]) -> dict[str, object]:
    """Return the document to serve at `INDEX_V2`, skills by name."""
    fields = ("name", "type", "description", "url", "digest")
    return {"$schema": SCHEMA_V2, "skills": _entries_to_json(entries, fields)}


def index_v1(entries: Iterable[IndexEntry]) -> dict[str, object]:
    """Return the document to serve at `INDEX_V1`, skills by name."""
    fields = ("name", "description", "files")
    return {"skills": _entries_to_json(entries, fields)}


def _entries_to_json(
    entries: Iterable[IndexEntry], fields: Sequence[str]
) -> list[dict[str, object]]:
    return [
        {field: getattr(entry, field) for field in fields}
        for entry in sorted(entries, key=attrgetter("name"))
    ]


def parse_index(data: bytes, where: str, limits: Limits) -> DiscoveryIndex:
    """Return what an index lists; ``where`` is what findings call it.

    Entries after ``index_skills`` are not read, and a finding says so.

    Raises:
        NotAnIndexError: It is not JSON, or JSON of something else.
    """
    top = _parse_json(data)
    schema = top.get("$schema")
    if schema is not None and schema != SCHEMA_V2:
        shown = str(schema)[:120]
        finding = Finding.of("index-schema", where, schema=shown, expected=SCHEMA_V2)
        return DiscoveryIndex(findings=(finding,), is_known=False)
    listed = top.get("skills")
    if not isinstance(listed, list):
        raise NotAnIndexError("it has no list of skills")
    items = cast("list[object]", listed)
    findings: list[Finding] = []
    other = _misspelled_field(top, "$schema")
    # Without the field the index is v0.1.0, which a publisher of v0.2.0 did not mean.
    if schema is None and other:
        findings.append(_finding(where, sentence="schema", name="$schema", other=other))
    entries: dict[str, IndexEntry] = {}
    for number, item in islice(enumerate(items), limits.index_skills):
        try:
            fields, name = _named_fields(item, entries)
            if schema is None:
                entry = _read_v1(fields, name, limits.archive_files)
            else:
                entry = _read_v2(fields, name)
        except _EntryError as error:
            values: dict[str, Any] = {"number": number, "problem": error}
            values |= {"severity": error.severity, "fix": error.fix}
            findings.append(_finding(where, **values))
            continue
        # The description in SKILL.md is used, so a bad one here does not cost the
        # entry.
        entries[name] = entry
        problem = _description_problem(fields)
        if problem:
            values = {"number": number, "name": name, "problem": problem}
            findings.append(_finding(where, sentence="description", **values))
    return DiscoveryIndex(
        tuple(entries[name] for name in sorted(entries)),
        tuple(_limited(findings, where, len(items), limits.index_skills)),
    )


def _finding(
    where: str,
    *,
    severity: Severity = "warning",
    **values: Any,  # noqa: ANN401 - as for `Finding.of`
) -> Finding:
    return Finding.of("index-entry", where, severity=severity, **values)


def _limited(
    findings: list[Finding], where: str, count: int, most: int
) -> list[Finding]:
    """Add a finding on entries that were not read, and cut the list if it is long."""
    if count > most:
        error = LimitExceededError("index_skills", most, count, "skills", where)
        fix = "publish several indexes, or raise the limit that is named"
        findings = [*findings, Finding.of_error(error, where, fix=fix)]
    more = len(findings) - MAX_INDEX_FINDINGS
    if more > 0:
        rest = _finding(where, sentence="more", count=more)
        findings = [*findings[:MAX_INDEX_FINDINGS], rest]
    return findings


def _parse_json(data: bytes) -> Mapping[str, object]:
    try:
        # Some editors write a byte order mark, and `json` refuses it.
        text = data.removeprefix(BOM_UTF8).decode()
        document: object = json.loads(text, object_pairs_hook=unique_members)
    except DuplicateMemberError as error:
        raise NotAnIndexError(str(error)) from None
    except UnicodeDecodeError:
        raise NotAnIndexError("it is not text in UTF-8") from None
    except (ValueError, RecursionError):
        raise NotAnIndexError("it is not JSON") from None
    if not isinstance(document, dict):
        raise NotAnIndexError("it is not a JSON object")
    return cast("dict[str, object]", document)


def _named_fields(
    item: object, entries: Mapping[str, IndexEntry]
) -> tuple[Mapping[str, object], str]:
    """Return the fields of an entry, and its name, which no earlier entry may have."""
    if not isinstance(item, dict):
        raise _EntryError("it is not an object", "write an object for each skill")
    fields = cast("dict[str, object]", item)
    name = _text_field(fields, "name")
    # First of all fields, since messages and URLs are made with the name.
    if not is_name(name):
        raise _EntryError(
            f"the name {name[:80]!r} breaks the rules",
            "write 1 to 64 of a-z, 0-9 and single hyphens between them",
        )
    if name in entries:
        raise _EntryError(
            f"the name {name!r} is there twice; the first one is used",
            "give each skill a name of its own",
        )
    return fields, name


def _read_v2(fields: Mapping[str, object], name: str) -> IndexEntry:
    kind = _text_field(fields, "type")
    if kind not in _V2_TYPES:
        choice = " or ".join(map(repr, _V2_TYPES))
        raise _EntryError(
            f"{name}: the type {kind[:80]!r} is unknown, so the entry is skipped",
            f"write {choice}; or update satchel, if it is of a later format",
            "warning",
        )
    url = _text_field(fields, "url")
    digest = _text_field(fields, "digest")
    if not is_digest(digest):
        raise _EntryError(
            f"{name}: {digest[:80]!r} is not a digest",
            "write 'sha256:' and 64 digits of 0-9 and a-f",
        )
    return IndexEntry(name, cast("EntryType", kind), url, digest)


def _read_v1(fields: Mapping[str, object], name: str, most_files: int) -> IndexEntry:
    if "files" not in fields and ("digest" in fields or "url" in fields):
        raise _EntryError(
            f"{name}: this is an entry of v0.2.0, and the index names no format",
            f'add "$schema": "{SCHEMA_V2}" to the index',
        )
    listed = _required_field(fields, "files")
    items = cast("list[object]", listed) if isinstance(listed, list) else [None]
    # Before the paths are checked, which takes time for each.
    if len(items) > most_files:
        most = f"more than archive_files = {most_files:,}"
        raise _EntryError(f"{name}: {most} files", "list fewer files")
    # A path that is listed twice is fetched once.
    files = {item for item in items if isinstance(item, str)}
    if not all(isinstance(item, str) for item in items):
        raise _EntryError(f"{name}: files is not a list of paths", "list each path")
    for path in files:
        problem = path_problem(path)
        if problem:
            raise _EntryError(
                f"{name}: the path {path[:80]!r} is not fetched: {problem}",
                "list plain paths relative to the skill's folder",
            )
    if SKILL_FILE not in files:
        raise _EntryError(f"{name}: files does not list {SKILL_FILE}", "add it")
    return IndexEntry(name, "files", f"{name}/", files=tuple(sorted(files)))


def _required_field(fields: Mapping[str, object], name: str) -> object:
    if name in fields:
        return fields[name]
    other = _misspelled_field(fields, name)
    if other:
        raise _EntryError(
            f"there is no {name}, but a field {other!r}, which means nothing here",
            f"call the field {name!r}",
        )
    raise _EntryError(f"there is no {name}", f"add a field {name!r}")


def _text_field(fields: Mapping[str, object], name: str) -> str:
    value = _required_field(fields, name)
    if not isinstance(value, str):
        raise _EntryError(f"{name} is not a text", f"write {name} in quotes")
    return value


def _misspelled_field(fields: Mapping[str, object], name: str) -> str:
    return next((other for other in _WRONG_NAMES[name] if other in fields), "")


def _description_problem(fields: Mapping[str, object]) -> str:
    try:
        description = _text_field(fields, "description")
    except _EntryError as error:
        return str(error)
    if not description.strip():
        return "the description is empty"
    if len(description) > MAX_DESCRIPTION_CHARS:
        return f"the description has more than {MAX_DESCRIPTION_CHARS:,} characters"
    return ""
