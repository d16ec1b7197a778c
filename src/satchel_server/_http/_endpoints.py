"""Endpoints: the parameters of a request, who asks, and the function that answers."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response

from satchel.errors import SkillError, echo
from satchel.model import SKILL_FILE
from satchel.runtime import View
from satchel_server._errors import ErrorAnswer, error_answer
from satchel_server._http._responses import ResponseFactory, error_response
from satchel_server._library import (
    NOW,
    Caller,
    ServedLibrary,
    caller_of,
    is_copy_request,
    record_failed_load,
)
from satchel_server.usage import enter_call

ARCHIVE_SUFFIX: Final = ".tar.gz"
NOT_FOUND: Final = ErrorAnswer(
    404, "not-found", "there is nothing here; / says what there is"
)

# More than any limit here has, and few enough to convert at once.
_MAX_DIGITS: Final = 9
_PRODUCT: Final = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
# A default that all calls share, so nothing may change it.
_NO_VALUES: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings:
    """How skills are offered over HTTP.

    ``private`` means that callers need a token; the API's description then says so.
    ``old_index`` adds the index of discovery v0.1.0. ``page`` sends browsers that ask
    for ``/`` to the page, which shows what ``usage`` has: a file or a URL of events.
    """

    private: bool = False
    old_index: bool = False
    page: bool = False
    usage: str = ""


class InvalidParameterError(ValueError):
    """A query parameter is not as described; the text is for the caller."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; ``schema`` is JSON Schema, of which `_value` knows some keys."""

    name: str
    description: str
    schema: Mapping[str, Any]
    example: object
    where: str = "query"
    required: bool = False


@dataclass(frozen=True, slots=True)
class ApiRequest:
    request: Request
    library: ServedLibrary
    view: View
    responses: ResponseFactory
    # The parameters by name, with their defaults; None where one is left out.
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address that answers GET and HEAD; its route and its description."""

    path: str
    operation: str
    summary: str
    description: str
    answer: Callable[[ApiRequest], Response]
    # The shape of the response in `SCHEMAS`, empty where it is a file.
    schema: str
    example: object
    parameters: tuple[Parameter, ...] = ()
    # What a 404 means here, empty where there is none.
    missing: str = ""
    # Whether it hands out bytes of a pack, so that it may be refused or fail.
    loads: bool = False


@dataclass(frozen=True, slots=True)
class HttpContext:
    library: ServedLibrary
    settings: HttpSettings = field(default_factory=HttpSettings)
    responses: ResponseFactory = field(default_factory=ResponseFactory)

    def view(self, request: Request) -> View:
        caller, client = sender_of(request)
        return self.library.view(caller, via="http", client=client)

    def answer(
        self, endpoint: Endpoint, request: Request, path: Mapping[str, str] = _NO_VALUES
    ) -> Response:
        """Return the response of an endpoint; ``path`` has its path parameters."""
        query = request.query_params.multi_items()
        values = parse_parameters(endpoint.parameters, query, path)
        view = self.view(request)
        return endpoint.answer(
            ApiRequest(request, self.library, view, self.responses, values)
        )

    async def repeat(
        self, endpoint: Endpoint, request: Request, path: Mapping[str, str] = _NO_VALUES
    ) -> Response:
        """Answer, and let `RepeatedAnswers` answer so again while the catalog stays."""
        library, answers = self.library, self.library.answers
        skill_id, (caller, _) = path.get("id"), sender_of(request)
        key = caller, skill_id, request.scope["query_string"]
        is_use = request.method == "GET" and not is_copy_request(request.headers)
        # Rules are asked for each answer, and may take long.
        is_use = is_use and not library.skills.policy.rules
        source = library.thread_for(skill_id)

        def answer() -> Response:
            response = self.answer(endpoint, request, path)
            is_whole = is_use and response.status_code == HTTPStatus.OK
            # Of a slow source nothing is sent again.
            if is_whole and (source == NOW or not path):
                data = bytes(response.body)
                answers.put(key, (data, response.raw_headers), len(data))
            return response

        return await self.run(request, source, answer)

    async def run(
        self, request: Request, source: str | None, answer: Callable[[], Response]
    ) -> Response:
        """Return the response of ``answer``, run in a thread of the slow ``source``."""
        enter_call(request.headers)
        # Here, and nowhere else, errors become HTTP responses.
        try:
            return await self.library.threads.run(source, answer)
        except InvalidParameterError as error:
            invalid = ErrorAnswer(422, "invalid-parameter", str(error))
            return error_response(request, invalid)
        except SkillError as error:
            return error_response(request, error_answer(error))

    def threaded(
        self,
        answer: Callable[[Request], Response],
        source: Callable[[Request], str | None] = lambda _: None,
    ) -> Callable[[Request], Awaitable[Response]]:
        async def handler(request: Request) -> Response:
            return await self.run(request, source(request), partial(answer, request))

        return handler


def parse_parameters(
    parameters: tuple[Parameter, ...],
    query: list[tuple[str, str]],
    path: Mapping[str, str] = _NO_VALUES,
) -> dict[str, Any]:
    """Return the values of a request's parameters, in the query or in the path."""
    by_name = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {
        name: path.get(name, parameter.schema.get("default"))
        for name, parameter in by_name.items()
    }
    seen: set[str] = set()
    for name, text in query:
        parameter = by_name.get(name)
        # A path parameter in the query would replace the one in the path.
        if parameter is None or parameter.where != "query":
            names = ", ".join(n for n, p in by_name.items() if p.where == "query")
            choice = f"there are {names}" if names else "there is none"
            raise InvalidParameterError(f"unknown parameter {echo(name)!r}; {choice}")
        # Programs disagree about which of two values counts.
        if name in seen:
            raise InvalidParameterError(f"{name}: given more than once")
        seen.add(name)
        values[name] = _value(parameter, text)
    for parameter in parameters:
        if parameter.required and values[parameter.name] is None:
            raise InvalidParameterError(f"{parameter.name}: is needed")
    return values


def _value(parameter: Parameter, text: str) -> object:
    """Return the value that a text has by the schema of its parameter."""
    schema = parameter.schema
    # A number or a word, such as `budget=none`.
    options: list[Mapping[str, Any]] = schema.get("anyOf", [schema])
    expected: list[str] = []
    for option in options:
        parse = _number_value if option["type"] == "integer" else _text_value
        value, problem = parse(option, text)
        if not problem:
            return value
        expected.append(problem)
    raise InvalidParameterError(f"{parameter.name}: expected {' or '.join(expected)}")


def _number_value(schema: Mapping[str, Any], text: str) -> tuple[int, str]:
    low, high = schema["minimum"], schema["maximum"]
    # `int` alone also takes spaces, signs, underscores and other scripts' digits.
    if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS:
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


def sender_of(request: Request) -> tuple[Caller, str]:
    """Return who sent a request, and what the program calls itself: only for events."""
    agent = request.headers.get("user-agent", "")
    return caller_of(request.scope), product_of(agent)


@lru_cache(maxsize=256)
def product_of(agent: str) -> str:
    """Return the program of a User-Agent; empty if it names none."""
    # With its version, each release of a program would be another client.
    product = _PRODUCT.match(agent.partition("/")[0].strip())
    return product[0] if product else ""


def path_segments(request: Request, prefix: str) -> list[str] | None:
    """Return the decoded parts of the path after a prefix; None if one is not UTF-8."""
    # The path is already decoded, so a slash in an id could not be told apart.
    raw = request.scope.get("raw_path")
    sent = raw if isinstance(raw, bytes) else quote(request.url.path).encode()
    rest = sent.partition(prefix.encode())[2]
    try:
        return [unquote_to_bytes(part).decode("utf-8") for part in rest.split(b"/")]
    except UnicodeDecodeError:
        return None


def record_missing(view: View, request: Request, name: str, file: str = "") -> None:
    """Record that a copy of a missing skill or file was requested; not for HEAD."""
    if name and request.method != "HEAD":
        requested = file if file not in ("", SKILL_FILE) else None
        record_failed_load(view, name, requested, as_="copy")
