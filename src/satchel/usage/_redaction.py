"""What was asked for, as an event may carry it: without what may be anybody's text."""

import re
from typing import Final, NamedTuple

from satchel.errors import (
    PackFileError,
    SkillError,
    SkillExcludedError,
    SkillNotFoundError,
    ToolError,
)
from satchel.model import SKILL_FILE, Catalog, Descriptor, Request, bucket_of
from satchel.text import clean_line

_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
"""Unknown names that an event may carry: as real ids are, prefixes included."""
_PATH: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
"""Unknown paths that an event may carry. A sentence of a user is neither of the two."""
_LONGEST_PATH: Final = 256
INVALID: Final = "<invalid>"
"""What stands in an event for a text that is no name or path: it may be anything."""
MAX_NAME: Final = 64
"""Characters of what an agent or a client says that it is called."""


class RedactedRequest(NamedTuple):
    """What was asked for, without what may be anybody's text."""

    name: str
    file: str | None
    entry: Descriptor | None
    message: str | None
    code: str | None


def redact_request(
    catalog: Catalog, request: Request, error: Exception | None
) -> RedactedRequest:
    """Return what a request asked for, and how ``error`` is told of."""
    name = _text_of(request.id)
    entry = descriptor_of(catalog, name)
    file = redact_file(request.file, entry)
    if entry is None and not _NAME.fullmatch(name):
        name = INVALID
        if isinstance(error, SkillNotFoundError):
            error = SkillNotFoundError(INVALID)
    if isinstance(error, SkillExcludedError):
        error = SkillExcludedError(name, error.reason)  # its advice quotes the pack
    if isinstance(error, ToolError):  # its detail quotes the call
        error = ToolError(error.name, "refused for its form")
    if file == INVALID and isinstance(error, PackFileError):
        error = type(error)(error.name, INVALID, error.listed)
    if error is None:
        return RedactedRequest(name, file, entry, None, None)
    if isinstance(error, SkillError):
        return RedactedRequest(name, file, entry, str(error), error.code)
    return RedactedRequest(name, file, entry, type(error).__name__, "internal-error")


def redact_file(said: object, entry: Descriptor | None) -> str | None:
    """Return a file that was asked for, as an event may carry it."""
    if said is None or said == "":
        return None
    file = _text_of(said)
    listed = entry is not None and file in entry.resources
    return file if listed or _is_path(file) else INVALID


def _text_of(said: object) -> str:
    return said if isinstance(said, str) else INVALID


def descriptor_of(catalog: Catalog, skill_id: str) -> Descriptor | None:
    """Return the pack of this id, listed or not."""
    entry = catalog.get(skill_id)
    if entry is not None:
        return entry
    held = catalog.exclusion_of(skill_id)
    return held.descriptor if held is not None else None


def reference_and_script(file: str | None) -> tuple[str | None, str | None]:
    """Return the file as a reference, or as a script; SKILL.md is neither."""
    if file is None or file == SKILL_FILE:
        return None, None
    return (None, file) if bucket_of(file) == "scripts" else (file, None)


def _is_path(file: str) -> bool:
    return len(file) <= _LONGEST_PATH and _PATH.fullmatch(file) is not None


def caller_name(name: str) -> str:
    """Return what somebody says that it is called: one printable line, and short."""
    return clean_line(name)[:MAX_NAME].rstrip() if name else ""
