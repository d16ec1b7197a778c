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
    SkillError,
    SkillExcludedError,
    SourceUnavailableError,
)
from satchel.files import LruCache, check_path, check_read_size
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
)
from satchel.protocols import CatalogView, Verifier
from satchel.skill_md import body_of
from satchel.text import content_warnings, decode, is_text, is_unsure, printable

if TYPE_CHECKING:
    from mimetypes import MimeTypes

    from satchel.load._turn_cache import TurnCache

ALLOWED: Final = Decision("allow")
# Why a pack is not listed that loads all the same.
STILL_LOADS: Final = frozenset({"deprecated", "hidden"})
_DIGEST: Final = "sha256:"


def load(  # noqa: PLR0913 - what is asked for, and what decides, all by name
    catalog: CatalogView,
    request: Request,
    *,
    decision: Decision = ALLOWED,
    turn: "TurnCache | None" = None,
    limits: Limits = DEFAULT_LIMITS,
    verifier: Verifier | None = None,
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
        verifier: Compares the bytes with what somebody reviewed; None compares nothing.

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
        DigestMismatchError: Not the bytes that somebody reviewed.
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
    def read() -> Loaded:
        return _read(catalog, descriptor, file, notes, limits, verifier)

    return read() if turn is None else turn.get((descriptor.id, file), read)


def find_loadable(catalog: CatalogView, id: str) -> Descriptor | None:
    """Return the pack of exactly this id that loads: listed, hidden or deprecated."""
    entry = catalog.get(id)
    if entry is not None:
        return entry
    exclusion = catalog.exclusion_of(id)
    is_loadable = exclusion and exclusion.reason in STILL_LOADS
    return exclusion.descriptor if exclusion and is_loadable else None


def needed_skill(
    catalog: CatalogView, entry: Descriptor, name: str
) -> Descriptor | None:
    """Return the skill that an entry means that needs ``name``; None if none loads."""
    # Its source may put a prefix in front of ids, which no author knows.
    prefix = entry.id.removesuffix(entry.name)
    return find_loadable(catalog, prefix + name) or find_loadable(catalog, name)


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
        raise conflict.error
    exclusion = catalog.exclusion_of(id)
    if exclusion is None:
        from satchel.load._failed_load import not_found

        raise not_found(catalog, id)
    if exclusion.reason not in STILL_LOADS:
        advice = exclusion.fix
        if exclusion.reason == "unverified":  # who expected what
            advice = f"{exclusion.detail}; {advice}"
        raise SkillExcludedError(id, exclusion.reason, advice)
    descriptor = exclusion.descriptor
    is_hidden = exclusion.reason == "hidden"
    return descriptor, () if is_hidden else (deprecated_note(descriptor),)


def resolve(descriptor: Descriptor, file: str) -> str:
    """Return the listed path that ``file`` names, as texts and models write it.

    See `satchel.skill_md.named_files`. SKILL.md is always listed.

    Raises:
        ReferenceEscapesError: ``file`` does not stay inside.
        AmbiguousReferenceError: Several listed files fit; carries them.
        ReferenceNotAllowedError: None fits; carries all listed files, nearest first.
    """
    # The list is the allowlist, and no error says whether something outside exists.
    listed = descriptor.resources
    if file == SKILL_FILE:
        return file
    fitting: tuple[str, ...] = (file,)
    if file not in listed:
        from satchel.skill_md import named_files

        fitting = named_files(file, listed, (descriptor.id, descriptor.name))
    if len(fitting) > 1:  # to guess could hand out another file than the one meant
        raise AmbiguousReferenceError(descriptor.id, file, fitting)
    if not fitting:
        from satchel.load._failed_load import no_such_file

        raise no_such_file(descriptor, file)
    check_path(fitting[0], descriptor.id)  # a manifest may list anything
    return fitting[0]


def _read(  # noqa: PLR0913, PLR0917 - as `load`
    catalog: CatalogView,
    descriptor: Descriptor,
    file: str,
    notes: tuple[str, ...],
    limits: Limits,
    verifier: Verifier | None,
) -> Loaded:
    source = descriptor.origins[0].source
    reader = catalog.readers.get(source)
    if reader is None:
        raise SourceUnavailableError(source, "the source was closed")
    if descriptor.remote:
        notes += remote_notes(descriptor)
    is_skill = file == SKILL_FILE
    limit = limits.skill_md_bytes if is_skill else limits.file_bytes
    data = bytes(fetch(reader, descriptor, file, limit))  # no copy, if it is bytes
    seen = _seen.find(data) if is_skill else None
    digest = seen[0] if seen else _DIGEST + sha256(data).hexdigest()
    if is_skill:
        changed = descriptor.digest not in (digest, "")
    else:
        changed = has_changed(reader, descriptor, file, len(data), digest)
    # Before anything is decoded: bytes that were never catalogued go no further.
    if changed:
        raise ChangedSinceSyncError(descriptor.id, file)
    vouched = verifier.verify(descriptor, file, digest) if verifier else ""
    if not is_skill and (not is_text(data) or is_unsure(data)):
        kind = media_type(file, text=False)
        of = descriptor, file, data, "", digest, kind
        return Loaded(*of, notes=notes, vouched=vouched)
    findings = cached_content_warnings(data, digest, file)
    try:
        text = data.decode()  # nearly every file is UTF-8, with nothing to repair
    except UnicodeDecodeError:
        decoded = decode(data)
        text = decoded.text
        repairs = (replace(finding, path=file) for finding in decoded.findings)
        findings = (*repairs, *findings)
    start = seen[1] if seen else len(text)
    if is_skill and not seen:
        start -= len(body_of(text))
        _seen.put(data, (digest, start), len(data))
    return Loaded(
        descriptor,
        file,
        data,
        text,
        digest,
        MARKDOWN if is_skill else media_type(file, text=True),
        text[start:],
        (*notes, *map(_finding_note, findings)),
        findings,
        vouched,
    )


# The digest, and where the body begins, of each SKILL.md that was loaded last. A source
# that gives the very same bytes object again costs neither: Python keeps its hash.
_SEEN_BYTES: Final = 4 * 1024 * 1024
_seen: Final[LruCache[bytes, tuple[str, int]]] = LruCache(_SEEN_BYTES)


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
        from satchel.load._failed_load import fetch_error

        better = fetch_error(error, descriptor, file, limit)
        if better is error:
            raise
        raise better from error
    check_read_size(file, len(data), limit)  # a source may not have kept to it
    return data


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
