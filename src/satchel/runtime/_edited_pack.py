"""A load that continues where somebody edited the pack since the last sync."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from satchel.catalog import Registry
from satchel.errors import (
    ChangedSinceSyncError,
    DigestMismatchError,
    PackFileError,
    ReferenceNotAllowedError,
    ReferenceNotFoundError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
)
from satchel.model import SKILL_FILE, Catalog, Descriptor, FileReader

_T = TypeVar("_T")

# Times that a pack is read again for one load; somebody may go on writing it.
ATTEMPTS: Final = 3

# What a load raises where a file is gone or new, among other reasons.
_EDIT_ERRORS: Final = frozenset({ReferenceNotFoundError, ReferenceNotAllowedError})

# What is raised where a sync of the source may help the next load, if not this one.
_RESYNC_ERRORS: Final = (DigestMismatchError, ChangedSinceSyncError)


def retry_after_edit(  # noqa: PLR0913 - what an attempt needs, the rest by name
    registry: Registry,
    catalog: Callable[[], Catalog],
    skill_id: str,
    attempt: Callable[[Catalog], _T],
    edited: Callable[[str], object] = lambda _: None,
    *,
    failed: SkillError | None = None,
    check_missing: bool = True,
    wait_for_writer: bool = True,
) -> _T:
    """Return what ``attempt`` gives; read an edited pack again, and repeat it.

    ``catalog`` gives the catalog to look in, again after a pack was read. ``edited`` is
    called with the label of the source of an edited pack, and ``failed`` is how the
    first attempt failed, where it was made already. ``check_missing`` says that a file
    that is gone or not listed is a reason to look, ``wait_for_writer`` to wait for a
    pack that is being written, or is gone for now.

    Raises what is still wrong once the pack was read: `ChangedSinceSyncError` where it
    goes on changing, or is no valid one any more.
    """
    here = catalog()
    before = _find_descriptor(here, skill_id)
    first: SkillError | None = None
    synced = False
    for left in range(ATTEMPTS, -1, -1):
        try:
            if failed is not None:
                raise failed
            return attempt(here)
        except (PackFileError, SkillExcludedError, SkillNotFoundError) as error:
            failed = None
            entry = _find_descriptor(here, skill_id) if left else None
            readers = entry and _reread(
                registry, entry, error, check_missing, wait_for_writer
            )
            gone = first and isinstance(error, SkillNotFoundError)
            if gone and before and wait_for_writer and not synced:
                # Its folder has no pack of this id any more: another one may have.
                registry.sync(before.source)
                here, synced = catalog(), True
                continue
            if entry is None or readers is None:
                if isinstance(error, _RESYNC_ERRORS) and entry is not None:
                    edited(entry.source)
                better = before and first and _better_error(first, error, here, before)
                if better:
                    raise better from error
                raise
            first = first or error
        edited(entry.source)
        latest = catalog()
        if latest is here:  # a sync has read the pack, and made no catalog of it yet
            registry.assemble()
            latest = catalog()
        here = latest
        # The bytes of that reading, or one more edit would fail this load again.
        if readers:
            here = replace(here, readers={**here.readers, **readers})
    raise AssertionError  # the last attempt returns or raises


def _reread(
    registry: Registry,
    entry: Descriptor,
    error: SkillError,
    check_missing: bool,  # noqa: FBT001 - those of `retry_after_edit`
    wait_for_writer: bool,  # noqa: FBT001
) -> Mapping[str, FileReader] | None:
    """Read the pack again; None where an edit is not the reason for the error."""
    sure = isinstance(error, ChangedSinceSyncError)
    # By type: a path that escapes is no listed file, whatever the pack holds now.
    is_missing = check_missing and type(error) in _EDIT_ERRORS
    # A pack that was refused may have been fixed since.
    is_refused = isinstance(error, SkillExcludedError) and error.reason == "refused"
    if not (sure or is_missing or is_refused):
        return None
    file = error.file if isinstance(error, PackFileError) else SKILL_FILE
    return registry.reread(entry, file, sure=sure, wait_for_writer=wait_for_writer)


def _better_error(
    first: SkillError, last: SkillError, catalog: Catalog, before: Descriptor
) -> SkillError | None:
    """Return what fits better than the last error of a load, if anything does."""
    if isinstance(first, ChangedSinceSyncError):
        origins = (
            e.descriptor.origin for e in catalog.excluded if e.reason == "refused"
        )
        if before.origin in origins:
            detail = "it is no valid skill any more"
            return ChangedSinceSyncError(first.name, first.file, detail=detail)
    if isinstance(first, ReferenceNotFoundError) and isinstance(
        last, ReferenceNotAllowedError
    ):  # it was listed when it was asked for: say so, with what was listed then
        return first
    return None


def _find_descriptor(catalog: Catalog, skill_id: str) -> Descriptor | None:
    excluded = catalog.exclusion_of(skill_id)
    entry = catalog.get(skill_id) or (excluded.descriptor if excluded else None)
    return entry if entry is not None and entry.origins else None
