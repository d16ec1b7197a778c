"""The chained log: what is told of a change, and what cannot be told."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import MissingPathError
from satchel_server.usage import verify_chain
from satchel_server.usage._store import canonical
from tests.unit.usage.library import NOON, keep, load, store, writer

LONG = "x" * 70_000


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A start, three loads of which one is long, a close."""
    keep("chain", tmp_path, [load("a"), load("b", owner=LONG), load("c")])
    return tmp_path / "usage.chain"


@pytest.mark.row("C47")
def test_each_line_carries_the_digest_of_the_one_before(log: Path) -> None:
    before = "0" * 64
    for number, line in enumerate(log.read_bytes().splitlines(), 1):
        value = json.loads(line)
        assert (value["prev"], value["line"]) == (before, number)
        assert line == canonical(value)
        before = hashlib.sha256(line).hexdigest()

    verdict = verify_chain(log)
    assert (verdict.ok, verdict.lines, verdict.digest) == (True, 5, before)
    assert verdict.anchored


Lines = list[bytes]


def change(lines: Lines) -> Lines:
    lines[2] = lines[2].replace(b'"name":"b"', b'"name":"z"')
    return lines


def change_last(lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1].replace(b'"dropped":0', b'"dropped":1')]


def chain_again(lines: Lines) -> Lines:
    """Change a line and count all after it wrongly, with fitting digests."""
    before = "0" * 64
    for place, line in enumerate(lines):
        value = json.loads(line) | {"prev": before, "line": place + 1 + (place > 2)}
        lines[place] = canonical(value) + b"\n"
        before = hashlib.sha256(lines[place][:-1]).hexdigest()
    return lines


def tampered(log: Path, tamper: Callable[[Lines], Lines]) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(tamper(lines)))


@pytest.mark.row("C47")
@pytest.mark.parametrize(
    ("tamper", "broken", "detail"),
    [
        (change, 4, "does not follow"),
        (lambda lines: [lines[0], *lines[2:]], 2, "does not follow"),
        (lambda lines: [*lines[:3], *lines[2:]], 4, "does not follow"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 2, "does not foll"),
        (lambda lines: [lines[0], b"[" * 100_000 + b"\n"], 2, "not a line of a chain"),
        (lambda lines: [lines[0], b"{}\n"], 2, "not a line of a chained log"),
        (lambda lines: [*lines[:-1], lines[-1][:-9]], 5, "is incomplete"),
        (chain_again, 4, "says that it is line 5"),
        (lambda lines: lines[:-1], 5, "the head has 5 lines"),
        (lambda _: [], 1, "the head has 5 lines"),
    ],
)
def test_the_first_broken_line_is_reported(
    log: Path, tamper: Callable[[Lines], Lines], broken: int, detail: str
) -> None:
    tampered(log, tamper)
    verdict = verify_chain(log)

    assert (verdict.ok, verdict.broken) == (False, broken)
    assert detail in verdict.detail


@pytest.mark.row("C47")
@pytest.mark.parametrize(
    ("tamper", "broken"),
    [
        (lambda lines: lines[:-2], 4),
        (lambda _: [], 1),
        (change_last, 6),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], 5),
    ],
)
def test_anyone_who_writes_next_heals_no_end_that_was_changed(
    log: Path, tamper: Callable[[Lines], Lines], broken: int
) -> None:
    """The chain goes on from what the head says, so that the gap stays."""
    tampered(log, tamper)
    for _ in range(2):
        keep("chain", log.parent, [load("d")])
    verdict = verify_chain(log)

    assert (verdict.ok, verdict.broken) == (False, broken)
    assert "does not follow" in verdict.detail


@pytest.mark.parametrize(
    "head", [None, "", "[]", "{}", '{"line": "9", "digest": 1}', "[" * 100_000]
)
def test_a_log_goes_on_without_a_head_that_can_be_read(
    log: Path, head: str | None
) -> None:
    """Over many openings; a head that cannot be read is reported until then."""
    if head is not None:
        log.with_name("usage.chain.head").write_text(head)
        verdict = verify_chain(log)
        assert (verdict.ok, verdict.detail) == (False, "the head cannot be read")
    for _ in range(2):
        keep("chain", log.parent, [load("d", owner=LONG)])

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 11)


def test_a_head_that_fell_behind_is_caught_up(log: Path) -> None:
    """A process died between the line and the head."""
    head = log.with_name("usage.chain.head")
    before = head.read_bytes()
    keep("chain", log.parent, [load("d")])
    head.write_bytes(before)
    keep("chain", log.parent, [load("e")])

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 11)


@pytest.mark.row("F45", "C47")
def test_without_a_head_a_cut_tail_cannot_be_reported_so_it_is_not_proved(
    log: Path,
) -> None:
    log.with_name("usage.chain.head").unlink()
    tampered(log, lambda lines: lines[:-2])

    verdict = verify_chain(log)

    assert (verdict.ok, verdict.lines, verdict.anchored) == (False, 3, False)
    assert verdict.broken == 4
    assert verdict.open_writers == 1


@pytest.mark.row("F45", "C47")
@pytest.mark.parametrize("head", ["gone", "written again"])
def test_an_end_that_was_cut_with_its_head_is_reported_once_its_writer_goes_on(
    tmp_path: Path, head: str
) -> None:
    log = tmp_path / "usage.chain"
    stored = store("chain", tmp_path)
    stored.open(writer())
    stored.write([(1, load("a")), (2, load("b")), (3, load("c"))], 0, NOON)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    place = log.with_name("usage.chain.head")
    if head == "gone":
        place.unlink()
    else:
        digest = hashlib.sha256(lines[-2][:-1]).hexdigest()
        place.write_text(json.dumps({"line": len(lines) - 1, "digest": digest}))
        assert verify_chain(log).ok
        assert verify_chain(log).open_writers == 1
    stored.write([(4, load("d"))], 0, NOON)
    stored.close(0, NOON)

    assert verify_chain(log).broken == len(lines)


@pytest.mark.row("T17")
def test_a_log_that_was_moved_away_begins_again(tmp_path: Path) -> None:
    log = tmp_path / "usage.chain"
    stored = store("chain", tmp_path)
    stored.open(writer())
    stored.write([(1, load("a"))], 0, NOON)
    log.rename(tmp_path / "old.chain")
    log.with_name("usage.chain.head").rename(tmp_path / "old.chain.head")
    stored.write([(2, load("b"))], 0, NOON)
    stored.close(0, NOON)

    assert verify_chain(tmp_path / "old.chain").ok
    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 2)


def test_a_head_that_was_stored_elsewhere_says_a_log_written_again(
    log: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "kept.head"
    copy.write_bytes(log.with_name("usage.chain.head").read_bytes())
    keep("chain", tmp_path, [load("d")])
    assert verify_chain(log, copy).ok, "an older head fits a log that has grown"
    log.unlink()
    log.with_name("usage.chain.head").unlink()
    keep("chain", tmp_path, [load("x"), load("y"), load("z"), load("z")])

    assert verify_chain(log).ok
    verdict = verify_chain(log, copy)
    assert (verdict.broken, verdict.detail) == (5, "it does not match the head")


def test_what_is_not_there_is_named(log: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match="gone"):
        verify_chain(tmp_path / "gone")
    with pytest.raises(MissingPathError, match="kept"):
        verify_chain(log, tmp_path / "kept")


def test_a_line_that_a_dying_process_left_is_taken_away(tmp_path: Path) -> None:
    """It was never part of the chain; lines before it are."""
    log = tmp_path / "usage.chain"
    for lines in (3, 6):
        with log.open("ab") as end:
            end.write(b'{"at":1,"torn":"' + b"y" * 100_000)
        keep("chain", tmp_path, [load("a")])
        assert (verify_chain(log).ok, verify_chain(log).lines) == (True, lines)


@pytest.mark.parametrize(
    "more", [{}, {"event": "writer_started", "writer": ["w"]}, {"event": ["x"]}]
)
def test_a_chain_of_anything_is_checked(more: dict[str, Any], tmp_path: Path) -> None:
    """Anybody can make one whose digests are right."""
    log = tmp_path / "usage.chain"
    log.write_text(json.dumps({"prev": "0" * 64, "line": 1, **more}) + "\n")

    verdict = verify_chain(log)

    assert verdict.lines == int("event" in more)
