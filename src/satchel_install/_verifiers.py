"""What says which bytes may be used: signatures of packs, and what is withdrawn.

Of a pack that is signed each file is listed, and none besides. What settings or a
source have withdrawn is refused all the same.
"""

import os
import re
import time
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from satchel.catalog import PackDigests
from satchel.errors import (
    ConfigError,
    DigestMismatchError,
    ReferenceNotFoundError,
    SkillError,
    SkillExcludedError,
    echo,
)
from satchel.files import check_read_size, digest_bytes, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileStat,
    Finding,
    Origin,
    Resource,
    Severity,
)
from satchel.protocols import SkillSource, Verifier, with_abilities
from satchel.sources import MemorySource
from satchel.text import clean_line
from satchel_install._lock import read_file
from satchel_install._signatures import (
    MAX_BUNDLE_BYTES,
    SIGNATURE_FILES,
    BadSignatureError,
    SignatureReader,
    SignedFiles,
)

NO_SIGNATURE: Final = f"it has no signature: no {' and no '.join(SIGNATURE_FILES)}"
_FIX: Final = "have it signed again, or name its signer in [trust] of your own file"
# Who vouches for what nobody can sign or lock: skills that the program itself makes.
OWN_CODE: Final = "the program's own code"
# Of a file, a release or a manifest; or of a whole skill, as satchel.lock has it.
_DIGEST: Final = re.compile(r"(?:sha256|sha256-tree-v1):[0-9a-f]{64}", re.IGNORECASE)
_EXPECTED: Final = "expected sha256:... or sha256-tree-v1:..., with 64 hex digits"
_WORD: Final = re.compile(r"""[^\s"'\[\],=]+""")
# The most of a reason that is shown, to people and to models.
_REASON_CHARS: Final = 200


class SignatureVerifier:
    """Says whether bytes are those that a signer of the skill has signed.

    The whole pack is looked at for the catalog, and each file again as it is loaded.
    Safe across threads.
    """

    def __init__(
        self,
        reader: SignatureReader,
        sources: Iterable[SkillSource],
        *,
        warn: bool = False,
        also: Verifier | None = None,
    ) -> None:
        """Take the sources, of which none may have another's label.

        ``warn`` only observes. What ``also`` refuses is refused, too.
        """
        self._reader = reader
        self._sources = {source.label: source for source in sources}
        self._warn = warn
        self._also = also
        # What was wrong with a pack, as long as its files have these marks.
        self._seen: dict[Hashable, tuple[Hashable, float, tuple[str, str]]] = {}

    def problem_of(self, skill: Descriptor) -> Finding | None:
        """Return what is wrong with a pack, file by file."""
        problem = self._also.problem_of(skill) if self._also else None
        detail = self.check(skill)[1]
        if problem or not detail:
            return problem
        return unvouched(skill, detail, _FIX, warn=self._warn)

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        """Return who signed the bytes of this digest, and where they came from.

        Raises:
            DigestMismatchError: Nobody did who may; says who expected what.
        """
        if self._is_made(skill):
            return OWN_CODE
        first = self._also.verify(skill, path, digest) + "; " if self._also else ""
        if signer := self._artifact_signer(skill)[0]:
            source = self._sources[skill.origin.source]
            at = f"{source.label}, {with_abilities(source).release}"
            return f"{first}{at}, signed by {signer}"
        try:
            files = self._files(skill)
            name, signed = self._signature(skill, files)
            problems = [*_differences(signed, path, digest)]
            problems += _of_names(skill, signed, files)
        except BadSignatureError as error:
            problems, name, signed = [str(error)], "", SignedFiles({}, "")
        if problems and self._warn:
            return ""
        if problems:
            raise DigestMismatchError(skill.id, path, detail=problems[0])
        whole = tree_digest(Resource(path, of, 0) for path, of in signed.files.items())
        at = f"{name}: {skill.origin.location}, {whole}"
        return f"{first}{at}, signed by {signed.signer}"

    def check(self, skill: Descriptor) -> tuple[str, str]:
        """Return who signed a pack, and why it is refused: one of both is empty."""
        if self._is_made(skill):
            return OWN_CODE, ""
        signer, of_artifact = self._artifact_signer(skill)
        if signer:
            return signer, ""
        try:
            files = self._files(skill)
            at, marks = (skill.origin, skill.id), (skill.digest, files)
            seen = self._seen.get(at, (None, 0.0, ("", "")))
            # A source that has no marks is read each time.
            is_marked = all(file.mark is not None for file in files)
            if is_marked and seen[0] == marks and time.time() < seen[1]:
                return seen[2]
            name, signed = self._signature(skill, files)
        except BadSignatureError as error:
            return "", f"{of_artifact}; {error}" if of_artifact else str(error)
        # A changed SKILL.md is among both.
        changes = *_of_names(skill, signed, files), *self._changes(skill, signed, files)
        problems = [*dict.fromkeys(changes)]
        more = f", and {len(problems) - 1} more" * (len(problems) > 1)
        reason = f"{name}: {problems[0]}{more}" if problems else ""
        answer = "" if reason else signed.signer, reason
        self._seen[at] = marks, signed.until, answer
        return answer

    def _artifact_signer(self, skill: Descriptor) -> tuple[str, str]:
        """Return who signed all that a registry has, and why that does not count."""
        source = self._sources.get(skill.origin.source)
        if source is None or not hasattr(source, "bundles"):
            return "", ""
        reasons: list[str] = []
        digest = with_abilities(source).release or ""
        try:
            for bundle in cast("Any", source).bundles():
                try:
                    return self._reader.artifact_signer(bundle, digest, skill.id), ""
                except BadSignatureError as error:
                    reasons.append(f"{digest}: {error}")
        except SkillError as error:
            reasons.append(str(error))
        return "", "; ".join(reasons)

    def _is_made(self, skill: Descriptor) -> bool:
        return type(self._sources.get(skill.origin.source)) is MemorySource

    def _files(self, skill: Descriptor) -> tuple[FileStat, ...]:
        """Return the files of a pack as they are now."""
        name = skill.origin.source
        if name not in self._sources:
            raise BadSignatureError(f"several sources are called {name}")
        try:
            files = self._sources[name].files(skill.origin.key)
            return tuple(file for file in files if not file.missing)
        except SkillError as error:
            raise BadSignatureError(str(error)) from error

    def _signature(
        self, skill: Descriptor, files: tuple[FileStat, ...]
    ) -> tuple[str, SignedFiles]:
        """Return the first signature of a pack that counts, with its file."""
        source, reasons = self._sources[skill.origin.source], list[str]()
        for name in {file.path: file for file in files}.keys() & {*SIGNATURE_FILES}:
            try:
                data = source.read(skill.origin.key, name, MAX_BUNDLE_BYTES)
                return name, self._reader.signed_files(data, skill.id)
            except (BadSignatureError, SkillError) as error:
                reasons.append(f"{name}: {error}")
        raise BadSignatureError("; ".join(sorted(reasons)) or NO_SIGNATURE)

    def _changes(
        self, skill: Descriptor, signed: SignedFiles, files: tuple[FileStat, ...]
    ) -> Iterable[str]:
        """Yield what is wrong with the bytes of the files that are listed."""
        source, key = self._sources[skill.origin.source], skill.origin.key
        there = {file.path: file for file in files}
        for path in signed.files:
            stat = there.get(path, FileStat(path, DEFAULT_LIMITS.file_bytes))
            try:
                # A source that knows a digest checks it whenever it reads the file.
                digest = stat.digest or digest_bytes(source.read(key, path, stat.size))
            except ReferenceNotFoundError:
                yield f"{path} is missing, which {signed.signer} signed"
            except SkillError as error:
                yield str(error)
            else:
                yield from _differences(signed, path, digest)


def _of_names(
    skill: Descriptor, signed: SignedFiles, files: tuple[FileStat, ...]
) -> list[str]:
    """Return whether the catalog has another SKILL.md, and which files are new."""
    digest = skill.digest or signed.files.get(SKILL_FILE, "")
    return [*_differences(signed, SKILL_FILE, digest)] + [
        f"{file.path} is not among the files that {signed.signer} signed"
        for file in files
        if file.path not in {*signed.files, *SIGNATURE_FILES}
    ]


def _differences(signed: SignedFiles, path: str, digest: str) -> Iterable[str]:
    expected = signed.files.get(path, "no such file")
    if expected != digest:
        yield f"{signed.signer} signed {path} as {expected}, and this is {digest}"


# --- What must not be used --------------------------------------------------------


def unvouched(skill: Descriptor, detail: str, fix: str, *, warn: bool) -> Finding:
    """Return the finding of a skill that nobody vouches for."""
    where = f"{skill.origin.location}/{SKILL_FILE}"
    level: Severity = "warning" if warn else "error"
    return Finding.of("unvouched-skill", where, severity=level, detail=detail, fix=fix)


def read_withdrawn(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return, by digest, who withdrew it, where that is written, and why.

    ``named`` are digests, with a reason after a space, or files with one on each line;
    each with the file of settings that names it.

    Raises:
        ConfigError: A digest, or a file, is none; says where.
    """
    reasons: dict[str, str] = {}
    words: dict[str, dict[str, int]] = {}
    for text, settings in named:
        if settings not in words:
            rows = reversed([*enumerate(_text_of(settings).splitlines(), 1)])
            words[settings] = {w: at for at, row in rows for w in _WORD.findall(row)}
        places = words[settings]
        line = places.get(text.split(" ")[0]) or places.get("withdrawn")
        file, listed = settings, [(line, text)]
        if not text.lower().startswith("sha256"):
            if "://" in text or not os.path.isfile(text):  # noqa: PTH113 - it may be no path
                detail = f"withdrawn: {echo(text, 500)!r} is no digest, and no file"
                raise ConfigError(settings, f"{detail}; an address is not read", line)
            file, listed = text, [*enumerate(_text_of(text).splitlines(), 1)]
        for at, row in listed:
            digest, reason = [*row.split(maxsplit=1), "", ""][:2]
            if file is text and (not digest or digest.startswith("#")):
                continue
            if not _DIGEST.fullmatch(digest):
                raise ConfigError(file, f"{echo(row)!r} is no digest; {_EXPECTED}", at)
            why = clean_line(reason)[:_REASON_CHARS] or "no reason is given"
            place = f"{file}, line {at}" if at else file
            reasons.setdefault(digest.lower(), f"is withdrawn by {place}: {why}")
    return reasons


def _text_of(file: str) -> str:
    check_read_size(file, Path(file).stat().st_size, DEFAULT_LIMITS.release_bytes)
    return (read_file(Path(file)) or b"").decode("utf-8-sig", "replace")


class RefusalVerifier:
    """Asks settings and the source of a skill first, and then another verifier.

    Safe across threads.
    """

    def __init__(
        self,
        sources: Iterable[SkillSource],
        inner: Verifier | None = None,
        withdrawn: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Take the sources in their order, which gives those of one label a number.

        ``withdrawn`` is as for `read_withdrawn`.
        """
        self._inner = inner
        # Without another one nobody compares a release with anything.
        self.trusts_lists = inner is None
        self._sources: dict[str, Any] = {}
        self._reasons: Mapping[str, str] = {}
        self._digests: dict[Origin, tuple[object, frozenset[str]]] = {}
        labels: list[str] = []
        for source in sources:
            labels.append(source.label)
            count = labels.count(source.label)
            self._sources[source.label + f"#{count}" * (count > 1)] = source
        self.withdraw(withdrawn)

    def withdraw(self, named: Iterable[tuple[str, str]]) -> None:
        """Refuse these, too, from now on; a shorter list takes nothing back.

        Raises:
            ConfigError: As `read_withdrawn`; all that was refused still is.
        """
        self._reasons = {**self._reasons, **read_withdrawn(named)}

    @property
    def withdrawn(self) -> frozenset[str]:
        """The digests that settings have withdrawn."""
        return frozenset(self._reasons)

    def problem_of(self, skill: Descriptor) -> Finding | None:
        """Return why a skill must not be used now."""
        detail = self._refusal_of(skill)
        if not detail:
            return self._inner.problem_of(skill) if self._inner else None
        fix = "use another release of it, or ask its publisher"
        return unvouched(skill, detail, fix, warn=False)

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        """Return who vouches for the bytes of this digest.

        Raises:
            SkillExcludedError: They must not be used; says who refuses them.
            DigestMismatchError: Nobody does.
        """
        if detail := self._refusal_of(skill, digest):
            # As in the catalog that is about to be made: no client reads the detail.
            raise SkillExcludedError(skill.id, "unverified", detail)
        if self._inner is not None:
            return self._inner.verify(skill, path, digest)
        source = self._sources.get(skill.origin.source)
        vouches = hasattr(source, "refusal_of")
        return f"{source.label}, {source.release}" if source and vouches else ""

    def _refusal_of(self, skill: Descriptor, *digests: str) -> str:
        source, reasons = self._sources.get(skill.origin.source), self._reasons
        refusal_of = getattr(source, "refusal_of", None)
        refusal = str(refusal_of(skill.origin.key)) if refusal_of else ""
        if refusal or not reasons or source is None:
            return refusal
        names = (*digests, skill.digest, *self._digests_of(skill, source))
        return next((f"{one} {reasons[one]}" for one in names if one in reasons), "")

    def _digests_of(self, skill: Descriptor, source: Any) -> Iterable[str]:  # noqa: ANN401
        """Return all by which a skill may be named: files, pack, release, manifest."""
        abilities, key = with_abilities(source), skill.origin.key
        digests_of = getattr(source, "digests_of", None)
        names = digests_of(key) if digests_of else (abilities.release or "",)
        state = skill.digest, skill.files
        last, digests = self._digests.get(skill.origin, (None, frozenset[str]()))
        if last == state:
            return (*names, *digests)
        digests = frozenset(file.digest for file in skill.files)
        # What is far away is not fetched for this.
        if abilities.near or all(digests):
            readers = {skill.origin.source: abilities}
            with suppress(SkillError):  # what cannot be read, nobody gets
                files = PackDigests(DEFAULT_LIMITS).resources(skill, readers)
                digests = frozenset([tree_digest(files), *(f.digest for f in files)])
                self._digests[skill.origin] = state, digests
        return (*names, *digests)
