"""The grid of ``satchel predict``: how wide, how long, in which colours."""

import re
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest
from hypothesis import given, settings, strategies as st

from satchel.text import cells
from satchel_lab.commands._grid import MARKS
from tests.functional.library import HOSTILE_BYTES, run, run_terminal, write_pack
from tests.made_up_loaders import GOOD, MUTE

pytestmark = pytest.mark.slow

# Frontmatter of all kinds of trouble, in the order in which clients mind it most.
TROUBLES = (
    "name: {name}",
    "name: other\ndescription: Counts words.",
    "name: {name}\ndescription: Use when: words are counted.",
    "name: {name}\ndescription: Counts words.\nallowed-tools: Read, Write",
    "name: {name}\ndescription: Counts words.\ncompatibility: Linux",
    "name: {name}\ndescription: Counts words.\nversion: 1.0\nauthor: ana",
    "name: {name}\ndescription: Counts <b>words</b>.",
    "name: {name}\ndescription: " + "Counts words. " * 30,
    "name: {name}\ndescription: " + "Counts words. " * 90,
    "name: 7\ndescription: Counts words.",
    "name: {name}\ndescription: [Counts, words]",
    "name: {name}\ndescription: Zählt Wörter 🎉.",
    "name: {name}\ndescription: >\n  Counts\n  words.",
    "\tname: {name}\ndescription: Counts words.",
    "name: {name}\ndescription: Counts words.",
)


def write_library(folder: Path, count: int) -> None:
    """Write packs of which each has one of the troubles, most of them the last."""
    for at in range(count):
        name = f"{'long-' * (at % 9)}skill-{at:04}"
        head = TROUBLES[at % 40] if at % 40 < len(TROUBLES) else TROUBLES[-1]
        write_pack(folder / name, f"---\n{head.format(name=name)}\n---\nCount.\n")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many") / "skills"
    write_library(folder, 2_000)
    return folder


@pytest.mark.parametrize("columns", [80, 120])
def test_two_thousand_skills_take_60_lines(
    many: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(many.parent)
    done = run("predict", "skills", "--for", "all", width=columns)
    lines = done.output.splitlines()

    assert len(lines) <= 60
    assert max(map(cells, lines)) <= columns
    assert lines.index("") == 21  # a head and 20 skills
    assert lines[-2].startswith("2,000 skills: ") or "2,000 skills: " in done.output
    assert "more skills and" in done.output
    assert "--for all --format html" in re.sub(r"\s+", " ", done.output)


@settings(max_examples=15, deadline=None)
@given(columns=st.integers(52, 200), names=st.sampled_from(["all", "clients", "codex"]))
def test_no_line_is_wider_than_the_terminal(
    few: Path, columns: int, names: str
) -> None:
    done = run("predict", str(few), "--for", names, width=columns)
    grid, _, _ = done.output.partition("\n\n")

    assert max(map(cells, grid.splitlines())) <= columns


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("few") / "skills"
    write_library(folder, len(TROUBLES))
    return folder


def test_columns_begin_where_they_should_next_to_wide_names(here: Path) -> None:
    for name in ("技能技能", "e\u0301tude", "plain", "ｗｉｄｅ"):
        write_pack(here / "skills" / name, MUTE.format(name))

    output = run("predict", "skills", "--for", "codex,google-adk").output
    rows = output.partition("\n\n")[0].splitlines()

    assert len(rows) == 5
    assert {cells(row[: row.index("breaks")]) for row in rows[1:]} == {
        cells(rows[0][: rows[0].index("google-adk")])
    }


def test_a_long_name_shows_its_end(here: Path) -> None:
    for name in ("a" * 90 + "-first", "a" * 90 + "-other"):
        write_pack(here / "skills" / name, MUTE.format(name))

    output = run("predict", "skills", "--for", "codex,google-adk", width=60).output

    assert re.search(r"^…a+-first +breaks +dropped$", output, re.MULTILINE)
    assert re.search(r"^…a+-other +breaks +dropped$", output, re.MULTILINE)


def test_signs_and_words_are_enough_without_colours() -> None:
    marks = ((one.sign, one.word, one.of_loaders) for one in MARKS.values())
    for texts in zip(*marks, strict=True):
        assert len({*texts}) == len(MARKS)


def test_colours_are_for_terminals_only(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(here / "skills" / "mute", MUTE.format("mute"))
    write_pack(here / "skills" / "good", GOOD.format("good"))
    arguments = (
        "predict",
        "skills",
        "--for",
        "codex,google-adk",
        "--also",
        "text=seen",
    )
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = run_terminal(*arguments, cwd=here).replace(b"\r\n", b"\n").decode()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = run_terminal(*arguments, cwd=here).replace(b"\r\n", b"\n").decode()

    assert "\x1b[31mdropped\x1b[0m" in shown
    assert "\x1b" not in plain
    assert click.unstyle(shown) == plain
    assert "\x1b" not in Path("seen").read_text("utf-8")
    assert "\x1b" not in run(*arguments).output


class _Page(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_safe_and_whole(here: Path) -> None:
    hostile = '<img src=x onerror="alert(1)">&amp;'
    write_pack(here / "skills" / hostile, HOSTILE_BYTES)
    write_library(here / "skills", 60)

    text = run("predict", "skills", "--for", "all", "--format", "html").output
    page = _Page(text)

    assert not page.tags & {"img", "script", "link", "iframe", "a", "base"}
    assert page.attributes <= {
        *("lang", "charset", "http-equiv", "content", "name", "class")
    }
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text
    assert "onerror=" in page.text
    assert "skill-0001" in page.text
    assert not re.search("[\x1b\u202e]", text)
    assert page.text.count("SKILL.md:") > 20


def test_the_rest_is_counted_with_the_command_that_shows_it(here: Path) -> None:
    for at in range(23):
        write_pack(here / "my skills" / f"s{at}", MUTE.format(f"s{at}"))

    output = run("predict", "my skills", "--for", "codex,pi").output

    assert output.endswith(
        "23 skills: none loaded whole by both clients\n"
        "3 more skills: satchel predict 'my skills' --for codex,pi --format html >\n"
        "    skills.html (or json, markdown)\n"
    )


def test_all_is_well_in_one_line(here: Path) -> None:
    for name in ("good", "better"):
        write_pack(here / "skills" / name, GOOD.format(name))

    one = run("predict", "skills/good", "--for", "codex,pi").output
    two = run("predict", "skills", "--for", "codex").output

    assert one == "1 skill loaded whole by both clients\n"
    assert two == "2 skills loaded whole by Codex CLI\n"
