"""Each way to print a report: exact, escaped, and safe."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest

from satchel.lint import (
    FORMATS,
    CheckReport,
    Format,
    TextOptions,
    fingerprint,
    render_report,
)
from satchel.model import Finding

FINDINGS = (
    Finding(
        "invalid-manifest", "error", "there is no name", "a/SKILL.md", 1, "add a name"
    ),
    Finding("hidden-text", "warning", "1 tag character", "a/references/b.md", 7),
    Finding("files-left-out", "note", "left out: cache, 1 entry", "a", fix="move it"),
)
REPORT = CheckReport(2, FINDINGS, known=1)

HOSTILE = CheckReport(
    1,
    (
        Finding(
            "odd",
            "error",
            "x\n::error::forged\r\x1b[31m | `code` <b> @user #12 \u202e 100%",
            "a,b:c\n%/SKILL.md",
            3,
            "[link](https://e.org) *now*",
        ),
    ),
)

# What no reader of any format may get to see raw.
DANGEROUS = ("\x1b", "\r", "\u202e")


def test_formats_are_those_of_the_type() -> None:
    assert get_args(Format) == FORMATS


def test_text() -> None:
    assert render_report(REPORT, "text") == (
        "a/SKILL.md:1: error invalid-manifest: there is no name\n"
        "    fix: add a name\n"
        "a/references/b.md:7: warning hidden-text: 1 tag character\n"
        "a: note files-left-out: left out: cache, 1 entry\n"
        "    fix: move it\n"
        "\n"
        "2 packs checked: 1 error, 1 warning, 1 note (1 more in the baseline)\n"
        "More: satchel explain invalid-manifest"
    )


def test_text_shows_what_a_repair_did() -> None:
    repaired = Finding(
        "odd", "warning", "m", "a", 3, "f", before="x: a: b", after=f'x: "{"b" * 300}"'
    )

    assert render_report(CheckReport(1, (repaired,)), "text").splitlines()[:4] == [
        "a:3: warning odd: m",
        "    fix: f",
        "    was: x: a: b",
        f'    now: x: "{"b" * 196}',
    ]


def test_advice_that_the_next_one_has_too_is_said_once() -> None:
    first, second = (Finding("odd", "note", f"m{n}", "a", n, "do") for n in (1, 2))
    other = Finding("odd", "note", "m3", "b", 3, "do")

    assert render_report(CheckReport(1, (first, second, other)), "text").splitlines()[
        :5
    ] == [
        "a:1: note odd: m1",
        "a:2: note odd: m2",
        "    fix: do",
        "b:3: note odd: m3",
        "    fix: do",
    ]


def test_a_line_that_two_are_about_is_shown_once() -> None:
    found = (
        Finding("x", "error", "name 'B b' is odd", "a", 2),
        Finding("y", "error", "the name is 'B b'", "a", 2),
        Finding("z", "note", "name is short", "a", 2),
        Finding("z", "note", "name is short", "b", 2),
    )
    view = TextOptions(line_at=lambda *_: "name: B b")

    assert render_report(CheckReport(1, found), "text", view).splitlines()[:9] == [
        "a:2: error x: name 'B b' is odd",
        "    2 | name: B b",
        "      |       ^^^",
        "a:2: error y: the name is 'B b'",
        "a:2: note z: name is short",
        "    2 | name: B b",
        "b:2: note z: name is short",
        "    2 | name: B b",
        "",
    ]


def test_a_long_report_says_what_it_is_mostly_about() -> None:
    def last(*counts: tuple[str, int]) -> str:
        found = [
            Finding(code, "note", "m", "a") for code, n in counts for _ in range(n)
        ]
        return render_report(CheckReport(1, tuple(found)), "text").splitlines()[-2]

    assert last(("x", 2), ("y", 19)) == "most often: y 19, x 2"
    assert last(("x", 2), ("y", 18)) == "1 pack checked: 20 notes"
    assert last(("x", 21)) == "1 pack checked: 21 notes"
    assert last(*((c, 5) for c in "abcdefg")) == "most often: a 5, b 5, c 5, d 5, e 5"


COMMANDS = ("##[add-mask]a", "##vso[task.setvariable variable=PATH]x", "##TeamCity[x]")


@pytest.mark.parametrize("style", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_text_of_a_pack_is_a_command_of_a_ci_system(
    command: str, style: Format
) -> None:
    """They stand anywhere in a line of a log; GitHub's own begin one (T31)."""
    finding = Finding("odd", "note", command, f"::error::/{command}", None, command)
    rendered = render_report(
        CheckReport(1, (finding,)), style, TextOptions(line_at=lambda *_: command)
    )
    # The message of a command of ours is data to whoever reads it.
    lines = [line for line in rendered.splitlines() if not line.startswith("::notice ")]

    assert [line for line in lines if command[:5] in line] == []
    assert [line for line in lines if line.lstrip().startswith("::")] == []
    if style == "json":
        assert json.loads(rendered)["findings"][0]["message"] == command


def test_text_of_a_clean_report_is_one_line() -> None:
    assert render_report(CheckReport(1, ()), "text") == "1 pack checked: no findings"


@pytest.mark.row("R37")
def test_json() -> None:
    document = json.loads(render_report(REPORT, "json"))

    assert {key: document[key] for key in document if key != "findings"} == {
        "schema_version": 1,
        "profile": "spec",
        "packs": 2,
        "known": 1,
        "turned_off": {"settings": 0, "packs": 0},
        "not_looked_for": [],
    }
    assert document["findings"][0] == {
        "code": "invalid-manifest",
        "severity": "error",
        "path": "a/SKILL.md",
        "line": 1,
        "message": "there is no name",
        "fix": "add a name",
        "before": "",
        "after": "",
        "fixable": False,
        "fingerprint": fingerprint(FINDINGS[0]),
    }


def test_github() -> None:
    assert render_report(REPORT, "github").splitlines() == [
        (
            "::error file=a/SKILL.md,line=1,title=invalid-manifest::"
            "there is no name%0AFix: add a name"
        ),
        "::warning file=a/references/b.md,line=7,title=hidden-text::1 tag character",
        "::notice file=a,title=files-left-out::left out: cache, 1 entry%0AFix: move it",
        "2 packs checked: 1 error, 1 warning, 1 note (1 more in the baseline)",
    ]


@pytest.mark.row("G17")
def test_github_commands_cannot_be_forged() -> None:
    command, summary = render_report(HOSTILE, "github").split("\n")

    assert command == (
        "::error file=a%2Cb%3Ac%0A%25/SKILL.md,line=3,title=odd::"
        "x%0A::error::forged<U+000D><U+001B>[31m | `code` <b> @user #12 <U+202E> 100%25"
        "%0AFix: [link](https://e.org) *now*"
    )
    assert summary == "1 pack checked: 1 error"


def test_markdown() -> None:
    assert render_report(REPORT, "markdown").splitlines() == [
        (
            "**satchel check**: 2 packs checked: 1 error, 1 warning, 1 note "
            "(1 more in the baseline)"
        ),
        "",
        "| | where | what | fix |",
        "|---|---|---|---|",
        (
            "| ❌ error | `a/SKILL.md:1` | `invalid-manifest` there is no name "
            "| add a name |"
        ),
        "| ⚠️ warning | `a/references/b.md:7` | `hidden-text` 1 tag character |  |",
        "| ℹ️ note | `a` | `files-left-out` left out: cache, 1 entry | move it |",
    ]


def test_markdown_of_a_clean_report_is_one_line() -> None:
    report = render_report(CheckReport(1, ()), "markdown")

    assert report == "**satchel check**: 1 pack checked: no findings"


@pytest.mark.row("G17")
def test_markdown_calls_nobody_and_opens_no_column() -> None:
    *_, row = render_report(HOSTILE, "markdown").splitlines()

    assert row == (
        "| ❌ error | `a,b:c<U+000A>%/SKILL.md:3` | `odd` "
        "x&lt;U+000A&gt;::error::forged&lt;U+000D&gt;&lt;U+001B&gt;\\[31m \\| "
        "\\`code\\` &lt;b&gt; @&#8203;user #&#8203;12 &lt;U+202E&gt; 100% | "
        "\\[link\\]\\(https:&#8203;//e.org\\) \\*now\\* |"
    )


@pytest.mark.parametrize("text", ["GH-12", "gh-1", "www.example.org", "@me", "x#1"])
def test_markdown_makes_no_link_of_a_text(text: str) -> None:
    (finding,) = HOSTILE.findings
    report = CheckReport(1, (replace(finding, message=text),))

    assert text not in render_report(report, "markdown")


def test_markdown_fences_back_ticks_in_a_path() -> None:
    report = CheckReport(1, (Finding("odd", "note", "m", "a``b|c"),))

    assert "| ``` a``b\\|c ``` |" in render_report(report, "markdown")


def test_sarif() -> None:
    document = json.loads(render_report(REPORT, "sarif"))
    [run] = document["runs"]
    driver = run["tool"]["driver"]

    assert document["version"] == "2.1.0"
    assert driver["name"] == "satchel"
    assert [rule["id"] for rule in driver["rules"]] == [
        "files-left-out",
        "hidden-text",
        "invalid-manifest",
    ]
    assert run["results"][0] == {
        "ruleId": "invalid-manifest",
        "ruleIndex": 2,
        "level": "error",
        "message": {"text": "there is no name. Fix: add a name."},
        "partialFingerprints": {"satchel/v1": fingerprint(FINDINGS[0])},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "a/SKILL.md"},
                    "region": {"startLine": 1},
                }
            }
        ],
    }


def test_sarif_is_as_the_specification_wants_it() -> None:
    """Required properties and closed enumerations of SARIF 2.1.0, 3.13 to 3.30."""
    report = CheckReport(
        1, (*FINDINGS, *HOSTILE.findings, Finding("no-place", "note", "m"))
    )
    document = json.loads(render_report(report, "sarif"))

    assert set(document) == {"$schema", "version", "runs"}
    for run in document["runs"]:
        assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            for text in (rule.get("shortDescription"), rule.get("help")):
                assert text is None or text["text"]
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["level"] in {"none", "note", "warning", "error"}
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            for location in result.get("locations", []):
                place = location["physicalLocation"]
                uri = place["artifactLocation"]["uri"]
                assert uri.isascii()
                assert not set(uri) & set(' "<>\\^`{|}\n:')
                assert place.get("region", {"startLine": 1})["startLine"] >= 1


def test_sarif_takes_codes_without_a_page() -> None:
    """A source of somebody else's may emit findings of its own."""
    report = CheckReport(1, (Finding("their-own", "note", "m", "./p"),))
    [run] = json.loads(render_report(report, "sarif"))["runs"]

    assert run["tool"]["driver"]["rules"] == [{"id": "their-own"}]


@pytest.mark.row("G17", "G21")
@pytest.mark.parametrize("style", FORMATS)
def test_nothing_dangerous_gets_through(style: Format) -> None:
    rendered = render_report(HOSTILE, style)

    assert [char for char in DANGEROUS if char in rendered] == []


@pytest.mark.parametrize("style", FORMATS)
def test_equal_reports_print_equal_texts(style: Format) -> None:
    assert render_report(REPORT, style) == render_report(REPORT, style)
