"""The request of a load, as a usage event may carry it: without free text.

A name or a path that somebody asked for may be any text, of a user or of a model. Only
what looks like an id or a path gets into an event.
"""

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

# Unknown names that an event may carry: as real ids are, prefixes included.
_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
# Unknown paths that an event may carry. A user's sentence is neither of the two.
_PATH: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*")
_MAX_PATH: Final = 256
# Replaces a text that is no name or path.
INVALID: Final = "<invalid>"
# Characters of the name that an agent or a client gives itself.
MAX_NAME: Final = 64


class RedactedRequest(NamedTuple):
    """A request and its error without free text; ``entry`` is the skill, if any."""

    name: str
    file: str | None
    entry: Descriptor | None
    message: str | None
    code: str | None


def redact_request(
    catalog: Catalog, request: Request, error: Exception | None
) -> RedactedRequest:
    """Return what a request asked for and what went wrong, as an event may say it."""
    name = _text_of(request.id)
    entry = descriptor_of(catalog, name)
    file = redact_file(request.file, entry)
    if entry is None and redact_name(name) == INVALID:
        name = INVALID
        # The message of this error quotes the id that was asked for.
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
    # The message of an error that is not ours may quote anything; only its class is
    # safe.
    return RedactedRequest(name, file, entry, type(error).__name__, "internal-error")


def redact_name(name: str) -> str:
    """Return a name that somebody made up, as an event may carry it."""
    return name if _NAME.fullmatch(name) else INVALID


def redact_file(file: object, entry: Descriptor | None) -> str | None:
    """Return a file that was asked for, as an event may carry it."""
    if file is None or file == "":
        return None
    path = _text_of(file)
    # A file of the pack is no free text, whatever its name looks like.
    if entry is not None and path in entry.resources:
        return path
    is_path = len(path) <= _MAX_PATH and _PATH.fullmatch(path)
    return path if is_path else INVALID


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else INVALID


def descriptor_of(catalog: Catalog, skill_id: str) -> Descriptor | None:
    """Return the pack of this id, whether it is listed or excluded."""
    entry = catalog.get(skill_id)
    if entry is not None:
        return entry
    excluded = catalog.exclusion_of(skill_id)
    return excluded.descriptor if excluded is not None else None


def reference_and_script(*files: str | None) -> tuple[str | None, str | None]:
    """Return the first reference and the first script; SKILL.md is neither."""
    reference = script = None
    for file in files:
        if file is not None and file != SKILL_FILE:
            if bucket_of(file) == "scripts":
                script = script or file
            else:
                reference = reference or file
    return reference, script


def caller_name(name: str) -> str:
    """Return the name that a caller gives itself: one short, printable line."""
    return clean_line(name)[:MAX_NAME].rstrip() if name else ""
