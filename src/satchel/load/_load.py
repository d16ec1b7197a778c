"""`load`: the one path by which the bytes of a pack reach anyone."""

from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from satchel.errors import (
    AmbiguousReferenceError,
    ApprovalNeededError,
    ChangedSinceSyncError,
    DeniedError,
    DuplicateSkillError,
    LimitExceededError,
    PackFileError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import check_path, check_read_size
from satchel.load._turn_cache import TurnCache
from satchel.load._wording import deprecated_note, remote_notes
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Decision,
    Descriptor,
    FileReader,
    Finding,
    Limits,
    Loaded,
    Request,
    findings_of,
)
from satchel.protocols import CatalogView
from satchel.skill_md import body_of
from satchel.text import content_warnings, decode, is_text, printable

if TYPE_CHECKING:
    from mimetypes import MimeTypes

ALLOWED: Final = Decision("allow")
# Why a pack is not listed that loads all the same.
STILL_LOADS: Final = frozenset({"deprecated", "hidden"})
_CLOSE_NAMES: Final = 3
_DIGEST: Final = "sha256:"


def load(
    catalog: CatalogView,
    request: Request,
    *,
    decision: Decision = ALLOWED,
    turn: TurnCache | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Loaded:
    """Return a skill's SKILL.md, or one listed file next to it, exact and whole.

    Id, decision and allowlist are checked before the file system is touched, and before
    what the turn has read already is looked at: it may have been read for somebody
    else. No person is asked here, and nothing is run, rendered or fetched. The text is
    never altered: what it hides, and tags with which it would leave its envelope, are
    notes and findings next to it.

    Args:
        catalog: The snapshot to look in.
        request: The id, exactly, and the file; see `resolve`.
        decision: What a policy says of this request, and a person where it asks one.
        turn: What the agent's turn has read already; None reads again.
        limits: How many bytes are accepted.

    Raises:
        SkillNotFoundError: No skill of exactly this id.
        SkillExcludedError: It is known, and is not handed out.
        DuplicateSkillError: Several packs claim the id.
        DeniedError: The decision is no.
        ApprovalNeededError: The decision is that somebody has to be asked.
        ReferenceEscapesError: The path would leave the pack.
        ReferenceNotAllowedError: The file is not listed.
        AmbiguousReferenceError: A short name that several listed files have.
        ReferenceNotFoundError: Listed, and missing.
        ReferenceUnreadableError: There, and cannot be read.
        ChangedSinceSyncError: Not the bytes that were catalogued.
        LimitExceededError: Larger than the limits allow.
        SourceUnavailableError: The source does not answer.
    """
    descriptor, notes = look_up(catalog, request.id)
    if decision.verdict != "allow":  # else an error names the files
        error = ApprovalNeededError if decision.verdict == "ask" else DeniedError
        raise error(decision.action, descriptor.id, reason=decision.reason)
    file = SKILL_FILE
    if request.file is not None:
        file = resolve(descriptor, request.file)
    # The turn's cache is behind the decision: another user may have read it first.
    if turn is None:
        return _read(catalog, descriptor, file, notes, limits)
    return turn.get(
        (descriptor.id, file), lambda: _read(catalog, descriptor, file, notes, limits)
    )


def find_loadable(catalog: CatalogView, id: str) -> Descriptor | None:
    """Return the pack of exactly this id that loads: listed, hidden or deprecated."""
    entry = catalog.get(id)
    if entry is not None:
        return entry
    exclusion = catalog.exclusion_of(id)
    is_loadable = exclusion and exclusion.reason in STILL_LOADS
    return exclusion.descriptor if exclusion and is_loadable else None


def look_up(catalog: CatalogView, id: str) -> tuple[Descriptor, tuple[str, ...]]:
    """Return the pack of exactly this id, and notes for its reader.

    An id that several packs claim, an excluded one, and an unknown one are an error
    each; the last carries close ids, and the id's replacement.
    """
    entry = catalog.get(id)
    if entry is not None:
        return entry, ()
    conflict = catalog.conflict_of(id)
    if conflict is not None:
        first, second = (owner.origin.location for owner in conflict.owners[:2])
        raise DuplicateSkillError(id, first, second, conflict.fix)
    exclusion = catalog.exclusion_of(id)
    if exclusion is None:
        raise _not_found(catalog, id)
    if exclusion.reason not in STILL_LOADS:
        raise SkillExcludedError(id, exclusion.reason, exclusion.fix)
    descriptor = exclusion.descriptor
    is_hidden = exclusion.reason == "hidden"
    return descriptor, () if is_hidden else (deprecated_note(descriptor),)


def _not_found(catalog: CatalogView, id: str) -> SkillError:
    # No skill has such an id, and the search for close ones takes time by its length.
    if len(id) > DEFAULT_LIMITS.name_chars:
        return SkillNotFoundError(id)
    replacement = catalog.replacement_of(id)
    incomplete = catalog.incomplete_source
    if incomplete is not None and not replacement:
        return SourceUnavailableError(incomplete.label, incomplete.error)
    # A folder that cannot be opened has no descriptor, only a finding.
    for finding in findings_of(catalog.findings, {"unreadable-folder"}):
        if finding.path.rpartition("/")[2] == id:
            return ReferenceUnreadableError(id, SKILL_FILE, detail=finding.message)
    from satchel.text import nearest

    listed = [entry.id for entry in catalog.entries]
    close = tuple(nearest(id, listed, _CLOSE_NAMES))
    return SkillNotFoundError(id, close, replacement)


_BUCKETS: Final = ("references/", "scripts/", "assets/")


def resolve(descriptor: Descriptor, file: str) -> str:
    """Return the listed path that ``file`` names.

    A listed path is itself; else a name inside one of the three buckets; else a file
    name that one listed path alone ends in. SKILL.md is always listed. A name that
    hides characters may be given as it is shown, with ``<U+202E>`` in their place.

    Raises:
        ReferenceEscapesError: ``file`` is no plain relative path.
        AmbiguousReferenceError: Several listed files fit; carries them.
        ReferenceNotAllowedError: None fits; carries all listed files.
    """
    # The list is the allowlist; the path is checked before, so that an error never says
    # whether something outside exists.
    check_path(file, descriptor.id)
    listed = descriptor.resources
    if file == SKILL_FILE or file in listed:
        return file
    fitting = tuple(bucket + file for bucket in _BUCKETS if bucket + file in listed)
    if not fitting:
        suffix = f"/{file}"
        fitting = tuple(path for path in listed if path.endswith(suffix))
    if not fitting and "<U+" in file:  # as a name with hidden characters is shown
        shown = ((path, f"/{printable(path, keep='')}") for path in listed)
        fitting = tuple(path for path, name in shown if name.endswith(f"/{file}"))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:  # to guess could hand out another file than the one that is meant
        raise AmbiguousReferenceError(descriptor.id, file, fitting)
    raise ReferenceNotAllowedError(descriptor.id, file, listed)


def _read(
    catalog: CatalogView,
    descriptor: Descriptor,
    file: str,
    notes: tuple[str, ...],
    limits: Limits,
) -> Loaded:
    source = descriptor.origins[0].source
    reader = catalog.readers.get(source)
    if reader is None:
        raise SourceUnavailableError(source, "the source was closed")
    if descriptor.remote:
        notes += remote_notes(descriptor)
    is_skill = file == SKILL_FILE
    limit = limits.skill_md_bytes if is_skill else limits.file_bytes
    data = fetch(reader, descriptor, file, limit)
    digest = _DIGEST + sha256(data).hexdigest()
    if is_skill:
        changed = descriptor.digest not in (digest, "")
    else:
        changed = has_changed(reader, descriptor, file, len(data), digest)
    # Before anything is decoded: bytes that were never catalogued go no further.
    if changed:
        raise ChangedSinceSyncError(descriptor.id, file)
    if not (is_skill or is_text(data)):
        kind = media_type(file, text=False)
        return Loaded(descriptor, file, data, "", digest, kind, notes=notes)
    findings = cached_content_warnings(data, digest, file)
    try:
        text = data.decode()  # nearly every file is UTF-8, with nothing to repair
    except UnicodeDecodeError:
        decoded = decode(data)
        text = decoded.text
        repairs = (replace(finding, path=file) for finding in decoded.findings)
        findings = (*repairs, *findings)
    return Loaded(
        descriptor,
        file,
        data,
        text,
        digest,
        MARKDOWN if is_skill else media_type(file, text=True),
        body_of(text) if is_skill else "",
        (*notes, *map(_finding_note, findings)),
        findings,
    )


def _finding_note(finding: Finding) -> str:
    line = f", line {finding.line}" if finding.line else ""
    return f"{printable(finding.path, keep='')}{line}: {finding.message}."


# Digests that are remembered. With more, all files are scanned again.
MAX_CLEAN_DIGESTS: Final = 16_384
_clean_digests: set[str] = set()


def cached_content_warnings(data: bytes, digest: str, path: str) -> tuple[Finding, ...]:
    """Return what `content_warnings` does; ``digest`` is that of the data."""
    # To look through a text is a good part of what a load costs, and most texts are
    # loaded again and again as they are. Only clean ones are kept: a digest is enough.
    if digest in _clean_digests:
        return ()
    warnings = content_warnings(data, path)
    if not warnings:
        if len(_clean_digests) >= MAX_CLEAN_DIGESTS:
            _clean_digests.clear()
        _clean_digests.add(digest)
    return warnings


def fetch(reader: FileReader, descriptor: Descriptor, file: str, limit: int) -> bytes:
    """Return one file's bytes; every error names the skill and the path inside it."""
    try:
        data = reader.read(descriptor.origins[0].key, file, limit)
    except Exception as error:
        better = _fetch_error(error, descriptor, file, limit)
        if better is error:
            raise
        raise better from error
    check_read_size(file, len(data), limit)  # a source may not have kept to it
    return data


def _fetch_error(
    error: Exception, descriptor: Descriptor, file: str, limit: int
) -> Exception:
    name, listed = descriptor.id, descriptor.resources
    if isinstance(error, (ReferenceNotFoundError, SkillNotFoundError)):
        is_gone = isinstance(error, SkillNotFoundError)
        detail = "the whole pack is gone" if is_gone else ""
        return ReferenceNotFoundError(name, file, listed, detail)
    if isinstance(error, PackFileError):
        return type(error)(name, file, detail=error.detail)
    if isinstance(error, LimitExceededError):
        name = "skill_md_bytes" if file == SKILL_FILE else "file_bytes"
        return LimitExceededError(name, limit, error.actual, "bytes", file)
    if isinstance(error, SkillError):
        return error
    is_network = isinstance(error, (TimeoutError, ConnectionError))
    if isinstance(error, OSError) and not is_network:
        # Its message would carry the absolute path; strerror does not.
        detail = error.strerror or type(error).__name__
        return ReferenceUnreadableError(name, file, detail=detail)
    # A source is a plug-in: what else it raises says nothing of the file.
    return SourceUnavailableError(descriptor.source, type(error).__name__)


def has_changed(
    reader: FileReader, descriptor: Descriptor, file: str, size: int, digest: str
) -> bool:
    """Return whether a file other than SKILL.md is not the one that was catalogued.

    False where the catalog does not say what it saw. Without a digest, size and mark
    decide, so a file that was written again with the same bytes counts as changed.
    """
    stat = next((s for s in descriptor.files if s.path == file), None)
    if stat is None:
        return False
    if stat.size != size:
        return True
    if stat.digest:
        return stat.digest != digest
    key = descriptor.origin.key
    # A look at one file, where the source has it: a look at each file of a large pack
    # for each of them would take minutes. What it does not confirm is asked in full.
    if reader.is_unchanged(key, stat):
        return False
    try:
        now = tuple(reader.files(key))
    except (SkillError, OSError):
        return True
    return stat not in now


MARKDOWN: Final = "text/markdown"
_TEXT_TYPES: Final = ("application/json", "application/xml", "image/svg+xml")


def media_type(path: str, *, text: bool) -> str:
    """Return a media type that does not depend on the machine."""
    if path.endswith(".md"):
        return MARKDOWN
    # Where name and bytes disagree, plain text or plain bytes: `.ts` is TypeScript more
    # often than a film.
    guess, encoding = _types().guess_type(path)
    is_text_type = guess is not None and (
        guess.startswith("text/") or guess in _TEXT_TYPES
    )
    if guess is None or encoding is not None or is_text_type is not text:
        return "text/plain" if text else "application/octet-stream"
    return guess


@cache
def _types() -> "MimeTypes":
    """Return the standard library's own table, not that of the machine."""
    from mimetypes import MimeTypes

    return MimeTypes()
