"""Why a load fails: what is near to what was asked for, and what a source raised."""

from typing import Final

from satchel import errors
from satchel.files import path_problem
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Descriptor, findings_of
from satchel.protocols import CatalogView
from satchel.skill_md import plain_path
from satchel.text import nearest

_CLOSE_NAMES: Final = 3


def not_found(catalog: CatalogView, id: str) -> errors.SkillError:
    """Return the error for an id that no skill has, with what is close to it."""
    # No skill has such an id, and the search for close ones takes time by its length.
    if len(id) > DEFAULT_LIMITS.name_chars:
        return errors.SkillNotFoundError(id)
    replacement = catalog.replacement_of(id)
    incomplete = catalog.incomplete_source
    if incomplete is not None and not replacement:
        return errors.SourceUnavailableError(incomplete.label, incomplete.error)
    # A folder that cannot be opened has no descriptor, only a finding.
    for finding in findings_of(catalog.findings, {"unreadable-folder"}):
        if finding.path.rpartition("/")[2] == id:
            detail = finding.message.partition(": ")[2]
            return errors.ReferenceUnreadableError(id, SKILL_FILE, detail=detail)
    listed = [entry.id for entry in catalog.entries]
    close = tuple(nearest(id, listed, _CLOSE_NAMES))
    return errors.SkillNotFoundError(id, close, replacement)


def no_such_file(descriptor: Descriptor, file: str) -> errors.ReferenceNotAllowedError:
    """Return the error for a path that is not listed, with those that are."""
    listed, path = descriptor.resources, plain_path(file)
    if problem := path_problem(path):
        return errors.ReferenceEscapesError(descriptor.id, file, detail=problem)
    if len(listed) <= errors.MAX_NAMED:
        return errors.ReferenceNotAllowedError(descriptor.id, file, listed)
    # The nearest ones first, since a message does not name all of many.
    names = {one.rpartition("/")[2]: one for one in reversed(listed)}
    close = nearest(path.rpartition("/")[2], [*names], _CLOSE_NAMES)
    near = (*nearest(path, listed, _CLOSE_NAMES), *(names[name] for name in close))
    return errors.ReferenceNotAllowedError(
        descriptor.id, file, tuple(dict.fromkeys((*near, *listed)))
    )


def fetch_error(
    error: Exception, descriptor: Descriptor, file: str, limit: int
) -> Exception:
    """Return the error that names skill and file, for one that a source raised."""
    name, listed = descriptor.id, descriptor.resources
    if isinstance(error, (errors.ReferenceNotFoundError, errors.SkillNotFoundError)):
        is_gone = isinstance(error, errors.SkillNotFoundError)
        detail = "the whole pack is gone" if is_gone else ""
        return errors.ReferenceNotFoundError(name, file, listed, detail)
    if isinstance(error, errors.PackFileError):
        return type(error)(name, file, detail=error.detail)
    if isinstance(error, errors.LimitExceededError):
        name = "skill_md_bytes" if file == SKILL_FILE else "file_bytes"
        return errors.LimitExceededError(name, limit, error.actual, "bytes", file)
    if isinstance(error, errors.SkillError):
        return error
    is_network = isinstance(error, (TimeoutError, ConnectionError))
    if isinstance(error, OSError) and not is_network:
        # Its message would carry the absolute path; strerror does not.
        detail = error.strerror or type(error).__name__
        return errors.ReferenceUnreadableError(name, file, detail=detail)
    # A source is a plug-in: what else it raises says nothing of the file.
    return errors.SourceUnavailableError(descriptor.source, type(error).__name__)
