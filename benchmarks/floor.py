"""What any loader has to do, and nothing else: ``python -m benchmarks.floor FOLDER``.

Walk the folder; open each SKILL.md confined, that is part by part relative to the
folder above, following no link; read it; and let the C parser of PyYAML make its
events of the frontmatter, which are thrown away. No check, no value, no finding.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Final

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]

_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_confined(root: int, parts: list[str]) -> bytes:
    """Return the bytes of the file that ``parts`` lead to, below an open folder."""
    opened = []
    folder = root
    try:
        for part in parts[:-1]:
            folder = os.open(part, _FOLDER, dir_fd=folder)
            opened.append(folder)
        file = os.open(parts[-1], _FILE, dir_fd=folder)
        opened.append(file)
        return os.read(file, os.fstat(file).st_size + 1)
    finally:
        for each in opened:
            os.close(each)


def open_root(path: str) -> int:
    """Open the folder that confines; links on the way to it are followed."""
    return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def find_packs(root: str) -> list[list[str]]:
    """Return the path of each SKILL.md below ``root``, in parts."""
    found: list[list[str]] = []
    pending: list[tuple[str, list[str]]] = [(root, [])]
    while pending:
        folder, parts = pending.pop()
        with os.scandir(folder) as entries:
            inside = list(entries)
        if any(entry.name == "SKILL.md" for entry in inside):
            found.append([*parts, "SKILL.md"])
            continue
        pending += [
            (entry.path, [*parts, entry.name])
            for entry in inside
            if entry.is_dir(follow_symlinks=False)
        ]
    return found


def count_events(data: bytes) -> int:
    """Return how many events the C parser makes of what is between the fences."""
    if not data.startswith(b"---"):
        return 0
    end = data.find(b"\n---", 3)
    if end < 0:
        return 0
    parser = CParser(data[3 : end + 1])
    events = 0
    try:
        while parser.get_event() is not None:
            events += 1
    except yaml.YAMLError:
        pass  # what is no YAML has cost its time all the same
    return events


def discover(folder: str) -> int:
    """Do it all once; return the number of packs."""
    root = open_root(folder)
    try:
        packs = find_packs(folder)
        for parts in packs:
            count_events(read_confined(root, parts))
    finally:
        os.close(root)
    return len(packs)


def main() -> None:
    """Print one line of JSON: the number of packs, and the seconds of each time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    seconds: list[float] = []
    packs = 0
    for _ in range(options.times):
        start = time.perf_counter()
        packs = discover(options.folder)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"packs": packs, "seconds": seconds}))


if __name__ == "__main__":
    main()
