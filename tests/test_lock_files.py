"""What is installed is fixed by hash, and no lock file says from where."""

import re
from collections.abc import Iterator
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


def needed(lock: Path) -> Iterator[str]:
    """Yield what a package that is installed here needs of another, with an extra."""
    pinned = {name.partition("[")[0] for name in pins(lock)}
    for name in sorted(pinned):
        try:
            requires = distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        for requirement in map(Requirement, requires):
            marker, other = requirement.marker, canonicalize_name(requirement.name)
            if other in pinned and (marker is None or marker.evaluate({"extra": ""})):
                yield from (f"{other}[{extra}]" for extra in requirement.extras)


NEEDED = sorted({(lock, name) for lock in LOCKS for name in needed(lock)})


@pytest.mark.row("F59")
@pytest.mark.parametrize(
    ("lock", "name"), NEEDED, ids=[f"{lock.stem}-{name}" for lock, name in NEEDED]
)
def test_what_is_needed_with_an_extra_is_pinned_with_it(lock: Path, name: str) -> None:
    """Old pips resolve ``coverage[toml]`` again where only ``coverage`` is pinned."""
    package, extra = name.rstrip("]").split("[")
    extras = {
        each
        for pin in pins(lock)
        if pin.partition("[")[0] == package
        for each in re.findall(r"[\w-]+", pin.partition("[")[2])
    }

    assert extra in extras


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
