"""What the page shows of use: once in a while, for one caller; queries and acts."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from satchel_server import Caller
from satchel_server._page._facts import LibraryFacts
from satchel_server._page._use import UseReports, frequent_queries
from satchel_server.usage import UsageReport
from tests.page.conftest import ALL, SOME, TOKENS, client_of, log_in
from tools.pictures_of_page import Sample


class Clock:
    def __init__(self) -> None:
        self.now, self.step = 0.0, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def facts(made: Sample) -> LibraryFacts:
    return LibraryFacts(made.library, made.library.view(via="ui"))


def test_a_report_is_read_once_in_a_while(made: Sample, facts: LibraryFacts) -> None:
    """And for longer where reading it takes longer."""
    clock = Clock()
    reports = UseReports(made.usage, clock)
    first = reports.read(30, Caller(), facts)

    clock.now = 9.0
    assert reports.read(30, Caller(), facts) is first
    assert reports.read(7, Caller(), facts) is not first
    clock.now, clock.step = 11.0, 3.0
    slow = reports.read(30, Caller(), facts)
    assert slow is not first
    clock.now, clock.step = 70.0, 0.0
    assert reports.read(30, Caller(), facts) is slow
    clock.now = 80.0
    assert reports.read(30, Caller(), facts) is not slow


def test_weak_queries_are_those_on_record(
    made: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a token that opens every skill; damaged and old lines do not count."""
    file, now = tmp_path / "queries", time.time()
    rows: list[Any] = [
        {"at": now, "query": "pay a <b>fine</b>", "weak": []},
        {"at": now, "query": "holiday", "weak": ["travel-policy"]},
        {"at": now, "query": "holiday", "weak": []},
        {"at": now - 60 * 86_400, "query": "long ago", "weak": []},
        [],
        {"at": "x", "query": "no time", "weak": []},
    ]
    file.write_text("\n".join([*map(json.dumps, rows), "{", ""]), "utf-8")
    report = UsageReport(0, 30, (), (), (), {}, {}, {})
    assert frequent_queries(report) is None
    monkeypatch.setenv("SATCHEL_QUERIES", str(file))

    assert frequent_queries(report) == [("holiday", 2), ("pay a <b>fine</b>", 1)]
    shown: list[bool] = []
    for token in (ALL, SOME):
        client = client_of(made.library, made.usage, tokens=TOKENS)
        log_in(client, token)
        text = client.get("/ui/use").text
        shown.append("pay a &lt;b&gt;fine&lt;/b&gt;" in text)
    assert shown == [True, False]


def test_acts_are_those_with_ones_own_skills(made: Sample, tmp_path: Path) -> None:
    log = tmp_path / "acts.jsonl"
    act = {
        "schema_version": 2,
        "event": "act",
        "writer": "w",
        "at": time.time(),
        "conversation": "c",
        "tool": "refund",
        "script": "",
        "outcome": "done",
        "approval": "yes_once",
    }
    lines: list[str] = []
    for number, name in enumerate(("refund-rules", "invoice-check", "refund-rules"), 1):
        skills = [{"name": name, "digest": "sha256:0", "read": "shown"}]
        lines.append(json.dumps({**act, "seq": number, "skills": skills}))
    log.write_text("\n".join([*lines, ""]), "utf-8")

    counts: list[tuple[int, int]] = []
    for token in (ALL, SOME):
        client = client_of(made.library, f"jsonl://{log}", tokens=TOKENS)
        log_in(client, token)
        text = client.get("/ui/use/acts").text
        counts.append((text.count("refund-rules"), text.count("invoice-check")))

    assert counts == [(2, 1), (2, 0)]


def test_loads_are_split_next_to_those_before(
    made: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which replica recorded them is about all skills, so it is not for everybody."""
    report = UsageReport(
        20_000,
        30,
        (),
        (),
        (),
        {},
        {},
        {},
        by={"team": {"desk": (8, 5)}, "caller": {"desk/ana": (8, 5), "gone": (0, 3)}},
        replicas={"north": 8},
    )
    monkeypatch.setattr(
        "satchel_server._page._use.read_report", lambda *_, **__: report
    )

    texts: list[str] = []
    for token in (ALL, SOME):
        client = client_of(made.library, made.usage, tokens=TOKENS)
        log_in(client, token)
        texts.append(client.get("/ui/use").text)

    for text in texts:
        team = text[text.index(' id="team"') :]
        assert "<bdi>desk</bdi>" in team
        assert "100%, 5 before" in team
        assert "gone" not in text
    assert ["<bdi>north</bdi>" in text for text in texts] == [True, False]
