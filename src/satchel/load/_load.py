"""`load`: the one path by which the bytes of a pack reach anyone."""

from dataclasses import replace
from hashlib import sha256
from typing import Final

from satchel.errors import (
    AmbiguousReferenceError,
    ApprovalNeededError,
    ChangedSinceSyncError,
    DeniedError,
    DuplicateSkillError,
    ReferenceNotAllowedError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import check_path
from satchel.load._fetch import MARKDOWN, TurnCache, fetch, has_changed, media_type
from satchel.model import (
    DEFAULT_LIMITS,
    MAX_NAME_CHARS,
    SKILL_FILE,
    Action,
    Catalog,
    Descriptor,
    Finding,
    Limits,
    Loaded,
    Request,
)
from satchel.policy import OPEN_POLICY, Decides
from satchel.skill_md import body_of
from satchel.text import (
    content_warnings,
    decode,
    is_text,
    printable,
)

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
    check_path(file, descriptor.id)
    listed = descriptor.resources
    if file == SKILL_FILE or file in listed:
        return file
    fitting = tuple(bucket + file for bucket in _BUCKETS if bucket + file in listed)
    if not fitting:
        ending = f"/{file}"
        fitting = tuple(path for path in listed if path.endswith(ending))
    if not fitting and "<U+" in file:  # as a name with hidden characters is shown
        fitting = tuple(path for path in listed if _is_shown_as(path, file))
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise AmbiguousReferenceError(descriptor.id, file, fitting)
    raise ReferenceNotAllowedError(descriptor.id, file, listed)


def _is_shown_as(path: str, file: str) -> bool:
    shown = printable(path, keep="")
    return shown == file or shown.endswith(f"/{file}")


_STILL_LOADS: Final = frozenset({"deprecated", "hidden"})
_UNREADABLE: Final = "unreadable-folder"
_CLOSE_NAMES: Final = 3


def look_up(catalog: Catalog, id: str) -> tuple[Descriptor, tuple[str, ...]]:
    """Return the pack of exactly this id, and what its reader should be told.

    Raises:
        DuplicateSkillError: Several packs claim the id, and none was preferred.
        SkillWithheldError: It is known, and is not handed out.
        SourceUnavailableError: None is known, and a source has never answered in full.
        ReferenceUnreadableError: A folder of that name cannot be read.
        SkillNotFoundError: There is none; carries close ids, and who took its place.
    """
    entry = catalog.get(id)
    if entry is not None:
        return entry, ()
    conflict = catalog.conflict_of(id)
    if conflict is not None:
        first, second = (owner.origin.location for owner in conflict.owners[:2])
        raise DuplicateSkillError(id, first, second, conflict.fix)
    held = catalog.exclusion_of(id)
    if held is None:
        raise _not_found(catalog, id)
    if held.reason not in _STILL_LOADS:
        raise SkillExcludedError(id, held.reason, held.fix)
    if held.reason == "hidden":
        return held.descriptor, ()
    heir = held.descriptor.replaced_by
    use = f"; {heir!r} takes its place" if heir else ""
    return held.descriptor, (f"Skill {id!r} is deprecated{use}.",)


def _not_found(catalog: Catalog, id: str) -> SkillError:
    if len(id) > MAX_NAME_CHARS:
        return SkillNotFoundError(id)
    heir = catalog.replacement_of(id)
    away = catalog.away
    if away is not None and not heir:
        return SourceUnavailableError(away.label, away.error)
    for finding in catalog.findings:
        if finding.code == _UNREADABLE and finding.path.rpartition("/")[2] == id:
            return ReferenceUnreadableError(id, SKILL_FILE, detail=finding.message)
    from satchel.text import nearest

    listed = [entry.id for entry in catalog.entries]
    return SkillNotFoundError(id, tuple(nearest(id, listed, _CLOSE_NAMES)), heir)


MAX_CLEAN_DIGESTS: Final = 16_384
"""Digests that are remembered. With more, all are looked at anew."""

_clean_digests: set[str] = set()


def cached_content_warnings(data: bytes, digest: str, path: str) -> tuple[Finding, ...]:
    """Return what `find_doubts` does; ``digest`` is that of the data.

    To look through a text is a good part of what a load costs, and most texts are
    loaded again and again as they are. Those that were cleared are remembered by
    digest.
    """
    if digest in _clean_digests:
        return ()
    found = content_warnings(data, path)
    if not found:
        if len(_clean_digests) >= MAX_CLEAN_DIGESTS:
            _clean_digests.clear()
        _clean_digests.add(digest)
    return found


_DIGEST: Final = "sha256:"


def load(
    catalog: Catalog,
    request: Request,
    *,
    turn: TurnCache | None = None,
    limits: Limits = DEFAULT_LIMITS,
    policy: Decides = OPEN_POLICY,
) -> Loaded:
    """Return a skill's SKILL.md, or one listed file beside it, exact and whole.

    Id, policy and allowlist are checked before the file system is touched, and before
    what the turn has read already is looked at: it may have been read for somebody
    else. Nothing is run, rendered or fetched, and the text is never altered: what it
    hides, and tags with which it would leave its envelope, are notes and findings
    beside it.

    Args:
        catalog: The snapshot to look in.
        request: The id, exactly, and the file; see `satchel.load.resolve`.
        turn: What the agent's turn has read already; None reads anew.
        limits: How many bytes are accepted.
        policy: Says whether ``request.who`` may: ``load`` for SKILL.md, ``read`` for
            a file. What it raises goes through; a session's puts the question there.

    Raises:
        SkillNotFoundError: No skill of exactly this id.
        SkillWithheldError: It is known, and is not handed out.
        DuplicateSkillError: Several packs claim the id.
        DeniedError: The policy says no.
        ApprovalNeededError: The policy says that somebody has to be asked.
        ReferenceEscapesError: The path would leave the pack.
        ReferenceNotAllowedError: The file is not listed.
        AmbiguousReferenceError: A short name that several listed files bear.
        ReferenceNotFoundError: Listed, and missing.
        ReferenceUnreadableError: There, and cannot be read.
        ChangedSinceSyncError: Not the bytes that were catalogued.
        LimitExceededError: Larger than the limits allow.
        SourceUnavailableError: The source does not answer.
    """
    descriptor, notes = look_up(catalog, request.id)
    file = SKILL_FILE
    if request.file is None:
        _permit(policy, "load", descriptor, request)
    else:
        _permit(policy, "read", descriptor, request)  # else the error names the files
        file = resolve(descriptor, request.file)
        if file == SKILL_FILE:
            _permit(policy, "load", descriptor, request)
    if turn is None:
        return _read(catalog, descriptor, file, notes, limits)
    return turn.get(
        (descriptor.id, file), lambda: _read(catalog, descriptor, file, notes, limits)
    )


def _permit(
    policy: Decides, action: Action, descriptor: Descriptor, request: Request
) -> None:
    """Return where the policy lets it be done."""
    decision = policy.decide(
        action, descriptor.id, request.who, raw=descriptor.category == "raw"
    )
    if decision.verdict == "allow":
        return
    asks = decision.verdict == "ask"
    error = ApprovalNeededError if asks else DeniedError
    raise error(action, descriptor.id, reason=decision.reason)


def _read(
    catalog: Catalog,
    descriptor: Descriptor,
    file: str,
    notes: tuple[str, ...],
    limits: Limits,
) -> Loaded:
    origin = descriptor.origin
    reader = catalog.readers.get(origin.source)
    if reader is None:
        raise SourceUnavailableError(origin.source, "the source was closed")
    notes += _origin_notes(descriptor)
    is_skill = file == SKILL_FILE
    data = fetch(
        reader,
        descriptor,
        file,
        limits.skill_md_bytes if is_skill else limits.file_bytes,
    )
    digest = _DIGEST + sha256(data).hexdigest()
    if is_skill:
        changed = descriptor.digest not in (digest, "")
    else:
        changed = has_changed(reader, descriptor, file, len(data), digest)
    if changed:
        raise ChangedSinceSyncError(descriptor.id, file)
    if not (is_skill or is_text(data)):
        kind = media_type(file, text=False)
        return Loaded(descriptor, file, data, "", digest, kind, notes=notes)
    decoded = decode(data)
    text = decoded.text
    findings = tuple(replace(found, path=file) for found in decoded.findings)
    findings += cached_content_warnings(data, digest, file)
    return Loaded(
        descriptor,
        file,
        data,
        text,
        digest,
        MARKDOWN if is_skill else media_type(file, text=True),
        body_of(text) if is_skill else "",
        (*notes, *map(_note, findings)),
        findings,
    )


def _origin_notes(descriptor: Descriptor) -> tuple[str, ...]:
    """Return what tells a skill of another machine from one of this one."""
    if not descriptor.remote:
        return ()
    origin = descriptor.origin
    place = origin.location.removeprefix(f"{origin.source}: ")
    note = f"This is from the {descriptor.remote} {origin.source!r} ({place})."
    if descriptor.digest:
        return (note,)
    return (note, "No digest of it is known: whether it changed cannot be told.")


def _note(finding: Finding) -> str:
    """Return a finding as a sentence for whoever reads the text."""
    line = f", line {finding.line}" if finding.line else ""
    return f"{printable(finding.path, keep='')}{line}: {finding.message}."
