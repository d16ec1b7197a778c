"""What is installed is fixed by hash, and no lock file says from where."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.plain_pins import with_plain_pins

LOCKS = sorted(Path(__file__).parents[1].glob("requirements/**/*.txt"))
_PIN = re.compile(r"([a-z0-9-]+(?:\[[a-z0-9, -]+\])?)==([\w.]+)( ; [^\\]+)? \\")


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


@cache
def needed(name: str) -> set[tuple[str, str]]:
    """Return the packages, each with an extra, that one installed here needs."""
    try:
        requires = distribution(name).requires or ()
    except PackageNotFoundError:
        return set()
    return {
        (canonicalize_name(requirement.name), extra)
        for requirement in map(Requirement, requires)
        if requirement.extras
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
        for extra in requirement.extras
    }


@pytest.mark.row("F59")
def test_what_is_needed_with_an_extra_is_pinned_with_it() -> None:
    """Old pips resolve ``coverage[toml]`` again where only ``coverage`` is pinned."""
    checked = 0
    for lock in LOCKS:
        extras: dict[str, set[str]] = {}
        for pin in pins(lock):
            name, _, rest = pin.partition("[")
            extras.setdefault(name, set()).update(re.findall(r"[\w-]+", rest))
        for package, extra in {each for name in extras for each in needed(name)}:
            if package in extras:
                assert extra in extras[package], (lock, package)
                checked += 1
    assert checked


@pytest.mark.row("F59")
def test_ci_installs_the_lock_files_with_the_oldest_pip() -> None:
    root = Path(__file__).parents[1]
    loop = re.search(r"for target in (.*?);", (root / ".ci/run").read_text("utf-8"))

    assert loop is not None
    assert "locks" in loop[1].split()


def test_what_users_run_is_pinned_without_its_extra_too() -> None:
    """An old pip takes neither line for the other."""
    lines = "a[b]==1 \\\n    --hash=sha256:0\n    # via c\n"
    lines += "d[e]==2 \\\n    --hash=sha256:1\n"
    doubled = with_plain_pins(lines, "a==1 \\\n    --hash=sha256:0\n")

    assert doubled == f"a==1 \\\n    --hash=sha256:0\n{lines}"
