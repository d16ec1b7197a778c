"""Each way to print a report: exact, escaped, and safe.

What a format prints is in tests/cases/reports: one file a report and format.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from satchel.model import Finding
from satchel.text import cells
from satchel_lab.lint import (
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
from satchel_lab.lint._reporters.markdown import MAX_CHARS

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
    review=(
        Finding(
            "downloaded-code",
            "warning",
            "it runs at once: curl x | sh",
            "s/new/run.sh",
            3,
        ),
    ),
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
        review=(replace(HIDDEN, path=text, message=text),),
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
@pytest.mark.parametrize("style", ["text", "concise", "json", "sarif", "github"])
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
    outside = outside.replace("<b>to review</b>", "")

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


def test_a_finding_its_repair_and_its_place() -> None:
    repaired = Finding(
        "odd", "warning", "m", "a", 30, "f", before="x: a: b", after=f'x: "{"b" * 300}"'
    )

    assert text(repaired)[:5] == [
        "warning odd: m",
        "  --> a:30",
        "   = fix: f",
        "   = was: x: a: b",
        f'   = now: x: "{"b" * 196}',
    ]
    assert text(Finding("odd", "note", "no place"))[0:2] == ["note odd: no place", ""]


def test_findings_of_one_fix_are_a_block() -> None:
    """What they share is said once: the message above, the fix below."""
    paths = ("s/a/x.md", "s/a/x.md", "s/a/y.md", "s/b/x.md")
    same = [Finding("odd", "note", "m", path, 1, "do") for path in paths]
    other = Finding("odd", "note", "m2", "s/a/z.md", 3, "do")
    # The order of a report is by path: these are between them, and of a code apart.
    between = Finding("x", "note", "m", "s/a/x.md", 2)
    report = of(same[0], between, *same[1:], other, locations=frozenset({"s/a", "s/b"}))

    assert render_report(report, "text").splitlines()[:-3] == [
        "note odd: m",
        " --> s/a/x.md:1",
        " --> s/a/x.md:1",
        " --> s/a/y.md:1",
        "note odd: m2",
        " --> s/a/z.md:3",
        "  = fix: do",
        "",
        "note x: m",
        " --> s/a/x.md:2",
        "",
        "note odd: m",
        " --> s/b/x.md:1",
        "  = fix: do",
    ]


def test_what_can_be_fixed_is_marked_and_counted_with_the_command() -> None:
    view = TextOptions(fix_command="satchel check 'a b' --fix")
    lines = render_report(fixed(), "text", view).splitlines()

    assert [line for line in lines if "their-own" in line] == [
        "error their-own [*]: m",
        "error their-own: m",
        "More: satchel explain their-own",
    ]
    assert "[*] 1 can be fixed: satchel check 'a b' --fix" in lines


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ([("x", 2), ("y", 19)], "most often: y 19, x 2 (all of them: --statistics)"),
        ([("x", 2), ("y", 18)], ""),
        ([("x", 21)], ""),
        (
            [(c, 5) for c in "abcdefg"],
            "most often: a 5, b 5, c 5, d 5, e 5 (all of them: --statistics)",
        ),
    ],
)
def test_a_long_report_names_its_frequent_codes(
    counts: list[tuple[str, int]], line: str
) -> None:
    findings = [Finding(code, "note", "m", "a") for code, n in counts for _ in range(n)]

    assert text(*findings)[-3] == line


def test_statistics_count_each_code() -> None:
    report = replace(
        fixed(), findings=(*fixed().findings, FINDINGS[1], *[FINDINGS[2]] * 11)
    )
    lines = render_report(report, "statistics").splitlines()

    assert [line[:43] for line in lines[:3]] == [
        "11  note          files-left-out  Some file",
        " 2  error    [*]  their-own",
        " 1  warning       hidden-text     The text ",
    ]
    assert lines[3:] == [
        "",
        "1 pack checked: 2 errors, 1 warning, 11 notes",
        "[*] 1 can be fixed: satchel check --fix",
        "More: satchel explain their-own",
    ]
    assert max(map(len, lines[:3])) > 60

    narrow = render_report(report, "statistics", TextOptions(width=60)).splitlines()

    assert max(map(len, narrow[:3])) == 60
    assert render_report(of(), "statistics") == "1 pack checked: no findings"


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


END = ["   = fix: f", "   = now: now that"]


@pytest.mark.parametrize(
    ("line", "message", "shown"),
    [
        ("name: PDF x", "name 'PDF': short", ["name: PDF x", "      ^^^"]),
        ("\tname:\tPDF", "'PDF'", ["    name:    PDF", "             ^^^"]),
        ("a a", "'a' and 'b'", ["a a"]),
        ("name: 名前 x", "name 'x'", ["name: 名前 x", "           ^"]),
        ("name: 名前", "name '名前'", ["name: 名前", "      ^^^^"]),
        ("ne\u0301e 👩\u200d🚀 x", "'x'", ["ne\u0301e 👩\u200d🚀 x", "       ^"]),
        # Hebrew is shown from the right by some terminals: no column is sure.
        ("שלום x", "'x'", ["שלום x"]),
        ("a\x1b[31mb\r", "m", ["a<U+001B>[31mb"]),
        ("\x1b x", "'x'", ["<U+001B> x", "         ^"]),
        # A word that can only be a path, a link, a field or a tag.
        ("see a/b.md now", "a/b.md is not here", ["see a/b.md now", "    ^^^^^^"]),
        ("[a/b](a/b)", "gone: a/b.", ["[a/b](a/b)", "      ^^^"]),
        ("  open: x", "metadata.open is no", ["  open: x", "  ^^^^"]),
        ("run $1", "in place of $1 here", ["run $1", "    ^^"]),
        # The field that the message is about, else the marks of Markdown.
        ("name: x", "the name is short", ["name: x", "^^^^"]),
        ("Note: x", "the name is short", ["Note: x"]),
        ("### Far", "a heading of level 3", ["### Far", "^^^"]),
        ("  ```py", "no closing fence", ["  ```py", "  ^^^"]),
    ],
)
def test_the_line_of_a_finding_is_shown_and_its_part_marked(
    line: str, message: str, shown: list[str]
) -> None:
    finding = Finding("odd", "error", message, "a", 12, "f", "was this", "now that")
    lines = text(finding, view=TextOptions(line_at=lambda *_: line))
    gutters = ["12 | ", "   | "]

    assert lines[2 : lines.index("")] == [
        *(f"{gutter}{part}" for gutter, part in zip(gutters, shown, strict=False)),
        *END,
    ]


@pytest.mark.parametrize("line", [None, "  \t"])
def test_without_a_line_it_is_said_what_it_was(line: str | None) -> None:
    finding = Finding("odd", "error", "m", "a", 12, "f", "was this", "now that")
    lines = text(finding, view=TextOptions(line_at=lambda *_: line))

    assert lines[2:5] == [END[0], "   = was: was this", END[1]]


@pytest.mark.parametrize(
    ("code", "line", "marked"),
    [
        ("unquoted-colon", "description: Use it: now. And: then", 19),
        ("unquoted-colon", "description: http://x a: b", 23),
        ("reserved-character", "description: @here", 13),
        ("unlimited-shell", "allowed-tools: Read Bash", 20),
    ],
)
def test_some_codes_know_which_part_it_is(code: str, line: str, marked: int) -> None:
    view = TextOptions(line_at=lambda *_: line)
    lines = text(Finding(code, "error", "a value is odd", "a", 3), view=view)

    assert lines[3].index("^") - len("  | ") == marked


def test_a_long_line_is_cut_to_the_width() -> None:
    def shown(line: str, message: str) -> list[str]:
        view = TextOptions(width=60, line_at=lambda *_: line)
        return text(Finding("odd", "error", message, "a", 12), view=view)[2:]

    middle = shown(f"{'x' * 90} here {'y' * 90}", "'here'")
    wide = shown(f"{'名' * 90} here {'前' * 90}", "'here'")

    assert shown("x" * 90, "m")[0] == f"12 | {'x' * 54}…"
    assert len(middle[0]) == 60
    assert middle[0][middle[1].index("^") :].startswith("here ")
    assert cells(wide[0]) in {59, 60}
    assert cells(wide[0][: wide[0].index("here")]) == wide[1].index("^")


WRAPPED = """\
error odd: the message is so long that
    it does not fit
 --> a/folder/with/a/long/name/and/a/fi
     le.md:3
  = fix: the fix is longer than the
         width too

1 pack checked: 1 error
More: satchel explain odd"""


def test_words_are_wrapped_at_the_width() -> None:
    finding = Finding(
        "odd",
        "error",
        "the message is so long that it does not fit",
        "a/folder/with/a/long/name/and/a/file.md",
        3,
        "the fix is longer than the width too",
    )

    assert render_report(of(finding), "text", TextOptions(width=39)) == WRAPPED


FORGED = (
    *("\nerror forged: x", "\rerror forged: x", "\x1b[2K\x1b[1Gerror forged: x"),
    *("x" * n + "error\xa0forged:" for n in range(30, 80, 7)),
    *("\u2028error forged: x", "1 pack checked: no findings", "::error::forged"),
    *(" " * n + "::error::forged" for n in range(20, 80, 11)),
)


@pytest.mark.row("G17")
@pytest.mark.parametrize("width", [20, 40, 80, None])
@pytest.mark.parametrize("forged", FORGED)
def test_no_text_of_a_pack_looks_like_a_line_of_ours(
    forged: str, width: int | None
) -> None:
    """Only the first line of a finding, and of the summary, begins at the margin."""
    finding = Finding("odd", "note", forged, forged, 3, forged, forged, forged)
    view = TextOptions(width=width, line_at=lambda *_: forged)
    lines = text(finding, replace(finding, path="b"), view=view)
    ours = ("note odd:", " ", "3 |", "1 pack checked: 2 notes", "More: ")

    assert [line for line in lines if line and not line.startswith(ours)] == []
    assert [line for line in lines if line.lstrip().startswith("::")] == []
    if width is not None:
        assert max(map(cells, lines)) <= max(width, 31)


def test_colours_and_links_are_optional() -> None:
    coloured = TextOptions(colour=True, link=lambda code: f"<{code}>")
    lines = text(HIDDEN, view=coloured)

    assert lines[0] == (
        "\x1b[1;33mwarning\x1b[0m \x1b[1m<hidden-text>\x1b[0m"
        "\x1b[1m: 1 tag character\x1b[0m"
    )
    assert text(view=coloured)[0].startswith("\x1b[1;32m1 pack")
    plain = "".join(re.split("\x1b\\[[0-9;]*m", "\n".join(lines)))
    assert plain.replace("<hidden-text>", "hidden-text") == "\n".join(text(HIDDEN))
