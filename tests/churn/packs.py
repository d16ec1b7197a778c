"""Packs whose every version differs, and what rewrites them meanwhile.

``python -m tests.churn.packs FOLDER SECONDS`` rewrites, adds and removes packs in a
process of its own, so that no reader is held up by the interpreter's lock.
"""

import itertools
import shutil
import sys
import time
from pathlib import Path
from typing import Final

__all__ = ["FAR", "KINDS", "is_whole", "write_library"]

STABLE: Final = tuple(f"stable-{n:02}" for n in range(20))
IN_PLACE: Final = tuple(f"in-place-{n:02}" for n in range(10))
RENAMED: Final = tuple(f"renamed-{n:02}" for n in range(10))
SWAPPED: Final = tuple(f"swapped-{n:02}" for n in range(5))
COMING: Final = tuple(f"coming-{n:03}" for n in range(200))
FAR: Final = tuple(f"far-{n}" for n in range(5))
SLOW: Final = tuple(f"slow-{n}" for n in range(5))

KINDS: Final = {
    "stable": STABLE,
    "in place": IN_PLACE,
    "renamed": RENAMED,
    "swapped": SWAPPED,
    "coming": COMING,
    "twice": ("twice",),
    "hung": FAR,
    "slow": SLOW,
}
PAUSE_S: Final = 0.02


def text(name: str, version: int) -> str:
    """Return a SKILL.md each of whose lines names its version; sizes differ."""
    lines = "".join(f"v{version} {'x' * 60}\n" for _ in range(20 + version % 300))
    head = f"name: {name}\ndescription: Use {name} when testing, in one version."
    return f"---\n{head}\n---\n{lines}END v{version}\n"


def is_whole(body: str) -> bool:
    """Tell whether a body is one version of a pack, from its first line to its last."""
    lines = body.strip().splitlines()
    versions = {line.split()[0] for line in lines[:-1]}
    return len(versions) == 1 and lines[-1] == f"END {versions.pop()}"


def write(folder: Path, version: int) -> None:
    """Write a pack again."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text(folder.name, version))


def write_library(folder: Path) -> None:
    """Write all that is there from the start; one name is claimed twice."""
    for name in (*STABLE, *IN_PLACE, *RENAMED, *SWAPPED):
        write(folder / name, 0)
    write(folder / "one/twice", 0)
    write(folder / "other/twice", 1)


def rewrite(folder: Path, until: float) -> None:
    """Rewrite, add and remove packs, until it is time to stop."""
    for version in itertools.count(1):
        coming = folder / COMING[version % len(COMING)]
        write(folder / IN_PLACE[version % len(IN_PLACE)], version)
        _rename(folder / RENAMED[version % len(RENAMED)], version)
        if not version % 10:
            _swap(folder / SWAPPED[version // 10 % len(SWAPPED)], version)
        if version // len(COMING) % 2:
            shutil.rmtree(coming, ignore_errors=True)
        else:
            write(coming, version)
        if time.monotonic() > until:
            return
        time.sleep(PAUSE_S)


def _rename(pack: Path, version: int) -> None:
    fresh = pack / ".SKILL.md.new"
    fresh.write_text(text(pack.name, version))
    fresh.replace(pack / "SKILL.md")


def _swap(pack: Path, version: int) -> None:
    """Replace the whole folder: for a moment there is none."""
    fresh, old = pack.parent / ".fresh" / pack.name, pack.parent / ".old"
    write(fresh, version)
    pack.rename(old)
    fresh.rename(pack)
    shutil.rmtree(old)


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]), time.monotonic() + float(sys.argv[2]))
