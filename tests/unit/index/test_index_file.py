"""The file of the index: what it keeps, and that nothing about it is ever an error."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from satchel import Options, Satchel, index as index_room
from satchel.catalog import _registry
from satchel.config import Config, load_config
from satchel.errors import ConfigError
from satchel.index import LARGE_SOURCE, Check, _stored_packs
from satchel.index._file import (
    REPLACED_DAYS,
    SCHEMA_VERSION,
    UNUSED_DAYS,
    IndexFile,
)
from satchel.model import Catalog
from satchel.runtime import _inputs
from satchel.sources import LocalSource, only, prefixed, renamed
from tests.fakes import pack
from tests.property.test_index import contents

DAY_S = 86_400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    for number in range(30):
        folder = root / f"group-{number % 3}" / f"skill-{number:02}"
        folder.mkdir(parents=True)
        name = f"skill-{number % 25:02}"
        (folder / "SKILL.md").write_text(pack(name, body=f"Body {number}\n"))
    (folder / "refs").mkdir()
    (folder / "refs" / "more.md").write_text("More\n")
    return root


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of an index; what was written 20 ms ago counts as settled."""
    monkeypatch.setattr(_stored_packs, "RACY_NS", 20_000_000)
    time.sleep(0.05)
    return tmp_path / "cache" / "index.db"


def opened(root: Path, index: object, **options: object) -> dict[str, object]:
    chosen = Options(index=index, **options)  # type: ignore[arg-type]
    with Satchel(root, sinks=(), options=chosen) as skills:
        return contents(skills)


class CountedReads:
    """Counts the SKILL.md files that are read, and the searches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = self.scanned = 0
        manifest, scan = LocalSource.manifest, LocalSource.scan

        def counted_manifest(source: LocalSource, key: str) -> bytes:
            self.read += 1
            return manifest(source, key)

        def counted_scan(source: LocalSource) -> object:
            self.scanned += 1
            return scan(source)

        monkeypatch.setattr(LocalSource, "manifest", counted_manifest)
        monkeypatch.setattr(LocalSource, "scan", counted_scan)

    def of(self, call: Callable[[], object]) -> tuple[int, int]:
        self.read = self.scanned = 0
        call()
        return self.read, self.scanned


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> CountedReads:
    return CountedReads(monkeypatch)


def test_a_second_opening_reads_and_searches_nothing(
    root: Path, index: Path, count: CountedReads
) -> None:
    assert count.of(lambda: opened(root, index)) == (30, 1)
    assert count.of(lambda: opened(root, index)) == (0, 0)


def test_one_that_changed_is_read_alone(
    root: Path, index: Path, count: CountedReads
) -> None:
    opened(root, index)
    file = root / "group-1" / "skill-07" / "SKILL.md"
    file.write_text(pack("skill-07", "Use when it changed."))
    assert count.of(lambda: opened(root, index)) == (1, 0)
    assert opened(root, index) == opened(root, "none")
    time.sleep(0.05)
    opened(root, index)  # what was written just now is read twice
    assert count.of(lambda: opened(root, index)) == (0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_of_one_that_changed_nothing_else_is_assembled(
    root: Path, index: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311
    opened(root, index)
    opened(root, index)

    def refuse(*_: object) -> Catalog:
        raise AssertionError("it is assembled")

    for _ in range(12):
        number = rng.choice([5, 6, 7, 8, 9, 24])  # ids that one pack claims
        folder = root / f"group-{number % 3}" / f"skill-{number:02}"
        name = f"skill-{number:02}"
        body = rng.choice(["New\n", "Hidden \u200b\n", "</instructions>\n"])
        (folder / "SKILL.md").write_text(pack(name, body=body))
        with monkeypatch.context() as patched:
            patched.setattr(_registry, "assemble", refuse)
            found = opened(root, index)
        assert found == opened(root, "none")


def test_a_new_pack_costs_a_search_and_is_read_alone(
    root: Path, index: Path, count: CountedReads
) -> None:
    opened(root, index)
    (root / "group-1" / "new").mkdir()
    (root / "group-1" / "new" / "SKILL.md").write_text(pack("new"))
    assert count.of(lambda: opened(root, index)) == (1, 1)
    assert opened(root, index) == opened(root, "none")


def test_a_pack_written_just_now_is_read_again_whatever_its_marks_say(
    root: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index.db"
    opened(root, index)
    file = root / "group-1" / "skill-07" / "SKILL.md"
    text = file.read_text()
    file.write_text(text.replace("Use when testing.", "Use when it varies"))
    file.write_text(text.replace("Use when testing.", "Use for testing!!"))
    # As on a system whose clock counts seconds: the marks are those of before.
    with patch("satchel.index._source_index.mark_now", lambda *_, **__: b""):
        assert opened(root, index) == opened(root, "none")


def test_folders_alone_miss_an_edit_until_it_is_loaded(root: Path, index: Path) -> None:
    opened(root, index)
    file = root / "group-1" / "skill-07" / "SKILL.md"
    with file.open("r+b") as out:
        out.seek(-2, os.SEEK_END)
        out.write(b"9")
    checks: tuple[Check, ...] = "folders", "trust"
    for check in checks:
        options = Options(index=index, check=check)
        with Satchel(root, sinks=(), options=options) as skills:
            assert skills.load("skill-07").body == "Body 9\n"
    (root / "group-1" / "skill-07" / "new.md").write_text("x")
    assert opened(root, index, check="folders") == opened(root, "none")


def test_trust_looks_at_nothing_until_the_next_sync(root: Path, index: Path) -> None:
    before = opened(root, index)
    (root / "group-0" / "new").mkdir()
    (root / "group-0" / "new" / "SKILL.md").write_text(pack("new"))
    options = Options(index=index, check="trust")
    with Satchel(root, sinks=(), options=options) as skills:
        assert skills.catalog.entries == before["entries"]
        assert skills.sync().added == ("new",)
    with pytest.raises(ConfigError, match="did you mean 'trust'"):
        Options(check="trus")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda source: prefixed(source, "x-"),
        lambda source: only(source, ["skill-0*"]),
        lambda source: renamed(source, {"skill-07": "other"}),
    ],
    ids=["prefixed", "only", "renamed"],
)
def test_what_a_wrapper_changes_is_not_what_another_sees(
    root: Path, index: Path, wrap: Callable[[LocalSource], object]
) -> None:
    plain = opened(root, index)
    for _ in range(2):
        wrapped = opened(wrap(LocalSource(root)), index)  # type: ignore[arg-type]
        assert wrapped == opened(wrap(LocalSource(root)), "none")  # type: ignore[arg-type]
        assert wrapped != plain


@pytest.mark.slow
def test_a_source_of_another_kind_is_not_stored(root: Path, index: Path) -> None:
    class Louder(LocalSource):
        def manifest(self, key: str) -> bytes:
            return super().manifest(key).upper()

    opened(Louder(root), index)  # type: ignore[arg-type]
    assert not index.exists()


def test_the_file_is_private_and_has_a_version(root: Path, index: Path) -> None:
    opened(root, index)
    assert index.stat().st_mode & 0o777 == 0o600
    assert index.parent.stat().st_mode & 0o777 == 0o700
    with closing(sqlite3.connect(index)) as base, base:
        row = base.execute("SELECT schema_version FROM satchel_index").fetchone()
    assert row == (SCHEMA_VERSION,)


def spoil_header(index: Path) -> None:
    with index.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 3_000)


def newer_version(index: Path) -> None:
    with closing(sqlite3.connect(index)) as base, base:
        base.execute("UPDATE satchel_index SET schema_version = 99")


def other_rights(index: Path) -> None:
    index.chmod(0o666)


def another_database(index: Path) -> None:
    index.unlink()
    with closing(sqlite3.connect(index)) as base, base:
        base.execute("CREATE TABLE mine (it TEXT)")


def make_a_folder(index: Path) -> None:
    index.unlink()
    index.mkdir()


SPOILED: dict[str, Callable[[Path], object]] = {
    "empty": lambda index: index.write_bytes(b""),
    "text": lambda index: index.write_text("notes of mine, not an index at all"),
    "half": lambda index: os.truncate(index, index.stat().st_size // 2 + 77),
    "header": spoil_header,
    "newer": newer_version,
    "rights": other_rights,
    "another": another_database,
    "gone": lambda index: index.unlink(),
    "folder": make_a_folder,
}
LEFT_ALONE = ("text", "newer", "another", "folder")


@pytest.mark.parametrize("name", SPOILED)
def test_a_file_that_cannot_be_used_costs_time_alone(
    root: Path, index: Path, name: str
) -> None:
    opened(root, index)
    SPOILED[name](index)
    left = index.read_bytes() if index.is_file() else b""
    for _ in range(2):
        assert opened(root, index) == opened(root, "none")
    if name in LEFT_ALONE and left:
        assert index.read_bytes() == left


def test_a_damaged_file_is_replaced(
    root: Path, index: Path, count: CountedReads
) -> None:
    opened(root, index)
    spoil_header(index)
    opened(root, index)
    opened(root, index)
    assert count.of(lambda: opened(root, index)) == (0, 0)


def test_a_row_whose_sum_is_wrong_is_read_again(
    root: Path, index: Path, count: CountedReads
) -> None:
    opened(root, index)
    with closing(sqlite3.connect(index)) as base, base:
        base.execute("UPDATE packs SET data = replace(data, 'skill-03', 'skill-99')")
    for _ in range(2):
        assert opened(root, index) == opened(root, "none")
    assert count.of(lambda: opened(root, index)) == (0, 0)


def test_a_process_whose_file_names_are_not_utf_8_spoils_nothing_for_others(
    tmp_path: Path, index: Path
) -> None:
    """It cannot read the name of this folder, and so leaves the pack out."""
    root = tmp_path / "library"
    (root / "r\u00e9sum\u00e9").mkdir(parents=True)
    (root / "r\u00e9sum\u00e9" / "SKILL.md").write_text(pack("r\u00e9sum\u00e9"))
    time.sleep(0.05)
    settings = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    program = "import sys\nfrom satchel import Options, Satchel\n"
    program += "from satchel.index import _stored_packs\n_stored_packs.RACY_NS = 0\n"
    program += "print(len(Satchel(sys.argv[1], options=Options(index=sys.argv[2]))))"
    command = [sys.executable, "-c", program, str(root), str(index)]

    def listed(**more: str) -> str:
        environ = {**os.environ, **more}
        ran = subprocess.run(command, env=environ, capture_output=True, check=True)
        return ran.stdout.decode().strip()

    assert listed(**settings) == "0"
    assert listed(PYTHONUTF8="1") == "1"


@pytest.mark.row("F106")
def test_a_blob_whose_sum_is_wrong_is_not_believed(
    root: Path, index: Path, tmp_path: Path
) -> None:
    """What it says can be read, and is of another library: the sum alone tells."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "SKILL.md").write_text(pack("other"))
    opened(other, index.with_name("other.db"))
    assert opened(root, index)["conflicts"]
    query = "SELECT name, data FROM blobs WHERE name LIKE '%/conflicts'"
    with closing(sqlite3.connect(index.with_name("other.db"))) as base, base:
        ((_, no_conflicts),) = base.execute(query).fetchall()
    with closing(sqlite3.connect(index)) as base, base:
        ((name, data),) = base.execute(query).fetchall()
        generation, others = data.partition(b"\n")[0], no_conflicts.partition(b"\n")
        spoiled = generation + b"\n" + others[2]
        base.execute("UPDATE blobs SET data = ? WHERE name = ?", (spoiled, name))

    for _ in range(2):
        assert opened(root, index) == opened(root, "none")


@pytest.mark.row("F106")
def test_a_blob_is_its_names_own(index: Path) -> None:
    file = IndexFile(str(index))
    file.put({"a": b"of a", "b": b"of b", "c": b"of c"})
    with closing(sqlite3.connect(index)) as base, base:
        base.execute("UPDATE blobs SET data = x'6f6620' WHERE name = 'a'")
        base.execute("DELETE FROM blobs WHERE name = 'b'")
        base.execute("UPDATE blobs SET name = 'b' WHERE name = 'c'")

    assert file.blobs(["a", "b", "c"]) == [None, None, None]
    file.put({"a": b"again"})
    assert file.blobs(["a"]) == [b"again"]
    file.close()


@pytest.mark.row("F106")
def test_numbers_of_another_state_are_not_believed(index: Path) -> None:
    """As where a write was cut off between the two: each is right by itself."""
    file = IndexFile(str(index))
    row = (b"key", b"", b"mark", lambda: b"data")
    file.write("source/a", b"one state", b"", [row])
    assert file.rows("source/a") is not None

    file.put({"source/a": b"another state"})

    assert file.rows("source/a") is None
    assert file.rows("source/a", with_marks=False) is None
    file.write("source/a", b"another state", b"", [row])
    found = file.rows("source/a")
    assert found is not None
    assert (found.state, len(found.rows), found.lost) == (b"another state", 1, 0)
    file.close()


def test_a_read_only_cache_is_read(
    root: Path, index: Path, count: CountedReads
) -> None:
    opened(root, index)
    index.chmod(0o400)
    index.parent.chmod(0o500)
    with patch("os.access", lambda *_: False):  # the tests may run as root
        assert count.of(lambda: opened(root, index)) == (0, 0)
        (root / "group-0" / "skill-00" / "SKILL.md").write_text(pack("changed"))
        assert opened(root, index) == opened(root, "none")
    index.parent.chmod(0o700)


def test_a_writer_that_does_not_end_is_not_waited_for(root: Path, index: Path) -> None:
    opened(root, index)
    (root / "group-0" / "skill-00" / "SKILL.md").write_text(pack("changed"))
    base = sqlite3.connect(index, isolation_level=None)
    base.execute("BEGIN EXCLUSIVE")
    assert opened(root, index) == opened(root, "none")
    base.execute("ROLLBACK")
    base.close()
    assert opened(root, index) == opened(root, "none")


def test_the_file_may_be_deleted_while_it_is_open(root: Path, index: Path) -> None:
    options = Options(index=index)
    with Satchel(root, sinks=(), options=options) as skills:
        index.unlink()
        (root / "group-0" / "skill-00" / "SKILL.md").write_text(pack("changed"))
        assert "changed" in skills.sync().added
        skills.sync()
    assert opened(root, index) == opened(root, "none")


def test_a_file_that_is_made_again_has_other_generations(index: Path) -> None:
    """What is stored next to the index, by its generation, is of no other file."""
    generations: set[str] = set()
    for _ in range(3):
        file = IndexFile(str(index))
        written = file.write("source/a", b"", b"", [(b"k", b"", b"m", lambda: b"data")])
        file.close()
        index.unlink()
        assert written is not None
        generations.add(written[1])

    assert len(generations) == 3


def test_rows_that_nobody_uses_go(root: Path, index: Path) -> None:
    def rows() -> int:
        with closing(sqlite3.connect(index)) as base, base:
            return int(base.execute("SELECT count(*) FROM packs").fetchone()[0])

    def edit(text: str) -> None:
        (root / "group-0" / "skill-00" / "SKILL.md").write_text(pack(text))
        time.sleep(0.05)
        opened(root, index)

    opened(root, index)
    now = time.time()
    for text in ("one", "two"):
        edit(text)
    assert rows() == 32
    with patch("time.time", lambda: now + (REPLACED_DAYS + 1) * DAY_S):
        edit("three")
    assert rows() == 31  # the one that was replaced just now stays for a while
    shutil_root = root.with_name("moved")
    root.rename(shutil_root)
    with patch("time.time", lambda: now + (UNUSED_DAYS + REPLACED_DAYS + 3) * DAY_S):
        opened(shutil_root, index)
    assert rows() == 30


def test_a_row_that_is_in_use_again_does_not_go(index: Path) -> None:
    """One process replaced it, another still has it, and stores it in its order."""
    file, now = IndexFile(str(index)), time.time()
    written = file.write("source/a", b"", b"", [(b"k", b"", b"m", lambda: b"data")])
    assert written is not None
    numbers = written[0]
    file.write("source/a", b"", b"", [(b"k", b"", b"n", lambda: b"newer")])
    assert file.write("source/a", b"", b"", [*numbers]) is not None

    with patch("time.time", lambda: now + (REPLACED_DAYS + 1) * DAY_S):
        file.put({"another": b""})  # what is old goes with the next write

    assert file.packs("source/a") == {numbers[0]: b"data"}
    found = file.rows("source/a")
    assert found is not None
    assert ([row.number for row in found.rows], found.lost) == (numbers, 0)
    # A row that was never there is not stored as one: all stays as it was.
    assert file.write("source/a", b"other", b"", [numbers[0] + 7]) is None
    assert file.rows("source/a") == found
    file.close()


CHOICES: list[tuple[Any, Any]] = [
    ((None, None, {}), ("", LARGE_SOURCE)),
    ((True, None, {}), ("", 0)),
    (("x.db", None, {}), ("x.db", 0)),
    ((None, "y.db", {}), ("y.db", 0)),
    ((True, "y.db", {"SATCHEL_INDEX": "z.db"}), ("y.db", 0)),
    ((None, None, {"SATCHEL_INDEX": "z.db"}), ("z.db", 0)),
    ((None, None, {"SATCHEL_INDEX": " "}), ("", LARGE_SOURCE)),
    ((True, False, {}), None),
    (("none", "y.db", {}), None),
    (("x.db", None, {"SATCHEL_INDEX": "none"}), None),
    ((False, None, {}), None),
]


@pytest.mark.parametrize(("given", "expected"), CHOICES, ids=map(str, range(11)))
def test_each_of_three_may_name_a_file_and_switch_it_off(
    given: tuple[Any, Any, dict[str, str]], expected: tuple[str, int] | None
) -> None:
    program, configured, environ = given
    options, config = Options(index=program), Config(index=configured)
    chosen = _inputs.index_settings(options, config, environ)
    default = _inputs.default_index()
    assert (chosen and (chosen.path.replace(default, ""), chosen.fewest)) == expected


CHECKS: list[tuple[Any, Any, dict[str, str], str]] = [
    (None, None, {}, "files"),
    (None, None, {"SATCHEL_CHECK": "trust"}, "trust"),
    (None, None, {"SATCHEL_CHECK": " "}, "files"),
    (None, "folders", {"SATCHEL_CHECK": "trust"}, "folders"),
    (None, "trust", {}, "trust"),
    ("files", "trust", {"SATCHEL_CHECK": "trust"}, "files"),
]


@pytest.mark.row("F107")
@pytest.mark.parametrize(("program", "configured", "environ", "expected"), CHECKS)
def test_each_of_three_may_say_what_is_looked_at(
    program: Check | None,
    configured: str | None,
    environ: dict[str, str],
    expected: str,
) -> None:
    options, config = Options(check=program), Config(check=configured)
    chosen = _inputs.index_settings(options, config, environ)
    assert chosen is not None
    assert chosen.check == expected


def test_a_word_of_the_environment_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ConfigError, match="SATCHEL_CHECK: 'trusted' is not known"):
        _inputs.index_settings(Options(), Config(), {"SATCHEL_CHECK": "trusted"})


def test_the_default_file_is_in_the_cache_folder_of_the_user() -> None:
    path = Path(_inputs.default_index())
    assert path.is_relative_to(Path.home())
    assert path.parts[-2:] == ("satchel", "index.db")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('index = "none"', False),
        ("index = false", False),
        ("index = true", True),
        ("", None),
        ('index = "cache/index.db"', "cache/index.db"),
    ],
)
def test_satchel_toml_chooses(
    tmp_path: Path,
    line: str,
    expected: str | bool | None,
) -> None:
    file = tmp_path / "satchel.toml"
    file.write_text(f'skills = ["skills"]\n{line}\n')
    own = {"SATCHEL_CONFIG": str(file)}
    joined = (
        os.path.normpath(tmp_path / expected)
        if expected == "cache/index.db"
        else expected
    )
    assert load_config(file, own).index == joined


def test_satchel_toml_says_what_it_expects(tmp_path: Path) -> None:
    file = tmp_path / "satchel.toml"
    file.write_text('skills = ["skills"]\nindex = 3\n')
    with pytest.raises(ConfigError, match="index: expected a path"):
        load_config(file)


def test_small_libraries_have_no_index_unless_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, count: CountedReads
) -> None:
    default = Path(_inputs.default_index())
    opened(root, None)
    assert not default.exists()
    monkeypatch.setattr(_inputs, "LARGE_SOURCE", 30)
    monkeypatch.setattr(_stored_packs, "RACY_NS", 20_000_000)
    time.sleep(0.05)
    opened(root, None)
    assert default.exists()
    monkeypatch.setattr(index_room, "LEAST_PACK_BYTES", 1)
    assert count.of(lambda: opened(root, None)) == (0, 0)
    assert opened(root, None) == opened(root, "none")


# A process that opens a library with an index, again and again.
CHILD = """
import logging, sys
logging.disable()  # a pipe that nobody reads would fill up
from pathlib import Path
from typing import Any
from satchel import Options, Satchel
from satchel.catalog import _registry
from satchel.index import _stored_packs
_stored_packs.RACY_NS = 0
root, index, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for turn in range(int(sys.argv[4])):
    file = root / f"group-{number % 3}" / f"skill-{number % 9:02}" / "SKILL.md"
    if number >= 0 and file.exists():
        text = file.read_text()
        new = file.with_name(f".new{number}")
        new.write_text(text.replace("Body", f"Body {turn}"))
        new.replace(file)
    Satchel(root, sinks=(), options=Options(index=index)).close()
"""


def child(root: Path, index: Path, number: int, turns: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, str(root), str(index), str(number)]
    return subprocess.Popen(
        [*command, str(turns)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )


def kill_at_random(root: Path, index: Path, times: int) -> None:
    rng = random.Random(times)  # noqa: S311
    for number in range(times):
        process = child(root, index, number, 1_000)
        time.sleep(rng.uniform(0.1, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert opened(root, index) == opened(root, "none")


def flip_bytes(root: Path, index: Path, times: int) -> None:
    opened(root, index)
    good = index.read_bytes()
    rng = random.Random(times)  # noqa: S311
    for _ in range(times):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 5, 100])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        index.write_bytes(data)
        assert opened(root, index) == opened(root, "none")
        index.write_bytes(good)


@pytest.mark.slow
def test_the_catalog_is_right_whenever_a_writer_is_killed(
    root: Path, index: Path
) -> None:
    kill_at_random(root, index, 5)


@pytest.mark.slow
def test_the_catalog_is_right_whatever_bytes_are_wrong(root: Path, index: Path) -> None:
    flip_bytes(root, index, 20)


@pytest.mark.hostile
def test_it_is_after_300_kills(root: Path, index: Path) -> None:
    kill_at_random(root, index, 300)


@pytest.mark.hostile
def test_it_is_after_1000_wrong_bytes(root: Path, index: Path) -> None:
    flip_bytes(root, index, 1_000)


@pytest.mark.hostile
def test_eight_processes_at_once(root: Path, index: Path) -> None:
    processes = [child(root, index, number, 20) for number in range(8)]
    while any(process.poll() is None for process in processes):
        opened(root, index)
    for process in processes:
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    assert opened(root, index) == opened(root, "none")


FULL_DISK = """
import resource, signal, sys
from satchel import Options, Satchel
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
skills = Satchel(sys.argv[1], sinks=(), options=Options(index=sys.argv[2]))
print(len(skills.catalog))
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 4_096, 20_000])
def test_a_full_disk_costs_time_alone(root: Path, index: Path, size: int) -> None:
    for _ in range(2):
        command = [sys.executable, "-c", FULL_DISK, str(root), str(index), str(size)]
        done = subprocess.run(command, capture_output=True, check=True)
        assert done.stdout == b"20\n", done.stderr[-2_000:]
        assert b"Traceback" not in done.stderr
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert opened(root, index) == opened(root, "none")
