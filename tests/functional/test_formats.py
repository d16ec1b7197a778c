"""Formats that live for years: what an earlier release wrote is read by this one.

tests/formats holds one file for each format and version that was ever released; none
of them is changed, and a new version adds one.
"""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from satchel import Options, Satchel
from satchel.index._file import SCHEMA_VERSION, IndexFile
from satchel.model import Finding
from satchel.runtime import dump_state, parse_state
from satchel_lab.checking import read_baseline
from satchel_lab.lint import CheckReport
from tests.functional.library import run, write_pack

FORMATS = Path(__file__).parents[1] / "formats"
COLON = "---\nname: deploy\ndescription: Walk: through.\n---\n# Deploy\n"


def keys(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the shape of a JSON value: its keys, and those of a list's first item."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in value.items()}
    return [keys(item) for item in value[:1]] if isinstance(value, list) else None


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", sorted(FORMATS.glob("check-*.json")), ids=lambda path: path.stem
)
def test_every_released_baseline_is_read(path: Path) -> None:
    """The finding that it knows does not count again."""
    message = "a value with a colon in it is not in quotes"
    finding = Finding("unquoted-colon", "error", message, "deploy/SKILL.md", 7)

    left = read_baseline(str(path)).subtract(CheckReport(1, (finding,)))

    assert left.findings == ()


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", sorted(FORMATS.glob("session-*.json")), ids=lambda path: path.stem
)
def test_every_released_state_of_a_session_is_read(path: Path) -> None:
    """Nothing of it is lost."""
    text = path.read_text("utf-8")

    state = parse_state(text)

    assert [item.id for item in state.active] == ["house-style", "refunds"]
    assert state.active[0].at == 1767225600.25
    assert state.unloaded == {"pdf-forms": 1767225601.0}
    assert state.grants == (("tool", "refunds", "refund"),)
    assert (state.snapshot, state.announced, state.not_found) == ("1f3a", "2b4c", 1)
    assert dump_state(state) == {"asked": [], **json.loads(text)}


@pytest.mark.row("R37")
def test_the_list_has_the_shape_of_its_version(
    here: Path,
) -> None:
    """A key of a released version is never taken away under the same number."""
    write_pack(here / "skills/deploy", COLON)

    printed = json.loads(run("list", "--skills", "skills", "--json").stdout)

    version = printed["schema_version"]
    released = json.loads((FORMATS / f"list-{version}.json").read_text("utf-8"))
    assert keys(printed) == keys(released)


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", sorted(FORMATS.glob("diff-*.json")), ids=lambda path: path.stem
)
def test_a_printed_diff_has_the_shape_that_was_released(path: Path, here: Path) -> None:
    for side, text in (("old", "One."), ("new", "Two.")):
        head = f"---\nname: alpha\ndescription: {text}\n---\n"
        write_pack(here / side / "alpha", f"{head}# {text}\n", {"a.md": f"{text}\n"})
    printed = json.loads(run("diff", "old", "new", "--json").stdout)

    version = printed["schema_version"]
    assert path.name <= f"diff-{version}.json"
    if path.name == f"diff-{version}.json":
        assert keys(printed) == keys(json.loads(path.read_text("utf-8")))


@pytest.mark.row("R37")
@pytest.mark.parametrize(
    "path", sorted(FORMATS.glob("index-*.db")), ids=lambda path: path.stem
)
def test_every_released_index_is_read_or_replaced(path: Path, tmp_path: Path) -> None:
    """It has two packs of another folder; those of this one are stored next to them."""
    write_pack(tmp_path / "skills/deploy", COLON.replace(": through", " through"))
    place = tmp_path / "index.db"
    place.write_bytes(path.read_bytes())
    place.chmod(0o600)
    with closing(sqlite3.connect(place)) as base:
        query = "SELECT name FROM blobs WHERE name LIKE 'source/%/numbers'"
        ((name,),) = base.execute(query).fetchall()

    stored = IndexFile(str(place)).rows(name.removesuffix("/numbers"))
    with closing(Satchel(tmp_path / "skills", options=Options(index=place))) as skills:
        findings, ids = skills.findings, [entry.id for entry in skills.catalog]

    if path.stem == f"index-{SCHEMA_VERSION}":
        assert stored is not None
        assert [row.key for row in stored.rows] == [b"alpha", b"beta"]
    assert (findings, ids) == ((), ["deploy"])
    with closing(sqlite3.connect(place)) as base:
        assert base.execute("SELECT * FROM satchel_index").fetchall() == [
            (SCHEMA_VERSION,)
        ]
        (packs,) = base.execute("SELECT count(*) FROM packs").fetchone()
    assert packs == 1 + len(stored.rows if stored else ())


def test_every_format_has_a_file_for_each_version_up_to_the_last() -> None:
    names = sorted(path.name for path in FORMATS.iterdir())
    results = [re.fullmatch(r"([a-z-]+)-(\d+)(\.[a-z.]+)", name) for name in names]

    assert all(results), names
    last = {(match[1], match[3]): int(match[2]) for match in results if match}
    assert names == sorted(
        f"{name}-{n}{suffix}"
        for (name, suffix), top in last.items()
        for n in range(1, top + 1)
    )
