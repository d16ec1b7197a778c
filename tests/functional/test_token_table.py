"""The table of tokens: who lists what, in which order, against which bar."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.__main__ import main as measure_from_the_command_line
from benchmarks.sent._packs import Pack, read_packs, write_libraries
from benchmarks.sent._texts import sent, tool_text
from benchmarks.tokens import bars, by_hand, count_rows, how_it_lists, our_texts
from tests.functional.library import write_pack

PACK = "---\nname: {0}\ndescription: Use when {0} is asked for.\n---\nDo {0}.\n"


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        write_pack(tmp_path / name, PACK.format(name))
    return tmp_path


def read(folder: Path) -> list[Pack]:
    return read_packs(sorted(folder.iterdir()))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("one: Use when one is asked for. two: Use when two is asked for.", "in full"),
        ("one: Use when one is asked for. two: Use when ...", "1 in full"),
        ("You have one and two.", "names"),
        ("You have one.", "nothing"),
        ("Use when\n one is asked for. Use when two is &#97;sked for.", "in full"),
    ],
)
def test_how_packs_are_listed_is_seen_in_the_text(
    folder: Path, prompt: str, expected: str
) -> None:
    assert how_it_lists(sent("it", prompt), read(folder)) == expected


def test_a_list_in_the_description_of_a_tool_counts(folder: Path) -> None:
    shown = "Use when one is asked for. Use when two is asked for."
    tool = {"name": "load", "description": shown}

    assert how_it_lists(sent("it", "", [tool]), read(folder)) == "in full"


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "a", "description": "b", "parameters": {"c": 1}},
        {"name": "a", "description": "b", "inputSchema": {"c": 1}},
        {"name": "a", "description": "b", "inputSchema": {"json": {"c": 1}}},
        {"function": {"name": "a", "description": "b", "parameters": {"c": 1}}},
        {"name": "a", "description": "b", "parameters": {"c": 1}, "strict": True},
    ],
)
def test_a_tool_is_counted_alike_whatever_a_framework_calls_its_parts(
    tool: dict[str, object],
) -> None:
    assert json.loads(tool_text(tool)) == {
        "name": "a",
        "description": "b",
        "parameters": {"c": 1},
    }


def test_rows_are_sorted_and_what_is_missing_is_a_dash(folder: Path) -> None:
    full = "one: Use when one is asked for. two: Use when two is asked for."
    tool = {"name": "load", "description": ""}
    texts = [
        sent("satchel 1, lean", full, [tool], "Do it now."),
        sent("short", full, (), "Do it."),
        sent("no load", full),
        sent("on top", f"You are. {full}", (), "a b c d e f g", bare="You are."),
        sent("names", "one two", (), "a"),
    ]

    rows = count_rows(texts, read(folder), count_words)

    assert [row.cells() for row in rows] == [
        ("names", "names", "2", "-", "2", "1", "3"),
        ("short", "in full", "14", "-", "14", "2", "16"),
        ("on top", "in full", "14", "-", "14", "7", "21"),
        ("**satchel 1, lean**", "in full", "14", "6", "20", "3", "23"),
        ("no load", "in full", "14", "-", "14", "-", "-"),
    ]
    # Who lists less, and who loads nothing, is no rival.
    assert {bar.what: bar.measured.median for bar in bars("x", rows, "lean")} == {
        "x: each call, over the fewest of 2 others": pytest.approx(20 / 14),
        "x: a load, over the fewest of 2 others": pytest.approx(3 / 2),
        "x: together, over the fewest of 2 others": pytest.approx(23 / 16),
    }


def test_ours_is_what_a_session_sends(folder: Path) -> None:
    texts = {
        each["name"].rpartition(", ")[2]: each for each in our_texts(folder, "two")
    }
    lean = texts["lean"]

    assert set(texts) == {"lean", "agent-skills", "packs", "references", "as it comes"}
    assert texts["as it comes"] == lean | {"name": texts["as it comes"]["name"]}
    assert "- two: Use when two is asked for." in lean["prompt"]
    assert [json.loads(tool)["name"] for tool in lean["tools"]] == ["load_skill"]
    assert lean["loaded"] == "Skill: two\n\nDo two."
    assert by_hand(read(folder))["prompt"] == "# one\n\nDo one.\n\n# two\n\nDo two."


def test_only_packs_that_every_loader_takes_are_compared(tmp_path: Path) -> None:
    good = tmp_path / "good"
    write_pack(good, PACK.format("good"))
    write_pack(tmp_path / "other-name", PACK.format("good"))
    write_pack(tmp_path / "colon", "---\nname: colon\ndescription: Use: now\n---\nA\n")
    write_pack(tmp_path / "binary", PACK.format("binary"))
    (tmp_path / "binary" / "a.bin").write_bytes(b"\xff")
    write_pack(
        tmp_path / "extra", PACK.format("extra").replace("---\nDo", "tools: a\n---\nDo")
    )

    assert [pack.name for pack in read(tmp_path)] == ["good"]
    with pytest.raises(ValueError, match="100 are needed"):
        list(write_libraries(tmp_path / "home", good))


@pytest.mark.row("F103")
def test_the_readme_has_the_figures_of_the_measured_table() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "benchmarks.md").read_text("utf-8")
    (section,) = re.findall(r"### 12 of the role packs.*?###", page, re.DOTALL)
    names = [", lean**", "skillport", "by hand", "agent_framework", "pydantic_ai 0"]
    names += ["deepagents"]
    rows = [
        next(line for line in section.splitlines() if name in line).split("|")
        for name in names
    ]
    # By hand nothing is loaded: it is what each call has.
    measured = [row[5] if "by hand" in row[1] else row[-2] for row in rows]
    readme = (root / "README.md").read_text("utf-8")
    (row,) = (line for line in readme.splitlines() if "| tokens for 12" in line)

    figures = [cell.strip() for cell in measured]
    assert re.findall(r"\[([\d,]+)\]", row) == figures
    others = re.findall(r"(?m)^\| (?!\*\*satchel).* ([\d,]+) \|$", section)
    assert figures[1] == min(others, key=lambda figure: int(figure.replace(",", "")))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--frameworks", "nobody,agno"), "no framework is called nobody"),
        (("--libraries", "/nowhere"), "/nowhere has 0 packs"),
    ],
)
def test_what_cannot_be_counted_is_said(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, str],
    why: str,
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "tokens", *options])
    monkeypatch.setattr("benchmarks.tokens._library", lambda *_: [])

    with pytest.raises(SystemExit, match="2"):
        measure_from_the_command_line()
    assert why in capsys.readouterr().err
