"""Acts in every store, what a change of the log shows, and the checker of its own."""

import ast
import hashlib
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings, strategies as st

from satchel import Options, Policy, Satchel, allow, require
from satchel.model import ActEvent, NeededSkill
from satchel.usage import open_sink
from satchel_scripts import Sandbox, Subprocess
from satchel_server.usage import check_acts, read_events, verify_chain
from satchel_server.usage._store import canonical
from tests.unit.usage.library import (
    KINDS,
    NOON,
    counts,
    keep,
    load,
    miss,
    read,
    store,
    writer,
)

pytestmark = pytest.mark.row("U17", "N14")

READ: Final = (NeededSkill("a", "sha256:a", "load"),)


def act(outcome: str = "allowed", **more: Any) -> ActEvent:  # noqa: ANN401 - its fields
    values: dict[str, Any] = {
        "at": NOON,
        "tool": "pay",
        "skills": READ,
        "arguments": "00",
        "approval": "",
        "conversation": "c1",
        "agent": "",
    }
    return ActEvent(outcome=outcome, **(values | more))


def told(path: Path) -> list[tuple[str, str, str]]:
    """Return tool, outcome and whether the skill was read."""
    acts = check_acts.with_skills(read_events(path))
    return [(act["tool"], act["outcome"], read) for act, read in acts]


def checked(log: Path, *arguments: str) -> tuple[int, str]:
    with redirect_stdout(io.StringIO()) as out:
        status = check_acts.main([str(log), *arguments])
    return status, out.getvalue()


# --- What the log says ----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_act_is_stored_with_all_that_it_says(kind: str, tmp_path: Path) -> None:
    made = act(
        "exit 0",
        script="scripts/x.py",
        script_digest="sha256:1",
        files_digest="sha256-tree-v1:2",
        runner="fake",
        approval="rule 1",
        agent="desk",
    )
    keep(kind, tmp_path, [load("a", conversation="c1"), made])

    [(stored, read)] = check_acts.with_skills(read_events(tmp_path / f"usage.{kind}"))

    fields = json.loads(json.dumps(made.as_dict()))
    assert fields.items() <= stored.items()
    assert read == "yes"


@pytest.mark.parametrize("kind", KINDS)
def test_no_report_counts_an_act(kind: str, tmp_path: Path) -> None:
    loads = [load("a", conversation="c1"), load("b")]

    plain = keep(kind, tmp_path / "plain", loads)
    records = keep(kind, tmp_path / "acts", [*loads, act(), act("refused")])

    assert records.figures == plain.figures
    assert records.unread == 0


def test_metrics_count_no_act() -> None:
    pytest.importorskip("prometheus_client")
    from satchel_server.usage import MetricsSink

    figures = MetricsSink()
    figures.acted(act("refused"))
    figures.flush()
    text, _ = figures.render()
    figures.close()

    assert b"skill_load_errors_total{" not in text


@pytest.mark.parametrize(
    ("before", "read"),
    [
        ([load("a", conversation="c1")], "yes"),
        ([load("a", conversation="c2")], "no"),
        ([load("a")], "no"),
        ([load("a", conversation="c1", digest="sha256:old")], "no"),
        ([load("b", conversation="c1")], "no"),
        ([load("a", conversation="c1", reference="r.md")], "no"),
        ([load("a", conversation="c1", script="scripts/r.py")], "no"),
        ([miss("a", conversation="c1", digest="sha256:a")], "no"),
        ([], "no"),
    ],
)
def test_which_load_an_act_rests_on(
    before: list[Any], read: str, tmp_path: Path
) -> None:
    keep("chain", tmp_path, [*before, act(), load("a", conversation="c1")])
    log = tmp_path / "usage.chain"

    assert told(log) == [("pay", "allowed", read)]
    assert checked(log)[0] == (read == "no")


@pytest.mark.parametrize(
    ("event", "read", "status"),
    [
        (act("refused", skills=(NeededSkill("a", "sha256:a"),)), "no", 0),
        (act("allowed", skills=(NeededSkill("a", "sha256:a"),)), "no", 1),
        (act("allowed", skills=(NeededSkill("z", "sha256:z", "shown"),)), "shown", 0),
        (act(skills=(*READ, NeededSkill("z", "sha256:z", "shown"))), "shown", 0),
        (act(skills=(*READ, NeededSkill("z", "sha256:z", "load"))), "no", 1),
        (act(skills=()), "no", 1),
        (act("failed"), "yes", 0),
    ],
)
def test_what_had_its_skill(
    event: ActEvent, read: str, status: int, tmp_path: Path
) -> None:
    keep("chain", tmp_path, [load("a", conversation="c1"), event])
    log = tmp_path / "usage.chain"

    assert told(log) == [("pay", event.outcome, read)]
    assert checked(log)[0] == status


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_is_tried_again_is_one_act(kind: str, tmp_path: Path) -> None:
    stored = store(kind, tmp_path)
    stored.open(writer())
    for _ in range(2):
        stored.write([(1, load("a", conversation="c1")), (2, act())], 0, NOON)
    stored.close(0, NOON)

    assert told(tmp_path / f"usage.{kind}") == [("pay", "allowed", "yes")]


FORMATS: Final = Path(__file__).parents[2] / "formats"


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", [p for p in FORMATS.glob("usage-[0-9]*") if p.suffix != ".head"], ids=str
)
def test_files_of_earlier_versions_have_no_acts_and_take_them(
    path: Path, tmp_path: Path
) -> None:
    kind = {".db": "sqlite"}.get(path.suffix, path.suffix[1:])
    file = tmp_path / f"usage.{kind}"
    shutil.copyfile(path, file)
    before = counts(read(file))
    assert told(file) == []

    stored = store(kind, tmp_path)
    stored.open(writer("new"))
    stored.write([(1, load("a", conversation="c1")), (2, act())], 0, NOON)
    stored.close(0, NOON)

    assert told(file) == [("pay", "allowed", "yes")]
    assert counts(read(file)) == before | {"a": 1}


def test_damaged_acts_are_left_out(tmp_path: Path) -> None:
    keep("jsonl", tmp_path, [load("a", conversation="c1"), act()])
    keep("sqlite", tmp_path, [load("a", conversation="c1"), act()])
    odd = ['{"event": "act"}', '{"event": "act", "at": 1}', "[]", "x", '{"at": 1e99}']
    with (tmp_path / "usage.jsonl").open("a") as file:
        file.write("".join(f"{line}\n" for line in odd))
    with closing(sqlite3.connect(tmp_path / "usage.sqlite")) as base, base:
        rows = [(1, 90 + n, line) for n, line in enumerate(odd)]
        base.executemany("INSERT INTO acts VALUES (?, ?, ?)", rows)
    base.close()

    for kind in ("jsonl", "sqlite"):
        assert told(tmp_path / f"usage.{kind}") == [("pay", "allowed", "yes")]


# --- What a change shows --------------------------------------------------------------


def session_log(folder: Path, runner: Any) -> Path:  # noqa: ANN401 - any runner
    """Return the log of a session with refused and allowed calls, and a script."""
    pack = folder / "skills" / "refunds"
    (pack / "scripts").mkdir(parents=True)
    (pack / "SKILL.md").write_text(
        "---\nname: refunds\ndescription: Use when money goes back.\n---\nLook first.\n"
    )
    (pack / "scripts" / "go.py").write_text("print('SECRET-3')\n")
    sink = open_sink(f"chain:{folder}/acts.chain")
    policy = Policy(
        require("refunds", tool="pay"),
        allow("refunds", "script"),
        require("tax", tool="file"),
    )
    options = Options(environ={"SATCHEL_ACTS_KEY": "k"})
    with Satchel(
        folder / "skills", policy=policy, runner=runner, sinks=[sink], options=options
    ) as skills:
        session = skills.session()

        @session.requiring
        def pay(to: str) -> str:
            return f"paid {to}"

        session.tools()
        pay("SECRET-1")
        session.tools()
        pay("SECRET-1")
        run = {"skill_id": "refunds", "path": "scripts/go.py", "args": ["SECRET-2"]}
        session.call("run_skill_script", run)
        session.required("file", arguments={"year": "SECRET-4"})
    sink.close()  # type: ignore[attr-defined]
    return folder / "acts.chain"


RUNNERS: Final = [
    pytest.param(Subprocess, id="subprocess"),
    pytest.param(
        Sandbox,
        id="sandbox",
        marks=pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap"),
    ),
]


@pytest.mark.row("U14")
@pytest.mark.parametrize("runner", RUNNERS)
def test_the_log_of_a_session(runner: Callable[[], object], tmp_path: Path) -> None:
    log = session_log(tmp_path, runner())

    assert told(log) == [
        ("pay", "refused", "no"),
        ("pay", "allowed", "yes"),
        ("run_skill_script", "exit 0", "yes"),
        ("file", "refused", "no"),
    ]
    assert "SECRET" not in log.read_text()
    assert verify_chain(log).ok
    assert checked(log)[0] == 0


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return session_log(tmp_path_factory.mktemp("log"), Subprocess())


def both(log: Path, head: Path | None = None) -> bool:
    """Return whether the log holds, by both checkers."""
    ours = verify_chain(log, head).ok
    theirs, text = checked(log, *(["--head", str(head)] if head else []))
    assert ours == ("not changed" in text)
    return ours and theirs == 0


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.property
def test_no_line_can_be_changed_removed_or_moved(
    original: Path, data: st.DataObject
) -> None:
    lines = original.read_bytes().splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1), label="line")
    how = data.draw(st.sampled_from(["delete", "swap", "edit", "repeat"]))
    if how == "delete":
        del lines[place]
    elif how == "swap":
        other = data.draw(st.integers(0, len(lines) - 1).filter(lambda n: n != place))
        lines[place], lines[other] = lines[other], lines[place]
    elif how == "edit":
        at = data.draw(st.integers(0, len(lines[place]) - 1), label="byte")
        flip = data.draw(st.integers(1, 127))
        line = bytearray(lines[place])
        line[at] ^= flip
        lines[place] = bytes(line)
    else:
        lines.insert(place, lines[place])
    log = original.with_name("changed.chain")
    log.write_bytes(b"".join(lines))
    shutil.copyfile(f"{original}.head", f"{log}.head")

    assert not both(log)


def rewritten(log: Path, old: str, new: str) -> None:
    """Write a whole log again, with digests and a head that fit."""
    digest, lines = check_acts.GENESIS, log.read_text().replace(old, new).splitlines()
    data = b""
    for line in lines:
        text = canonical(json.loads(line) | {"prev": digest})
        digest, data = hashlib.sha256(text).hexdigest(), data + text + b"\n"
    log.write_bytes(data)
    head = {"schema_version": 1, "line": len(lines), "digest": digest}
    Path(f"{log}.head").write_bytes(canonical(head) + b"\n")


def test_a_log_that_was_written_again_fails_against_a_head_from_elsewhere(
    original: Path, tmp_path: Path
) -> None:
    log, kept = tmp_path / "acts.chain", tmp_path / "kept.head"
    shutil.copyfile(original, log)
    shutil.copyfile(f"{original}.head", kept)
    shutil.copyfile(f"{original}.head", f"{log}.head")
    digest = json.loads(kept.read_bytes())["digest"]
    assert both(log, kept)
    assert checked(log, "--head", digest)[0] == 0

    rewritten(log, '"outcome":"refused"', '"outcome":"allowed"')

    assert verify_chain(log).ok
    assert "2 done without their skill\nnot changed" in checked(log)[1]
    assert not both(log, kept)
    assert checked(log, "--head", digest)[0] == 1


def test_the_end_cannot_be_cut_off_unnoticed(original: Path, tmp_path: Path) -> None:
    log = tmp_path / "acts.chain"
    lines = original.read_bytes().splitlines(keepends=True)
    shutil.copyfile(f"{original}.head", f"{log}.head")

    for end in range(len(lines)):
        log.write_bytes(b"".join(lines[:end]))
        assert not both(log)

    Path(f"{log}.head").unlink()
    log.write_bytes(b"".join(lines))
    assert not both(log)
    Path(f"{log}.head").write_text("{}")
    assert not both(log)


def test_a_log_whose_act_is_none_is_no_log(original: Path, tmp_path: Path) -> None:
    log = tmp_path / "acts.chain"
    shutil.copyfile(original, log)

    rewritten(log, '"skills":[', '"skills":[3,')

    assert checked(log)[0] == 1


# --- The checker by itself ------------------------------------------------------------


def test_the_checker_needs_the_standard_library_alone(original: Path) -> None:
    source = Path(check_acts.__file__)
    tree = ast.parse(source.read_text("utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(str(node.module))

    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_checker_is_one_file_to_copy(original: Path, tmp_path: Path) -> None:
    copy = tmp_path / "check_acts.py"
    shutil.copyfile(check_acts.__file__, copy)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(copy), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    result = run(original)
    assert (result.returncode, result.stderr) == (0, "")
    assert "4 acts, 0 done without their skill" in result.stdout
    assert run(original, "--head", "0" * 64).returncode == 1
    assert run(tmp_path / "gone").returncode == 2
