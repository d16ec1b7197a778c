"""Endpoints: the parameters of a request, who asks, and the function that answers."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response

from satchel.errors import SkillError, SourceUnavailableError, echo
from satchel.model import SKILL_FILE, SYNC
from satchel.runtime import CallerView
from satchel.server._errors import ErrorAnswer, error_answer
from satchel.server._http._responses import ResponseFactory, error_response
from satchel.server._library import ANYONE, Caller, ServedLibrary


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How skills are offered over HTTP.

    ``private`` says that callers need a token, so that the API's description names it.
    ``old_index`` adds the index of discovery v0.1.0.
    """

    private: bool = False
    old_index: bool = False


_MOST_DIGITS: Final = 9
"""More than any limit here has, and few enough to turn into a number at once."""


class InvalidParameterError(ValueError):
    """A parameter of the query is missing, unknown, twice there, or not as described.

    The text is for the caller.
    """


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; ``schema`` is JSON Schema, of which `parse` knows a few words.

    They are ``type`` (string, integer), ``enum``, ``minimum``, ``maximum``,
    ``minLength``, ``maxLength``, ``default``, and ``anyOf`` for a number or a word.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    example: object
    where: str = "query"
    required: bool = False


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request, understood: who asks, what for, and how to answer."""

    request: Request
    library: ServedLibrary
    view: CallerView
    answers: ResponseFactory
    values: Mapping[str, Any]
    """The parameters by name, with their defaults; None where one is left out."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that can be asked for with GET and HEAD.

    ``path`` is as OpenAPI writes it; ``schema`` names the shape of the answer in
    `_openapi`, empty where it is a file. ``missing`` says what a 404
    means here, empty where there is none.
    """

    path: str
    operation: str
    summary: str
    description: str
    answer: Callable[[ApiRequest], Response]
    schema: str
    example: object
    parameters: tuple[Parameter, ...] = ()
    missing: str = ""
    loads: bool = False
    """Whether it hands out bytes of a pack, so that it may be refused or fail."""


_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def parse_parameters(
    parameters: tuple[Parameter, ...],
    query: list[tuple[str, str]],
    path: Mapping[str, str] = _NOTHING,
) -> dict[str, Any]:
    """Return the values of a request's parameters.

    Raises:
        InvalidParameterError: One is not as it is described.
    """
    known = {each.name: each for each in parameters}
    values: dict[str, Any] = {
        each.name: path.get(each.name, each.schema.get("default"))
        for each in parameters
    }
    seen: set[str] = set()
    for name, text in query:
        parameter = known.get(name)
        if parameter is None or parameter.where != "query":
            names = ", ".join(n for n, each in known.items() if each.where == "query")
            choice = f"there are {names}" if names else "there is none"
            raise InvalidParameterError(f"unknown parameter {echo(name)!r}; {choice}")
        if name in seen:
            raise InvalidParameterError(f"{name}: given more than once")
        seen.add(name)
        values[name] = _value(parameter, text)
    for parameter in parameters:
        if parameter.required and values[parameter.name] is None:
            raise InvalidParameterError(f"{parameter.name}: is needed")
    return values


def _value(parameter: Parameter, text: str) -> object:
    """Return what a text means.

    Raises:
        InvalidParameterError: It does not fit the schema.
    """
    schema = parameter.schema
    options: list[Mapping[str, Any]] = schema.get("anyOf", [schema])
    problems: list[str] = []
    for option in options:
        kind = _number_value if option["type"] == "integer" else _text_value
        value, problem = kind(option, text)
        if not problem:
            return value
        problems.append(problem)
    wanted = " or ".join(problems)
    raise InvalidParameterError(f"{parameter.name}: want {wanted}")


def _number_value(schema: Mapping[str, Any], text: str) -> tuple[int, str]:
    low, high = schema["minimum"], schema["maximum"]
    if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
        value = int(text)
        if low <= value <= high:
            return value, ""
    return 0, f"a whole number from {low} to {high:,}"


def _text_value(schema: Mapping[str, Any], text: str) -> tuple[str, str]:
    if "enum" in schema:
        choices: list[str] = schema["enum"]
        return text, "" if text in choices else f"one of {', '.join(choices)}"
    low, high = schema.get("minLength", 0), schema["maxLength"]
    fits = low <= len(text) <= high
    return text, "" if fits else f"{low} to {high:,} characters"


ARCHIVE_SUFFIX: Final = ".tar.gz"

NOT_FOUND: Final = ErrorAnswer(
    404, "not-found", "there is nothing here; / says what there is"
)

_PREFETCH: Final = "prefetch"
_PRODUCT: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class HttpContext:
    """One library as it is served over HTTP."""

    library: ServedLibrary
    settings: HttpSettings
    answers: ResponseFactory

    def view(self, request: Request) -> CallerView:
        """Return the skills as whoever sent this may have them."""
        client = product_name(request.headers.get("user-agent", ""))
        return self.library.view(http_caller(request), via="http", client=client)

    def endpoint(
        self, of: Endpoint, path: Callable[[Request], dict[str, str]] | None = None
    ) -> Callable[[Request], Response]:
        """Return what answers for an endpoint; ``path`` gives its path parameters."""

        def answer(request: Request) -> Response:
            try:
                query = request.query_params.multi_items()
                values = parse_parameters(
                    of.parameters, query, path(request) if path else {}
                )
                view = self.view(request)
                return of.answer(
                    ApiRequest(request, self.library, view, self.answers, values)
                )
            except InvalidParameterError as error:
                told = ErrorAnswer(422, "invalid-parameter", str(error))
                return error_response(request, told)
            except SkillError as error:
                return error_response(request, error_answer(error))

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
                return error_response(request, error_answer(error))

        return endpoint


def http_caller(request: Request) -> Caller:
    """Return who asks: whom the guard let in, or anybody where there is none."""
    state = cast("dict[str, object]", request.scope.get("state", {}))
    caller = state.get("caller")
    return caller if isinstance(caller, Caller) else ANYONE


def product_name(user_agent: str) -> str:
    """Return what a program calls itself, for events: no version, no comment.

    What does not look like a product's name is nothing.
    """
    found = _PRODUCT.match(user_agent.partition("/")[0].strip())
    return found[0] if found else ""


def path_segments(request: Request, behind: str) -> list[str] | None:
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


def record_missing(
    view: CallerView, request: Request, name: str, file: str = ""
) -> None:
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
