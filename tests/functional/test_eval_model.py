"""``satchel eval --model``: a model on loopback is asked; its answers are cached."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.functional.library import run, write_pack
from tests.unit.evals.endpoints import Handler, Server, endpoint, good, message

TEXT = "---\nname: {0}\ndescription: {1}\n---\n# {0}\n"
QUERIES = [
    {"query": "fill in a tax form", "expected_skill": "pdf-forms"},
    {"query": "book a train", "expected_skill": "travel"},
    {"query": "tell me a joke", "expected_skill": None},
]


@pytest.fixture(autouse=True)
def project(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    write_pack(here / "skills/pdf-forms", TEXT.format("pdf-forms", "Fill in forms."))
    write_pack(here / "skills/travel", TEXT.format("travel", "Book trains."))
    (here / "evals").mkdir()
    (here / "evals/cases.json").write_text(json.dumps(QUERIES), "utf-8")
    return here


@pytest.fixture
def server() -> Iterator[Server]:
    with endpoint() as server:
        yield server


def ask(server: Server, *options: str) -> Any:  # noqa: ANN401 - click's result
    named = "--model", "m", "--base-url", server.url
    return run("eval", "skills", "evals", *named, *options)


def test_a_good_model_passes_and_is_asked_once(server: Server) -> None:
    first, again = ask(server), ask(server)

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert len(server.requests) == 36
    assert first.stdout.splitlines()[:2] == [
        "lean: 3 of 3 queries pass; precision 1.00, recall 1.00",
        "agent-skills: 3 of 3 queries pass; precision 1.00, recall 1.00",
    ]
    assert again.stdout == first.stdout.replace("36 calls", "0 calls")


def test_a_cache_and_limits_of_ones_own(server: Server, here: Path) -> None:
    limits = "--max-calls", "4", "--styles", "packs,lean", "--runs", "1", "--json"
    done = ask(server, "--cache", "answers.jsonl", *limits)
    report = json.loads(done.stdout)

    assert done.exit_code == 1
    assert report["left_out"] == {"more than max_calls = 4": 2}
    assert list(report["styles"]) == ["packs", "lean"]
    assert len((here / "answers.jsonl").read_text().splitlines()) == 4


def test_a_bar_decides_the_status() -> None:
    def behave(handler: Handler, request: Mapping[str, Any]) -> None:
        query = request["messages"][-1]["content"]
        handler.reply(message() if "train" in query else good(request))

    with endpoint(behave) as server:
        assert ask(server, "--runs", "1").exit_code == 1
        assert ask(server, "--runs", "1", "--fail-under", ".6").exit_code == 0


def test_a_model_that_does_not_answer_is_no_result() -> None:
    with endpoint(lambda handler, _: handler.reply({}, 401)) as server:
        done = ask(server)

    assert done.exit_code == 2
    assert len(server.requests) <= 8
    assert "given up: the endpoint answers 401" in done.stdout
    assert "no query has an answer" in done.stderr


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("eval skills evals --model m", "OPENAI_BASE_URL"),
        ("eval skills evals --model m --base-url nonsense", "OPENAI_BASE_URL"),
        ("eval skills --model m --base-url http://127.0.0.1:9", "no eval case"),
        ("eval skills evals --model m --styles loud", "expected some of lean"),
        ("eval skills evals --model m --runs 0", "--runs"),
    ],
)
def test_what_cannot_be_asked_is_status_2(line: str, part: str) -> None:
    done = run(*line.split())

    assert done.exit_code == 2
    assert part in done.stderr
    assert "Traceback" not in done.stderr
