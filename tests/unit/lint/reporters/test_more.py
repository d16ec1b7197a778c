"""What a change brought, what can be mended, and the lines of files, in each format."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from satchel.lint import (
    FORMATS,
    CheckReport,
    Format,
    LibraryChange,
    NewExecutable,
    SimilarPacks,
    TextOptions,
    fix_skill,
    render_report,
)
from satchel.lint._reporters.markdown import MAX_CHARS
from satchel.lint._reporters.text import render
from satchel.model import Finding

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
REPORT = CheckReport(12, (HIDDEN,), known=3, change=CHANGE)
EVIL = "##[add-mask]x\n::error::y @me `z` | <b>\x1b[31m\u202e"
HOSTILE = CheckReport(
    1,
    (),
    change=replace(
        CHANGE,
        rev=EVIL,
        hidden=(replace(HIDDEN, path=EVIL, message=EVIL),),
        executables=(NewExecutable(EVIL, True, EVIL),),
        similar=(SimilarPacks(EVIL, EVIL, "name"),),
        added=(f"::error::{EVIL}",),
        moved=((EVIL, EVIL),),
    ),
)


def test_text_says_what_deceives_and_runs_first() -> None:
    assert render_report(REPORT, "text").splitlines() == [
        "since main: 1 added, 1 changed, 1 moved, 1 removed",
        "catalog: 11 -> 12 skills, 1,000 -> 1,100 tokens (+100)",
        "",
        "hidden text:",
        "    s/new/SKILL.md:7: 1 tag character",
        "",
        "2 executables:",
        "    s/new/run.sh: new (mode, #!)",
        "    s/old/run.sh: changed (.sh)",
        "",
        "3 duplicates:",
        "    s/new: says nearly the same as s/old",
        "    s/b: has the same files as s/c",
        "    s/d: has the same name as s/e",
        "",
        "4 packs:",
        "    s/new: added",
        "    s/old: changed",
        "    s/y: moved from s/x",
        "    s/gone: removed",
        "",
        "s/new/SKILL.md:7: warning hidden-text: 1 tag character",
        "",
        "12 packs checked: 1 new warning (3 more in the library before)",
        "More: satchel explain hidden-text",
    ]


def test_json_has_it_as_data() -> None:
    since = json.loads(render_report(REPORT, "json"))["since"]

    assert since == {
        "rev": "main",
        "hidden": [{"path": "s/new/SKILL.md", "line": 7, "code": "hidden-text"}],
        "executables": [
            {"path": "s/new/run.sh", "new": True, "why": "mode, #!"},
            {"path": "s/old/run.sh", "new": False, "why": ".sh"},
        ],
        "duplicates": [
            {"path": "s/new", "other": "s/old", "same": "description"},
            {"path": "s/b", "other": "s/c", "same": "files"},
            {"path": "s/d", "other": "s/e", "same": "name"},
        ],
        "packs": {
            "added": ["s/new"],
            "changed": ["s/old"],
            "moved": [{"from": "s/x", "to": "s/y"}],
            "removed": ["s/gone"],
        },
        "catalog": {
            "skills": {"before": 11, "after": 12},
            "tokens": {"before": 1000, "after": 1100},
        },
    }


def test_github_has_it_as_plain_lines() -> None:
    lines = render_report(REPORT, "github").splitlines()

    assert lines[0].startswith("::warning file=s/new/SKILL.md")
    assert lines[1] == "since main: 1 added, 1 changed, 1 moved, 1 removed"
    assert "- s/new/run.sh: new (mode, #!)" in lines
    assert lines[-1].startswith("12 packs checked: 1 new warning")


@pytest.mark.row("G17")
def test_no_name_becomes_a_command() -> None:
    lines = render_report(HOSTILE, "github").splitlines()

    assert [line for line in lines if line.lstrip().startswith("::")] == []
    assert [line for line in lines if "##[" in line] == []


@pytest.mark.row("G17")
def test_no_name_becomes_markup() -> None:
    """Outside of code spans nothing of a pack stands as it was written."""
    evil = EVIL.replace("`", "")
    change = replace(
        CHANGE,
        rev=evil,
        hidden=(replace(HIDDEN, path=evil, message=evil),),
        executables=(NewExecutable(evil, True, evil),),
        similar=(SimilarPacks(evil, evil, "name"),),
        moved=((evil, evil),),
    )
    comment = render_report(CheckReport(1, (), change=change), "markdown")
    outside = "".join(comment.split("`")[::2]).replace("<b>hidden text</b>", "")

    assert "@me" not in outside
    assert "<b>" not in outside
    assert [char for char in "\x1b\u202e" if char in comment] == []


def test_markdown_folds_all_but_what_deceives() -> None:
    lines = render_report(REPORT, "markdown").splitlines()

    assert lines[:7] == [
        (
            "**satchel check**: 12 packs checked: 1 new warning "
            "(3 more in the library before)"
        ),
        "",
        "| since `main` | |",
        "|---|---|",
        "| packs | 1 added, 1 changed, 1 moved, 1 removed |",
        "| catalog | 11 → 12 skills, 1,000 → 1,100 tokens (+100) |",
        "",
    ]
    assert lines[7] == "<details open><summary>⚠️ <b>hidden text</b></summary>"
    assert "<details><summary>2 executables</summary>" in lines
    assert lines.count("</details>") == 4


@pytest.mark.parametrize("text", ["m" * 90, "😀" * 90, "<" * 90, "m" * 9_000])
def test_markdown_fits_a_comment(text: str) -> None:
    """What does not fit is counted; the limit is GitHub's."""
    findings = tuple(
        Finding("odd", "warning", text, f"a/{number}", fix=text)
        for number in range(900)
    )
    comment = render_report(replace(REPORT, findings=findings), "markdown")
    rows = comment.count("| ⚠️ warning |")

    assert len(comment.encode("utf-16-le")) // 2 <= MAX_CHARS
    assert f"{900 - rows} findings more, left out" in comment
    assert rows > 30
    assert comment.endswith("</details>")


def test_a_long_section_is_counted() -> None:
    added = tuple(f"s/{number:03}" for number in range(75))
    report = replace(REPORT, change=replace(CHANGE, added=added, removed=()))

    for style in ("text", "github", "markdown"):
        assert "and 27 more" in render_report(report, style)


def test_sarif_carries_the_fix() -> None:
    """Regions from the first column of a line to that of another: 3.55 to 3.57."""
    data = b"---\nname: x\ndescription: A: b\n---\n# B\n"
    found = Finding("unquoted-colon", "error", "m", "./a b/SKILL.md", 3)
    fix = fix_skill(data, (found,), path=found.path, folder="x")
    assert fix is not None
    report = CheckReport(1, (found, HIDDEN), fixes=(fix,))
    [run] = json.loads(render_report(report, "sarif"))["runs"]
    first, second = run["results"]

    assert first["fixes"] == [
        {
            "description": {
                "text": "What `satchel check --fix` does to ./a b/SKILL.md."
            },
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": "a%20b/SKILL.md"},
                    "replacements": [
                        {
                            "deletedRegion": {
                                "startLine": 3,
                                "startColumn": 1,
                                "endLine": 4,
                                "endColumn": 1,
                            },
                            "insertedContent": {"text": 'description: "A: b"\n'},
                        }
                    ],
                }
            ],
        }
    ]
    assert "fixes" not in second
    assert [
        each["fixable"]
        for each in json.loads(render_report(report, "json"))["findings"]
    ] == [True, False]


class TestLines:
    """The line that a finding is about, with what its message names."""

    def shown(
        self, line: str | None, message: str, width: int | None = None
    ) -> list[str]:
        finding = Finding("odd", "error", message, "a", 12, "f", "was this", "now that")
        text = render(
            CheckReport(1, (finding,)),
            TextOptions(width=width, line_at=lambda *_: line),
        ).splitlines()
        return text[1 : text.index("")]

    def test_what_is_named_is_marked(self) -> None:
        assert self.shown("name:\tPDF x", "name 'PDF': want less") == [
            "    12 | name: PDF x",
            "       |       ^^^",
            "    fix: f",
            "    now: now that",
        ]

    def test_what_is_named_twice_or_not_at_all_is_not(self) -> None:
        assert self.shown("a a", "'a' and 'b'") == [
            "    12 | a a",
            "    fix: f",
            "    now: now that",
        ]

    def test_where_columns_are_not_characters_nothing_is_marked(self) -> None:
        assert self.shown("name: 名", "'name'")[0] == "    12 | name: 名"
        assert self.shown("name: 名", "'name'")[1] == "    fix: f"

    @pytest.mark.parametrize("line", [None, "", "  \t"])
    def test_without_a_line_it_is_said_what_was(self, line: str | None) -> None:
        assert self.shown(line, "m") == [
            "    fix: f",
            "    was: was this",
            "    now: now that",
        ]

    def test_a_long_line_is_cut_to_the_width(self) -> None:
        end, middle = (
            self.shown("x" * 90, "m", width=60),
            self.shown(f"{'x' * 90} here {'y' * 90}", "'here'", width=60),
        )

        assert end[0] == f"    12 | {'x' * 50}…"
        assert len(middle[0]) == 60
        assert middle[0][middle[1].index("^") :].startswith("here ")

    def test_control_characters_are_shown_as_what_they_are(self) -> None:
        assert self.shown("a\x1b[31mb\r", "m")[0] == "    12 | a<U+001B>[31mb"

    def test_colours_are_for_who_wants_them(self) -> None:
        report = CheckReport(1, (HIDDEN,), change=CHANGE)
        plain, coloured = render(report), render(report, TextOptions(colour=True))

        assert "\x1b[33mwarning\x1b[0m hidden-text" in coloured
        assert "\x1b" not in plain
        assert render(CheckReport(1, ()), TextOptions(colour=True)).startswith(
            "\x1b[32m1 pack"
        )


def test_packs_are_kept_apart() -> None:
    findings = tuple(
        Finding("odd", "note", "m", path)
        for path in ("s/a/SKILL.md", "s/a/references/b.md", "s/b", "t/SKILL.md", "u")
    )
    report = CheckReport(3, findings, locations=frozenset({"s/a", "s/b", "t"}))

    assert [line.partition(":")[0] for line in render(report).splitlines()[:8]] == [
        *("s/a/SKILL.md", "s/a/references/b.md", "", "s/b", "", "t/SKILL.md", "", "u")
    ]


@pytest.mark.parametrize(
    ("report", "aside"),
    [
        (
            CheckReport(1, (), turned_off=2, turned_off_by="satchel.toml"),
            "2 turned off by satchel.toml",
        ),
        (CheckReport(1, (), turned_off_in_packs=1), "1 turned off in the packs"),
        (CheckReport(1, (), not_run=("a", "b")), "not looked for: a, b"),
        (CheckReport(1, (), not_run=("a", "b", "c", "d")), "4 codes not looked for"),
        (
            CheckReport(
                1, (), known=1, turned_off=1, turned_off_by="x", turned_off_in_packs=1
            ),
            "1 more in the baseline, 1 turned off by x, 1 turned off in the packs",
        ),
    ],
)
@pytest.mark.parametrize("style", ["text", "github", "markdown"])
def test_what_was_left_out_is_counted(
    report: CheckReport, aside: str, style: Format
) -> None:
    assert f"1 pack checked: no findings ({aside})" in render_report(report, style)


@pytest.mark.parametrize("style", FORMATS)
def test_equal_reports_print_equal_texts(style: Format) -> None:
    assert render_report(REPORT, style) == render_report(REPORT, style)
    assert "\x1b" not in render_report(HOSTILE, style)
