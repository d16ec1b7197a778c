"""What ships is whole, in one order, and of the schema that is read."""

from __future__ import annotations

import json
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from satchel.clients import PROPERTIES, VERDICTS, read_documented, read_measured
from satchel.clients._loaders import table_from_json, table_to_json
from satchel.clients._properties._all import PLAIN
from tools.loaders.packs import PACKS

EARLIEST = date(2026, 11, 1)
NAMES = ["measured.json", "documented.json"]


def text_of(name: str) -> str:
    return files("satchel.clients").joinpath(name).read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_reads_and_writes_as_the_same_bytes(name: str) -> None:
    data = table_to_json(table_from_json(json.loads(text_of(name))))

    assert json.dumps(data, indent=1, ensure_ascii=False) + "\n" == text_of(name)


def test_every_measured_loader_was_run_over_every_pack() -> None:
    table = read_measured()

    assert table.properties == tuple(PACKS)
    missing = {
        key: sorted(set(PACKS) - set(entry.verdicts))
        for key, entry in table.loaders.items()
    }
    assert {key: keys for key, keys in missing.items() if keys} == {}


def test_fifteen_loaders_and_more_are_measured() -> None:
    assert len(read_measured().loaders) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_and_days_are_what_they_should_be(name: str) -> None:
    table = table_from_json(json.loads(text_of(name)))
    known = {PLAIN, *PROPERTIES}

    for key, entry in table.loaders.items():
        assert set(entry.verdicts) <= known, key
        assert set(entry.verdicts.values()) <= set(VERDICTS) - {"unknown"}, key
        assert set(entry.shown) <= set(entry.verdicts), key
        assert date.fromisoformat(entry.checked) > EARLIEST
        assert entry.kind in {"framework", "client", "validator"}


def test_every_documented_verdict_has_its_source_and_day() -> None:
    for key, entry in read_documented().loaders.items():
        assert set(entry.claims) == set(entry.verdicts), key
        for claim in entry.claims.values():
            assert claim.source.startswith("https://")
            assert date.fromisoformat(claim.checked) > EARLIEST


def test_a_table_keeps_what_it_is_given() -> None:
    data: dict[str, Any] = {
        "schema_version": 1,
        "properties": ["plain", "crlf"],
        "loaders": {
            "one": {
                "title": "One",
                "version": "1",
                "kind": "client",
                "checked": "2026-11-21",
                "source": "its page",
                "verdicts": {"dropped": ["crlf"], "loaded": ["plain"]},
                "shown": {"crlf": {"name": "folder"}},
                "claims": {
                    "plain": {"source": "https://a.test", "checked": "2026-11-21"}
                },
            }
        },
    }

    assert table_to_json(table_from_json(data)) == data


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_another_schema_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match="schema_version 1"):
        table_from_json({"schema_version": version})
