"""The chained log: what is told of a change, and what cannot be told."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from satchel.errors import MissingPathError
from satchel.usage import verify_chain
from satchel.usage._store import canonical
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


def test_a_log_grows_over_many_openings(log: Path) -> None:
    for _ in range(3):
        keep("chain", log.parent, [load("d", owner=LONG)])

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 14)


def change(lines: list[bytes]) -> None:
    lines[2] = lines[2].replace(b'"name":"b"', b'"name":"z"')


def take_out(lines: list[bytes]) -> None:
    del lines[1]


def put_in(lines: list[bytes]) -> None:
    lines.insert(3, lines[2])


def swap(lines: list[bytes]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def spoil(lines: list[bytes]) -> None:
    lines[1] = b"[" * 100_000 + b"\n"


def blank(lines: list[bytes]) -> None:
    lines[1] = b"{}\n"


def tear(lines: list[bytes]) -> None:
    lines[-1] = lines[-1][:-9]


def chain_again(lines: list[bytes]) -> None:
    """Change a line and count all after it wrongly, with fitting digests."""
    before = "0" * 64
    for place, line in enumerate(lines):
        value = json.loads(line) | {"prev": before, "line": place + 1 + (place > 2)}
        lines[place] = canonical(value) + b"\n"
        before = hashlib.sha256(lines[place][:-1]).hexdigest()


@pytest.mark.row("C47")
@pytest.mark.parametrize(
    ("tamper", "broken", "detail"),
    [
        (change, 4, "does not follow"),
        (take_out, 2, "does not follow"),
        (put_in, 4, "does not follow"),
        (swap, 2, "does not follow"),
        (spoil, 2, "not a line of a chained log"),
        (blank, 2, "not a line of a chained log"),
        (tear, 5, "is incomplete"),
        (chain_again, 4, "says that it is line 5"),
        (list.pop, 5, "the head has 5 lines"),
        (list.clear, 1, "the head has 5 lines"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_first_broken_line_is_reported(
    log: Path, tamper: Callable[[list[bytes]], object], broken: int, detail: str
) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    tamper(lines)
    log.write_bytes(b"".join(lines))

    verdict = verify_chain(log)

    assert (verdict.ok, verdict.broken) == (False, broken)
    assert detail in verdict.detail


def cut_tail(lines: list[bytes]) -> None:
    del lines[-2:]


def change_last(lines: list[bytes]) -> None:
    lines[-1] = lines[-1].replace(b'"dropped":0', b'"dropped":1')


def cut_line_end(lines: list[bytes]) -> None:
    lines[-1] = lines[-1][:-1]


@pytest.mark.row("C47")
@pytest.mark.parametrize(
    ("tamper", "broken"),
    [(cut_tail, 4), (list.clear, 1), (change_last, 6), (cut_line_end, 5)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_anyone_who_writes_next_heals_no_end_that_was_changed(
    log: Path, tamper: Callable[[list[bytes]], object], broken: int
) -> None:
    """The chain goes on from what the head says, so that the gap stays."""
    lines = log.read_bytes().splitlines(keepends=True)
    tamper(lines)
    log.write_bytes(b"".join(lines))
    for _ in range(2):
        keep("chain", log.parent, [load("d")])

    verdict = verify_chain(log)

    assert (verdict.ok, verdict.broken) == (False, broken)
    assert "does not follow" in verdict.detail


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"line": "9", "digest": 1}'])
def test_a_log_goes_on_without_a_head_that_can_be_read(log: Path, text: str) -> None:
    log.with_name("usage.chain.head").write_text(text)
    keep("chain", log.parent, [load("d")])

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 8)


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
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-2]))

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
    log.unlink()
    log.with_name("usage.chain.head").unlink()
    keep("chain", tmp_path, [load("x"), load("y"), load("z"), load("z")])

    assert verify_chain(log).ok
    verdict = verify_chain(log, copy)
    assert (verdict.broken, verdict.detail) == (5, "it does not match the head")


def test_an_older_head_fits_a_log_that_has_grown(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "kept.head"
    copy.write_bytes(log.with_name("usage.chain.head").read_bytes())
    keep("chain", tmp_path, [load("d")])

    assert verify_chain(log, copy).ok


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"line": "5", "digest": "x"}', "[" * 100_000]
)
def test_a_head_that_cannot_be_read_is_reported(log: Path, text: str) -> None:
    log.with_name("usage.chain.head").write_text(text)

    verdict = verify_chain(log)

    assert (verdict.ok, verdict.detail) == (False, "the head cannot be read")


def test_what_is_not_there_is_named(log: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingPathError, match="gone"):
        verify_chain(tmp_path / "gone")
    with pytest.raises(MissingPathError, match="kept"):
        verify_chain(log, tmp_path / "kept")


def test_a_line_that_a_dying_process_left_is_taken_away(log: Path) -> None:
    """It was never part of the chain; lines before it are."""
    with log.open("ab") as end:
        end.write(b'{"at":1,"torn":"' + b"y" * 100_000)
    stored = store("chain", log.parent)
    stored.open(writer("w2"))
    stored.close(0, NOON)

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 7)


def test_a_torn_first_line_is_taken_away_too(tmp_path: Path) -> None:
    log = tmp_path / "usage.chain"
    log.write_bytes(b'{"torn')
    keep("chain", tmp_path, [load("a")])

    assert (verify_chain(log).ok, verify_chain(log).lines) == (True, 3)
