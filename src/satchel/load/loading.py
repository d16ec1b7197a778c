"""`load`: the one path by which the bytes of a pack reach anybody."""

from dataclasses import replace
from hashlib import sha256
from typing import Final

from satchel.errors import (
    ApprovalNeededError,
    ChangedSinceSyncError,
    DeniedError,
    SourceUnavailableError,
)
from satchel.load.clearing import doubts_of
from satchel.load.fetching import fetch, has_changed
from satchel.load.lookup import look_up
from satchel.load.media import MARKDOWN, media_type
from satchel.load.paths import resolve
from satchel.load.turn import TurnCache
from satchel.model import (
    DEFAULT_LIMITS,
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
from satchel.spec import body_of
from satchel.text import printable
from satchel.text.decoding import decode, is_text

__all__ = ["load"]

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
    findings += doubts_of(data, digest, file)
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
