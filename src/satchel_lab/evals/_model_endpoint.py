"""A model behind an endpoint of the form of OpenAI's Chat Completions."""

import json
import os
import re
import time
import weakref
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from html import unescape
from typing import Any, Final
from unicodedata import normalize
from urllib.parse import unquote

from satchel.errors import ConfigError, ExtraMissingError
from satchel.text import clean_line
from satchel_lab.evals._trial_answers import (
    ChatReply,
    ChatRequest,
    ModelBusyError,
    ModelDeniedError,
    ModelError,
    ToolCallText,
    as_list,
    as_mapping,
)

try:
    import httpcore2

    from satchel_store.http import (
        CheckedBackend,
        RequestRefusedError,
        checked_headers,
        parse_url,
        request_deadline,
        resolve_host,
        retry_after_s,
    )
except ImportError as error:
    raise ExtraMissingError("a model behind a URL", "http") from error

URL_VARIABLE: Final = "OPENAI_BASE_URL"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
# Bytes of an answer; one with a tool call has a few thousand.
MAX_REPLY_BYTES: Final = 4 * 1024 * 1024
# Characters of an error of the endpoint that a report repeats.
_MAX_DETAIL: Final = 200
# Tool calls of one answer, and characters of one call, that are looked at.
_MAX_CALLS: Final = 64
_MAX_ARGUMENTS: Final = 10_000
# A shorter key is a word that a local server asks for, such as "EMPTY".
_MIN_SECRET: Final = 6
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_MAX_TOKENS: Final = 1 << 40
_OK: Final = 200
# Nobody gets an answer with this key or from this URL.
_DENIED: Final = frozenset({401, 402, 403, 404, 405})
_BUSY: Final = frozenset({408, 409, 425, 429})
_REDIRECTS: Final = range(300, 400)


class ModelEndpoint:
    """A `ChatModel` behind a URL. It asks once and follows no redirect.

    The key is that of ``OPENAI_API_KEY``; without one, none is sent. It is not logged,
    stored or put in an error, and neither is a text that repeats it. Plain http is for
    this machine and private networks only.
    """

    def __init__(
        self, name: str, base_url: str = "", *, timeout_s: float = 60.0
    ) -> None:
        """Connect nothing yet.

        Args:
            name: The model, as the endpoint calls it.
            base_url: The URL above ``/chat/completions``; empty is that of the variable
                ``OPENAI_BASE_URL``.
            timeout_s: Seconds that one answer may take, until its last byte.

        Raises:
            ConfigError: There is no URL, or it or the key cannot be used.
        """
        key = os.environ.get(KEY_VARIABLE, "")
        try:
            url = parse_url(base_url or os.environ.get(URL_VARIABLE, ""))
        except ValueError as error:
            detail = f"it has to be the URL of a model, but {error}"
            raise ConfigError(URL_VARIABLE, detail) from None
        try:
            headers = checked_headers({"Authorization": f"Bearer {key}"} if key else {})
        except ValueError as error:
            raise ConfigError(KEY_VARIABLE, str(error)) from None
        path = f"{url.path.rstrip('/')}/chat/completions"
        self._name = name
        self._url = replace(url, path=path)
        self._timeout_s = timeout_s
        self._headers = [
            (b"Host", url.authority.encode()),
            (b"Accept", b"application/json"),
            (b"Accept-Encoding", b"identity"),
            (b"Content-Type", b"application/json"),
            (b"User-Agent", b"satchel"),
            *((k.encode(), value.encode()) for k, value in headers.items()),
        ]
        self._key = key
        self._spellings = _spellings(key)
        self._pool = httpcore2.ConnectionPool(
            network_backend=CheckedBackend(allow_private=True, resolve=resolve_host)
        )
        # Nobody closes a model, and its connections must not stay open.
        weakref.finalize(self, self._pool.close)

    @property
    def identity(self) -> str:
        """Which model it is, and where; without the key."""
        query = sha256(self._url.query.encode()).hexdigest()  # it may have a key
        return f"{self._name} at {self._without_key(str(self._url))} {query[:8]}"

    def complete(self, request: ChatRequest) -> ChatReply:
        """Send one request; the errors are those of `ChatModel.complete`."""
        body: dict[str, Any] = {"model": self._name, "messages": request.messages}
        if request.tools:
            body["tools"] = request.tools
        end = time.monotonic() + self._timeout_s
        plain = self._url.scheme == "http"
        try:
            with request_deadline(end, time.monotonic, plain=plain):
                return self._send(json.dumps(body).encode(), end)
        except RequestRefusedError as error:
            raise ModelDeniedError(str(error)) from None
        except httpcore2.TimeoutException:
            limit = f"{self._timeout_s:g} seconds"
            raise ModelBusyError(f"no whole answer in {limit}") from None
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            detail = clean_line(self._without_key(str(error)))[:_MAX_DETAIL]
            raise ModelBusyError(f"the connection failed: {detail}") from None

    def _send(self, body: bytes, end: float) -> ChatReply:
        left = max(end - time.monotonic(), 0.0)
        length = (b"Content-Length", str(len(body)).encode())
        address = httpcore2.URL(
            scheme=self._url.scheme.encode(),
            host=self._url.host.encode(),
            port=self._url.port,
            target=self._url.target.encode(),
        )
        with self._pool.stream(
            "POST",
            address,
            headers=[*self._headers, length],
            content=body,
            extensions={
                "timeout": dict.fromkeys(("connect", "read", "write", "pool"), left)
            },
        ) as response:
            fields = {name.lower(): value for name, value in response.headers}
            self._check_status(response, fields)
            return parse_reply(_read_body(response), self._without_key)

    def _check_status(
        self, response: httpcore2.Response, fields: Mapping[bytes, bytes]
    ) -> None:
        status = response.status
        message = f"the endpoint answers {status}"
        if status in _BUSY or status >= 500:  # noqa: PLR2004 - the server's errors
            after_s = retry_after_s(fields.get(b"retry-after", b""), time.time())
            raise ModelBusyError(message, after_s)
        if status in _REDIRECTS:
            # Followed, it would show the key and the messages to somebody else.
            raise ModelDeniedError(f"{message}, a redirect, which is not followed")
        if status != _OK:
            detail = self._detail(_read_body(response))
            kind = ModelDeniedError if status in _DENIED else ModelError
            raise kind(f"{message}: {detail}" if detail else message)
        if fields.get(b"content-encoding", b"identity").lower() != b"identity":
            raise ModelError("the answer is compressed, which was not requested")

    def _detail(self, body: bytes) -> str:
        """Return the message in the body of an error, without the key."""
        with suppress(ValueError, RecursionError):
            error = as_mapping(json.loads(body)).get("error")
            text = _text(as_mapping(error).get("message")) or _text(error)
            # Some repeat the key that they refuse.
            text = text.replace(self._key, "...") if self._key else text
            return clean_line(self._without_key(text))[:_MAX_DETAIL]
        return ""

    def _without_key(self, text: str) -> str:
        """Return a text, or a word instead of one that has the key in any spelling."""
        plain = text
        for _ in range(3):  # an escape may itself be escaped
            plain = unescape(unquote(plain))
            plain = _ESCAPE.sub(lambda code: chr(int(code[1] or code[2], 16)), plain)
        # Before it is cut: half of a key is too much.
        both = f"{_folded(text)} {_folded(plain)}"
        is_there = any(spelling in both for spelling in self._spellings)
        return "(left out: it repeats the key)" if is_there else text


def _spellings(key: str) -> frozenset[str]:
    """Return what is in a text that repeats the key: plain, base64 or hexadecimal.

    In base64 three bytes are four characters, so that it depends on what is in front;
    the characters that the neighbours of the key have a part in are left out.
    """
    spellings: set[str] = set()
    for text in (key, key.lower(), key.upper()):
        data = text.encode()
        spellings |= {_folded(text), data.hex()}
        for before, start in enumerate((0, 2, 3)):
            end = (before + len(data)) * 8 // 6
            spellings.add(_folded(b64encode(bytes(before) + data)[start:end].decode()))
    return frozenset(text for text in spellings if len(text) >= _MIN_SECRET)


def _folded(text: str) -> str:
    """Return the letters and digits in one case: signs between them do not matter."""
    text = normalize("NFKC", text).casefold().replace("0x", "")
    return "".join(filter(str.isalnum, text))


def _read_body(response: httpcore2.Response) -> bytes:
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            raise ModelError(f"the answer has more than {MAX_REPLY_BYTES:,} bytes")
    return bytes(body)


def parse_reply(body: bytes, clean: Callable[[str], str] = str) -> ChatReply:
    """Return the reply in the body of an answer, each text as ``clean`` returns it.

    Raises:
        ModelError: It has another form; says which.
    """
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelError("the answer is no JSON") from None
    answer = as_mapping(value)
    choices = as_list(answer.get("choices"))
    if not choices:
        about = "is an error" if answer.get("error") else "has no choices"
        raise ModelError(f"the answer {about}")
    message = as_mapping(as_mapping(choices[0]).get("message"))
    if not message:
        raise ModelError("the first choice has no message")
    usage = as_mapping(answer.get("usage"))
    calls = as_list(message.get("tool_calls"))[:_MAX_CALLS]
    return ChatReply(
        tuple(_call(item, clean) for item in calls),
        clean(_text(message.get("content") or message.get("refusal"))),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
    )


def _call(item: object, clean: Callable[[str], str]) -> ToolCallText:
    function = as_mapping(as_mapping(item).get("function"))
    # Some servers give the object itself, and not its text.
    given: object = function.get("arguments")
    text = json.dumps(given) if isinstance(given, dict) else _text(given)
    name = clean(_text(function.get("name")))
    return ToolCallText(name[:_MAX_ARGUMENTS], clean(text)[:_MAX_ARGUMENTS])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MAX_TOKENS else None
