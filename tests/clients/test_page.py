"""The page about real clients says what was found, and what was found was good."""

from tools.clients.outcome import Report, Step, from_json, to_json
from tools.clients.registered import CHECKS
from tools.clients.table import CORPUS, PAGE, read_data, render_page

REPORT = Report(
    "inspector",
    "2026-11-21",
    {"node": "24.19.0"},
    (
        Step("tools/list", "passed", "3 tools | 2 more"),
        Step("tools/call", "left out", "it calls nothing"),
        Step("ping", "failed", "no answer"),
    ),
)


def test_the_page_is_that_of_the_data() -> None:
    assert PAGE.read_text("utf-8") == render_page(read_data()), (
        "run `python -m tools.clients table`"
    )


def test_every_check_is_on_record_and_none_failed() -> None:
    reports = read_data()

    assert set(reports) == {*CHECKS, CORPUS}
    assert [name for name, report in reports.items() if report.failed] == []


def test_the_versions_on_record_are_those_that_are_locked() -> None:
    reports = read_data()

    assert {name: dict(reports[name].versions) for name in CHECKS} == {
        name: check.versions() for name, check in CHECKS.items()
    }, "run `python -m tools.clients run --all`, then `python -m tools.clients table`"


def test_a_page_counts_and_shows_every_step() -> None:
    page = render_page({"inspector": REPORT})

    assert (
        "| [MCP Inspector](#mcp-inspector) | node 24.19.0 | 2026-11-21 "
        "| 1 passed, 1 left out, 1 failed |\n"
    ) in page
    assert "| tools/list | passed | 3 tools &#124; 2 more |\n" in page


def test_a_report_comes_back_from_its_file_and_says_what_failed() -> None:
    assert from_json(to_json(REPORT)) == REPORT
    assert str(REPORT).splitlines() == [
        "FAILED  inspector            1 passed, 1 left out, 1 failed, 0 s",
        "  ping: no answer",
    ]


def test_a_check_that_did_nothing_is_no_pass_unless_it_could_not_be_run() -> None:
    nothing = Report("inspector", "2026-11-21", {}, ())
    skipped = Report("inspector", "2026-11-21", {}, (), skipped="there is no Node")

    assert [step.said for step in nothing.failed] == ["no step was run"]
    assert not skipped.failed
    assert str(skipped) == "SKIPPED inspector            there is no Node"
