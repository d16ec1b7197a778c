"""How an error leaves the server: a status, a code and a sentence."""

import json
import logging
import ntpath
import posixpath
import traceback
from dataclasses import dataclass
from itertools import count
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

_HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)

# 503 means that the same request may succeed later, 502 that a source broke its
# promise, 403 that the operator or the policy decided.
# The first class that fits decides; special classes come before their bases.
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

_log = logging.getLogger("satchel.server")


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """The answer to a request that fails, with the headers that the status needs."""

    status: int
    code: str
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    def as_dict(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message}}


INTERNAL_ERROR: Final = ErrorAnswer(
    500, "internal-error", "the server could not answer this"
)


def error_answer(error: SkillError) -> ErrorAnswer:
    """Return what a client reads of an error: no path and no label of the operator."""
    # Messages of the library name paths and labels for its operator.
    for kind, status in _STATUS:
        if isinstance(error, kind):
            return ErrorAnswer(status, error.code, _public_message(error))
    return INTERNAL_ERROR


def _public_message(error: SkillError) -> str:
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
        # The text may repeat what a caller sent, so it is made printable.
        case _:
            return printable(str(error))


async def send_error(error: ErrorAnswer, send: "Send", *, head: bool = False) -> None:
    """Send an error over ASGI; without its body for HEAD."""
    value, headers = error.as_dict(), error.headers
    await send_json(error.status, value, send, head=head, headers=headers)


async def send_json(
    status: int,
    payload: object,
    send: "Send",
    *,
    head: bool = False,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Send ``payload`` over ASGI as JSON that no cache may keep."""
    body = json.dumps(payload).encode()
    length = (b"content-length", b"%d" % len(body))
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*_HEADERS, length, *headers]})
    await send({"type": "http.response.body", "body": b"" if head else body})


def public_labels(catalog: Catalog) -> dict[str, str]:
    """Return a name for each source by its label: no path, and no two are equal."""
    names: dict[str, str] = {}
    for state in catalog.sources:
        label = state.label
        if is_machine_path(label):
            label = ntpath.basename(label.rstrip("/\\")) or "skills"
        name = plain = printable(label)
        number = count(2)
        while name in names.values():
            name = f"{plain}#{next(number)}"
        names[state.label] = name
    return names


def is_machine_path(path: str) -> bool:
    """Return whether a path shows how this machine is laid out."""
    up = path.replace("\\", "/").startswith("../")
    return up or posixpath.isabs(path) or ntpath.isabs(path)


def log_crash(error: BaseException) -> None:
    """Log an exception by its class and location; its text may come from a caller."""
    # A group itself says little: the causes are its members.
    if isinstance(error, BaseExceptionGroup):
        for member in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            log_crash(member)
        return
    frames = [
        f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    location = " < ".join(reversed(frames[-8:])) or "?"
    _log.error("unhandled %s at %s", type(error).__name__, location)
