"""An index of skills, as any publisher may have written it, and the findings on it."""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias, cast

from satchel.errors import LimitExceededError, SkillError
from satchel.files import path_problem
from satchel.model import (
    MAX_DESCRIPTION_CHARS,
    SKILL_FILE,
    Finding,
    Limits,
    Severity,
    is_name,
)


def bad_entry_finding(
    where: str, number: int, message: str, fix: str, severity: Severity
) -> Finding:
    """An entry that is not used."""
    said = f"skills[{number}]: {message}"
    return Finding("index-entry", severity, said, where, fix=fix)


def odd_entry_finding(where: str, number: int, name: str, message: str) -> Finding:
    """An entry that is used, and that other clients may drop."""
    said = f"skills[{number}]: {name}: {message}; other clients may skip it"
    fix = "describe the skill in 1 to 1,024 characters"
    return Finding("index-entry", "warning", said, where, fix=fix)


def misnamed_field_finding(where: str, found: str, wanted: str) -> Finding:
    """A field of the index itself that has another name."""
    said = f"there is no {wanted}, but a field {found!r}; read as v0.1.0"
    fix = f"call the field {wanted!r}"
    return Finding("index-entry", "warning", said, where, fix=fix)


def more_findings(where: str, count: int) -> Finding:
    """What else there would be to tell of an index."""
    said = f"{count:,} more findings on this index are not told"
    return Finding("index-entry", "warning", said, where, fix="mend those first")


def unknown_schema_finding(where: str, found: object, wanted: str) -> Finding:
    """An index of a format that nobody here knows."""
    said = f"the format {str(found)[:120]!r} is unknown, so that nothing is read of it"
    fix = f"update satchel; or, if it is yours, write {wanted!r}"
    return Finding("index-schema", "warning", said, where, fix=fix)


def too_many_finding(where: str, message: str) -> Finding:
    """An index that was not read to its end."""
    fix = "publish several indexes, or raise the limit that is named"
    return Finding("limit-exceeded", "error", message, where, fix=fix)


def no_digests_finding(where: str) -> Finding:
    """An index of v0.1.0: nothing says which bytes its publisher meant."""
    return Finding.of("no-digest", where)


def partial_finding(where: str, missing: int, total: int) -> Finding:
    """A site that was not fetched whole in the time that there was."""
    said = f"{missing:,} of {total:,} skills were not fetched in time"
    fix = "nothing: the next sync goes on from there"
    return Finding("partial-listing", "warning", said, where, fix=fix)


def more_failed_finding(where: str, count: int) -> Finding:
    """More skills that cannot be used, beyond those that are told one by one."""
    said = f"{count:,} more skills cannot be used as they are listed"
    return Finding("index-entry", "error", said, where, fix="tell the publisher")


def not_fetched_finding(where: str, error: SkillError) -> Finding:
    """A skill that is not there, because what the index leads to cannot be used."""
    fix = "sync again later; if it stays, tell the publisher"
    return Finding.of_error(error, where, fix=fix)


def stale_finding(where: str, error: SkillError) -> Finding:
    """A skill that is served as it was, because the newer one cannot be used."""
    return Finding.of("stale-skill", where, error=error)


SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
MAX_INDEX_FINDINGS: Final = 100
"""Findings on one index, after which they are only counted."""

EntryType: TypeAlias = Literal["skill-md", "archive", "files"]
"""What an entry leads to; ``files`` is how v0.1.0 lists a pack, one by one."""

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_TYPES: Final = ("skill-md", "archive")
# Seen in the wild, or one step from it.
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
class RemoteIndexEntry:
    """One skill; ``url`` as it is written, ``digest`` empty where there is none."""

    name: str
    kind: EntryType
    url: str
    digest: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """What an index lists, by name, and what is wrong with it.

    ``known`` is False for one of a later format, of which nothing is looked at.
    """

    entries: tuple[RemoteIndexEntry, ...] = ()
    findings: tuple[Finding, ...] = ()
    known: bool = True

    @property
    def has_digests(self) -> bool:
        """Whether it says which bytes are meant."""
        return all(entry.digest for entry in self.entries)


class NotAnIndexError(ValueError):
    """It is no index of skills; the message is what it is instead."""


class _EntryError(ValueError):
    """An entry that is not used, and what would mend it."""

    def __init__(self, message: str, fix: str, severity: Severity = "error") -> None:
        super().__init__(message)
        self.fix = fix
        self.severity: Severity = severity

    def told(self, where: str, number: int) -> Finding:
        """Return what there is to tell of it."""
        return bad_entry_finding(where, number, str(self), self.fix, self.severity)


def parse_index(data: bytes, where: str, limits: Limits) -> SkillIndex:
    """Return what an index lists.

    Args:
        data: The whole of it.
        where: What to show in front of findings.
        limits: ``index_skills`` is kept; of what is beyond a finding tells.

    Raises:
        NoIndexError: It is no JSON, or JSON of something else.
    """
    top = _parse_json(data)
    schema = top.get("$schema")
    if schema is not None and schema != SCHEMA:
        finding = unknown_schema_finding(where, schema, SCHEMA)
        return SkillIndex(findings=(finding,), known=False)
    skills = top.get("skills")
    if not isinstance(skills, list):
        raise NotAnIndexError("it has no list of skills")
    listed = cast("list[object]", skills)
    reader = _IndexReader(where, schema is not None, limits.archive_files)
    findings = list(reader.top(top))
    entries: dict[str, RemoteIndexEntry] = {}
    for number, given in islice(enumerate(listed), limits.index_skills):
        try:
            entry = reader.entry(given, findings, number)
            reader.check_new(entry.name, entries)
        except _EntryError as error:
            findings.append(error.told(where, number))
        else:
            entries[entry.name] = entry
    if len(listed) > limits.index_skills:
        most, count = limits.index_skills, len(listed)
        over = LimitExceededError("index_skills", most, count, "skills", where)
        findings.append(too_many_finding(where, str(over)))
    if len(findings) > MAX_INDEX_FINDINGS:
        more = len(findings) - MAX_INDEX_FINDINGS
        findings[MAX_INDEX_FINDINGS:] = [more_findings(where, more)]
    return SkillIndex(tuple(entries[name] for name in sorted(entries)), tuple(findings))


def _parse_json(data: bytes) -> Mapping[str, object]:
    try:
        text = data.removeprefix(BOM_UTF8).decode()
        document: object = json.loads(text, object_pairs_hook=_unique_members)
    except NotAnIndexError:
        raise
    except UnicodeDecodeError:
        raise NotAnIndexError("it is no text in UTF-8") from None
    except (ValueError, RecursionError):
        raise NotAnIndexError("it is no JSON") from None
    if not isinstance(document, dict):
        raise NotAnIndexError("it is no JSON object")
    return cast("dict[str, object]", document)


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its members, each of which may stand once.

    Of two digests one program would take the first, another the last.
    """
    made: dict[str, object] = {}
    for name, value in pairs:
        if name in made:
            raise NotAnIndexError(
                f"the member {name[:80]!r} stands twice in one object"
            )
        made[name] = value
    return made


@dataclass(frozen=True, slots=True)
class _IndexReader:
    """Reads entries; ``named`` tells whether the index names its format, v0.2.0."""

    where: str
    named: bool
    most_files: int

    def top(self, top: Mapping[str, object]) -> Iterator[Finding]:
        other = _misspelled_field(top, "$schema")
        if not self.named and other:
            yield misnamed_field_finding(self.where, other, "$schema")

    def entry(
        self, given: object, findings: list[Finding], number: int
    ) -> RemoteIndexEntry:
        """Return one entry; what is odd and does no harm is added to ``findings``.

        Raises:
            _EntryError: It cannot be used.
        """
        if not isinstance(given, dict):
            raise _EntryError("it is no object", "write an object for each skill")
        fields = cast("dict[str, object]", given)
        name = _text_field(fields, "name")
        if not is_name(name):
            raise _EntryError(
                f"the name {name[:80]!r} breaks the rules",
                "want 1 to 64 of a-z, 0-9 and single hyphens between them",
            )
        problem = _description_problem(fields)
        if problem:
            findings.append(odd_entry_finding(self.where, number, name, problem))
        return self._second(fields, name) if self.named else self._first(fields, name)

    def check_new(self, name: str, entries: Mapping[str, RemoteIndexEntry]) -> None:
        """Let a name pass that stands there for the first time.

        Raises:
            _EntryError: It is taken.
        """
        if name in entries:
            raise _EntryError(
                f"the name {name!r} stands twice; the first one holds",
                "give each skill a name of its own",
            )

    def _second(self, fields: Mapping[str, object], name: str) -> RemoteIndexEntry:
        """Read an entry of v0.2.0."""
        kind = _text_field(fields, "type")
        if kind not in _TYPES:
            choice = " or ".join(map(repr, _TYPES))
            raise _EntryError(
                f"{name}: the type {kind[:80]!r} is unknown, so it is skipped",
                f"want {choice}; or update satchel, if it is of a later format",
                "warning",
            )
        url = _text_field(fields, "url")
        digest = _text_field(fields, "digest")
        if not _DIGEST.fullmatch(digest):
            raise _EntryError(
                f"{name}: the digest {digest[:80]!r} is none",
                "want 'sha256:' and 64 digits of 0-9 and a-f",
            )
        return RemoteIndexEntry(name, cast("EntryType", kind), url, digest)

    def _first(self, fields: Mapping[str, object], name: str) -> RemoteIndexEntry:
        """Read an entry of v0.1.0, in which each file is listed."""
        if "files" not in fields and ("digest" in fields or "url" in fields):
            raise _EntryError(
                f"{name}: this is an entry of v0.2.0, and the index names no format",
                f'add "$schema": "{SCHEMA}" to the index',
            )
        given = _required_field(fields, "files")
        listed = cast("list[object]", given) if isinstance(given, list) else [None]
        if len(listed) > self.most_files:
            most = f"more than archive_files = {self.most_files:,}"
            raise _EntryError(f"{name}: {most} files", "list fewer files")
        files = tuple(each for each in listed if isinstance(each, str))
        if len(files) != len(listed):
            raise _EntryError(f"{name}: files is no list of paths", "list each path")
        for path in files:
            problem = path_problem(path)
            if problem:
                raise _EntryError(
                    f"{name}: the path {path[:80]!r} is not asked for: {problem}",
                    "list plain paths relative to the skill's folder",
                )
        if SKILL_FILE not in files:
            raise _EntryError(f"{name}: files lists no {SKILL_FILE}", "add it")
        return RemoteIndexEntry(
            name, "files", f"{name}/", files=tuple(sorted(set(files)))
        )


def _required_field(fields: Mapping[str, object], wanted: str) -> object:
    """Return a field that has to be there.

    Raises:
        _EntryError: It is not; names the field that was probably meant for it.
    """
    if wanted in fields:
        return fields[wanted]
    other = _misspelled_field(fields, wanted)
    if other:
        raise _EntryError(
            f"there is no {wanted}, but a field {other!r}, which means nothing here",
            f"call the field {wanted!r}",
        )
    raise _EntryError(f"there is no {wanted}", f"add a field {wanted!r}")


def _text_field(fields: Mapping[str, object], wanted: str) -> str:
    value = _required_field(fields, wanted)
    if not isinstance(value, str):
        raise _EntryError(f"{wanted} is no text", f"write {wanted} in quotes")
    return value


def _misspelled_field(fields: Mapping[str, object], wanted: str) -> str:
    return next((name for name in _WRONG_NAMES[wanted] if name in fields), "")


def _description_problem(fields: Mapping[str, object]) -> str:
    """Return what is wrong with a description; that of SKILL.md is the one used."""
    try:
        description = _text_field(fields, "description")
    except _EntryError as error:
        return str(error)
    if not description.strip():
        return "the description is empty"
    if len(description) > MAX_DESCRIPTION_CHARS:
        return f"the description has more than {MAX_DESCRIPTION_CHARS:,} characters"
    return ""
