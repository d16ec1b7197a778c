"""What every route stands on: the library, who asks, and how answers are made."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, cast
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response

from satchel.errors import SkillError, SourceUnavailableError
from satchel.model import SKILL_FILE
from satchel.model.purpose import SYNC
from satchel.runtime.view import View
from satchel.serve.caller import ANYBODY, Caller
from satchel.serve.http.answers import Answers, refusal
from satchel.serve.http.settings import HttpSettings
from satchel.serve.http.table import Ask, Endpoint, InvalidParameterError, parse
from satchel.serve.library import Library
from satchel.serve.telling import Told, tell

__all__ = [
    "ARCHIVE_SUFFIX",
    "NOT_FOUND",
    "Site",
    "is_copy",
    "product",
    "segments",
    "tell_missed",
]

ARCHIVE_SUFFIX: Final = ".tar.gz"

NOT_FOUND: Final = Told(404, "not-found", "there is nothing here; / says what there is")

_PREFETCH: Final = "prefetch"
_PRODUCT: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Site:
    """One library as it is served over HTTP."""

    library: Library
    settings: HttpSettings
    answers: Answers

    def view(self, request: Request) -> View:
        """Return the skills as whoever sent this may have them."""
        client = product(request.headers.get("user-agent", ""))
        return self.library.view(caller_of(request), via="http", client=client)

    def endpoint(
        self, of: Endpoint, path: Callable[[Request], dict[str, str]] | None = None
    ) -> Callable[[Request], Response]:
        """Return what answers for an endpoint; ``path`` gives its path parameters."""

        def answer(request: Request) -> Response:
            try:
                query = request.query_params.multi_items()
                values = parse(of.parameters, query, path(request) if path else {})
                view = self.view(request)
                return of.answer(Ask(request, self.library, view, self.answers, values))
            except InvalidParameterError as error:
                told = Told(422, "invalid-parameter", str(error))
                return refusal(request, told)
            except SkillError as error:
                return refusal(request, tell(error))

        return answer

    def laned(
        self,
        answer: Callable[[Request], Response],
        skill: Callable[[Request], str | None],
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return ``answer`` in the threads of the skill's source.

        ``skill`` gives its id; None asks for all of them.
        """
        library = self.library

        async def endpoint(request: Request) -> Response:
            skill_id = skill(request)
            lane = library.lists if skill_id is None else library.lane(skill_id)
            try:
                return await library.lanes.run(lane, partial(answer, request))
            except SourceUnavailableError as error:
                return refusal(request, tell(error))

        return endpoint


def caller_of(request: Request) -> Caller:
    """Return who asks: whom the guard let in, or anybody where there is none."""
    state = cast("dict[str, object]", request.scope.get("state", {}))
    caller = state.get("caller")
    return caller if isinstance(caller, Caller) else ANYBODY


def product(user_agent: str) -> str:
    """Return what a program calls itself, for events: no version, no comment.

    What does not look like a product's name is nothing.
    """
    found = _PRODUCT.match(user_agent.partition("/")[0].strip())
    return found[0] if found else ""


def segments(request: Request, behind: str) -> list[str] | None:
    """Return the parts of the path behind a prefix, each decoded on its own.

    So an id may hold a slash that is written ``%2F``. None where one is not UTF-8.
    """
    raw = request.scope.get("raw_path")
    sent = raw if isinstance(raw, bytes) else quote(request.url.path).encode()
    rest = sent.partition(behind.encode())[2]
    try:
        return [unquote_to_bytes(part).decode("utf-8") for part in rest.split(b"/")]
    except UnicodeDecodeError:
        return None


def tell_missed(view: View, request: Request, name: str, file: str = "") -> None:
    """Tell that a skill was to be copied from an address that is none; not of HEAD."""
    if name and request.method != "HEAD":
        view.missed(name, file if file not in ("", SKILL_FILE) else None, copy=True)


def is_copy(headers: Mapping[str, str]) -> bool:
    """Tell whether a caller says that it fetches for a copy, and nobody loads.

    By ``Satchel-Purpose: sync``, or by what browsers send ahead of any use.
    """
    said = (headers.get("sec-purpose", ""), headers.get("purpose", ""))
    return headers.get("satchel-purpose", "").strip().lower() == SYNC or any(
        _PREFETCH in each.lower() for each in said
    )
