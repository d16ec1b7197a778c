"""``POST /v1/loads``: what a program that keeps a copy loads from it, told back.

Such a program fetches once and loads from its own copy, so that nothing here would
tell which of the skills it uses.
"""

import json
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any, Final

from anyio import to_thread
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillError
from satchel.model import SKILL_FILE, Request as Wish
from satchel.runtime import CallerView
from satchel.server._errors import ErrorAnswer, error_answer
from satchel.server._http._endpoints import HttpContext, http_caller, product_name
from satchel.server._http._responses import (
    error_response,
    json_bytes,
    uncached_response,
)

LOADS_PATH: Final = "/v1/loads"
MAX_LOADS: Final = 1_000
"""Loads of one report."""
MAX_BYTES: Final = 1024 * 1024
MAX_WRITERS: Final = 1_024
"""Programs whose last number is remembered, so that nothing is counted twice."""
MAX_DURATION_S: Final = 3_600.0
MAX_SIZE: Final = 1 << 40

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_WRITER: Final = re.compile(r"[A-Za-z0-9_-]{8,64}")
_INVALID: Final = ErrorAnswer(
    422,
    "invalid-parameter",
    'want {"writer": "8 to 64 of A-Z a-z 0-9 _ -", "loads": [{"seq": 1, "id": ID}]}, '
    f"at most {MAX_LOADS:,} loads; /v1/openapi.json describes all of it",
)
_TOO_LARGE: Final = ErrorAnswer(
    413, "too-large", f"a report may have {MAX_BYTES:,} bytes"
)


_TEXT: Final = {"type": "string"}
_LOAD: Final = {
    "type": "object",
    "properties": {
        "seq": {"type": "integer", "minimum": 1, "description": "Rises, per writer."},
        "id": _TEXT,
        "file": {**_TEXT, "description": "Default: SKILL.md."},
        "digest": {**_TEXT, "description": "Of the bytes that were loaded."},
        "size_bytes": {"type": "integer", "minimum": 0},
        "tokens": {"type": "integer", "minimum": 0},
        "duration_s": {"type": "number", "minimum": 0},
        "agent": _TEXT,
    },
    "required": ["seq", "id"],
}
REPORT_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "writer": {**_TEXT, "pattern": f"^{_WRITER.pattern}$"},
        "loads": {"type": "array", "items": _LOAD, "maxItems": MAX_LOADS},
    },
    "required": ["writer", "loads"],
}
"""What is sent; further keys are passed over."""


_validator: Final[Any] = Draft202012Validator(REPORT_SCHEMA)


class _Writers:
    """The last number that each writer told of. Thread-safe."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._last: OrderedDict[tuple[object, str], int] = OrderedDict()

    def last(self, key: tuple[object, str]) -> int:
        return self._last.get(key, 0)

    def put(self, key: tuple[object, str], number: int) -> None:
        self._last[key] = number
        self._last.move_to_end(key)
        while len(self._last) > MAX_WRITERS:
            self._last.popitem(last=False)


def loads_route(site: HttpContext) -> Route:
    """Return the route; what is told counts as loads ``via`` ``report``."""
    writers = _Writers()

    async def answer(request: Request) -> Response:
        body = await _body(request.stream())
        if body is None:
            return error_response(request, _TOO_LARGE)
        return await to_thread.run_sync(
            partial(_record_loads, site, writers, request, body), abandon_on_cancel=True
        )

    return Route(LOADS_PATH, answer, methods=["POST"])


async def _body(stream: AsyncIterator[bytes]) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    async for part in stream:
        size += len(part)
        if size > MAX_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _record_loads(
    site: HttpContext, writers: _Writers, request: Request, body: bytes
) -> Response:
    report = _parse_report(body)
    if report is None:
        return error_response(request, _INVALID)
    writer, loads = report
    caller = http_caller(request)
    client = product_name(request.headers.get("user-agent", ""))
    try:
        view = site.library.view(caller, via="report", client=client)
    except SkillError as error:
        return error_response(request, error_answer(error))
    counted = refused = 0
    with writers.lock:
        last = writers.last((caller, writer))
        for each in loads:
            if each["seq"] <= last:
                continue  # told a second time, as its answer was lost
            last = each["seq"]
            is_told = _record_load(view, each)
            counted, refused = counted + is_told, refused + (not is_told)
        writers.put((caller, writer), last)
    return uncached_response(
        request, json_bytes({"counted": counted, "refused": refused})
    )


def _parse_report(body: bytes) -> tuple[str, list[Mapping[str, Any]]] | None:
    """Return who reports, and the loads by number; None where it is no report."""
    try:
        value: Any = json.loads(body)
        fits: bool = _validator.is_valid(value)
    except (ValueError, RecursionError):
        return None
    if not fits:
        return None
    return value["writer"], sorted(value["loads"], key=itemgetter("seq"))


def _record_load(view: CallerView, load: Mapping[str, Any]) -> bool:
    """Tell of one load; tell whether it was of a file that this caller may have."""
    skill_id, file = load["id"], load.get("file") or SKILL_FILE
    try:
        entry = view.descriptor(skill_id)
    except SkillError:
        return False
    if file != SKILL_FILE and file not in entry.resources:
        return False
    digest = load.get("digest", "")
    view.reported(
        Wish(skill_id, file, agent=load.get("agent", "")),
        digest=digest if _DIGEST.fullmatch(digest) else "",
        size_bytes=int(_bounded(load.get("size_bytes", 0), MAX_SIZE)),
        tokens=int(_bounded(load.get("tokens", 0), MAX_SIZE)),
        duration_s=_bounded(load.get("duration_s", 0), MAX_DURATION_S),
    )
    return True


def _bounded(value: float, most: float) -> float:
    """Return a number from 0 to ``most``; 0 for anything else."""
    return value if 0 <= value <= most else 0
