"""Measure loaders over the packs of all properties, and write what they make of them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from satchel.compat.data import Entry, Table, read_measured, table_to_json
from satchel.compat.verdict import VERDICTS
from tools.loaders.expecting import expected_of
from tools.loaders.known import MEASURED
from tools.loaders.measuring import judge, look
from tools.loaders.packs import PACKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from satchel.compat import Verdict
    from tools.loaders.driver import Driver
    from tools.loaders.measuring import Judged


def measure(driver: Driver) -> Entry:
    """Return what one loader makes of each property's packs, beside good neighbours.

    Raises:
        UnavailableError: It cannot be had or run here.
    """
    version = driver.prepare()
    rows = [(key, pack) for key, packs in PACKS.items() for pack in packs]
    seen = list(look(driver, [pack for _, pack in rows], beside=True))
    judged: dict[str, list[Judged]] = {}
    for (key, pack), each in zip(rows, seen, strict=True):
        judged.setdefault(key, []).append(judge(each, expected_of(pack)))
    return Entry(
        title=driver.title,
        version=version,
        kind=driver.kind,
        checked=datetime.now(UTC).date().isoformat(),
        source=driver.source,
        verdicts={key: _mildest(each) for key, each in judged.items()},
    )


def _mildest(judged: list[Judged]) -> Verdict:
    order = list(VERDICTS)
    return min((each.verdict for each in judged), key=order.index)


def write(entries: Mapping[str, Entry]) -> None:
    """Write these loaders into ``measured.json``, the others left as they are."""
    table = read_measured()
    known = dict(table.loaders) | dict(entries)
    kept = {
        key: replace(
            entry, verdicts={k: v for k, v in entry.verdicts.items() if k in PACKS}
        )
        for key, entry in known.items()
    }
    data = table_to_json(Table(tuple(PACKS), kept))
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    MEASURED.write_text(text, "utf-8", newline="\n")
    read_measured.cache_clear()
