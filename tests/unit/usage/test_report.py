"""What the rows say: loads, the core, the dead, the unread, the missing."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from satchel.usage._sinks import Event
from satchel_server.usage import Records, UsageReport, make_report
from satchel_server.usage._records import WriterState
from tests.unit.usage.library import (
    EVERY_KIND,
    KINDS,
    copied,
    day,
    keep,
    load,
    miss,
    report as report_on,
    skill,
    sync,
)


def report(
    folder: Path,
    events: Iterable[Event],
    *,
    at: float = day(0),
    kind: str = "sqlite",
    **more: Any,  # noqa: ANN401 - those of read_report
) -> UsageReport:
    """Return the report on these events, which ends on the day of ``at``."""
    keep(kind, folder, events)
    return report_on(kind, folder, at, **more)


def offered(days: Iterable[int], *names: str) -> list[Event]:
    return [sync(day(number), *names) for number in days]


MONTH = [
    *offered(range(31), "used", "dead", "once", "by-hand", "read"),
    *offered(range(28, 31), "new", "new-used"),
    *[load("used", day(n), owner="@a") for n in range(31)],
    load("once", day(0)),
    load("by-hand", day(30), via="cli"),
    load("read", day(2), reference="references/r.md"),
    load("new-used", day(30)),
    miss("nope", day(30)),
    miss("nope", day(29), via="mcp"),
    miss("<invalid>", day(30)),
    miss("long-ago", day(0)),
    load("used", day(30), error="denied", code="denied-by-policy"),
]


@pytest.mark.row("C51", "G14", "R31")
def test_who_is_dead_and_of_whom_nobody_knows(tmp_path: Path) -> None:
    """A load 31 days on offer ago is too old, and a load by hand is none."""
    made = report(tmp_path, MONTH, at=day(30))

    assert {item.name: str(item) for item in made.of("dead")} == {
        "by-hand": "never loaded",
        "dead": "never loaded",
        "once": "last loaded 2024-10-04",
    }
    assert {entry.name: str(entry) for entry in made.of("unknown")} == {
        "new": "unknown: 3 of 30 days seen"
    }
    assert [one.name for one in made.of("used")] == ["new-used", "read", "used"]
    assert made.missing == {"nope": 2, "<invalid>": 1}
    assert made.errors == {"skill-not-found": 3, "denied-by-policy": 1}
    fewer = report_on("sqlite", tmp_path, day(30), days=3)
    assert fewer.skills[0].loads == 3
    dead = [item.name for item in fewer.of("dead")]
    assert dead == ["by-hand", "dead", "new", "once", "read"]


@pytest.mark.row("C51")
@pytest.mark.parametrize(
    ("days", "loads", "state", "seen"),
    [
        (range(29), (), "unknown", 29),
        (range(30), (), "dead", 30),
        (range(40), (), "dead", 30),
        (range(0, 60, 2), (), "dead", 30),
        (range(0, 58, 2), (), "unknown", 29),
        (range(30), (0,), "used", 30),
        (range(31), (0,), "dead", 30),
        (range(31), (1,), "used", 30),
        (range(3), (0,), "used", 3),
        ([*range(29), 28, 28], (), "unknown", 29),
        (range(3), (-40,), "unknown", 3),
        (range(3), (-20,), "used", 3),
    ],
)
def test_thirty_observed_days_on_offer_without_a_load(
    days: Iterable[int],
    loads: tuple[int, ...],
    state: str,
    seen: int,
    tmp_path: Path,
) -> None:
    events = [*offered(days, "a"), *(load("a", day(n)) for n in loads)]
    last = max(days)
    made = report(tmp_path, events, at=day(last))

    (standing,) = made.statuses
    assert (standing.state, standing.seen, standing.days_needed) == (state, seen, 30)


def test_what_a_wrong_clock_put_into_the_future_counts_in_nothing(
    tmp_path: Path,
) -> None:
    """Nor does what was not on offer lately."""
    events = [
        *offered(range(-90, -60), "gone"),
        *offered(range(-40, 1), "a"),
        *offered([9_000], "a", "b"),
        load("a", day(9_000), reference="references/r.md"),
    ]
    made = report(tmp_path, events)

    (standing,) = made.of("dead")
    assert str(standing) == "never loaded"
    assert standing.offered == made.until
    assert (made.skills, [statuse.name for statuse in made.statuses]) == ((), ["a"])


@pytest.mark.row("C50")
def test_loads_by_skill_and_the_core(tmp_path: Path) -> None:
    events = [
        *[load("a") for _ in range(70)],
        *[load("b") for _ in range(10)],
        *[load("c") for _ in range(10)],
        *[load("d", via="cli") for _ in range(90)],
        *[load("e") for _ in range(10)],
        miss("f"),
        load("a", day(-30)),
    ]
    made = report(tmp_path, events)

    assert [(use.name, use.loads, use.by_hand) for use in made.skills] == [
        ("a", 70, 0),
        ("b", 10, 0),
        ("c", 10, 0),
        ("e", 10, 0),
        ("d", 0, 90),
    ]
    assert (made.loads, made.core) == (100, ("a", "b"))


@pytest.mark.row("F94")
def test_by_release_digest_and_owner(tmp_path: Path) -> None:
    events = [
        load("a", release="r1", digest="d1", owner="@x", via="mcp", client="Code"),
        load("a", release="r2", digest="d2", owner="@x", via="tool", agent="desk"),
        load("a", release="r2", digest="d2", owner="@y", source="other"),
        load("a", release="r2", digest="d3", reference="references/r.md"),
    ]
    made = report(tmp_path, events)

    assert [use.as_dict() for use in made.skills] == [
        {
            "name": "a",
            "loads": 4,
            "files": 1,
            "by_hand": 0,
            "tokens": 40,
            "last": "2024-10-04",
            "releases": {"r2": 3, "r1": 1},
            "digests": {"d2": 2, "d1": 1},
            "owners": {"@x": 2, "@y": 1},
            "sources": {"team": 3, "other": 1},
            "edges": {"tool": 3, "mcp": 1},
            "agents": {"desk": 1},
            "clients": {"Code": 1},
            "callers": {},
            "before": 0,
            "conversations": 0,
        }
    ]


@pytest.mark.row("C50")
def test_references_that_nobody_read(tmp_path: Path) -> None:
    """Of skills that were loaded; a look by hand, or a failure, is no reading."""
    refs = ("references/a.md", "references/b.md", "references/c.md")
    events: list[Event] = [
        sync(day(0), skill("a", *refs), skill("b", *refs), skill("c", refs[0])),
        load("a"),
        load("c", reference=refs[0]),
        load("a", day(-90), reference=refs[0]),
        load("a", reference=refs[1], via="cli"),
        load("a", reference=refs[2], error="gone", code="reference-not-found"),
    ]
    made = report(tmp_path, events)

    assert made.unread == {"a": refs[1:]}


def test_only_some_skills(tmp_path: Path) -> None:
    """Those of a folder, with their references; one may be on no record at all."""
    only = {"once": ["references/x.md"], "used": ["references/y.md"], "unseen": []}
    made = report(tmp_path, [*MONTH, miss("unseen", day(30))], at=day(30), only=only)

    assert [use.name for use in made.skills] == ["used"]
    assert {item.name: str(item) for item in made.of("dead")} == {
        "once": "last loaded 2024-10-04"
    }
    assert {entry.name: str(entry) for entry in made.of("unknown")} == {
        "unseen": "unknown: 0 of 30 days seen"
    }
    assert made.unread == {"used": ("references/y.md",)}
    assert made.missing == {"nope": 2, "<invalid>": 1}


@pytest.mark.row("R37")
def test_the_figures_do_not_depend_on_where_they_were_kept(tmp_path: Path) -> None:
    made = [report(tmp_path, MONTH, at=day(30), kind=kind).as_dict() for kind in KINDS]

    assert made[0] == made[1] == made[2]
    assert json.loads(json.dumps(made[0])) == made[0]
    assert made[0]["schema_version"] == 1
    assert (made[0]["from"], made[0]["until"]) == ("2024-10-05", "2024-11-03")


def test_what_may_be_missing_is_reported() -> None:
    lost = WriterState("w", "p", "h", 1, 500, 0.0, 0.0, None, 3)
    made = make_report(
        Records(writers=[lost], unread=2), now=day(0), unclosed=[lost, lost]
    )

    expected = made.as_dict()
    assert (expected["dropped"], expected["writers_not_closed"]) == (3, 2)
    assert (expected["may_be_missing"], expected["lines_not_read"]) == (1000, 2)
    assert (made.core, made.loads) == ((), 0)


@pytest.mark.row("F40", "T10", "T17", "C51")
@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_copy_revives_nothing_and_is_apart(kind: str, tmp_path: Path) -> None:
    """So does what the version before called a load of another Satchel."""
    events: list[Event] = [sync(day(n), "a", "b", "c") for n in range(30)]
    events += [load("a", day(29)), copied("b", day(29)), copied("b", day(29))]
    events += [load("c", day(29), via="http", client="satchel")]
    results = report(tmp_path, events, at=day(29), kind=kind)

    assert [item.name for item in results.skills] == ["a"]
    assert (results.loads, results.core) == (1, ("a",))
    assert [entry.name for entry in results.of("dead")] == ["b", "c"]
    assert results.synced == {"b": 2, "c": 1}
    assert results.as_dict()["synced"] == {"b": 2, "c": 1}


@pytest.mark.row("F40", "T10", "C51")
def test_a_client_that_reads_all_is_named_and_may_be_left_out(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(10)]
    events = offered(range(30), *names)
    events += [load(name, day(29), via="mcp", client="copier") for name in names[1:]]
    events += [load(name, day(29), via="tool") for name in names[:2]]
    events += [load(name, day(29), via="mcp", client="agent") for name in names[:3]]
    results = report(tmp_path, events, at=day(29))
    without = report_on("sqlite", tmp_path, day(29), mirrors=["copier"])

    assert results.may_mirror == {"copier": (9, 10)}
    assert results.of("dead") == ()
    assert [item.name for item in without.of("dead")] == names[3:]
    assert (without.loads, sum(without.synced.values())) == (5, 9)
    assert without.may_mirror == {}
