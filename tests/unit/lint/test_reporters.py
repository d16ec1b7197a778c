"""Each way to print a report: exact, escaped, and safe.

What a format prints is in tests/cases/reports: one file a report and format.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from satchel.lint import (
    FORMATS,
    CheckReport,
    Format,
    LibraryChange,
    NewExecutable,
    SimilarPacks,
    TextOptions,
    fingerprint,
    fix_skill,
    render_report,
)
from satchel.lint._reporters.markdown import MAX_CHARS
from satchel.model import Finding

CASES = Path(__file__).parents[2] / "cases" / "reports"
FINDINGS = (
    Finding(
        "invalid-manifest", "error", "there is no name", "a/SKILL.md", 1, "add a name"
    ),
    Finding("hidden-text", "warning", "1 tag character", "a/references/b.md", 7),
    Finding("files-left-out", "note", "left out: cache, 1 entry", "a", fix="move it"),
)
HIDDEN = Finding("hidden-text", "warning", "1 tag character", "s/new/SKILL.md", 7)
CHANGE = LibraryChange(
    rev="main",
    hidden=(HIDDEN,),
    executables=(
        NewExecutable("s/new/run.sh", True, "mode, #!"),
        NewExecutable("s/old/run.sh", False, ".sh"),
    ),
    similar=(
        SimilarPacks("s/new", "s/old", "description"),
        SimilarPacks("s/b", "s/c", "files"),
        SimilarPacks("s/d", "s/e", "name"),
    ),
    added=("s/new",),
    changed=("s/old",),
    moved=(("s/x", "s/y"),),
    removed=("s/gone",),
    skills=(11, 12),
    tokens=(1000, 1100),
)
HOSTILE = Finding(
    "odd",
    "error",
    "x\n::error::forged\r\x1b[31m | `code` <b> @user #12 \u202e 100%",
    "a,b:c\n%/SKILL.md",
    3,
    "[link](https://e.org) *now*",
)
EVIL = "##[add-mask]x\n::error::y @me `z` | <b>\x1b[31m\u202e"


def evil_change(text: str) -> CheckReport:
    change = replace(
        CHANGE,
        rev=text,
        hidden=(replace(HIDDEN, path=text, message=text),),
        executables=(NewExecutable(text, True, text),),
        similar=(SimilarPacks(text, text, "name"),),
        added=(f"::error::{text}",),
        moved=((text, text),),
    )
    return CheckReport(1, (), change=change)


def fixed() -> CheckReport:
    data = b"---\nname: x\ndescription: A: b\n---\n# B\n"
    finding = Finding("their-own", "error", "m", "./a b/SKILL.md", 3)
    fix = fix_skill(
        data, (replace(finding, code="unquoted-colon"),), path=finding.path, folder="x"
    )
    assert fix is not None
    fix = replace(fix, codes=frozenset({"their-own"}))
    return CheckReport(1, (finding, replace(finding, path="b")), fixes=(fix,))


REPORTS = {
    "clean": CheckReport(1, ()),
    "findings": CheckReport(2, FINDINGS, known=1),
    "change": CheckReport(12, (HIDDEN,), known=3, change=CHANGE),
    "hostile": CheckReport(1, (HOSTILE,)),
    "hostile-change": evil_change(EVIL),
    "fixed": fixed(),
}


def of(*findings: Finding, **more: object) -> CheckReport:
    return replace(CheckReport(1, findings), **more)  # type: ignore[arg-type]


def text(*findings: Finding, view: TextOptions | None = None) -> list[str]:
    return render_report(of(*findings), "text", view or TextOptions()).splitlines()


@pytest.mark.row("G17", "G21", "R37")
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_what_a_format_prints(name: str, style: Format) -> None:
    printed = render_report(REPORTS[name], style)
    if style == "sarif":  # the help of a rule is its page, which has tests of its own
        document = json.loads(printed)
        for rule in document["runs"][0]["tool"]["driver"]["rules"]:
            assert rule.pop("help", {"text": "page"})["text"]
            assert rule.pop("shortDescription", {"text": "title"})["text"]
        printed = json.dumps(document, indent=2)
    file = CASES / f"{name}.{style}.txt"

    assert f"{printed}\n" == file.read_text("utf-8")
    assert [char for char in "\x1b\r\u202e" if char in printed] == []
    assert render_report(REPORTS[name], style) == render_report(REPORTS[name], style)


def test_formats_are_those_of_the_type_and_json_has_fingerprints() -> None:
    assert get_args(Format) == FORMATS

    document = json.loads(render_report(of(*FINDINGS), "json"))

    assert document["findings"][0]["fingerprint"] == fingerprint(FINDINGS[0])


COMMANDS = ("##[add-mask]a", "##vso[task.setvariable variable=PATH]x", "##TeamCity[x]")


@pytest.mark.row("G17")
@pytest.mark.parametrize("style", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("command", [*COMMANDS, EVIL])
def test_no_text_of_a_pack_is_a_command_of_a_ci_system(
    command: str, style: Format
) -> None:
    """They count anywhere in a line of a log; GitHub's own begin one."""
    finding = Finding("odd", "note", command, f"::error::/{command}", None, command)
    view = TextOptions(line_at=lambda *_: command)
    printed = render_report(of(finding), style, view)
    changed = render_report(evil_change(command), style, view)
    # The message of a command of ours is data.
    lines = [line for line in printed.splitlines() if not line.startswith("::notice ")]
    lines += changed.splitlines()

    assert [line for line in lines if command[:5] in line] == []
    assert [line for line in lines if line.lstrip().startswith("::")] == []
    if style == "json":
        assert json.loads(printed)["findings"][0]["message"] == command


@pytest.mark.row("G17")
def test_markdown_has_no_markup_of_a_pack_outside_of_code_spans() -> None:
    comment = render_report(evil_change(EVIL.replace("`", "")), "markdown")
    outside = "".join(comment.split("`")[::2]).replace("<b>hidden text</b>", "")

    assert "@me" not in outside
    assert "<b>" not in outside

    comment = render_report(of(Finding("odd", "note", "m", "a``b|c")), "markdown")

    assert "| ``` a``b\\|c ``` |" in comment


@pytest.mark.parametrize("message", ["GH-12", "gh-1", "www.example.org", "@me", "x#1"])
def test_markdown_makes_no_link_of_a_text(message: str) -> None:
    finding = replace(HOSTILE, message=message)

    assert message not in render_report(of(finding), "markdown")


@pytest.mark.parametrize("message", ["m" * 90, "😀" * 90, "<" * 90, "m" * 9_000])
def test_markdown_fits_a_comment(message: str) -> None:
    """What does not fit is counted; the limit is GitHub's."""
    findings = tuple(
        Finding("odd", "warning", message, f"a/{number}", fix=message)
        for number in range(900)
    )
    comment = render_report(of(*findings, change=CHANGE), "markdown")
    rows = comment.count("| ⚠️ warning |")

    assert len(comment.encode("utf-16-le")) // 2 <= MAX_CHARS
    assert f"{900 - rows} findings more, left out" in comment
    assert rows > 30
    assert comment.endswith("</details>")


def test_a_long_section_is_counted() -> None:
    added = tuple(f"s/{number:03}" for number in range(75))
    report = of(change=replace(CHANGE, added=added, removed=()))

    for style in ("text", "github", "markdown"):
        assert "and 27 more" in render_report(report, style)


def test_sarif_has_what_the_specification_requires() -> None:
    """Required properties and closed enumerations of SARIF 2.1.0, 3.13 to 3.30."""
    findings = (*FINDINGS, HOSTILE, Finding("no-place", "note", "m"))
    [run] = json.loads(render_report(of(*findings), "sarif"))["runs"]
    rules = run["tool"]["driver"]["rules"]

    assert len({rule["id"] for rule in rules}) == len(rules)
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


def test_a_finding_its_repair_and_shared_advice() -> None:
    repaired = Finding(
        "odd", "warning", "m", "a", 3, "f", before="x: a: b", after=f'x: "{"b" * 300}"'
    )

    assert text(repaired)[:4] == [
        "a:3: warning odd: m",
        "    fix: f",
        "    was: x: a: b",
        f'    now: x: "{"b" * 196}',
    ]

    first, second = (Finding("odd", "note", f"m{n}", "a", n, "do") for n in (1, 2))

    assert text(first, second, Finding("odd", "note", "m3", "b", 3, "do"))[:5] == [
        "a:1: note odd: m1",
        "a:2: note odd: m2",
        "    fix: do",
        "b:3: note odd: m3",
        "    fix: do",
    ]


def test_a_line_of_two_findings_is_shown_once() -> None:
    findings = (
        Finding("x", "error", "name 'B b' is odd", "a", 2),
        Finding("y", "error", "the name is 'B b'", "a", 2),
        Finding("z", "note", "name is short", "a", 2),
        Finding("z", "note", "name is short", "b", 2),
    )

    assert text(*findings, view=TextOptions(line_at=lambda *_: "name: B b"))[:9] == [
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


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ([("x", 2), ("y", 19)], "most often: y 19, x 2"),
        ([("x", 2), ("y", 18)], "1 pack checked: 20 notes"),
        ([("x", 21)], "1 pack checked: 21 notes"),
        ([(c, 5) for c in "abcdefg"], "most often: a 5, b 5, c 5, d 5, e 5"),
    ],
)
def test_a_long_report_names_its_frequent_codes(
    counts: list[tuple[str, int]], line: str
) -> None:
    findings = [Finding(code, "note", "m", "a") for code, n in counts for _ in range(n)]

    assert text(*findings)[-2] == line


def test_packs_are_kept_apart() -> None:
    paths = ("s/a/SKILL.md", "s/a/references/b.md", "s/b", "t/SKILL.md", "u")
    findings = (Finding("odd", "note", "m", path) for path in paths)
    report = of(*findings, locations=frozenset({"s/a", "s/b", "t"}))
    lines = render_report(report, "text").splitlines()

    assert [line.partition(":")[0] for line in lines[:8]] == [
        *("s/a/SKILL.md", "s/a/references/b.md", "", "s/b", "", "t/SKILL.md", "", "u")
    ]


@pytest.mark.parametrize(
    ("report", "left_out"),
    [
        (of(turned_off=2, turned_off_by="a.toml"), "2 turned off by a.toml"),
        (of(turned_off_in_packs=1), "1 turned off in the packs"),
        (of(not_run=("a", "b")), "not looked for: a, b"),
        (of(not_run=("a", "b", "c", "d")), "4 codes not looked for"),
        (
            of(known=1, turned_off=1, turned_off_by="x", turned_off_in_packs=1),
            "1 more in the baseline, 1 turned off by x, 1 turned off in the packs",
        ),
    ],
)
@pytest.mark.parametrize("style", ["text", "github", "markdown"])
def test_what_was_left_out_is_counted(
    report: CheckReport, left_out: str, style: Format
) -> None:
    assert f"1 pack checked: no findings ({left_out})" in render_report(report, style)


FIX_AND_NOW = ["    fix: f", "    now: now that"]


@pytest.mark.parametrize(
    ("line", "message", "shown"),
    [
        (
            "name:\tPDF x",
            "name 'PDF': short",
            ["    12 | name: PDF x", "       |       ^^^", *FIX_AND_NOW],
        ),
        ("a a", "'a' and 'b'", ["    12 | a a", *FIX_AND_NOW]),
        # Columns are not characters here, so that nothing is marked.
        ("name: 名", "'name'", ["    12 | name: 名", *FIX_AND_NOW]),
        ("a\x1b[31mb\r", "m", ["    12 | a<U+001B>[31mb", *FIX_AND_NOW]),
        (None, "m", ["    fix: f", "    was: was this", "    now: now that"]),
        ("  \t", "m", ["    fix: f", "    was: was this", "    now: now that"]),
    ],
    ids=["quoted", "twice", "wide", "control", "none", "empty"],
)
def test_the_line_of_a_finding_is_shown(
    line: str | None, message: str, shown: list[str]
) -> None:
    finding = Finding("odd", "error", message, "a", 12, "f", "was this", "now that")
    lines = text(finding, view=TextOptions(line_at=lambda *_: line))

    assert lines[1 : lines.index("")] == shown


def test_a_long_line_is_cut_to_the_width() -> None:
    def shown(line: str, message: str) -> list[str]:
        view = TextOptions(width=60, line_at=lambda *_: line)
        return text(Finding("odd", "error", message, "a", 12), view=view)[1:]

    middle = shown(f"{'x' * 90} here {'y' * 90}", "'here'")

    assert shown("x" * 90, "m")[0] == f"    12 | {'x' * 50}…"
    assert len(middle[0]) == 60
    assert middle[0][middle[1].index("^") :].startswith("here ")


def test_colours_are_optional() -> None:
    coloured = TextOptions(colour=True)
    report = REPORTS["change"]

    assert "\x1b[33mwarning\x1b[0m" in render_report(report, "text", coloured)
    assert text(view=coloured)[0].startswith("\x1b[32m1 pack")
