"""What was fetched is kept up to a bound, and compared before it is used."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from satchel.files import digest_bytes
from satchel.sources._http._cache import DiskCache

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def kept(vault: DiskCache, data: bytes) -> str:
    digest = digest_bytes(data)
    vault.put(digest, data)
    return digest


def test_a_vault(tmp_path: Path) -> None:
    vault = DiskCache(tmp_path / "deep" / "cache", 1_000)
    digest = kept(vault, b"hello")

    assert vault.get(digest, 5) == b"hello"
    assert vault.get(digest, 4) is None
    assert vault.get(digest_bytes(b"other"), 5) is None
    for name in ("", "sha256:../../x", "sha256:" + "g" * 64):
        assert vault.get(name, 5) is None
        vault.put(name, b"x")
    assert len(list((tmp_path / "deep" / "cache").iterdir())) == 1
    assert (tmp_path / "deep" / "cache").stat().st_mode & 0o077 == 0


def test_a_vault_that_is_too_full(tmp_path: Path) -> None:
    """The oldest go; what is not ours stays."""
    vault = DiskCache(tmp_path, 10)
    (tmp_path / "not-ours").write_bytes(b"x" * 100)
    digests = [kept(vault, bytes([number]) * 4) for number in range(4)]
    for age, digest in enumerate(digests):
        os.utime(tmp_path / digest[7:], (age, age))
    vault.prune()

    assert [vault.get(digest, 9) is not None for digest in digests] == [
        False,
        False,
        True,
        True,
    ]
    assert (tmp_path / "not-ours").exists()
    vault.prune()
    DiskCache(tmp_path / "none", 0).prune()


def test_a_vault_is_not_looked_through_for_each_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once at the start, and then for each sixteenth of what may be kept."""
    looks: list[object] = []
    scandir = os.scandir

    def look(path: str) -> object:
        looks.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", look)
    vault = DiskCache(tmp_path, 1_600)
    for number in range(100):
        kept(vault, b"%08d" % number)
        vault.prune()

    assert len(looks) == 1 + 800 // 100 - 1
    assert len(list(tmp_path.iterdir())) == 100


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing half-written stays."""

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device", source, None, target)

    monkeypatch.setattr(os, "replace", full)
    vault = DiskCache(tmp_path, 10)
    digest = kept(vault, b"hello")

    assert vault.get(digest, 9) is None
    assert list(tmp_path.iterdir()) == []
