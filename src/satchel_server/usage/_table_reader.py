"""What a report needs, from the tables of a database: sums, and rows in no sum yet."""

import json
from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any, Final

from satchel_server.usage._records import (
    ListedSkill,
    OfferedDays,
    Period,
    Records,
    WriterState,
    checked_day,
    typed,
    writer_row,
)
from satchel_server.usage._sums import Figures, Sums
from satchel_server.usage._tables import (
    Base,
    RowParser,
    stored_talks,
    tail_sums,
    tail_where,
    text_of,
)

WRITERS: Final = (
    "SELECT id, process, host, pid, bound, started, seen, closed, dropped, replica, "
    "origin FROM writers ORDER BY number"
)
# CROSS JOIN is a plain join; SQLite takes the keys first, and sorts nothing.
_SUMS: Final = """
SELECT k.name, k.kind, k.value, sum(s.n), CAST(sum(s.tokens) AS BIGINT)
FROM keys k CROSS JOIN sums s
WHERE s.key = k.id AND s.day BETWEEN {first} AND {until} {which} GROUP BY k.id
"""
_BRIEF: Final = "AND (k.name = '' OR k.kind IN ('load', 'hand', 'error', 'imported'))"
_BEFORE: Final = _SUMS.replace("{first} AND {until}", "{before} AND {first} - 1")
_BY_DAY: Final = """
SELECT s.day, {name}, sum(s.n) FROM keys k JOIN sums s ON s.key = k.id
WHERE k.kind = 'load' AND s.day BETWEEN {first} AND {until} GROUP BY 1, 2
"""
_LAST: Final = """
SELECT name, day FROM (SELECT k.name, (SELECT s.day FROM sums s WHERE s.key = k.id
        AND s.day BETWEEN 0 AND {until} AND s.n > 0 ORDER BY s.day DESC LIMIT 1) AS day
    FROM keys k WHERE k.kind = 'load') t
WHERE day IS NOT NULL
"""
_FILES: Final = """
SELECT name, value FROM keys k WHERE kind = 'file' AND EXISTS
    (SELECT 1 FROM sums s WHERE s.key = k.id AND s.day <= {until} AND s.n > 0)
"""
_READERS: Final = """
SELECT k.value, s.day, count(*) FROM keys k JOIN sums s ON s.key = k.id
WHERE k.kind = 'reader' AND s.day BETWEEN {first} AND {until} AND s.n > 0 GROUP BY 1, 2
"""
# Conversations of the period that are counted on a day outside of it.
_AGAIN: Final = """
SELECT name, count(*) FROM (SELECT DISTINCT name, conversation FROM again
    WHERE day BETWEEN {first} AND {until} AND anchor NOT BETWEEN {first} AND {until}) t
GROUP BY name
"""
# Most skills are on offer on each day that any is; only the days of the others are
# sorted, which takes five times as long as to count them all.
_OFFERS: Final = """
WITH edge AS (SELECT min(day) AS edge FROM (SELECT DISTINCT day FROM offers
    WHERE day <= {until} ORDER BY 1 DESC LIMIT {days}) d),
every AS (SELECT name, count(*) AS n, min(day) AS first, max(day) AS last,
    sum(CASE WHEN day >= edge THEN 1 ELSE 0 END) AS late
    FROM offers CROSS JOIN edge WHERE day <= {until} GROUP BY name),
placed AS (SELECT name, day, row_number() OVER (PARTITION BY name ORDER BY day DESC)
    AS place FROM offers WHERE day <= {until} AND name IN
    (SELECT name FROM every WHERE late < {days} AND n >= {days}))
SELECT e.name, n, first, last, CASE WHEN late = {days} THEN edge ELSE p.day END
FROM every e CROSS JOIN edge
LEFT JOIN placed p ON p.name = e.name AND place = {days}
"""
_ON_OFFER: Final = """
SELECT day, count(*) FROM offers WHERE day BETWEEN {first} AND {until} GROUP BY day
"""
_SKILLS: Final = "SELECT name, source, digest, owner, refs FROM skills"


def read_tables(base: Base, period: Period) -> Records:
    """Return what a report needs of the tables, in one transaction.

    With mirrors all rows are summed up: it takes as long as they are many.
    """
    parser, figures, tail = RowParser(), Figures(), Sums()
    first, until, mirrors = period.first, period.until, period.mirrors

    def rows(sql: str) -> Iterable[tuple[Any, ...]]:
        days = {"first": first, "until": until, "before": first - period.days}
        return base.rows(sql.format(**days, days=period.days))

    if not mirrors:
        _read_sums(rows, figures, parser, period)
        for where in tail_where([row[:2] for row in base.rows(base.tails)]):
            tail_sums(base, where, tail, parser)
        counted = {
            (conversation, name)
            for conversation, name, *days in stored_talks(base, tail.talks)
            if any(day is not None and first <= day <= until for day in days)
        }
        for _, name in counted & tail.talks_of(first, until):
            figures.talks[name] -= 1
    else:
        tail_sums(base, "1 = 1", tail, parser, mirrors)
    figures.include(tail, first, until)
    return Records(
        figures,
        dict(parser.of(_skill, base.rows(_SKILLS))),
        dict(parser.of(_offered, rows(_OFFERS))),
        dict(parser.of(_counted, rows(_ON_OFFER))),
        [WriterState(*row) for row in parser.of(writer_row, base.rows(WRITERS))],
        parser.unread,
    )


def _read_sums(
    rows: Callable[[str], Iterable[tuple[Any, ...]]],
    figures: Figures,
    parser: RowParser,
    period: Period,
) -> None:
    sums = _SUMS.replace("{which}", _BRIEF if period.brief else "")
    for name, kind, value, count, tokens in parser.of(_sum, rows(sums)):
        figures.now[name, kind, value] = count
        if tokens:
            figures.tokens[name] = tokens
        if kind == "talk":
            figures.talks[name] += count
    which = "" if period.of_skills else "AND (k.name = '' OR k.kind = 'load')"
    for *key, count, _ in parser.of(_sum, rows(_BEFORE.replace("{which}", which))):
        figures.before[key[0], key[1], key[2]] = count
    by_day = _BY_DAY.replace("{name}", "k.name" if period.of_skills else "''")
    for day, name, count in parser.of(_day_sum, rows(by_day)):
        figures.by_day[day, name] = count
    figures.last.update(parser.of(_number, rows(_LAST)))
    for name, count in parser.of(_number, rows(_AGAIN)):
        figures.talks[name] += count
    if not period.brief:
        figures.files.update(parser.of(_file, rows(_FILES)))
        for client, day, count in parser.of(_reader, rows(_READERS)):
            figures.readers[client, day] = count


_sum = typed(str, str, str, int, int)
_day_sum = typed(int, str, int)
_number = typed(str, int)
_file = typed(str, str)
_reader = typed(str, int, int)
_counted = typed(int, int)


_offers = typed(str, int, int, int, (int, NoneType))
_skills = typed(str, str, str, str, str)


def _offered(*row: Any) -> tuple[str, OfferedDays]:  # noqa: ANN401 - any file
    name, *days = _offers(*row)
    for day in days[1:3]:
        checked_day(day)
    return name, OfferedDays(*days)


def _skill(*row: Any) -> tuple[str, ListedSkill]:  # noqa: ANN401
    name, source, digest, owner, refs = _skills(*row)
    references = tuple(map(text_of, json.loads(refs)))
    return name, ListedSkill(source, digest, owner, references)
