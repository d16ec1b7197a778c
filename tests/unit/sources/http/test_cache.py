"""What was fetched is kept up to a bound, and compared before it is used."""

import os
from pathlib import Path

import pytest

from satchel.files import digest_bytes
from satchel_store.http._cache import DiskCache


def stored(cache: DiskCache, data: bytes) -> str:
    digest = digest_bytes(data)
    cache.put(digest, data)
    return digest


def test_a_disk_cache(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "deep" / "cache", 1_000)
    digest = stored(cache, b"hello")

    assert cache.get(digest, 5) == b"hello"
    assert cache.get(digest, 4) is None
    assert cache.get(digest_bytes(b"other"), 5) is None
    for name in ("", "sha256:../../x", "sha256:" + "g" * 64):
        assert cache.get(name, 5) is None
        cache.put(name, b"x")
    assert len(list((tmp_path / "deep" / "cache").iterdir())) == 1
    assert (tmp_path / "deep" / "cache").stat().st_mode & 0o077 == 0


def test_a_disk_cache_that_is_too_full(tmp_path: Path) -> None:
    """The oldest go; what is not ours stays."""
    cache = DiskCache(tmp_path, 10)
    (tmp_path / "not-ours").write_bytes(b"x" * 100)
    digests = [stored(cache, bytes([number]) * 4) for number in range(4)]
    for age, digest in enumerate(digests):
        os.utime(tmp_path / digest[7:], (age, age))
    cache.prune()

    assert [cache.get(digest, 9) is not None for digest in digests] == [
        False,
        False,
        True,
        True,
    ]
    assert (tmp_path / "not-ours").exists()
    cache.prune()
    DiskCache(tmp_path / "none", 0).prune()


def test_the_folder_is_not_listed_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once at the start, and then for each sixteenth of what may be kept."""
    looks: list[object] = []
    scandir = os.scandir

    def look(path: str) -> object:
        looks.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", look)
    cache = DiskCache(tmp_path, 1_600)
    for number in range(100):
        stored(cache, b"%08d" % number)
        cache.prune()

    assert len(looks) == 1 + 800 // 100 - 1
    assert len(list(tmp_path.iterdir())) == 100


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half-written stays."""

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device", source, None, target)

    monkeypatch.setattr(os, "replace", full)
    cache = DiskCache(tmp_path, 10)
    digest = stored(cache, b"hello")

    assert cache.get(digest, 9) is None
    assert list(tmp_path.iterdir()) == []
