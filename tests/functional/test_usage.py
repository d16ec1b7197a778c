"""``satchel usage``: what was used, from whichever file it is kept in."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from satchel import Options, Satchel
from satchel.model import ActEvent, NeededSkill
from satchel.usage._sinks import Event
from satchel_server.usage import host_mark
from satchel_server.usage._process import process_mark
from tests.functional.library import run, run_process, run_terminal, write_pack
from tests.unit.usage.library import (
    DAY,
    KINDS,
    NOON,
    day,
    keep,
    load,
    miss,
    store,
    sync,
    writer,
)
from tests.unit.usage.postgres import database, needs_postgres

FORMATS = Path(__file__).parents[1] / "formats"
RELEASED = sorted(
    path for path in FORMATS.glob("usage-[0-9]*") if path.suffix != ".head"
)
PACK = "---\nname: {}\ndescription: Use when testing.\n---\nDo.\n"


@pytest.fixture(autouse=True)
def library(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        files = {f"references/{number}.md": number for number in ("one", "two")}
        write_pack(tmp_path / "skills" / name, PACK.format(name), files)
    return tmp_path / "skills"


def at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn the clock of the command."""
    monkeypatch.setattr("satchel_server.commands.usage.now", lambda: day(number))


def usage(*arguments: str) -> Result:
    result = run("usage", *arguments)
    assert result.exit_code == 0, result.output
    return result


def told(*arguments: str) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(usage(*arguments, "--json").stdout)
    return results


@pytest.mark.row("R37", "C50", "C51")
@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.name)
def test_every_released_file_gives_the_same_report(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written by version 1 or 2; a later one has to tell the same of it."""
    at(29, monkeypatch)
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)

    report = told("--db", str(copy))

    assert (report["loads"], report["core"]) == (8, ["pdf-forms"])
    (forms, sql) = report["skills"]
    counts = {"loads": 8, "files": 2, "by_hand": 0, "tokens": 95}
    later = {"callers": {}, "before": 0, "conversations": 0}
    assert forms == counts | later | {
        "name": "pdf-forms",
        "last": "2024-11-02",
        "releases": {"sha256-tree-v1:00": 5},
        "digests": {"sha256:pdf-forms": 6},
        "owners": {"@ana": 5},
        "sources": {"shelf": 8},
        "edges": {"mcp": 5, "tool": 3},
        "agents": {"desk": 5},
        "clients": {"Claude Code": 5},
    }
    assert (sql["name"], sql["loads"], sql["by_hand"]) == ("sql-style", 0, 1)
    dead = {"name": "sql-style", "reason": "never loaded", "days_seen": 30}
    offered = {"last": None, "offered": "2024-11-02", "owner": "@org/data"}
    assert report["dead"] == [dead | offered]
    assert report["unknown"] == []
    assert report["references_never_read"] == {"pdf-forms": ["references/rules.md"]}
    assert report["not_found"] == {"<invalid>": 1, "pdf-form": 1}
    assert report["errors"] == {"skill-not-found": 2, "denied-by-policy": 1}
    assert (report["dropped"], report["lines_not_read"]) == (2, 0)
    copied = {} if "usage-1" in path.name else {"sql-style": 2, "pdf-forms": 1}
    assert report["synced"] == copied


@pytest.mark.row("R37")
@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.chain")), ids=str)
def test_every_released_chain_is_verified(path: Path) -> None:
    assert "none changed" in usage("--verify", str(path)).stdout


@pytest.mark.row("R37")
def test_the_report_has_the_shape_of_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(29, monkeypatch)
    shutil.copyfile(FORMATS / "usage-1.db", tmp_path / "usage.db")
    report = told("--db", "usage.db")

    released = json.loads((FORMATS / "usage-report-1.json").read_text("utf-8"))
    assert merged(shape(report), shape(released)) == shape(report)  # all is there


def merged(one: Any, other: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a shape with what another one has more."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {key: merged(one.get(key), other[key]) for key in other}
    if isinstance(one, list) and isinstance(other, list):
        return [merged(*pair) for pair in zip(one, other, strict=True)]
    return other if one is None else one


def shape(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the keys that a program looks for; those of counts are data."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items() if k[:1].islower() and k != "d"}
    return [shape(item) for item in value[:1]] if isinstance(value, list) else None


@pytest.mark.row("C50")
def test_the_report_for_people(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    at(30, monkeypatch)
    events: list[Event] = [
        *(sync(day(n), "alpha", "beta", owners={"beta": "@org"}) for n in range(30)),
        *(sync(day(n), f"new-{k}") for n in (28, 29) for k in range(12)),
        *(load("alpha", day(n), owner="@ana", tokens=700) for n in range(2, 30)),
        load("alpha", day(29), reference="references/one.md"),
        load("alpha", day(29), via="cli"),
        miss("alhpa", day(29)),
        miss("<invalid>", day(29)),
    ]
    keep("sqlite", tmp_path, events)

    shown = usage("--db", "usage.sqlite").stdout

    assert shown == (
        "2024-10-05 to 2024-11-03, UTC: 29 loads\n\n"
        "SKILL  LOADS  FILES  TOKENS  BY HAND  LAST        OWNER\n"
        "alpha  29     1      19,610  1        2024-11-02  @ana\n\n"
        "Core: 1 skill of 1 make 80% of the loads\n"
        "  alpha\n\n"
        "Dead: no load in 30 days on offer\n"
        "  beta: never loaded; @org\n\n"
        "Too early to say\n"
        "  unknown: 1 of 30 days seen: new-0, new-1, new-10, new-11, new-2, new-3,…"
        "\n\n"
        "Asked for, but not found\n"
        "  <invalid>: 1\n"
        "  alhpa: 1\n\n"
        "Loads that failed\n"
        "  skill-not-found: 2\n"
    ).replace("1 of 30 days", "2 of 30 days")


@pytest.mark.row("R31", "C33")
def test_what_the_command_line_shows_is_on_record_and_revives_nothing() -> None:
    for command in (
        *("show alpha", "show alpha --reference one.md", "show alhpa --envelope xml"),
        *("list", "find testing"),
    ):
        run(*command.split(), "--skills", "skills")

    report = told("--skills", "skills")

    (alpha,) = report["skills"]
    assert (alpha["name"], alpha["loads"], alpha["by_hand"]) == ("alpha", 0, 2)
    assert [item["reason"] for item in report["unknown"]] == [
        "unknown: 0 of 30 days seen"
    ] * 2
    assert report["not_found"] == {"alhpa": 1}
    assert report["writers_not_closed"] == 0


@pytest.mark.row("E05")
def test_off_is_off(library: Path) -> None:
    env = {"SATCHEL_USAGE": "off", "SATCHEL_INDEX": "none"}
    done = run_process("show", "alpha", "--skills", "skills", env=env)

    assert done.stdout == b"Do.\n"
    assert not Path(os.environ["HOME"]).exists()
    asked = run_process("usage", env=env)
    assert asked.returncode == 2
    assert asked.stderr.decode() == (
        "error: SATCHEL_USAGE: 'off' stores no events; name a file with --db\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "jsonl", "chain"])
def test_the_variable_names_the_file_for_all(
    kind: str, library: Path, tmp_path: Path
) -> None:
    env = {"SATCHEL_USAGE": f"{kind}://{tmp_path}/usage"}
    with Satchel(library, options=Options(environ=env)) as skills:
        skills.load("alpha")
    run_process("show", "alpha", "--skills", "skills", env=env)

    done = run_process("usage", "--json", env=env)

    (alpha,) = json.loads(done.stdout)["skills"]
    assert (alpha["loads"], alpha["by_hand"]) == (1, 1)


def test_a_log_of_events_is_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command has no other log, so that nothing would be seen of it."""
    monkeypatch.setenv("SATCHEL_USAGE", "log:")

    result = run("show", "alpha", "--skills", "skills")

    assert result.exit_code == 0
    assert "skill_loaded name='alpha'" in result.stderr
    assert "skill_loaded" not in result.stdout


def test_a_variable_that_says_nothing_stops_the_commands_that_load() -> None:
    env = {"SATCHEL_USAGE": "mysql://x"}
    shown = run_process("show", "alpha", "--skills", "skills", env=env)
    listed = run_process("list", "--skills", "skills", env=env)

    assert (shown.returncode, listed.returncode) == (2, 0)
    assert b"cannot store events; expected off, log:, sqlite:" in shown.stderr


@pytest.mark.skipif(os.name == "nt", reason="a folder that cannot be made")
def test_a_skill_is_shown_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = {"SATCHEL_USAGE": f"sqlite://{tmp_path}/file/usage.db"}
    done = run_process("show", "alpha", "--skills", "skills", env=env)

    assert (done.returncode, done.stdout) == (0, b"Do.\n")
    assert b"cannot be stored now (NotADirectoryError: Not a dir" in done.stderr


def test_nothing_on_record() -> None:
    result = usage()

    assert "0 loads" in result.stdout
    assert "nothing is on record yet" in result.stderr
    assert told()["skills"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--db", "gone.db"], "gone.db: no such file"),
        (["--db", "jsonl:gone.jsonl"], "gone.jsonl: no such file"),
        (["--verify", "gone.chain"], "gone.chain: no such file"),
        (["--db", "sqlite://host/x"], "--db: 'sqlite://host/x' names another machine"),
        (
            ["--db", "mysql://me:secret@host/x"],
            "--db: 'mysql:' cannot store events; expected sqlite:",
        ),
        (["--db", "log:"], "--db: 'log:' stores no events"),
        (["--db", "postgresql://[/x"], "the postgresql: URL: it cannot be read"),
        (["merge", "mysql://x"], "error: FILE: 'mysql://x' cannot store events"),
        (["prune", "--days", "3", "--db", "mysql://x"], "error: --db: "),
        (["--head", "x"], "--head goes with --verify"),
        (["--acts", "--db", "gone.db"], "gone.db: no such file"),
        (["--acts", "skills"], "leave PATH out"),
        (["--days", "0"], "0 is not in the range"),
        (["--skills", ""], "the path is empty"),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], message: str) -> None:
    result = run("usage", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.row("U17", "N14")
@pytest.mark.parametrize("kind", KINDS)
def test_acts_say_whether_their_skill_was_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(0, monkeypatch)
    read = NeededSkill("alpha", "sha256:alpha", "load")
    fields: dict[str, Any] = {"conversation": "c", "arguments": "00", "agent": ""}
    acts = [
        ActEvent(
            at=NOON, tool="pay", outcome=outcome, skills=(skill,), **fields, **more
        )
        for outcome, skill, more in (
            ("refused", NeededSkill("alpha", "sha256:alpha"), {"approval": ""}),
            ("allowed", read, {"approval": "yes_once"}),
            ("exit 0", read, {"approval": "rule 1", "script": "x.py"}),
        )
    ]
    old = replace(acts[1], at=day(-40))
    keep(kind, tmp_path, [load("alpha", day(-50), conversation="c"), old, *acts])

    shown = usage("--acts", "--db", f"usage.{kind}").stdout.splitlines()

    assert [line.split()[2:] for line in shown[1:]] == [
        ["pay", "refused", "no", "-", "alpha"],
        ["pay", "allowed", "yes", "yes_once", "alpha"],
        ["x.py", "exit", "0", "yes", "rule", "1", "alpha"],
    ]
    told_acts = told("--acts", "--days", "60", "--db", f"usage.{kind}")["acts"]
    assert [act["had_skill"] for act in told_acts] == ["yes", "no", "yes", "yes"]


def test_no_act_on_record() -> None:
    result = usage("--acts")

    assert result.stdout == ""
    assert "no act is on record in the last 30 days" in result.stderr


@pytest.mark.row("C47")
def test_a_changed_chain_is_status_1(tmp_path: Path) -> None:
    keep("chain", tmp_path, [load("alpha"), load("beta")])
    log = tmp_path / "usage.chain"
    shutil.copyfile(tmp_path / "usage.chain.head", tmp_path / "kept.head")

    good = usage("--verify", "usage.chain", "--head", "kept.head")
    (tmp_path / "usage.chain.head").unlink()
    alone = run("usage", "--verify", "usage.chain")
    log.write_text(log.read_text().replace('"name":"alpha"', '"name":"gamma"'))
    bad = run("usage", "--verify", "usage.chain")
    as_json = run("usage", "--verify", "usage.chain", "--json")

    assert good.stdout.startswith("4 lines, none changed; the last is ")
    assert good.stderr == ""
    assert alone.exit_code == 1
    assert "missing at the end cannot be noticed" in alone.stderr
    assert (bad.exit_code, as_json.exit_code) == (1, 1)
    assert bad.stderr.startswith("error broken-chain: usage.chain:3: ")
    verdict = json.loads(as_json.stdout)
    expected = {"schema_version": 1, "ok": False, "broken": 3}
    assert verdict == verdict | expected


@pytest.mark.row("T10", "R31")
@pytest.mark.parametrize(
    "command",
    [
        *("list", "find testing", "prompt", "why alpha", "doctor", "check skills"),
        *("explain no-frontmatter", "diff skills/alpha skills/beta", "build dist"),
        *("pack skills/alpha -o alpha.skill", "usage"),
    ],
)
def test_a_look_on_the_command_line_is_no_event(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SATCHEL_USAGE", "jsonl:usage.jsonl")
    Path("satchel.toml").write_text('skills = ["skills"]\n')
    run(*command.split())
    file = Path("usage.jsonl")
    lines = file.read_text().splitlines() if file.exists() else []

    events = {json.loads(line)["event"] for line in lines}
    assert events <= {"writer_started", "writer_closed"}


HOSTILE = "a\x1b[2J\u202eb\r\nc"


def hostile_events() -> Iterable[Any]:
    return [
        *(sync(day(n), HOSTILE, f"{HOSTILE}2") for n in range(30)),
        load(HOSTILE, day(29), owner=HOSTILE),
        sync(day(29), "x"),
        miss(HOSTILE, day(29), code=f"code{HOSTILE}"),
    ]


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_no_name_writes_on_the_terminal(tmp_path: Path) -> None:
    keep("sqlite", tmp_path, hostile_events())
    command = ("usage", "--days", "3650", "--db", "usage.sqlite")
    text = run_terminal(*command, cwd=tmp_path).decode()
    data = run(*command, "--json").stdout

    assert "<U+001B>" in text
    assert not any(part in text for part in ("\x1b[2J", "\u202e", "b\r\nc"))
    assert data.isascii()
    assert "\x1b" not in data


def test_gaps_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at(40, monkeypatch)
    keep("jsonl", tmp_path, [load("alpha", day(35))], closed=False)
    with (tmp_path / "usage.jsonl").open("a") as log:
        log.write("torn\n")

    shown = usage("--db", "usage.jsonl").stdout

    assert "  1 writer ended without closing; each may have lost up to 10" in shown
    assert "  1 line of the file could not be read\n" in shown


@pytest.mark.row("F40", "T10")
def test_a_mirror_is_named_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(29, monkeypatch)
    names = [f"s{number}" for number in range(6)]
    events: list[Event] = [sync(day(n), *names) for n in range(30)]
    events += [load(name, day(29), via="mcp", client="copier") for name in names]
    keep("jsonl", tmp_path, events)

    shown = usage("--db", "usage.jsonl").stdout
    without = usage("--db", "usage.jsonl", "--mirror", "copier").stdout

    assert "copier: read 6 of 6 on one day; if so, use --mirror" in shown
    assert "Dead" not in shown
    assert "Fetched 6 times for a copy, which is no load" in without
    assert "s5: never loaded" in without


@pytest.mark.row("F17", "F45")
def test_what_waits_and_a_full_disk_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(1, monkeypatch)
    stored = store("sqlite", tmp_path)
    stored.open(writer(pid=os.getpid(), host=host_mark(), process=process_mark()))
    stored.write([(1, load("alpha"))], 7, NOON)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))

    shown = usage("--db", "usage.sqlite").stdout
    as_json = told("--db", "usage.sqlite")
    stored.close(7, NOON)

    assert "7 events dropped" in shown
    assert "1 writer still running: what waits there is not on record yet" in shown
    assert "the disk of this file is full" in shown
    assert (as_json["writers_at_work"], as_json["no_room"]) == (1, True)
    assert told("--db", "usage.sqlite")["writers_at_work"] == 0


def test_days_are_utc_whatever_the_zone(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    at(0, monkeypatch)
    late = day(0) - day(0) % DAY
    keep("sqlite", tmp_path, [load("alpha", late), load("beta", late - 1)])

    report = told("--days", "1", "--db", "usage.sqlite")

    assert [use["name"] for use in report["skills"]] == ["alpha"]


@pytest.fixture
def month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a database of two months, as of the last day of the second one."""
    at(30, monkeypatch)
    who = {"owner": "@ana", "client": "Code", "agent": "desk", "release": "r1"}
    events: list[Event] = [
        *(sync(day(n), "alpha", "beta") for n in range(1, 31)),
        *(load("alpha", day(-20), caller="pay.ana") for _ in range(4)),
        *(load("alpha", day(5), caller="pay.ana", **who) for _ in range(5)),
        load("alpha", day(6), caller="pay.bo", conversation="c1"),
        miss("alhpa", day(6)),
    ]
    keep("sqlite", tmp_path, events)
    return str(tmp_path / "usage.sqlite")


def test_loads_by_what_is_asked_for(month: str) -> None:
    expected = {
        "team": "pay 6 +50%",
        "caller": "pay.ana 5 +25%",
        "owner": "@ana 5 new",
        "client": "Code 5 new",
        "agent": "desk 5 new",
        "release": "r1 5 new",
        "skill": "alpha 6 +50%",
    }
    for dimension, line in expected.items():
        shown = usage("--db", month, "--by", dimension).stdout.splitlines()
        assert shown[0].endswith("UTC: 6 loads, +50% on the 30 days before")
        assert shown[2].split() == [dimension.upper(), "LOADS", "TREND"]
        assert shown[3].split() == line.split()
    shown = usage("--db", month, "--by", "day").stdout.splitlines()
    assert shown[2:5] == ["DAY         LOADS", "2024-10-09  5", "2024-10-10  1"]
    report = told("--db", month)
    assert (report["before"], report["conversations"]) == (4, 1)
    assert report["by_day"] == {"2024-10-09": 5, "2024-10-10": 1}
    assert report["by"]["team"] == [{"name": "pay", "loads": 6, "before": 4}]


def test_a_status_for_dead_skills_and_failed_loads(month: str) -> None:
    both = run("usage", "--db", month, "--fail-on", "dead,errors")
    (wrong, right, empty, comma) = (
        run("usage", "--db", month, "--fail-on", what)
        for what in ("nothing", "errors", "", "errors,")
    )

    assert both.exit_code == right.exit_code == 1
    assert empty.exit_code == comma.exit_code == 2
    assert "error dead-skills: 1 skill without a load" in both.stderr
    assert "error failed-loads: 1 load failed" in both.stderr
    assert wrong.exit_code == 2
    assert "neither 'dead' nor 'errors'" in wrong.stderr


def test_stores_are_merged_pruned_and_erased(
    month: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = str(tmp_path / "all.db")
    merged = usage("merge", month, "--db", target)
    again: dict[str, Any] = json.loads(
        usage("merge", month, "--db", target, "--json").stdout
    )

    assert merged.stdout == f"{month}: 11 new events, 0 there already\n"
    assert [it["repeats"] for it in again["merged"]] == [11]
    assert told("--db", target)["loads"] == 6

    erased = usage("erase", "--caller", "pay.ana", "--db", target, "--yes")
    assert erased.stdout == "9 events removed\n"
    assert told("--db", target)["callers"] == {"pay.bo": 1}

    nothing = run("usage", "prune", "--db", target)
    assert (nothing.exit_code, "SATCHEL_USAGE_DAYS" in nothing.stderr) == (2, True)
    monkeypatch.setenv("SATCHEL_USAGE_DAYS", "30")
    assert usage("prune", "--db", target).stdout == "2 events removed\n"
    assert told("--db", target)["loads"] == 0
    lines = run("usage", "prune", "--db", "jsonl:x.jsonl")
    assert "it is a file of lines" in lines.stderr
    missing = run("usage", "merge", "gone.db", "--db", target)
    assert (missing.exit_code, "gone.db" in missing.stderr) == (2, True)


def test_nothing_is_erased_without_a_name_or_from_a_file_that_is_not_there(
    month: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that is empty names nobody, and a wrong path is no success."""
    gone = str(tmp_path / "gone.db")
    nobody = run("usage", "erase", "--caller", "", "--yes", "--db", month)
    wrong = [
        run("usage", *line, "--db", gone)
        for line in (["erase", "--caller", "pay.ana", "--yes"], ["prune", "--days=9"])
    ]

    assert (nobody.exit_code, "--caller" in nobody.stderr) == (2, True)
    assert told("--db", month)["loads"] == 6
    assert [one.exit_code for one in wrong] == [2, 2]
    assert all("gone.db: no such file" in one.stderr for one in wrong)
    assert not Path(gone).exists()
    # A timer may come before the first event.
    monkeypatch.setenv("SATCHEL_USAGE", f"sqlite:{gone}")
    assert usage("prune", "--days=9").stdout == "0 events removed\n"


def test_what_merge_reads_may_be_a_url_of_a_file(month: str, tmp_path: Path) -> None:
    """A server of databases is none, and its password is in no error."""
    target = str(tmp_path / "all.db")
    again = usage("merge", f"sqlite:{month}", "--db", target)
    server = run("usage", "merge", "postgresql://ana:hush@db/usage", "--db", target)

    assert again.stdout == f"sqlite:{month}: 11 new events, 0 there already\n"
    assert (server.exit_code, "--db" in server.stderr) == (2, True)
    assert "hush" not in server.output


@pytest.mark.parametrize("command", ["merge", "prune", "erase"])
def test_a_database_that_cannot_be_written_is_no_fault_of_ours(
    month: str, tmp_path: Path, command: str
) -> None:
    """It may be locked, cut off, or on a disk that is full."""
    target = tmp_path / "all.db"
    usage("merge", month, "--db", str(target))
    with closing(sqlite3.connect(target, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        more = {"merge": [month], "prune": ["--days=9"]}
        line = more.get(command, ["--caller=pay.ana", "--yes"])
        result = run("usage", command, *line, "--db", str(target))

    assert result.exit_code == 2
    assert "all.db: database is locked" in result.stderr
    assert "fault of satchel" not in result.stderr


@needs_postgres
def test_a_database_without_a_table_has_nothing_yet() -> None:
    """It is no file that is missing."""
    for line in ([], ["--acts"]):
        result = run("usage", *line, "--db", database("nothing yet"))

        assert (result.exit_code, "no such file" in result.output) == (0, False)


def test_a_folder_called_like_a_command_is_a_path(month: str, here: Path) -> None:
    write_pack(here / "merge" / "alpha", PACK.format("alpha"))

    assert "alpha  6" in usage("./merge", "--db", month).stdout
    assert run("usage", "merge").exit_code == 2


@pytest.mark.parametrize("text", ["hello\n", '{"a": 1}\n', "\x00\x01\n"])
def test_a_file_without_an_event_is_not_merged(text: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text(text)

    result = run("usage", "merge", str(file), "--db", str(tmp_path / "usage.db"))

    assert result.exit_code == 2
    assert "there is no event of Satchel in it" in result.stderr


def test_a_database_that_is_away_is_no_answer() -> None:
    """Status 1 is for dead skills; no line has the password."""
    pytest.importorskip("psycopg")
    away = "postgresql://ana:hush@127.0.0.1:1/usage"
    for line in (["--fail-on", "dead"], ["prune", "--days", "9"], ["--by", "team"]):
        result = run("usage", *line, "--db", away)

        assert result.exit_code == 2
        assert "postgresql://127.0.0.1:1/usage as ana" in result.stderr
        assert "hush" not in result.output
