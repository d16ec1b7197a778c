"""What `benchmarks.wording` counts, asked of a scripted model on loopback."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmarks import wording
from benchmarks.__main__ import main as measure_from_the_command_line

pytestmark = pytest.mark.slow

Answer = dict[str, Any]
Script = Callable[[dict[str, Any]], Answer | int | str]


class Model:
    """An endpoint whose answers a function gives; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.script: Script = lambda _: {"content": "Done."}

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805
                size = int(handler.headers["Content-Length"])
                body = json.loads(handler.rfile.read(size))
                self.asked.append(body | {"key": handler.headers.get("Authorization")})
                answer = self.script(body)
                status = answer if isinstance(answer, int) else 200
                shown: object = {"choices": [{"message": answer}]}
                data = json.dumps(shown).encode()
                data = answer.encode() if isinstance(answer, str) else data
                handler.send_response(status)
                handler.send_header("Content-Length", str(len(data)))
                handler.end_headers()
                handler.wfile.write(data)

            def log_message(handler, *_: object) -> None:  # noqa: N805
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture(name="model")
def serve_model() -> Iterator[Model]:
    model = Model()
    thread = threading.Thread(target=model.server.serve_forever)
    thread.start()
    yield model
    model.server.shutdown()
    model.server.server_close()
    thread.join()


def call(name: str, /, **given: object) -> Answer:
    function = {"name": name, "arguments": json.dumps(given)}
    return {"content": None, "tool_calls": [{"id": "1", "function": function}]}


def load(body: dict[str, Any], skill: str) -> Answer:
    """Load a skill by the tool that the style has for it."""
    tools = [tool["function"] for tool in body["tools"]]
    tool = next(tool for tool in tools if tool["name"].startswith("load_skill"))
    argument = tool["parameters"]["required"][0]
    return call(tool["name"], **{argument: skill})


def rows(
    model: Model, capsys: pytest.CaptureFixture[str], *more: str
) -> dict[str, Any]:
    """Run it, and return the counts of each style by their names."""
    assert wording.main(["--model", "tiny", "--url", model.url, *more]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    head, _, *body = table
    return {
        style: {
            name: int(n) for name, n in zip(head[1:], counts, strict=True) if int(n)
        }
        for style, *counts in body
    }


STYLES = ("agent-skills", "lean", "packs", "references")


@pytest.mark.parametrize(
    "case",
    [
        (True, "qa", "right"),
        (True, "docs", "another"),
        (True, "nobody-has-it", "made up"),
        (True, "", "no load"),
        (False, "qa", "taken"),
        (False, "docs", "left alone"),
        (False, "", "left alone"),
    ],
)
def test_each_outcome_is_counted_in_each_style(
    model: Model,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: tuple[bool, str, str],
) -> None:
    should, loads, outcome = case
    file = tmp_path / "queries.json"
    query = {"skill": "qa", "query": "Is it ready?", "should_trigger": should}
    file.write_text(json.dumps([query]))
    if loads:
        model.script = lambda body: load(body, loads)

    found = rows(model, capsys, "--queries", str(file))

    assert found == {style: {outcome: 1} for style in STYLES}
    assert {body["messages"][1]["content"] for body in model.asked} == {"Is it ready?"}
    assert all("qa" in str(body) for body in model.asked)


def test_a_model_may_search_before_it_loads(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    def script(body: dict[str, Any]) -> Answer:
        has = {tool["function"]["name"] for tool in body["tools"]}
        if len(body["messages"]) == 2 and "search_skills" in has:
            return call("search_skills", query="x")
        return load(body, "qa")

    model.script = script
    found = rows(model, capsys, "--limit", "1")

    assert len(found) == 4
    assert len(model.asked) == 5
    assert [body["messages"][-1]["role"] for body in model.asked].count("tool") == 1


def test_every_style_gets_the_same_queries_and_the_key(
    model: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    found = rows(model, capsys, "--limit", "6", "--seed", "3")
    asked = [body["messages"][1]["content"] for body in model.asked]

    assert [sum(counts.values()) for counts in found.values()] == [6] * 4
    assert asked == asked[:6] * 4
    assert {body["key"] for body in model.asked} == {"Bearer secret"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (500, "answers 500"),
        ("busy", "gives no chat completion"),
        ('{"choices": [{"message": null}]}', "gives no chat completion"),
        ('{"choices": [{"message": ["x"]}]}', "gives no chat completion"),
    ],
)
def test_an_endpoint_that_fails_is_said_in_one_line(
    model: Model, capsys: pytest.CaptureFixture[str], answer: int | str, why: str
) -> None:
    model.script = lambda _: answer

    assert wording.main(["--model", "tiny", "--url", model.url]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {model.url} ")
    assert why in line


def test_a_dead_endpoint_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert wording.main(["--model", "tiny", "--url", "http://127.0.0.1:1/v1"]) == 1
    assert "does not answer" in capsys.readouterr().err


def test_model_and_address_may_come_from_the_environment(
    model: Model, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_MODEL", "small")
    monkeypatch.setenv("OPENAI_BASE_URL", model.url)
    monkeypatch.setattr("sys.argv", ["benchmarks", "wording", "--limit", "2"])

    with pytest.raises(SystemExit, match="0"):
        measure_from_the_command_line()

    assert {body["model"] for body in model.asked} == {"small"}
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "8 conversations, at most 24 requests."


def test_without_a_model_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_MODEL", raising=False)
    with pytest.raises(SystemExit, match="2"):
        wording.main([])


@pytest.mark.parametrize("text", [None, "{", "[1]", '[{"skill": "qa"}]'])
def test_a_file_without_queries_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    file = tmp_path / "queries.json"
    if text is not None:
        file.write_text(text)

    with pytest.raises(SystemExit, match="2"):
        wording.main(["--model", "tiny", "--queries", str(file)])
    assert "has no queries that can be asked" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_said(
    model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--skills", "/nowhere/at-all", "--limit", "1"]

    assert wording.main(["--model", "tiny", "--url", model.url, *more]) == 1
    assert capsys.readouterr().err.startswith("error: /nowhere/at-all: no such")
    assert not model.asked
