"""Measure loaders over the packs of all properties, and write what comes of it."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from satchel_lab.clients import VERDICTS, PackReader, read_measured
from satchel_lab.clients._loaders import LoaderData, LoaderTable
from satchel_lab.conformance._cases import expected_of, judge
from satchel_lab.conformance._packs import PACKS
from tools.loaders.known import LOCK, MEASURED
from tools.loaders.looking import look
from tools.loaders.writing import table_to_json, words_for

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from pathlib import Path

    from satchel_lab.clients import Candidate, LoaderVerdict
    from satchel_lab.conformance._cases import Judged
    from tools.loaders.driver import Driver, Seen


def measure(
    driver: Driver, *, only_missing: bool = False, only: Collection[str] = ()
) -> LoaderData:
    """Return what one loader makes of each property's packs, next to good neighbours.

    With ``only_missing``, what was measured of the same version stays; with ``only``,
    what was measured of it of other properties.

    Raises:
        UnavailableError: It cannot be had or run here.
    """
    version = driver.prepare()
    read_measured.cache_clear()
    known = read_measured().loaders.get(driver.key)
    old = known if known and known.version == version else None
    if not (only_missing or only):
        old = None
    rows = [
        (key, pack)
        for key, packs in PACKS.items()
        for pack in packs
        if old is None or key not in old.verdicts or key in only
    ]
    seen = list(look(driver, [pack for _, pack in rows], with_neighbours=True))
    judged: dict[str, list[_Row]] = {}
    for (key, pack), each in zip(rows, seen, strict=True):
        judged.setdefault(key, []).append(_row(each, pack))
    best = {key: min(each, key=_rank) for key, each in judged.items()}
    verdicts: dict[str, LoaderVerdict] = {
        key: each.judged.verdict for key, each in best.items()
    }
    shown = {key: each.words for key, each in best.items() if each.words}
    return LoaderData(
        title=driver.title,
        version=version,
        kind=driver.kind,
        checked=datetime.now(UTC).date().isoformat(),
        source=driver.source,
        verdicts=verdicts if old is None else {**old.verdicts, **verdicts},
        shown=shown if old is None else {**old.shown, **shown},
    )


class _Row(NamedTuple):
    """What one loader makes of one pack."""

    judged: Judged
    words: dict[str, str]


def _row(seen: Seen, pack: Candidate) -> _Row:
    judged = judge(seen.found, expected_of(pack))
    words = words_for(judged.shown, PackReader(pack)) if judged.shown else {}
    return _Row(judged, words)


def _rank(row: _Row) -> int:
    return list(VERDICTS).index(row.judged.verdict)


def write(entries: Mapping[str, LoaderData]) -> None:
    """Write these loaders into ``measured.json``, all others left as they are."""
    with _locked(LOCK):
        read_measured.cache_clear()
        table = read_measured()
        known = {**table.loaders, **entries}
        keys = [*PACKS, *(key for key in table.properties if key not in PACKS)]
        _write(LoaderTable(tuple(keys), known))


def tidy() -> None:
    """Leave out of ``measured.json`` what there is no pack for any more."""
    with _locked(LOCK):
        read_measured.cache_clear()
        table = read_measured()
        _write(
            LoaderTable(tuple(PACKS), {k: _tidied(e) for k, e in table.loaders.items()})
        )


def _tidied(entry: LoaderData) -> LoaderData:
    verdicts = {key: each for key, each in entry.verdicts.items() if key in PACKS}
    shown = {key: each for key, each in entry.shown.items() if key in PACKS}
    return replace(entry, verdicts=verdicts, shown=shown)


def _write(table: LoaderTable) -> None:
    text = json.dumps(table_to_json(table), indent=1, ensure_ascii=False) + "\n"
    MEASURED.write_text(text, "utf-8", newline="\n")
    read_measured.cache_clear()


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Let one process at a time change the file; POSIX only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
