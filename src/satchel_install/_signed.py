"""Packs against their signatures: each file that is listed, and none besides."""

import time
from collections.abc import Hashable, Iterable
from typing import Any, Final, cast

from satchel.errors import DigestMismatchError, ReferenceNotFoundError, SkillError
from satchel.files import digest_bytes, tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    FileStat,
    Finding,
    Resource,
)
from satchel.protocols import SkillSource, Verifier, with_abilities
from satchel.sources import MemorySource
from satchel_install._refusals import unvouched
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
