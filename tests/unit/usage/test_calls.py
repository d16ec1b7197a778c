"""A call that its client sends again counts once, whichever server answers."""

from contextvars import copy_context
from pathlib import Path

import pytest

from satchel_server.usage._background import Background
from satchel_server.usage._calls import CALL, enter_call
from satchel_server.usage._location import StoreLocation, store_at
from satchel_server.usage._upkeep import merge_file, open_tables
from tests.unit.usage.library import (
    EVERY_KIND,
    NOON,
    TABLES,
    counts,
    day,
    keep,
    load,
    place,
    read,
    store,
    writer,
)

SENT = [
    load("a", call="one"),
    load("a", call="one"),
    load("a", call="one", file="references/r.md", reference="references/r.md"),
    load("b", call="one"),
    load("a", call="one", caller="other"),
    load("a"),
    load("a"),
    load("c", call="two", error="no", code="skill-not-found"),
]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_call_counts_once_for_each_file_of_its_caller(
    kind: str, tmp_path: Path
) -> None:
    records = keep(kind, tmp_path, SENT)

    assert counts(records) == {"a": 5, "b": 1}


@pytest.mark.parametrize("kind", TABLES)
def test_two_servers_count_it_once(kind: str, tmp_path: Path) -> None:
    """And a batch that is tried again stays what it was."""
    one, two = store(kind, tmp_path), store(kind, tmp_path)
    one.open(writer("w1"))
    two.open(writer("w2"))
    for stored in (one, two, two, one):
        stored.write([(1, load("a", call="x")), (2, load("a"))], 0, NOON)
    two.write([(3, load("a", call="x")), (4, load("a", call="y"))], 0, NOON)
    one.close(0, NOON)
    two.close(0, NOON)

    assert counts(read(place(kind, tmp_path))) == {"a": 4}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("lines", ["jsonl", "chain"])
def test_a_file_that_is_merged_adds_no_call_twice(
    kind: str, lines: str, tmp_path: Path
) -> None:
    (tmp_path / "lines").mkdir()
    other = store(lines, tmp_path / "lines")
    other.open(writer("w2"))
    other.write([(1, load("a", call="x")), (2, load("a", call="z"))], 0, NOON)
    other.close(0, NOON)
    keep(kind, tmp_path, [load("a", call="x"), load("a", call="y")])
    with open_tables(place(kind, tmp_path)) as tables:
        first = merge_file(tables, place(lines, tmp_path / "lines"))
        second = merge_file(tables, place(lines, tmp_path / "lines"))

    assert (first.events, first.repeats, second.events) == (1, 1, 0)
    assert counts(read(place(kind, tmp_path))) == {"a": 3}


@pytest.mark.parametrize("kind", TABLES)
def test_what_a_writer_had_not_summed_is_in_the_sums_after_a_merge(
    kind: str, tmp_path: Path
) -> None:
    """It was killed between two times that it adds to them."""
    (tmp_path / "lines").mkdir()
    killed = store(kind, tmp_path)
    killed.open(writer("w1"))
    killed.write([(1, load("a")), (2, load("a"))], 0, NOON)
    killed.connection.close()  # type: ignore[attr-defined]
    rest = store("jsonl", tmp_path / "lines")
    rest.open(writer("w1"))
    rest.write([(2, load("a")), (3, load("a"))], 0, NOON)
    rest.close(0, NOON)
    with open_tables(place(kind, tmp_path)) as tables:
        merge_file(tables, place("jsonl", tmp_path / "lines"))

    assert counts(read(place(kind, tmp_path))) == {"a": 3}


@pytest.mark.parametrize(
    ("text", "is_as_sent"),
    [
        ("a-1", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("a b", False),
        ("é", False),
    ],
)
def test_an_id_that_fits_no_log_is_replaced_by_its_digest(
    text: str, is_as_sent: bool
) -> None:
    def entered() -> str:
        enter_call({"idempotency-key": text})
        return CALL.get()

    call = copy_context().run(entered)

    assert (call == text) is is_as_sent
    assert len(call) <= 128
    assert call.isascii()


def test_a_sink_takes_the_call_of_its_thread(tmp_path: Path) -> None:
    where = StoreLocation("sqlite", str(tmp_path / "usage.db"))
    sink = Background(store_at(where))

    def answer(call: str) -> None:
        enter_call({"idempotency-key": call} if call else None)
        sink.record(load("a", day(0)))

    for call in ("x", "x", "", "", "y"):
        copy_context().run(answer, call)
    sink.close()

    assert CALL.get() == ""
    assert counts(read(where.path)) == {"a": 4}
