"""How an error leaves the server: a status, a code, a sentence.

Its place goes to the log.
"""

import json
import logging
import ntpath
import posixpath
import traceback
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import (
    ChangedSinceSyncError,
    DeniedError,
    DigestMismatchError,
    DuplicateSkillError,
    LimitExceededError,
    PackFileError,
    ReferenceUnreadableError,
    SkillError,
    SkillExcludedError,
    SkillManifestError,
    SkillNotFoundError,
    SourceUnavailableError,
    echo,
)
from satchel.model import Catalog
from satchel.text import printable

if TYPE_CHECKING:
    from starlette.types import Send


_COMMON: Final = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not carried out: the status, a stable code, a sentence.

    ``headers`` are what the status asks for: WWW-Authenticate, Retry-After.
    """

    status: int
    code: str
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


async def send_refusal(refusal: Refusal, send: "Send", *, head: bool = False) -> None:
    """Send ``{"error": {"code", "message"}}``; no body where ``head`` is true."""
    payload = {"error": {"code": refusal.code, "message": refusal.message}}
    await send_json(refusal.status, payload, send, head=head, headers=refusal.headers)


async def send_json(
    status: int,
    payload: object,
    send: "Send",
    *,
    head: bool = False,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Send ``payload`` as JSON, as an answer that nobody keeps."""
    body = json.dumps(payload).encode()
    length = (b"content-length", b"%d" % len(body))
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [*_COMMON, length, *headers],
    }
    await send(start)
    await send({"type": "http.response.body", "body": b"" if head else body})


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """What is answered: an HTTP status, a code in kebab case, a sentence."""

    status: int
    code: str
    message: str

    def as_dict(self) -> dict[str, dict[str, str]]:
        """Return the shape of every error: ``{"error": {"code", "message"}}``."""
        return {"error": {"code": self.code, "message": self.message}}


INTERNAL_ERROR: Final = ErrorAnswer(
    500, "internal-error", "the server could not answer this"
)

# The first class that fits; the more special ones stand first.
_STATUS: Final[tuple[tuple[type[SkillError], int], ...]] = (
    (SkillNotFoundError, 404),
    (ReferenceUnreadableError, 503),
    (ChangedSinceSyncError, 503),
    (DigestMismatchError, 502),
    (PackFileError, 404),
    (SkillExcludedError, 403),
    (DeniedError, 403),
    (LimitExceededError, 403),
    (DuplicateSkillError, 503),
    (SourceUnavailableError, 503),
    (SkillManifestError, 503),
)


def error_answer(error: SkillError) -> ErrorAnswer:
    """Return what is said of an error outside; no path of this machine, no label."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 0)
    if not status:
        return INTERNAL_ERROR
    return ErrorAnswer(status, error.code, _message(error))


def public_labels(catalog: Catalog) -> dict[str, str]:
    """Return for each source's label how it is called outside, each by its own name.

    Of a path of the machine that is the last name; where it is taken, with a number.
    """
    names: dict[str, str] = {}
    for state in catalog.sources:
        name = plain = _last_name(state.label)
        number = 1
        while name in names.values():
            number += 1
            name = f"{plain}#{number}"
        names[state.label] = name
    return names


def is_machine_path(path: str) -> bool:
    """Tell whether a path says more of the machine than of what is served.

    It is absolute, or leads up from the folder that the server was started in.
    """
    up = path.replace("\\", "/").startswith("../")
    return up or posixpath.isabs(path) or ntpath.isabs(path)


def _last_name(label: str) -> str:
    if is_machine_path(label):
        label = ntpath.basename(label.rstrip("/\\")) or "skills"
    return printable(label)


def _message(error: SkillError) -> str:
    match error:
        case DuplicateSkillError():
            return (
                f"several packs claim the id {echo(error.skill_name)!r}; the operator "
                "of this server has to choose one"
            )
        case SkillExcludedError():
            return f"skill {echo(error.name)!r} is {error.reason} and is not handed out"
        case SourceUnavailableError():
            return "where this skill comes from does not answer now"
        case SkillManifestError():
            return "the manifest of this skill cannot be used"
        case _:
            return printable(str(error))


_FRAMES: Final = 8

_log = logging.getLogger("satchel.server")


def log_crash(error: BaseException) -> None:
    """Log an exception by its kind and its place: its text may be a caller's.

    An exception group is told as the exceptions in it.
    """
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        for each in group.exceptions:
            log_crash(each)
        return
    _log.error(
        "unhandled %s at %s", type(error).__name__, _trace_location(error.__traceback__)
    )


def _trace_location(trace: TracebackType | None) -> str:
    frames = [
        f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{line}"
        for frame, line in traceback.walk_tb(trace)
    ]
    return " < ".join(reversed(frames[-_FRAMES:])) or "?"
