"""satchel.lock: which bytes each skill of a project has, and where they came from.

Sorted, without times, in one spelling, so that equal projects have equal locks.
Source: docs/reference/lock-format.md.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError
from satchel.files import is_digest, path_problem, tree_digest
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Resource
from satchel_install._entries import KINDS, SkillsEntry, Upstream, checked, name_problem
from satchel_store.content import ContentStore
from satchel_store.release import DocumentParser, canonical_json, resource_to_json

LOCK_FILE: Final = "satchel.lock"
FORMAT: Final = "satchel-lock"
SCHEMA_VERSION: Final = 1
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MARKERS: Final = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LockedSkill:
    """One skill as it was resolved.

    ``entry`` is the one of ``[skills]`` that wants it, or that wants a skill that
    needs it. ``path`` is where the pack was in its upstream, and ``commit`` git's name
    of that state, or the digest of a registry's; empty for other kinds. ``files`` are
    sorted by path.
    """

    id: str
    entry: str
    upstream: Upstream
    commit: str
    path: str
    files: tuple[Resource, ...]
    requires: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of the whole pack."""
        return tree_digest(self.files)

    def withdrawal(self, reasons: Mapping[str, str]) -> str:
        """Return why it must not be used, of reasons by digest; empty without any."""
        if not reasons:
            return ""
        names = self.digest, self.commit, *(file.digest for file in self.files)
        return next((f"{one} {reasons[one]}" for one in names if one in reasons), "")

    @property
    def source(self) -> str:
        """Where it came from, for a message."""
        short = self.commit if self.upstream.kind == "oci" else self.commit[:12]
        at = f"@{short}" if short and short not in self.upstream.place else ""
        return f"{self.upstream.place}{at}"


@dataclass(frozen=True)
class Lock:
    """All skills of a project, by id; ``entries`` is what each entry said then.

    An entry that says the same as then is not resolved again. ``written`` are the bytes
    that it was read from, in whichever spelling: they are what a user approves.
    """

    skills: Mapping[str, LockedSkill]
    entries: Mapping[str, tuple[str, ...]]
    written: bytes = field(default=b"", compare=False, repr=False)

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file; locks that are made equal have equal ones."""
        if self.written:
            return self.written
        head = {"format": FORMAT, "schema_version": SCHEMA_VERSION}
        names = sorted(self.entries)
        entries = [{"name": name, "skills": [*self.entries[name]]} for name in names]
        skills = [_to_json(self.skills[skill_id]) for skill_id in sorted(self.skills)]
        return canonical_json({**head, "entries": entries, "skills": skills})

    def resolves(self, entry: SkillsEntry) -> bool:
        """Tell whether an entry is resolved here as it is now."""
        skills = self.of_entry(entry.name)
        same = all(skill.upstream == entry.upstream for skill in skills)
        is_as_then = same and self.entries.get(entry.name) == entry.skills
        return is_as_then and bool(skills or self.wanted_by(entry))

    def of_entry(self, name: str) -> list[LockedSkill]:
        """Return the skills that are there for one entry."""
        return [skill for skill in self.skills.values() if skill.entry == name]

    def wanted_by(self, entry: SkillsEntry) -> list[LockedSkill]:
        """Return what an entry came to, as its own, also what is there for others."""
        of, every = entry.upstream, self.skills.values()
        near = [s for s in every if replace(s.upstream, path=of.path) == of]
        named = (skill for skill in near if entry.takes(skill.id))
        ids = {skill.id for skill in named if of.has(skill.path)}
        # What those need was next to them, in any folder.
        while more := {i for s in near if s.id in ids for i in s.requires} - ids:
            ids |= more
        return [replace(s, entry=entry.name, upstream=of) for s in near if s.id in ids]


EMPTY: Final = Lock({}, {})


def _to_json(skill: LockedSkill) -> dict[str, object]:
    of = skill.upstream
    source: dict[str, object] = {of.kind: of.place}
    parts = {"rev": of.rev, "commit": skill.commit, "below": of.path}
    source |= {key: value for key, value in parts.items() if value}
    fields: dict[str, object] = {"id": skill.id, "entry": skill.entry}
    fields |= {"source": source, "path": skill.path, "digest": skill.digest}
    if skill.requires:
        fields["requires"] = [*skill.requires]
    return fields | {"files": [resource_to_json(file) for file in skill.files]}


def read_lock(path: Path) -> Lock:
    """Return what a lock says; an empty one where there is no file.

    Raises:
        ConfigError: It cannot be read; names the line of a merge's conflict.
    """
    data = read_file(path)
    return EMPTY if data is None else parse_lock(data, str(path))


def read_file(path: Path) -> bytes | None:
    """Return the bytes of a file, None without one; a FIFO is not waited for.

    Raises:
        ConfigError: It cannot be read, or is no regular file.
    """
    if path.is_file():
        try:
            return path.read_bytes()
        except OSError as error:
            raise ConfigError(str(path), error.strerror or str(error)) from error
    if os.path.lexists(path):
        raise ConfigError(str(path), "it is no regular file; remove it")
    return None


def parse_lock(data: bytes, where: str) -> Lock:
    """Return what the bytes of a lock say; ``where`` is what errors call it."""
    check_merged(data, where, "take one side, and then run: satchel sync")
    return _LockParser(where, DEFAULT_LIMITS, ConfigError).lock(data)


def check_merged(data: bytes, where: str, advice: str) -> None:
    """Refuse a file in which a merge left its conflict."""
    if marker := _MARKERS.search(data):
        line = data.count(b"\n", 0, marker.start()) + 1
        raise ConfigError(where, f"a merge left its conflict here; {advice}", line)


class _LockParser(DocumentParser):
    """Turns the JSON of one lock into values, or says where it is wrong."""

    def lock(self, data: bytes) -> Lock:
        top = self.load(data)
        self.check_head(top, FORMAT, version=SCHEMA_VERSION)
        entries = {
            self._name(fields, "name", f"{at}."): self._texts(fields, "skills", at)
            for at, fields in self._objects(top, "entries", "")
        }
        rows = self._objects(top, "skills", "")
        skills = [self._skill(fields, f"{at}.") for at, fields in rows]
        self._check_names([skill.id for skill in skills], "skills")
        return Lock({skill.id: skill for skill in skills}, entries, data)

    def _skill(self, fields: Mapping[str, object], at: str) -> LockedSkill:
        skill_id = self._name(fields, "id", at)
        if problem := name_problem(skill_id):
            raise self._error(f"{at}id", problem)
        source = self._object(fields.get("source"), f"{at}source")
        kind = next(filter(source.__contains__, KINDS), None)
        if kind is None:
            raise self._error(f"{at}source", f"expected one of {', '.join(KINDS)}")
        keys = [key for key in ("rev", "commit", "below") if key in source]
        optional = {key: self._text(source, key, f"{at}source.") for key in keys}
        commit = optional.get("commit", "")
        if kind == "git" and not _COMMIT.fullmatch(commit):
            raise self._error(f"{at}source.commit", "expected git's name of a commit")
        if kind == "oci" and not is_digest(commit):
            raise self._error(f"{at}source.commit", "expected the digest of a manifest")
        place = self._text(source, kind, f"{at}source.")
        of = optional.get("below", ""), optional.get("rev", "")
        upstream = checked(Upstream(kind, place, *of), self._where, f"{at}source")
        path = self._text(fields, "path", at)
        if path and (problem := path_problem(path)):
            raise self._error(f"{at}path", problem)
        rows = self._objects(fields, "files", at)
        files = tuple(self._resource(item, f"{here}.") for here, item in rows)
        for file in files:
            if problem := path_problem(file.path):
                raise self._error(f"{at}files", f"{file.path!r}: {problem}")
        self._check_names([file.path for file in files], f"{at}files")
        if all(file.path != SKILL_FILE for file in files):
            raise self._error(f"{at}files", f"there is no {SKILL_FILE}")
        entry = self._name(fields, "entry", at)
        requires = self._texts(fields, "requires", at)
        skill = LockedSkill(skill_id, entry, upstream, commit, path, files, requires)
        if self._text(fields, "digest", at) != skill.digest:
            raise self._error(f"{at}digest", "it is not that of the files listed")
        return skill


def is_stored(skill: LockedSkill, store: ContentStore) -> bool:
    """Tell whether the store has something for each file of a skill."""
    return all(store.has(file.digest) for file in skill.files)


def stored_files(skill: LockedSkill, store: ContentStore) -> dict[str, bytes]:
    """Return the bytes of a locked skill by path; the store checks each it reads."""
    files: dict[str, bytes] = {}
    for file in skill.files:
        files[file.path] = data = store.get(file.digest)
        if len(data) != file.size:
            raise SkillError(f"{skill.id}/{file.path} is not what satchel.lock says")
    return files
