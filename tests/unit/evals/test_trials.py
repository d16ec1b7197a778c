"""Trials with a scripted model: what counts, what it costs, and where it stops."""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import ConfigError
from satchel.model import Style
from satchel_lab.evals import (
    STYLES,
    ChatReply,
    EvalCase,
    ModelBusyError,
    ModelDeniedError,
    ModelError,
    ToolCallText,
    TrialLimits,
    run_trials,
)
from satchel_lab.evals._trial_answers import ChatModel, ChatRequest
from satchel_lab.evals._trial_report import TrialReport
from tests.unit.evals.endpoints import CASES, JOKE, PDF, TRAIN, good, library

ONE = TrialLimits(workers=1, attempts=1)


class Script:
    """A model that loads, for each query, one skill after the other; "" is no tool."""

    def __init__(self, loads: Mapping[str, Sequence[str | Exception]]) -> None:
        self._loads = {query: iter(skills) for query, skills in loads.items()}
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        skill = next(self._loads[request.messages[-1]["content"]])
        if isinstance(skill, Exception):
            raise skill
        if not skill:
            return ChatReply(text="Done.", input_tokens=10, output_tokens=2)
        arguments = json.dumps({"skill_id": skill})
        return ChatReply((ToolCallText("load_skill", arguments),), "", 10, 2)


class Good:
    """A model that loads the right skill in every style."""

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        body = good({"messages": request.messages, "tools": request.tools})
        function: Any = body["choices"][0]["message"]["tool_calls"]
        calls = tuple(
            ToolCallText(call["function"]["name"], call["function"]["arguments"])
            for call in function
        )
        return ChatReply(calls, "", 10, 2)


def lean(
    loads: Mapping[str, Sequence[str | Exception]],
    cases: Sequence[EvalCase],
    **options: Any,  # noqa: ANN401 - those of `run_trials`
) -> TrialReport:
    runs = max(map(len, loads.values()))
    options = {"styles": ["lean"], "runs": runs, "limits": ONE, **options}
    return run_trials(library(), cases, Script(loads), **options)


@pytest.mark.parametrize("style", STYLES)
def test_the_right_skill_is_recognised_in_every_style(style: Style) -> None:
    report = run_trials(library(), CASES, Good(), styles=[style], runs=1)

    assert [result.passed for result in report.results] == [True, True, True]
    assert str(report.scores(style)[0]) == "precision 1.00, recall 1.00"


@pytest.mark.parametrize(
    ("case", "loads", "rate", "passed"),
    [
        (PDF, ["pdf-forms", "pdf-forms", "travel"], 2 / 3, True),
        (PDF, ["pdf-forms", ""], 0.5, True),
        (PDF, ["pdf-forms", "travel", ""], 1 / 3, False),
        (PDF, ["nope", "", ""], 0.0, False),
        (JOKE, ["", "", ""], 0.0, True),
        (JOKE, ["travel", "", ""], 1 / 3, True),
        (JOKE, ["travel", "pdf-forms"], 1.0, False),
        (JOKE, ["nope", ""], 0.0, True),
        (EvalCase("q", (), ("travel",)), ["pdf-forms", "pdf-forms"], 0.0, True),
        (EvalCase("q", (), ("travel",)), ["travel", ""], 0.5, False),
        (EvalCase("q", ("travel", "pdf-forms")), ["travel", "pdf-forms"], 1.0, True),
        (EvalCase("q", ("travel", "gone")), ["travel"], 1.0, True),
    ],
)
def test_half_of_the_runs_decide(
    case: EvalCase, loads: list[str], rate: float, passed: bool
) -> None:
    """As the reference runner has it: from .5 a positive passes, below a control."""
    (result,) = lean({case.query: loads}, [case]).results

    assert result.rate == pytest.approx(rate, abs=1e-4)
    assert result.passed is passed


def test_precision_and_recall_are_by_skill_and_over_all() -> None:
    report = lean(
        {
            PDF.query: ["pdf-forms", "travel", ""],
            TRAIN.query: ["travel", "travel", "travel"],
            JOKE.query: ["travel", "", "nope"],
        },
        CASES,
    )

    assert report.to_json()["styles"]["lean"] == {
        "precision": 0.6667,
        "recall": 0.6667,
        "right": 4,
        "wrong": 2,
        "missed": 2,
        "skills": {
            "pdf-forms": {
                "precision": 1.0,
                "recall": 0.3333,
                "right": 1,
                "wrong": 0,
                "missed": 2,
            },
            "travel": {
                "precision": 0.6,
                "recall": 1.0,
                "right": 3,
                "wrong": 2,
                "missed": 0,
            },
        },
    }
    assert not report.passed


def test_the_report_for_people() -> None:
    cases = [EvalCase(PDF.query, PDF.expected, path="evals/a.json", line=3), JOKE]
    loads: dict[str, list[str | Exception]] = {
        PDF.query: ["travel", "", ModelError("too\x1b long")],
        JOKE.query: ["", "", ""],
    }

    assert lean(loads, cases).text() == (
        "lean: 1 of 2 queries pass; precision 0.00, recall 0.00\n"
        "  fails 0.00 fill in a tax form  (evals/a.json:3)\n"
        "    expected pdf-forms; first: no tool 1, travel 1\n"
        "    no answer in 1 run: too<U+001B> long\n"
        "  skill pdf-forms: precision -, recall 0.00; wrong 0, missed 2\n"
        "  skill travel: precision 0.00, recall -; wrong 1, missed 0\n"
        "5 answers: 50 tokens read, 10 written; 6 calls now"
    )


def test_results_have_the_keys_of_the_reference_runner() -> None:
    value = lean({PDF.query: ["pdf-forms", ""]}, [PDF]).to_json()

    result = value["results"][0]
    keys = ["query", "should_trigger", "trigger_rate", "triggers", "runs", "pass"]
    assert [result[key] for key in keys] == [PDF.query, True, 0.5, 1, 2, True]
    assert value["summary"] == {"total": 1, "passed": 1, "failed": 0, "not_judged": 0}
    assert json.loads(json.dumps(value)) == value


def test_a_search_is_shown_by_its_name() -> None:
    """In a style with a search, a model may search before it loads anything."""

    class Searching:
        def complete(self, _request: ChatRequest) -> ChatReply:
            return ChatReply((ToolCallText("search_skills", '{"query": "tax"}'),))

    report = run_trials(library(), [PDF], Searching(), styles=["references"], runs=2)

    assert report.results[0].first == {"search_skills": 2}
    assert report.results[0].rate == 0.0


def test_a_case_whose_skills_are_not_here_costs_nothing() -> None:
    case = EvalCase("sing", ("karaoke",))
    report = lean({"sing": [""]}, [case])

    assert report.calls == 0
    assert report.left_out == {"its skills are not in this library": 1}
    assert report.results[0].passed is None


def test_a_model_that_raises_anything_loses_no_run() -> None:
    loads: dict[str, list[str | Exception]] = {
        PDF.query: [KeyError("x"), ModelError("bad"), "pdf-forms"]
    }
    (result,) = lean(loads, [PDF]).results

    assert result.failures == {"bad": 1, "the model raised KeyError": 1}
    assert (result.runs, result.rate) == (1, 1.0)


def test_a_model_that_returns_no_reply_loses_no_run() -> None:
    class Nothing:
        def complete(self, _request: ChatRequest) -> ChatReply:
            return None  # type: ignore[return-value]

    report = run_trials(library(), [PDF], Nothing(), styles=["lean"], runs=2)

    assert report.results[0].failures == {"the model raised AttributeError": 2}


def test_what_ends_the_program_ends_the_caller() -> None:
    class Interrupted:
        def complete(self, _request: ChatRequest) -> ChatReply:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(library(), CASES, Interrupted())


def test_workers_ask_at_once() -> None:
    barrier = threading.Barrier(4, timeout=5)

    class Slow(Good):
        def complete(self, request: ChatRequest) -> ChatReply:
            barrier.wait()
            return super().complete(request)

    report = run_trials(library(), [PDF], Slow(), styles=["lean"], runs=4)

    assert report.cost["answers"] == 4


# --- limits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "answers", "reason"),
    [
        (TrialLimits(max_calls=4), 4, "more than max_calls = 4"),
        (TrialLimits(max_calls=0), 0, "more than max_calls = 0"),
        (TrialLimits(max_tokens=30, workers=1), 3, "more than max_tokens = 30"),
        (TrialLimits(max_tokens=0), 0, "more than max_tokens = 0"),
    ],
)
def test_limits_leave_out_the_rest_and_say_so(
    limits: TrialLimits, answers: int, reason: str
) -> None:
    model = Good()
    report = run_trials(library(), CASES, model, styles=["lean"], runs=3, limits=limits)

    assert len(model.requests) == report.cost["answers"] == answers
    assert report.left_out == {reason: 9 - answers}
    assert f"left out: {9 - answers} trials: {reason}" in report.text()


def test_the_same_command_gives_the_same_report(tmp_path: Path) -> None:
    """What the cache has counts against the limits, so that no cost is added."""
    cache, limits = tmp_path / "answers.jsonl", TrialLimits(max_calls=4)
    first, again, more = (
        run_trials(
            library(),
            CASES,
            Good(),
            runs=1,
            cache=cache,
            limits=limit,
            styles=["lean", "packs"],
        )
        for limit in (limits, limits, TrialLimits(max_calls=6))
    )

    assert (first.calls, again.calls, more.calls) == (4, 0, 2)
    assert first.to_json() | {"this_run": 0} == again.to_json() | {"this_run": 0}
    assert more.left_out == {}


def test_a_denied_caller_sends_three_requests() -> None:
    class Denied(Good):
        def complete(self, request: ChatRequest) -> ChatReply:
            super().complete(request)
            raise ModelDeniedError("no such key")

    model = Denied()
    report = run_trials(library(), CASES, model, limits=ONE)

    assert len(model.requests) == 3
    assert report.left_out == {"given up: no such key": 33}


def test_an_endpoint_that_never_answers_is_given_up() -> None:
    class Gone(Good):
        def complete(self, request: ChatRequest) -> ChatReply:
            super().complete(request)
            raise ModelBusyError("nobody there")

    model = Gone()
    limits = TrialLimits(workers=1, attempts=2, back_off_s=0.0, give_up_after=5)
    report = run_trials(library(), CASES, model, limits=limits)

    assert len(model.requests) == 10
    reason = "5 trials in a row had no answer, the last one: nobody there; asked 2"
    assert report.left_out == {f"given up: {reason} times": 31}
    assert [result.passed for result in report.results] == [None] * 12


def test_retries_are_within_the_limit_of_calls() -> None:
    loads = {PDF.query: [ModelBusyError("busy")] * 9}
    limits = TrialLimits(workers=1, attempts=9, back_off_s=0.0, max_calls=3)
    report = lean(loads, [PDF], runs=2, limits=limits)

    assert report.calls == 3
    assert report.results[0].failures == {"busy; more than max_calls = 3": 1}
    assert report.left_out == {"more than max_calls = 3": 1}


@pytest.mark.parametrize("option", ["runs", "workers", "attempts"])
def test_numbers_have_to_be_above_zero(option: str) -> None:
    limits = {} if option == "runs" else {option: 0}
    with pytest.raises(ConfigError, match="above 0"):
        run_trials(
            library(),
            CASES,
            Good(),
            runs=option != "runs",
            limits=TrialLimits(**limits),
        )


# --- the cache -----------------------------------------------------------------------


def answer_lines(cache: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cache.read_text().splitlines()]


def cached(
    cache: Path,
    model: ChatModel | None = None,
    **options: Any,  # noqa: ANN401 - those of `run_trials`
) -> TrialReport:
    options = {"runs": 1, "styles": ["lean"], "limits": ONE, **options}
    return run_trials(library(), CASES, model or Good(), cache=cache, **options)


def test_an_answer_is_asked_for_once(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    first, again = cached(cache), cached(cache)

    assert (first.calls, again.calls) == (3, 0)
    assert again.text() == first.text().replace("3 calls", "0 calls")
    assert len(answer_lines(cache)) == 3


def test_equal_trials_share_an_answer(tmp_path: Path) -> None:
    report = run_trials(
        library(), [PDF, PDF], Good(), styles=["lean"], runs=1, limits=ONE
    )

    assert (report.cost["answers"], report.calls, report.cost["input_tokens"]) == (
        1,
        1,
        10,
    )
    assert len(report.results) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"identity": "another model"},
        {"prompt": "You are a pirate."},
        {"styles": ["agent-skills"]},
    ],
)
def test_what_decides_an_answer_is_part_of_its_key(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    cache = tmp_path / "answers.jsonl"
    cached(cache)

    assert cached(cache, **other).calls == 3


def test_another_description_is_another_trial(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    cached(cache)
    report = run_trials(
        library("Use for PDF files."),
        [PDF],
        Good(),
        cache=cache,
        styles=["lean"],
        runs=1,
    )

    assert report.calls == 1


def test_no_query_and_no_text_is_cached(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    cached(cache, identity="https://example.com m")
    text = cache.read_text()

    assert "tax form" not in text
    assert "example.com" not in text
    assert os.name == "nt" or cache.stat().st_mode & 0o777 == 0o600


def test_a_failure_is_asked_for_again(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    loads: dict[str, list[str | Exception]] = {
        PDF.query: [ModelError("bad")],
        TRAIN.query: ["travel"],
        JOKE.query: [""],
    }
    first = cached(cache, model=Script(loads))
    again = cached(cache)

    assert first.results[0].failures == {"bad": 1}
    assert (again.calls, again.passed, again.cost["answers"]) == (1, True, 3)


GOOD = {
    "key": "a",
    "tool": "",
    "arguments": "",
    "input_tokens": 1,
    "output_tokens": 1,
    "is_estimate": False,
    "attempts": 1,
}
BROKEN = [
    b"\xff\xfe",
    b"[]",
    b"3",
    b"[" * 100_000,
    *(
        json.dumps(GOOD | change).encode()
        for change in (
            {"key": 1},
            {"more": 1},
            {"tool": None},
            {"input_tokens": -1},
            {"output_tokens": 1.5},
            {"output_tokens": True},
            {"attempts": 0},
        )
    ),
]


def test_lines_that_are_no_answers_are_skipped_and_counted(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    cached(cache)
    cache.write_bytes(b"\n".join([*BROKEN, cache.read_bytes(), b""]))
    report = cached(cache)

    assert report.calls == 0
    assert report.problems == (f"{len(BROKEN)} lines of the cache could not be read",)


def test_a_line_that_was_cut_off_costs_one_answer(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    first = cached(cache)
    cache.write_bytes(cache.read_bytes()[:-20])
    again, third = cached(cache), cached(cache)

    assert (again.calls, third.calls) == (1, 0)
    assert again.to_json()["results"] == first.to_json()["results"]
    assert again.problems == ()


def test_a_cache_that_cannot_be_written_loses_no_answer(tmp_path: Path) -> None:
    report = cached(tmp_path / "none" / "answers.jsonl")

    assert report.passed
    (problem,) = report.problems
    assert problem.startswith("the cache could not be written: ")


def test_a_cache_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not read"):
        cached(tmp_path)
