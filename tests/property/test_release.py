"""Releases: the same for equal skills, and useless once any byte is another."""

import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from satchel import Satchel
from satchel.errors import (
    DigestMismatchError,
    InvalidReleaseError,
    ReferenceNotFoundError,
    SkillError,
)
from satchel.sources import memory
from satchel_store.release import ReleaseSource, build_release, canonical_json
from tests.unit.release.packs import PACKS, built, files_in, release_of, write

pytestmark = pytest.mark.slow

GOOD = built(PACKS)
ID = release_of(PACKS).id

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(?:-[a-z0-9]{1,4})?", fullmatch=True).filter(
    lambda name: (
        name not in {"con", "prn", "aux", "nul"} and name[:3] not in {"com", "lpt"}
    )
)
PATHS = st.builds(
    "{}{}.{}".format,
    st.sampled_from(["", "references/", "scripts/", "assets/", "docs/deep/"]),
    NAMES,
    st.sampled_from(["md", "txt", "bin"]),
)
PACKS_TO_RELEASE = st.dictionaries(
    NAMES,
    st.dictionaries(PATHS, st.binary(max_size=80), max_size=4),
    min_size=1,
    max_size=4,
)


def packs_of(packs: dict[str, dict[str, bytes]]) -> dict[str, dict[str, bytes]]:
    head = "---\nname: {0}\ndescription: Use {0}.\n---\n# Do\n"
    return {
        name: {"SKILL.md": head.format(name).encode(), **files}
        for name, files in packs.items()
    }


def source_of(files: dict[str, bytes], pin: str | None = None) -> ReleaseSource:
    def fetch(path: str, limit_bytes: int) -> bytes:
        if path not in files:
            raise ReferenceNotFoundError("", path)
        return files[path][: limit_bytes + 1]

    return ReleaseSource(fetch, label="far", pin=pin)


@given(PACKS_TO_RELEASE, st.randoms(use_true_random=False))
def test_what_was_built_is_what_is_read(
    library: dict[str, dict[str, bytes]], order: random.Random
) -> None:
    """Whatever the order in which it came, the same bytes and digests come out."""
    packs = packs_of(library)
    shuffled = list(packs.items())
    order.shuffle(shuffled)

    files = built(packs)

    assert built(dict(shuffled)) == files
    with Satchel(source_of(files)) as after, Satchel(memory(packs)) as before:
        assert [e.id for e in after.catalog] == [e.id for e in before.catalog]
        for entry in before.catalog:
            assert after.resources(entry.id) == before.resources(entry.id)
            for path, data in packs[entry.id].items():
                assert after.load(entry.id, path).data == data
        again: dict[str, bytes] = {}
        build_release(after, again.__setitem__)
    assert again == files


@given(st.data())
def test_with_any_byte_changed_nothing_of_it_is_used(data: st.DataObject) -> None:
    """Of release.json before anything, of every other file when it is read."""
    path = data.draw(st.sampled_from(sorted(p for p in GOOD if GOOD[p])))
    bad = bytearray(GOOD[path])
    place = data.draw(st.integers(0, len(bad) - 1))
    bad[place] ^= data.draw(st.integers(1, 255))
    source = source_of({**GOOD, path: bytes(bad)}, ID)

    if path == "release.json":
        with pytest.raises((DigestMismatchError, InvalidReleaseError)):
            source.scan()
        with pytest.raises((DigestMismatchError, InvalidReleaseError)):
            source.manifest("alone")
        assert source.release == ""
        return
    files = {file.path: file for file in source.open().files}
    with pytest.raises(DigestMismatchError):
        source.read_file(files[path])


@given(st.binary(max_size=400))
def test_any_bytes_are_a_release_or_an_error_of_ours(data: bytes) -> None:
    with suppress(SkillError):
        source_of({"release.json": data}).scan()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "name", "digest", "resources", "path", "size", "skills"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_in_the_form_of_one_is_an_error_of_ours(value: object) -> None:
    head = {"format": "satchel-release", "schema_version": 1, "files": []}
    data = canonical_json({**head, "skills": value})
    with suppress(SkillError):
        source_of({"release.json": data}).scan()


@pytest.mark.parametrize("seed", ["0", "1"])
def test_no_hash_seed_and_no_locale_changes_a_byte(seed: str, tmp_path: Path) -> None:
    write(PACKS, tmp_path / "skills")
    done = subprocess.run(
        [*(sys.executable, "-m", "satchel"), *("build", "dist", "--skills", "skills")],
        cwd=tmp_path,
        env={"PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": f"UTC+{seed}", "HOME": "x"},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.decode() == f"{ID}\n", done.stderr
    assert files_in(tmp_path / "dist") == GOOD
