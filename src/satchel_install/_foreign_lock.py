"""The lock files of ``npx skills``: what they list, as entries of ``[skills]``.

``skills-lock.json`` of a project (version 1) and ``.skill-lock.json`` of a user
(version 3) are read, and never written. A file may have come along with a project: so
nobody here has typed what it lists, and an entry that cannot be used is named and left.
Source: skills 1.7.4 on npm, as it writes and hashes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Final

from satchel.errors import ConfigError, SkillError, echo
from satchel.files import digest_bytes
from satchel.model import DEFAULT_LIMITS, SKILL_FILE
from satchel_install._entries import FORGE, SkillsEntry, Upstream, checked, name_problem
from satchel_install._lock import Lock, check_merged, is_stored, stored_files
from satchel_install._project import Project, relative_place
from satchel_install._trust import is_outside
from satchel_store.content import ContentStore
from satchel_store.release import DocumentParser

# 1,000 skills take about a third of a MiB.
_LIMITS: Final = replace(DEFAULT_LIMITS, release_bytes=1 << 20)
_NOT_HASHED: Final = frozenset({".git", "node_modules"})
# The order in which `localeCompare` has what ASCII can print, letters by their case
# last: measured with Node.js 20.
_COLLATED: Final = (
    " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
)


@dataclass(slots=True)
class ForeignLock:
    """What a lock file of another tool lists.

    ``digests`` are what it has of each skill's files; ``left`` says of each skill that
    cannot be taken over why not.
    """

    where: str
    entries: dict[str, SkillsEntry] = field(default_factory=dict[str, SkillsEntry])
    digests: dict[str, str] = field(default_factory=dict[str, str])
    left: list[str] = field(default_factory=list[str])


def read_foreign_lock(
    file: Path, project: Project, entries: Mapping[str, SkillsEntry]
) -> ForeignLock:
    """Return what a file lists, for a project that has ``entries``.

    Raises:
        ConfigError: It is no such file; says the line of what is no JSON.
        LimitExceededError: It has more than a MiB.
    """
    lock = ForeignLock(str(file))
    parser = _ForeignParser(lock.where, _LIMITS, ConfigError)
    with file.open("rb") as opened:
        data = opened.read(_LIMITS.release_bytes + 1)
    for name, fields in parser.rows(data):
        try:
            entry, digest = parser.entry(name, fields, file.parent, project)
            if entries.get(name, entry) != entry:
                raise ConfigError(lock.where, f"[skills] has another entry {name!r}")
            lock.entries[name], lock.digests[name] = entry, digest
        except SkillError as error:
            lock.left.append(f"{echo(name)!r} is left out: {error}")
    return lock


class _ForeignParser(DocumentParser):
    """Turns the rows of one file into entries, or says what is wrong with one."""

    def rows(self, data: bytes) -> Iterator[tuple[str, object]]:
        check_merged(data, self._where, "take one side")
        top = self.load(data)
        if str(top.get("version")) not in {"1", "3"}:
            raise self._error("version", "expected 1 or 3, as `npx skills` writes them")
        yield from self._object(top.get("skills"), "skills").items()

    def entry(
        self, name: str, value: object, folder: Path, project: Project
    ) -> tuple[SkillsEntry, str]:
        """Return an entry, and the hash that the file has of it; empty without one."""
        at = f"skills.{echo(name)}"
        # In `skills` it would stand for others, too.
        if problem := name_problem(name) or "it is a pattern" * (escape(name) != name):
            raise self._error(at, problem)
        fields = self._object(value, at)
        upstream = checked(self._upstream(fields, f"{at}."), self._where, at)
        if upstream.kind == "folder":
            upstream = relative_place(upstream, project, folder)
        # The folder of a skill says which one; any other place has more of them.
        entry = SkillsEntry(name, upstream, () if upstream.path else (name,))
        if is_outside(entry, project.folder):
            detail = f"{upstream.place} is outside of this project, or has no "
            detail += "certificate; satchel add SOURCE takes it nevertheless"
            raise self._error(at, detail)
        keys = ("computedHash", "skillFolderHash", "wellKnownDigest")
        return entry, self._first(fields, f"{at}.", *keys)

    def _upstream(self, fields: Mapping[str, object], at: str) -> Upstream:
        kind = self._first(fields, at, "sourceType")
        if kind == "local":
            return Upstream("folder", self._first(fields, at, "source"))
        place = self._first(fields, at, "sourceBaseUrl", "sourceUrl", "source")
        if kind == "well-known":
            return Upstream("site", place)
        if kind not in {"github", "gitlab", "git"}:
            raise self._error(f"{at}sourceType", f"{echo(kind)!r} is not read here")
        if kind == "github" and ":" not in place:
            place = f"{FORGE}/{place}"
        path, _, file = self._first(fields, at, "skillPath").rpartition("/")
        if file.lower() not in {"", SKILL_FILE.lower()}:
            raise self._error(f"{at}skillPath", f"expected .../{SKILL_FILE}")
        return Upstream("git", place, path, self._first(fields, at, "ref"))

    def _first(self, fields: Mapping[str, object], at: str, *keys: str) -> str:
        """Return the first of these texts that is there; empty without any."""
        texts = (self._text(fields, key, at) for key in keys if fields.get(key))
        return next(texts, "")


def differences(foreign: ForeignLock, lock: Lock, store: ContentStore) -> list[str]:
    """Return a sentence on each skill whose files are not those that a file has hashed.

    What is not in the store, nobody has fetched just now.
    """
    return [
        f"{skill.id}: what {skill.source} has differs from {foreign.where}"
        for name, digest in foreign.digests.items()
        if (skill := lock.skills.get(name)) is not None
        and is_stored(skill, store)
        and _differs(stored_files(skill, store), digest)
    ]


def _differs(files: Mapping[str, bytes], digest: str) -> bool:
    """Tell whether files have another hash; what cannot be computed again has not."""
    if digest.startswith("sha256:"):
        # Of a site: that of an archive is of its bytes, which are not here any more.
        file = files[SKILL_FILE]
        framed = b"%b\0%b\0" % (SKILL_FILE.encode(), file)
        return len(files) == 1 and digest not in map(digest_bytes, (file, framed))
    paths = [p for p in files if _NOT_HASHED.isdisjoint(p.split("/")[:-1])]
    order = sorted(paths, key=_collation)
    whole = sha256(b"".join(path.encode() + files[path] for path in order)).hexdigest()
    # One that is shorter is git's own.
    return "".join(paths).isascii() and len(digest) == len(whole) and whole != digest


def _collation(path: str) -> tuple[list[int], list[bool]]:
    """Return what sorts ASCII as `localeCompare` does: letters before their case."""
    places = [_COLLATED.find(sign) for sign in path.lower()]
    return places, [sign.isupper() for sign in path]
