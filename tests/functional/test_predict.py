"""``satchel predict``: in every format, with statuses, and what is not known."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functional.library import (
    HOSTILE_BYTES,
    run,
    run_process,
    run_terminal,
    write_pack,
)
from tests.made_up_loaders import GOOD, LONG, MUTE, forget, know_only_these

STYLES = ("text", "json", "sarif", "github", "markdown", "html")


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        know_only_these(patch)
        yield
    forget()


@pytest.fixture(autouse=True)
def folder(here: Path) -> Path:
    packs = {"skills/good": GOOD, "skills/mute": MUTE, "long/long": LONG}
    for path, text in {**packs, "fine/fine": GOOD}.items():
        write_pack(here / path, text.format(path.rpartition("/")[2]))
    return here


@pytest.mark.row("E02")
def test_a_grid_what_to_fix_first_and_why() -> None:
    done = run("predict", "skills", "--for", "all")

    assert done.exit_code == 1
    assert done.output == (
        "skills/  fragile  careful, judge, closed*\n"
        "mute     breaks   dropped\n"
        "good     lost     loaded\n"
        "\n"
        "breaks: neither it nor any skill next to it is listed   dropped: not listed\n"
        "lost: not listed until the skill that breaks is fixed   "
        "* documented, not run\n"
        "\n"
        "Fix this line: 2 skills back in fragile; 1 in careful, judge, closed\n"
        "  skills/mute/SKILL.md:1: say in `description:` what the skill does and"
        " when to\n"
        "    use it\n"
        "\n"
        "skills/mute/SKILL.md:1: there is no `description:`; breaks fragile; 3 more"
        " are\n"
        "    affected. Fix: say in `description:` what the skill does and when to use"
        " it\n"
        "\n"
        "2 skills: none loaded whole by all 4 clients\n"
    )


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("fine --for all", 0),
        ("skills --for careful", 1),
        ("skills/good --for fragile", 0),
        ("skills --for fragile --fail-on never", 0),
        ("skills --for fragile,careful --select client-cuts", 0),
        ("long --for careful", 0),
        ("long --for careful --fail-on warning", 1),
        ("long --for careful --strict --ignore client-cuts", 0),
        ("long --for closed", 0),
        ("nowhere --for all", 2),
        ("fine --for nobody", 2),
        ("fine --for ,", 2),
        ("fine --for all --since HEAD", 2),
        ("fine --for all --fix", 2),
        ("fine --format html", 0),
        ("fine --also html=page.html", 0),
        ("fine --for , --library", 2),
        ("skills", 1),
        ("", 1),
        *((f"skills --for all --format {style}", 1) for style in STYLES),
        *((f"fine --for all --format {style}", 0) for style in STYLES),
    ],
)
def test_statuses(arguments: str, status: int) -> None:
    assert run("predict", *arguments.split()).exit_code == status


def test_json_has_loaders_packs_reasons_and_findings() -> None:
    done = run("predict", "skills", "--for", "closed,fragile", "--format", "json")
    message = json.loads(done.output)

    assert message["schema_version"] == 1
    assert [item["how"] for item in message["loaders"]] == ["documented", "measured"]
    mute = message["packs"][1]
    assert mute["path"] == "skills/mute/SKILL.md"
    closed, fragile = mute["outcomes"]
    assert (closed["verdict"], fragile["verdict"]) == ("dropped", "breaks-neighbours")
    assert closed["reasons"][0]["source"] == "https://e.org/docs (2026-05-28)"
    assert fragile["reasons"][0] | {"about": ""} == {
        "property": "missing-description",
        "about": "",
        "line": 1,
        "source": "run",
    }
    assert message["packs"][0]["outcomes"][1]["taken_down_by"] == "skills/mute"
    assert {entry["code"] for entry in message["findings"]} == {
        "client-breaks",
        "client-drops",
    }


def test_markdown_counts_by_loader() -> None:
    text = run("predict", "skills", "--for", "all", "--format", "markdown").output

    assert "| | loaded whole | breaks | drops | misreads | cuts | not known |" in text
    assert "| Careful | 1 |  | 1 |  |  |  |" in text
    assert "| Fragile |  | 1 | 1 |  |  |  |" in text
    assert "`client-breaks`" in text


def test_a_baseline_holds_what_is_known() -> None:
    arguments = ("predict", "skills", "--for", "careful")
    first = run(*arguments, "--also", "json=known.json", "--also", "markdown=out.md")

    assert first.exit_code == 1
    assert run(*arguments, "--baseline", "known.json").exit_code == 0
    assert "| Careful | 1 |" in Path("out.md").read_text("utf-8")


def test_what_nobody_looked_at_is_said() -> None:
    done = run("predict", "long", "--for", "judge")

    assert done.exit_code == 0
    assert "unknown: nobody looked\n" in done.output
    assert "the description has more than 1,024 characters; unknown to" in done.output


@pytest.mark.parametrize("word", ["list", "?"])
def test_names_are_listed_without_a_path(word: str) -> None:
    done = run("predict", "--for", word, width=None)

    assert done.exit_code == 0
    assert "  careful  1  measured    2026-11-21  run\n" in done.output
    assert "  closed   1  documented  2026-11-21  run\n" in done.output
    assert "frameworks" in done.output


def test_hostile_names_and_bytes_reach_no_terminal(folder: Path) -> None:
    hostile = "evil\x1b[2J\u202e"
    write_pack(folder / "odd" / hostile, HOSTILE_BYTES)
    write_pack(folder / "odd" / "mute", b"---\nname: \x1b[37m\n---\n" + HOSTILE_BYTES)

    shown = run_terminal("predict", "odd", "--for", "all", cwd=folder)

    assert b"\x1b[2J" not in shown
    assert b"\x1b[37m" not in shown
    assert b"\x1b]8" not in shown
    assert "\u202e".encode() not in shown
    for style in STYLES:
        text = run("predict", "odd", "--for", "all", "--format", style).output
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(
    "arguments",
    [
        "skills --for all",
        "skills --for careful,fragile -v",
        "skills --for careful --fail-on warning --select client-cuts",
        "long --for careful --strict --profile strict",
        "skills --for=all",
        "skills --library --for all",
        "skills --library --for careful --window 8k,1m --strict",
        "--for all",
        "--for list",
        "nowhere --for all",
        "fine --for nobody",
        *(f"skills --for all --format {style}" for style in STYLES),
        *(
            f"skills --library --for all --format {style}"
            for style in ("text", "json", "markdown", "html")
        ),
    ],
)
def test_check_with_the_options_of_earlier_versions_is_the_same(arguments: str) -> None:
    """Byte by byte, but for the name of the command in advice."""
    old, new = (run(name, *arguments.split()) for name in ("check", "predict"))
    note = "note: satchel check --for is now satchel predict --for\n"

    assert old.exit_code == new.exit_code
    named = old.stdout.replace("satchel check ", "satchel predict ")
    assert named == new.stdout.replace("satchel check ", "satchel predict ")
    if arguments != "--for list":
        assert old.stderr.startswith(note)
    assert old.stderr.removeprefix(note) == new.stderr
    quiet = run("check", *arguments.split(), "-q")
    assert note not in quiet.stderr


def test_check_itself_has_no_option_of_predict() -> None:
    shown = run("check", "--help").output

    assert [name for name in ("--for ", "--library", "html") if name in shown] == []
    assert run("check", "fine", "--library").exit_code == 2
    assert run("check", "fine", "--format", "html").exit_code == 2
    assert run("check", "fine", "--", "--for").stderr.startswith(
        "error: --for: no such"
    )


def test_verbosity_is_that_of_every_command() -> None:
    """Where nothing else has asked for ``predict`` in the process."""
    done = run_process("check", "fine", "--for", "codex", "-v")

    assert (done.returncode, done.stdout) == (0, b"1 skill loaded whole by Codex CLI\n")


def test_a_pack_that_cannot_be_read_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = "---\nname: {0}\ndescription: Use when a {0} is to be read.\n---\n"
    for name, size in (("fine", 1), ("huge", 2**20)):
        pack = tmp_path / "more" / name
        pack.mkdir(parents=True)
        (pack / "SKILL.md").write_text(head.format(name) + "x" * size)

    result = run("predict", str(tmp_path / "more"), "--format", "json")

    packs = json.loads(result.stdout)["packs"]
    assert [Path(one["pack"]).name for one in packs] == ["fine"]
    assert f"left out {tmp_path}/more/huge: SKILL.md: 1,048,6" in caplog.text
