#!/usr/bin/env python3
"""List the conflicts of a stopped merge, rebase, cherry-pick or revert.

For each file: what kind of conflict it is, where its markers are, and whether it is a
lock file that its own command has to make again. Also lists conflict markers that are
left in files which Git takes for resolved. Nothing is changed.

    list_conflicts.py            the repository of the current folder
    list_conflicts.py PATH       ... of PATH
    list_conflicts.py --json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

EPILOG = "exit status: 0 nothing left, 1 conflicts or markers are left, 2 no repository"

# Which of base (1), ours (2) and theirs (3) Git has for a path.
KINDS = {
    "123": "both changed",
    "23": "both added",
    "12": "changed by ours, deleted by theirs",
    "13": "deleted by ours, changed by theirs",
    "1": "deleted or renamed by both",
    "2": "added or renamed by ours",
    "3": "added or renamed by theirs",
}
LOCK_FILES = {
    "Cargo.lock": "cargo update --workspace",
    "Gemfile.lock": "bundle install",
    "composer.lock": "composer update --lock",
    "go.sum": "go mod tidy",
    "package-lock.json": "npm install --package-lock-only",
    "pnpm-lock.yaml": "pnpm install --lockfile-only",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "yarn.lock": "yarn install",
}
OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)
SIDES = {
    "merge": "ours is the branch you are on; theirs is the branch you merge",
    "rebase": "ours is the branch you rebase onto; theirs is your own commit",
    "cherry-pick": "ours is the branch you are on; theirs is the picked commit",
    "revert": "ours is the branch you are on; theirs is the state before the commit",
}
OPEN = re.compile(rb"<{7}(?: |$)")
CLOSE = re.compile(rb">{7}(?: |$)")


class NotARepository(Exception):
    pass


def git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, check=False
    )
    if done.returncode:
        raise NotARepository(done.stderr.decode(errors="replace").strip())
    return done.stdout


def git_paths(folder: Path, *arguments: str) -> list[str]:
    output = git(folder, *arguments)
    return [os.fsdecode(item) for item in output.split(b"\0") if item]


def read_operation(top: Path) -> str:
    folder = Path(
        os.fsdecode(git(top, "rev-parse", "--absolute-git-dir").rstrip(b"\n"))
    )
    return next((name for mark, name in OPERATIONS if (folder / mark).exists()), "none")


def read_stages(top: Path) -> dict[str, str]:
    """Return the stages of each unmerged path, as in KINDS."""
    stages: dict[str, str] = {}
    for line in git_paths(top, "ls-files", "-u", "-z"):
        fields, path = line.split("\t", 1)
        stages[path] = stages.get(path, "") + fields.split()[2]
    return {path: "".join(sorted(text)) for path, text in stages.items()}


def read_markers(file: Path) -> list[tuple[int, int]]:
    """Return first and last line of each block of markers; an open one ends at 0."""
    blocks: list[tuple[int, int]] = []
    start = 0
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError:
        return []  # deleted, a folder, or a link to nowhere
    for number, line in enumerate(lines, 1):
        if OPEN.match(line.rstrip(b"\r")):
            start = number
        elif start and CLOSE.match(line.rstrip(b"\r")):
            blocks.append((start, number))
            start = 0
    return [*blocks, (start, 0)] if start else blocks


def collect(top: Path) -> dict[str, object]:
    operation = read_operation(top)
    stages = read_stages(top)
    files = [
        {
            "path": path,
            "kind": KINDS.get(kind, f"stages {kind}"),
            "blocks": read_markers(top / path),
            "make_with": LOCK_FILES.get(Path(path).name, ""),
        }
        for path, kind in sorted(stages.items())
    ]
    try:
        changed = git_paths(top, "diff", "--name-only", "--no-renames", "-z", "HEAD")
    except NotARepository:
        changed = []  # there is no commit yet
    left = [
        {"path": path, "blocks": blocks}
        for path in changed
        if path not in stages and (blocks := read_markers(top / path))
    ]
    return {
        "operation": operation,
        "sides": SIDES.get(operation, ""),
        "files": files,
        "markers_left": left,
    }


def show_lines(blocks: list[tuple[int, int]]) -> str:
    ranges = ", ".join(f"{start}-{end or '?'}" for start, end in blocks)
    return f"lines {ranges}" if ranges else "no markers"


def show(state: dict[str, object]) -> None:
    files, left = state["files"], state["markers_left"]
    assert isinstance(files, list)
    assert isinstance(left, list)
    sides = f": {state['sides']}" if state["sides"] else ""
    print(f"operation: {state['operation']}{sides}")
    for file in files:
        note = f"; make it again: {file['make_with']}" if file["make_with"] else ""
        print(f"{file['path']}: {file['kind']}; {show_lines(file['blocks'])}{note}")
    for file in left:
        print(f"{file['path']}: markers left, {show_lines(file['blocks'])}")
    print(f"{len(files)} in conflict, {len(left)} with markers left")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path())
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args()
    try:
        top = git(options.path, "rev-parse", "--show-toplevel").rstrip(b"\r\n")
        state = collect(Path(os.fsdecode(top)))
    except (NotARepository, OSError) as error:
        print(f"list_conflicts.py: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(state, indent=2))
    else:
        show(state)
    return 1 if state["files"] or state["markers_left"] else 0


if __name__ == "__main__":
    sys.exit(main())
