"""``POST /v1/loads``: programs with a copy report what they load from it."""

import json
import re
import threading
from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from typing import Any, Final

from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,  # pyright: ignore[reportUnknownVariableType]
)
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.files import LruCache
from satchel.model import SKILL_FILE, UsageEvent
from satchel.runtime import View
from satchel_server._errors import ErrorAnswer
from satchel_server._http._endpoints import HttpContext, sender_of
from satchel_server._http._responses import (
    error_response,
    json_bytes,
    uncached_response,
)

# Such a program fetches once and loads from its own copy, so this server would not see
# which of the skills it uses.
LOADS_PATH: Final = "/v1/loads"
MAX_LOADS: Final = 1_000
MAX_BYTES: Final = 1024 * 1024
# Programs whose last number is remembered, so that nothing is counted twice.
MAX_WRITERS: Final = 1_024
MAX_DURATION_S: Final = 3_600.0
MAX_SIZE: Final = 1 << 40

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_WRITER: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_INVALID: Final = ErrorAnswer(
    422,
    "invalid-parameter",
    'expected {"writer": "8 to 64 of A-Z a-z 0-9 _ -", "loads": [{"seq": 1, "id": '
    f"ID}}]}}, at most {MAX_LOADS:,} loads; /v1/openapi.json describes all of it",
)
_TOO_LARGE: Final = ErrorAnswer(
    413, "too-large", f"a report may have {MAX_BYTES:,} bytes"
)

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_LOAD: Final = {
    "type": "object",
    "properties": {
        "seq": {"type": "integer", "minimum": 1, "description": "Rises, per writer."},
        "id": _TEXT,
        "file": {**_TEXT, "description": "Default: SKILL.md."},
        "digest": {**_TEXT, "description": "Of the bytes that were loaded."},
        "size_bytes": _COUNT,
        "tokens": _COUNT,
        "duration_s": {"type": "number", "minimum": 0},
        "agent": _TEXT,
    },
    "required": ["seq", "id"],
}
# The shape of a report; further keys are ignored.
REPORT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "writer": {**_TEXT, "pattern": f"^{_WRITER.pattern}$"},
        "loads": {"type": "array", "items": _LOAD, "maxItems": MAX_LOADS},
    },
    "required": ["writer", "loads"],
}

_validator: Final[Any] = Draft202012Validator(REPORT_SCHEMA)


def loads_route(http: HttpContext) -> Route:
    """Return the route; reported loads count as ``via`` ``report``."""
    reports = _LoadReports(http)

    async def handler(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            # Counted here too: the application can run without a guard.
            body += part
            if len(body) > MAX_BYTES:
                return error_response(request, _TOO_LARGE)
        return await http.run(request, None, partial(reports.record, request, body))

    return Route(LOADS_PATH, handler, methods=["POST"])


class _LoadReports:
    """Records reports, and remembers the last number of each writer. Thread-safe."""

    def __init__(self, http: HttpContext) -> None:
        self._library = http.library
        self._lock = threading.Lock()
        self._last: LruCache[tuple[object, str], int] = LruCache(MAX_WRITERS)

    def record(self, request: Request, body: bytes) -> Response:
        report = _parse_report(body)
        if report is None:
            return error_response(request, _INVALID)
        writer, loads = report
        caller, client = sender_of(request)
        view = self._library.view(caller, via="report", client=client)
        key = caller, writer
        counted = refused = 0
        # A program may send one report twice at the same time.
        with self._lock:
            last = self._last.find(key) or 0
            for load in loads:
                if load["seq"] <= last:
                    continue  # sent a second time, since its answer was lost
                last = load["seq"]
                if _record_load(view, load):
                    counted += 1
                else:
                    refused += 1
            self._last.put(key, last)
        data = json_bytes({"counted": counted, "refused": refused})
        return uncached_response(request, data)


def _parse_report(body: bytes) -> tuple[str, list[Mapping[str, Any]]] | None:
    """Return the writer, and the loads by number; None if it is no report."""
    try:
        value: Any = json.loads(body)
        fits: bool = _validator.is_valid(value)
    except (ValueError, RecursionError):
        return None
    if not fits:
        return None
    return value["writer"], sorted(value["loads"], key=itemgetter("seq"))


def _record_load(view: View, load: Mapping[str, Any]) -> bool:
    """Record one load; return whether it was of a file that this caller may have."""
    skill_id, file = load["id"], load.get("file") or SKILL_FILE
    try:
        entry = view.descriptor(skill_id)
    except SkillError:
        return False
    # Otherwise a client could fill the events with invented file names.
    if file != SKILL_FILE and file not in entry.resources:
        return False
    # What a client claims goes into the events only if it can be true.
    digest = load.get("digest", "")
    event = UsageEvent(
        skill_id,
        None,
        None,
        entry.source,
        _bounded(load.get("duration_s", 0), MAX_DURATION_S),
        None,
        file,
        view.via,
        digest if _DIGEST.fullmatch(digest) else "",
        int(_bounded(load.get("size_bytes", 0), MAX_SIZE)),
        tokens=int(_bounded(load.get("tokens", 0), MAX_SIZE)),
        agent=load.get("agent", ""),
        client=view.settings.client,
        caller=str(view.settings.who.get("client", "")),
    )
    view.report(event)
    return True


def _bounded(value: float, maximum: float) -> float:
    """Return a number from 0 to ``maximum``; 0 for anything else."""
    return value if 0 <= value <= maximum else 0
