"""Skills verified where a model reads them: against approved locks, and signatures."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from satchel.config import Config
from satchel.errors import ConfigError, DigestMismatchError
from satchel.files import digest_bytes, mark_of
from satchel.model import SKILL_FILE, Descriptor, Finding
from satchel.protocols import SkillSource, Verifier, with_abilities
from satchel.sources import MemorySource
from satchel_install._lock import LOCK_FILE, LockedSkill, parse_lock
from satchel_install._signatures import SignatureReader
from satchel_install._trust import VARIABLE, approvals_file, is_approved
from satchel_install._verifiers import (
    OWN_CODE,
    RefusalVerifier,
    SignatureVerifier,
    unvouched,
)

# Seconds after which the files of locks and approvals are looked at again.
LOOK_S: Final = 0.05
# Digests by path of one skill, and who vouches for it.
_Expected: TypeAlias = tuple[Mapping[str, str], str]


@dataclass(frozen=True, slots=True)
class _ReadLock:
    """A lock as it was read: digests by path, and who vouches, for each id.

    ``problem`` is why it does not count.
    """

    skills: Mapping[str, _Expected]
    problem: str = ""


# Who vouches for what was asked; with the marks of the files, and the locks there.
_Answers: TypeAlias = dict[tuple[str, ...], str]
_Read: TypeAlias = tuple[object, tuple[_ReadLock, ...], _Answers]


class LockVerifier:
    """Says whether bytes are those of an approved lock. Safe across threads.

    Locks and approvals are read again when their files change, so that what is
    approved or taken back counts `LOOK_S` later.
    """

    def __init__(
        self,
        folders: Iterable[Path],
        *,
        warn: bool = False,
        vouched: Mapping[str, str] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Take the folders whose locks count, if they are approved.

        ``warn`` only observes. ``vouched`` says, by the label of a source, who vouches
        for it without a lock, such as a release.
        """
        self._files = tuple(dict.fromkeys(folder / LOCK_FILE for folder in folders))
        self._warn = warn
        self._vouched = dict(vouched or {})
        self._environ = environ
        self._approvals = approvals_file()
        self._read: _Read | None = None
        self._looked = 0.0

    def problem_of(self, skill: Descriptor) -> Finding | None:
        """Return what is wrong with a skill's SKILL.md as it was catalogued."""
        answer = self._find(skill, SKILL_FILE, skill.digest)
        if isinstance(answer, str):
            return None
        return unvouched(skill, *answer, warn=self._warn)

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        """Return who vouches for the bytes of this digest.

        Raises:
            DigestMismatchError: Nobody does; says what the lock has.
        """
        answer = self._find(skill, path, digest)
        if isinstance(answer, str):
            return answer
        if self._warn:
            return ""
        raise DigestMismatchError(skill.id, path, detail=answer[0])

    def _find(self, skill: Descriptor, path: str, digest: str) -> str | tuple[str, str]:
        """Return who vouches for a file, else why nobody does, and what to do."""
        origin = skill.origins[0]
        if origin.source in self._vouched:
            return self._vouched[origin.source]
        _, locks, answers = self._locks()
        # All that decides below, but for the locks.
        asked = skill.id, skill.name, origin.key, skill.digest, path, digest
        if asked in answers:
            return answers[asked]
        expected = named = ""
        for lock in locks:
            # A prefix may be in front of the id, which no lock knows; or there was one
            # when it was locked, so that only its folder is called so.
            names = dict.fromkeys((skill.id, skill.name, origin.key.rpartition("/")[2]))
            for skill_id in filter(lock.skills.__contains__, names):
                files, who = lock.skills[skill_id]
                is_same = skill.digest in ("", files[SKILL_FILE])
                if files.get(path) == digest and is_same:
                    answers[asked] = who
                    return who
                expected, named = files.get(path, "no such file"), skill_id
        if expected:
            detail = f"{LOCK_FILE} has {expected}, and this is {digest}"
            advice = f"to take the locked one, type: satchel sync --discard {named}"
            return detail, f"look at it with satchel verify; {advice}"
        problem = next((lock.problem for lock in locks if lock.problem), "")
        detail = problem or f"no approved {LOCK_FILE} has a skill of this name"
        return detail, "add it with satchel add, or approve its lock: satchel trust"

    def _locks(self) -> _Read:
        read, now = self._read, time.monotonic()
        # A look at a few files would cost more than a load.
        if read is not None and now < self._looked + LOOK_S:
            return read
        marks = tuple(map(_mark, (*self._files, self._approvals)))
        if read is None or read[0] != marks:
            locks = tuple(map(self._read_lock, self._files))
            self._read = read = marks, locks, _Answers()
        self._looked = now
        return read

    def _read_lock(self, file: Path) -> _ReadLock:
        if not file.is_file():  # a FIFO would be waited for
            return _ReadLock({})
        try:
            data = file.read_bytes()
            if not is_approved(file.parent, digest_bytes(data), self._environ):
                detail = f"{file} is not approved; to approve it, type: satchel trust"
                return _ReadLock({}, f"{detail} (in CI: {VARIABLE})")
            lock = parse_lock(data, str(file))
        except OSError:
            return _ReadLock({})
        except ConfigError as error:
            return _ReadLock({}, str(error))
        return _ReadLock({i: _expected(skill) for i, skill in lock.skills.items()})


def _expected(skill: LockedSkill) -> _Expected:
    files = {file.path: file.digest for file in skill.files}
    return files, f"{LOCK_FILE}: {skill.source}, {skill.digest}"


def _mark(file: Path) -> object:
    with suppress(OSError):
        return mark_of(status := file.stat()), status.st_size
    return None


def open_verifier(
    config: Config,
    sources: Iterable[SkillSource],
    config_file: str,
    environ: Mapping[str, str],
) -> Verifier:
    """Return what a program verifies with, for ``[trust]`` of its settings.

    ``warn`` observes signatures where signers are named, else locks. Locks are looked
    for next to the configuration file, in each folder of the sources, and in the folder
    above it. A release that is pinned is vouched for by its pin, unless signatures are
    asked for: the digest of any other one is only its maker's word.

    Raises:
        ConfigError: Signatures are asked for, and no signer is named, or a wrong one;
            or what is withdrawn is no digest, and no list of such.
        ExtraMissingError: The libraries that verify signatures are not installed.
    """
    folders = [Path(config_file).absolute().parent] if config_file else []
    vouched: dict[str, str] = {}
    sources, verify = tuple(sources), config.verify
    labels = Counter(source.label for source in sources)
    # Of two sources of one label, nobody knows here which one is meant.
    single = [source for source in sources if labels[source.label] == 1]
    for source in sources:
        abilities = with_abilities(source)
        pin = getattr(source, "pin", None)
        if type(source) is MemorySource and source in single:
            vouched[source.label] = OWN_CODE
        elif pin is not None and source in single:
            vouched[source.label] = f"release {pin}"
        if abilities.root:
            folders += [Path(abilities.root), Path(abilities.root).parent]
    warn = verify == "warn"
    locks = LockVerifier(folders, warn=warn, vouched=vouched, environ=environ)
    inner: Verifier | None = locks if verify else None
    if verify in {"signed", "both"} or (warn and config.signers):
        also = locks if verify == "both" else None
        inner = SignatureVerifier(SignatureReader(config), single, warn=warn, also=also)
    # What settings or a source refuse is refused whatever else is asked for.
    return RefusalVerifier(sources, inner, config.withdrawn)
