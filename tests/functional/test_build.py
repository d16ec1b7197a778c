"""``satchel build``: a release, or every reason why there is none."""

import errno
import json
import re
import tempfile
from pathlib import Path

import pytest

from satchel import Satchel
from tests.functional.library import HOSTILE_BYTES, run, write_pack

GOOD = "---\nname: {name}\ndescription: Use {name} when testing.\n---\nDo.\n"


@pytest.fixture(autouse=True)
def library(here: Path) -> Path:
    """Two good packs in ``skills``; the working folder is the one above."""
    write_pack(here / "skills/a", GOOD.format(name="a"), {"references/x.md": "X"})
    write_pack(here / "skills/b", GOOD.format(name="b"))
    return here / "skills"


@pytest.mark.row("R25")
def test_the_digest_alone_goes_to_standard_output() -> None:
    """``pin=$(satchel build dist)`` is how a pipeline takes it on."""
    result = run("build", "dist", "--skills", "skills")

    assert result.exit_code == 0
    assert re.fullmatch(r"sha256-tree-v1:[0-9a-f]{64}\n", result.stdout)
    assert result.stderr == "dist: 2 skills, 6 files\n"
    with Satchel("dist", pin=result.stdout.strip()) as skills:
        assert [entry.id for entry in skills.catalog] == ["a", "b"]


def test_every_reason_is_reported_and_nothing_is_written(library: Path) -> None:
    write_pack(library / "bad", HOSTILE_BYTES)
    write_pack(library / "twin", GOOD.format(name="b") + "Other.\n")

    result = run("build", "dist", "--skills", "skills")

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "skills/bad/SKILL.md" in result.stderr
    assert "duplicate skill 'b'" in result.stderr
    assert result.stderr.endswith(
        "error: nothing was released, for 2 reasons; "
        "see satchel explain release-refused\n"
    )
    assert "\x1b" not in result.stderr
    assert not (library.parent / "dist").exists()


def test_the_doctor_and_the_list_name_the_release() -> None:
    release = run("build", "dist", "--skills", "skills").stdout.strip()

    assert f"  dist: 2 packs, release {release}\n" in (
        run("doctor", "--skills", "dist").stdout
    )
    listed = json.loads(run("list", "--skills", "dist", "--json").stdout)
    assert listed["release"] == release


def test_a_place_that_cannot_be_written_is_the_one_that_was_typed(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the temporary folder next to it, which nobody knows of."""
    (here / "a-file").write_text("")

    def refused(**_: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", ".satchel-x")

    below_a_file = run("build", "a-file/dist", "skills")
    monkeypatch.setattr(tempfile, "mkdtemp", refused)
    read_only = run("build", "dist", "skills")

    assert (below_a_file.exit_code, read_only.exit_code) == (2, 2)
    assert below_a_file.stderr == "error: a-file/dist: Not a directory\n"
    assert read_only.stderr == "error: dist: Permission denied\n"
