"""What is installed is fixed by hash, and no lock file says from where."""

import re
from pathlib import Path

import pytest

LOCKS = sorted(Path(__file__).parents[1].glob("requirements/**/*.txt"))
_PIN = re.compile(r"([a-z0-9-]+)==([\w.]+)( ; [^\\]+)? \\")


def pins(lock: Path) -> dict[str, str]:
    lines = lock.read_text("utf-8").splitlines()
    return {match[1]: match[2] for line in lines if (match := _PIN.fullmatch(line))}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_line_is_a_pin_a_hash_or_a_short_comment(lock: Path) -> None:
    """An address or a path of the machine that made the file is none of these."""
    hash_line = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    comment = re.compile(r" *#[\w .:(),-]*|    #   -c requirements/(?:run|dev)\.txt")

    for line in lock.read_text("utf-8").splitlines():
        assert any(p.fullmatch(line) for p in (_PIN, hash_line, comment)), line


def test_development_uses_what_users_run() -> None:
    run, dev = (
        pins(lock) for name in ("run", "dev") for lock in LOCKS if lock.stem == name
    )

    assert run
    assert run.items() <= dev.items()
