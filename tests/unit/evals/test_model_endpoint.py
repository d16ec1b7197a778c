"""A model behind a URL: what is sent, what an answer means, and twenty bad ones."""

import gzip
import json
import socket
import struct
import subprocess
import sys
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Final
from urllib.parse import quote

import pytest

from satchel.errors import ConfigError
from satchel_lab.evals import (
    ChatReply,
    ModelBusyError,
    ModelDeniedError,
    ModelEndpoint,
    ModelError,
    ToolCallText,
    TrialLimits,
    run_trials,
)
from satchel_lab.evals._trial_answers import ChatRequest
from tests.unit.evals.endpoints import (
    CASES,
    PDF,
    Handler,
    endpoint,
    good,
    library,
    message,
)

HELLO = ChatRequest(({"role": "user", "content": "hello"},))
TIMEOUT_S = 0.5
KEY = "sk-secret-1"

Behaviour = Callable[[Handler, Mapping[str, Any]], object]


def answers(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Behaviour:
    return lambda handler, _: handler.reply(body, status, headers)


def hang(handler: Handler, _: object) -> None:
    handler.server.ended.wait(5)
    handler.close_connection = True


def drip(handler: Handler, _: object) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.server.ended.wait(0.05):
        handler.wfile.write(b" ")


def drip_headers(handler: Handler, _: object) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.server.ended.wait(0.05):
        handler.wfile.write(b"a")


def reset(handler: Handler, _: object) -> None:
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()
    handler.close_connection = True


def huge(handler: Handler, _: object) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    for _number in range(200):
        handler.wfile.write(chunk)


def not_http(handler: Handler, _: object) -> None:
    handler.wfile.write(b"220 mail.example.com ESMTP\r\n")
    handler.close_connection = True


def truncated(handler: Handler, request: Mapping[str, Any]) -> None:
    handler.reply(b'{"choices": [{"mess', length=5_000)


LOAD = ("load_skill", {"skill_id": "pdf-forms"})
NO_USAGE = {k: v for k, v in message(LOAD).items() if k != "usage"}
NEGATIVE = message(LOAD) | {"usage": {"prompt_tokens": -5, "completion_tokens": 1e400}}

# What the endpoint does to a query that should load pdf-forms; what the report says
# came first, or why there is no answer; and how many requests each trial makes.
BAD: dict[str, tuple[Behaviour, str, int]] = {
    "hangs": (hang, "no whole answer in 0.5 seconds; asked 2 times", 2),
    "drips": (drip, "no whole answer in 0.5 seconds; asked 2 times", 2),
    "drips headers": (drip_headers, "no whole answer in 0.5 seconds; asked 2 times", 2),
    "429": (answers({}, 429), "the endpoint answers 429; asked 2 times", 2),
    "429 with a short wait": (
        answers({}, 429, {"Retry-After": "0"}),
        "the endpoint answers 429; asked 2 times",
        2,
    ),
    "429 with a long wait": (
        answers({}, 429, {"Retry-After": "3600"}),
        "the endpoint answers 429; it asks to wait 3,600 s, more than 1",
        1,
    ),
    "429 until a date": (
        answers({}, 429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}),
        "the endpoint answers 429; it asks to wait ",
        1,
    ),
    "500": (answers(b"oops", 500), "the endpoint answers 500; asked 2 times", 2),
    "reset": (reset, "the connection failed: ", 2),
    "truncated": (truncated, "the connection failed: ", 2),
    "no HTTP": (not_http, "the connection failed: ", 2),
    "400": (
        answers({"error": {"message": "too long\x1b[2J"}}, 400),
        "the endpoint answers 400: too long",
        1,
    ),
    "400 of another form": (answers([1], 400), "the endpoint answers 400", 1),
    "no JSON": (
        answers(b"<html>", 200, {"Content-Type": "text/html"}),
        "the answer is no JSON",
        1,
    ),
    "deep JSON": (answers(b"[" * 100_000), "the answer is no JSON", 1),
    "no object": (answers([1, 2]), "the answer has no choices", 1),
    "another shape": (answers({"output": []}), "the answer has no choices", 1),
    "an error": (answers({"error": {"code": 3}}), "the answer is an error", 1),
    "no choices": (answers({"choices": []}), "the answer has no choices", 1),
    "choices of another shape": (
        answers({"choices": [7]}),
        "the first choice has no message",
        1,
    ),
    "huge": (huge, "the answer has more than 4,194,304 bytes", 1),
    "gzip": (
        answers(gzip.compress(b"{}"), 200, {"Content-Encoding": "gzip"}),
        "the answer is compressed, which was not requested",
        1,
    ),
    "garbage as gzip": (
        answers(b"\x1f\x8b garbage", 200, {"Content-Encoding": "gzip"}),
        "the answer is compressed, which was not requested",
        1,
    ),
    "redirect": (
        answers(b"", 307, {"Location": "http://127.0.0.1:9/v1/chat/completions"}),
        "the endpoint answers 307, a redirect, which is not followed",
        1,
    ),
    "denied": (
        answers({"error": {"message": f"wrong key {KEY}"}}, 401),
        "the endpoint answers 401: wrong key ...",
        1,
    ),
    "refuses": (answers(message(content="I cannot help.")), "no tool", 1),
    "null content": (answers(message()), "no tool", 1),
    "calls of another shape": (
        answers({"choices": [{"message": {"tool_calls": "load"}}]}),
        "no tool",
        1,
    ),
    "unknown tool": (answers(message(("rm", {}))), "no such tool", 1),
    "call of another shape": (
        answers({"choices": [{"message": {"tool_calls": [3, LOAD]}}]}),
        "no such tool",
        1,
    ),
    "bad arguments": (answers(message(("load_skill", "{"))), "no such skill", 1),
    "arguments that are no object": (
        answers(message(("load_skill", "[1]"))),
        "no such skill",
        1,
    ),
    "unknown skill": (
        answers(message(("load_skill", {"skill_id": "x\x1b"}))),
        "no such skill",
        1,
    ),
    "skill of another type": (
        answers(message(("load_skill", {"skill_id": ["pdf-forms"]}))),
        "no such skill",
        1,
    ),
    "loops on calls": (answers(message(*[LOAD] * 500)), "pdf-forms", 1),
    "same call twice": (answers(message(LOAD, LOAD)), "pdf-forms", 1),
    "no usage": (answers(NO_USAGE), "pdf-forms", 1),
    "usage below zero": (answers(NEGATIVE), "pdf-forms", 1),
    "wrong content type": (
        answers(message(LOAD), 200, {"Content-Type": "image/png"}),
        "pdf-forms",
        1,
    ),
}
QUICK = TrialLimits(attempts=2, back_off_s=0.001, max_wait_s=1.0, give_up_after=999)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_loses_no_run_and_no_other_query(name: str) -> None:
    """The first query is answered badly, the others well: each is in the report."""
    behave, outcome, requests = BAD[name]

    def mixed(handler: Handler, request: Mapping[str, Any]) -> None:
        if request["messages"][-1]["content"] == PDF.query:
            behave(handler, request)
        else:
            handler.reply(good(request))

    with endpoint(mixed) as server:
        is_slow = behave in {hang, drip, drip_headers}
        timeout_s = TIMEOUT_S if is_slow else 30.0
        model = ModelEndpoint("m", server.url, timeout_s=timeout_s)
        report = run_trials(
            library(), CASES, model, styles=["lean"], runs=2, limits=QUICK
        )
        sent = len(server.requests)

    bad, *rest = report.results
    assert [result.passed for result in rest] == [True, True]
    shown = [*bad.first, *bad.failures]
    # How long it is until a date changes with each second.
    assert len(shown) == 1 or name == "429 until a date"
    assert all(text.startswith(outcome) for text in shown)
    assert bad.runs + sum(bad.failures.values()) == 2
    assert bad.passed is (None if bad.failures else outcome == "pdf-forms")
    # Every request is counted, and every answer once.
    assert report.calls == sent
    # On a busy machine a good answer may come too late, and is asked for again.
    assert is_slow or sent == 4 + 2 * requests
    assert report.cost["answers"] == 4 + bad.runs
    assert report.left_out == {}
    assert outcome in report.text() or bad.passed
    assert "\x1b" not in report.text()
    assert KEY not in report.text() + str(report.to_json())


def test_at_least_twenty_bad_ways_are_tried() -> None:
    assert len(BAD) >= 20


def test_tokens_that_are_not_said_are_estimated() -> None:
    with endpoint(answers(NO_USAGE)) as server:
        model = ModelEndpoint("m", server.url)
        report = run_trials(library(), [PDF], model, styles=["lean"], runs=1)

    assert (report.cost["answers"], report.cost["estimates"]) == (1, 1)
    assert 50 < report.cost["input_tokens"] < 500
    assert 0 < report.cost["output_tokens"] < 50
    assert "1 answer, 1 estimated" in report.text()


def test_a_busy_endpoint_is_asked_again() -> None:
    failures = iter([answers({}, 503), reset, answers({}, 429, {"Retry-After": "0"})])

    def behave(handler: Handler, request: Mapping[str, Any]) -> None:
        next(failures, lambda h, r: h.reply(good(r)))(handler, request)

    limits = TrialLimits(back_off_s=0.001)
    with endpoint(behave) as server:
        model = ModelEndpoint("m", server.url)
        report = run_trials(
            library(), [PDF], model, styles=["lean"], runs=1, limits=limits
        )

    assert report.passed
    assert (report.cost["answers"], report.calls) == (1, 4)


@pytest.mark.slow
def test_a_retry_waits_as_long_as_it_is_asked_to() -> None:
    failures = iter([answers({}, 429, {"Retry-After": "1"})])

    def behave(handler: Handler, request: Mapping[str, Any]) -> None:
        next(failures, lambda h, r: h.reply(good(r)))(handler, request)

    start = time.monotonic()
    with endpoint(behave) as server:
        model = ModelEndpoint("m", server.url)
        report = run_trials(
            library(), [PDF], model, styles=["lean"], runs=1, limits=QUICK
        )

    assert report.passed
    assert time.monotonic() - start >= 0.95


def test_the_key_goes_to_the_endpoint_and_nowhere_else() -> None:
    body = message(LOAD, content="Hi.")
    with endpoint(answers(body)) as server:
        model = ModelEndpoint("m", f"{server.url}/?api-version=1")
        reply = model.complete(HELLO)
        headers = server.headers[0]

    assert headers["Authorization"] == f"Bearer {KEY}"
    assert reply == ChatReply(
        (ToolCallText("load_skill", '{"skill_id": "pdf-forms"}'),), "Hi.", 100, 10
    )
    assert KEY not in f"{model!r} {model.identity} {vars(model)['_url']}"


SECRET: Final = "sk-proj-A1b2/C3d4+E5f6_G7h8"  # noqa: S105 - made up
DATA: Final = SECRET.encode()
SPELLINGS: Final = {
    "plain": SECRET,
    "in a text": f"load_skill {SECRET}!",
    "lower": SECRET.lower(),
    "capitals": SECRET.upper(),
    "swapped": SECRET.swapcase(),
    "base64": b64encode(DATA).decode(),
    "base64 of a header": b64encode(b"Bearer " + DATA).decode(),
    "base64 of a user": b64encode(b"ab:" + DATA + b":x").decode(),
    "base64 of one more": b64encode(b"a" + DATA).decode(),
    "for URLs": urlsafe_b64encode(b"Authorization: Bearer " + DATA)
    .decode()
    .rstrip("="),
    "base64 in lines": "\n".join(wrap(b64encode(DATA).decode(), 10)),
    "base64 of capitals": b64encode(SECRET.upper().encode()).decode(),
    "hexadecimal": DATA.hex(),
    "HEXADECIMAL": DATA.hex(" ").upper(),
    "bytes": ", ".join(f"0x{byte:02x}" for byte in DATA),
    "quoted": quote(SECRET, safe=""),
    "quoted whole": "".join(f"%{byte:02X}" for byte in DATA),
    "quoted twice": quote(quote(SECRET, safe=""), safe=""),
    "escaped": "".join(f"\\u{byte:04x}" for byte in DATA),
    "escaped bytes": "".join(f"\\x{byte:02x}" for byte in DATA),
    "entities": "".join(f"&#{byte};" for byte in DATA),
    "spaced": " ".join(SECRET),
    "hyphens": "-".join(SECRET),
    "zero width": "\u200b".join(SECRET),
    "full width": "".join(chr(byte + 0xFEE0) for byte in DATA),
    "at the cut": "x" * 190 + SECRET,
    "at the other cut": "x" * 9_990 + SECRET,
}


def spoken(text: str) -> list[tuple[Behaviour, type[Exception] | None]]:
    """Return the ways in which an endpoint can say something."""
    return [
        (answers(message((text, "{}"))), None),
        (answers(message(("load_skill", {"skill_id": text}))), None),
        (answers(message(("load_skill", text), content=text)), None),
        (answers({"error": {"message": text}}, 401), ModelDeniedError),
        (answers({"error": text}, 418), ModelError),
    ]


@pytest.mark.slow
@pytest.mark.row("F78")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_key_rests_nowhere_in_any_spelling(
    spelling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SPELLINGS[spelling]
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    cache = tmp_path / "answers.jsonl"
    for behave, error in spoken(text):
        with endpoint(behave) as server:
            model = ModelEndpoint("m", server.url)
            report = run_trials(
                library(), [PDF], model, styles=["lean"], runs=1, cache=cache
            )
            kept = report.text() + json.dumps(report.to_json())
            if error is None:
                kept += repr(model.complete(HELLO))
            else:
                with pytest.raises(error) as caught:
                    model.complete(HELLO)
                kept += str(caught.value)
        kept += cache.read_text() if cache.exists() else ""
        pieces = [text, SECRET, SECRET[:20], text[:-5][-20:], json.dumps(text)[1:-1]]
        assert [piece for piece in pieces if piece in kept] == []
        cache.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "text",
    [
        "load_skill",
        '{"skill_id": "pdf-forms"}',
        "sk-proj",
        b64encode(b"sk-proj-other-A1b2").decode(),
        "%73%6b",
        "",
        "\x00\ud800",
        "x" * 9_000,
    ],
)
def test_what_is_not_the_key_is_as_it_was(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with endpoint(answers(message((text, text)))) as server:
        (call,) = ModelEndpoint("m", server.url).complete(HELLO).calls

    assert call == ToolCallText(text, text)


@pytest.mark.parametrize("key", ["EMPTY", "none", "x"])
def test_a_word_that_a_local_server_asks_for_is_no_secret(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    given = json.dumps({"skill_id": f"{key}-forms"})
    with endpoint(answers(message(("load_skill", given)))) as server:
        (call,) = ModelEndpoint("m", server.url).complete(HELLO).calls

    assert call.arguments == given


def test_a_path_with_the_key_is_not_in_the_identity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    assert SECRET not in ModelEndpoint("m", f"https://e.org/{SECRET}/v1").identity


def test_no_key_is_sent_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with endpoint() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ModelEndpoint("m").complete(HELLO)

    assert "Authorization" not in server.headers[0]


def test_arguments_may_be_an_object() -> None:
    body = message(LOAD)
    function = body["choices"][0]["message"]["tool_calls"][0]["function"]
    function["arguments"] = {"skill_id": "pdf-forms"}
    with endpoint(answers(body)) as server:
        reply = ModelEndpoint("m", server.url).complete(HELLO)

    assert reply.calls[0].arguments == '{"skill_id": "pdf-forms"}'


@pytest.mark.parametrize(
    ("status", "error"),
    [(404, ModelDeniedError), (503, ModelBusyError), (418, ModelError)],
)
def test_a_status_has_its_error(status: int, error: type[Exception]) -> None:
    with endpoint(answers({}, status)) as server:
        model = ModelEndpoint("m", server.url)
        with pytest.raises(ModelError, match=str(status)) as caught:
            model.complete(HELLO)

    assert type(caught.value) is error


def test_nobody_at_home() -> None:
    with endpoint() as server:
        url = server.url
    with pytest.raises(ModelBusyError, match="connection failed"):
        ModelEndpoint("m", url).complete(HELLO)


@pytest.mark.parametrize(
    ("url", "key", "message"),
    [
        ("", "", "OPENAI_BASE_URL: it has to be the URL of a model, but it does not"),
        ("ftp://example.com", "", "OPENAI_BASE_URL: it has to be the URL"),
        ("https://user:pw@example.com", "", "OPENAI_BASE_URL: it has to be the URL"),
        ("https://example.com", "sk-1\r\nX: y", "OPENAI_API_KEY: the header"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_the_opening(
    monkeypatch: pytest.MonkeyPatch, url: str, key: str, message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)

    with pytest.raises(ConfigError) as caught:
        ModelEndpoint("m", url)

    assert str(caught.value).startswith(message)
    assert "sk-1" not in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_public_address_needs_https() -> None:
    with pytest.raises(ModelDeniedError, match="needs https"):
        ModelEndpoint("m", "http://8.8.8.8/v1").complete(HELLO)


def test_without_the_extra_the_error_names_it() -> None:
    program = (
        "import sys; sys.modules['httpcore2'] = None\n"
        "from satchel.errors import ExtraMissingError\n"
        "import satchel_lab.evals\n"
        "satchel_lab.evals.run_trials\n"
        "try:\n    satchel_lab.evals.ModelEndpoint\n"
        "except ExtraMissingError as error:\n    print(error.extra)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout == "http\n"
