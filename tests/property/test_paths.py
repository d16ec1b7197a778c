"""No path, and no exchange of links, reads anything outside of a pack."""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, strategies as st

from satchel.errors import SkillError
from satchel.files import _confined as confined, path_problem, read_confined
from satchel.sources import LocalSource
from satchel.testing import ESCAPES

pytestmark = pytest.mark.property

SECRET = b"this was outside"

_PARTS = st.one_of(
    st.sampled_from(
        ["..", ".", "", "pack", "secret", "a.md", "up", "door", "self", "SKILL.md"]
    ),
    st.sampled_from(["%2e%2e", "..\\", "C:", "NUL", "\0", "~", "/", "//", "\ud800"]),
    st.text(max_size=5),
)
PATHS = st.one_of(
    st.lists(_PARTS, max_size=6).map("/".join),
    st.text(max_size=30),
    st.sampled_from(ESCAPES),
)


@pytest.fixture(scope="module")
def pack() -> Iterator[Path]:
    """A pack full of doors, beside a secret."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "pack" / "references").mkdir(parents=True)
        (root / "secret").mkdir()
        for path in ("secret/a.md", "secret/SKILL.md", "a.md", "SKILL.md"):
            (root / path).write_bytes(SECRET)
        for path in ("pack/a.md", "pack/SKILL.md", "pack/references/a.md"):
            (root / path).write_bytes(b"inside")
        for link, target in (
            ("up", ".."),
            ("door", "../secret"),
            ("out.md", "../secret/a.md"),
            ("self", "."),
            ("references/up", "../.."),
        ):
            (root / "pack" / link).symlink_to(target)
        yield root / "pack"


@pytest.mark.row("A09", "A13")
@pytest.mark.parametrize("way", ["open_by_fd", "open_by_real_path"])
@given(path=PATHS)
@example(path="door/a.md")
@example(path="references/up/secret/a.md")
def test_no_path_reads_outside(way: str, pack: Path, path: str) -> None:
    """It gives bytes of the pack, or one of our errors; on both ways of opening."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confined, "_open", getattr(confined, way))
        try:
            data = read_confined(str(pack), path, 100)
        except SkillError:
            return

    assert data == b"inside"
    assert path_problem(path) == ""


@given(key=PATHS, path=PATHS)
def test_no_key_reads_outside(pack: Path, key: str, path: str) -> None:
    source = LocalSource(pack)
    seen: set[bytes] = set()
    with suppress(SkillError):
        seen.add(source.read(key, path, 100))
    with suppress(SkillError):
        seen.add(source.manifest(key))

    assert seen <= {b"inside"}


@given(path=PATHS)
def test_a_plain_path_means_the_same_everywhere(path: str) -> None:
    """What is let through is what it looks like: joined, it stays below the folder."""
    if path_problem(path) == "":
        joined = os.path.normpath(os.path.join("/root/pack", path))  # noqa: PTH118

        assert joined == f"/root/pack/{path}"
        assert path.encode().decode() == path


@pytest.mark.row("A09")
@pytest.mark.parametrize("way", ["open_by_fd", "open_by_real_path"])
def test_links_that_are_exchanged_while_we_read(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder and a link to the secret change places as fast as they can."""
    if way == "open_by_fd" and not confined.HAS_DIR_FD:
        pytest.skip("this system cannot open relative to a folder")
    monkeypatch.setattr(confined, "_open", getattr(confined, way))
    good, evil, door = (tmp_path / "pack" / name for name in ("good", "evil", "door"))
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.md").write_bytes(SECRET)
    good.mkdir(parents=True)
    (good / "a.md").write_bytes(b"inside")
    evil.symlink_to("../secret")
    done = threading.Event()

    def exchange() -> None:
        while not done.is_set():
            for each in (good, evil):
                each.rename(door)
                door.rename(each)

    thread = threading.Thread(target=exchange)
    thread.start()
    seen: set[bytes] = set()
    try:
        for _ in range(20_000):
            try:
                seen.add(read_confined(str(tmp_path / "pack"), "door/a.md", 100))
            except SkillError:
                continue
    finally:
        done.set()
        thread.join()

    assert seen <= {b"inside"}
