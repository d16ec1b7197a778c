"""What stands in a new pack until its author writes something better."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Final

__all__ = ["body_of", "reference", "script"]

_STEPS: Final = dedent("""\
    Replace this text with what a colleague would have to know to do the work well,
    and leave out what any good model knows anyway.

    ## Steps

    1. Look at what was given. Ask for what is missing, once.
    2. Do the work. Say how, where there is more than one way.
    3. Check the result, and name the check.

    ## When it goes wrong

    Say what usually fails, how to notice it, and what to do then.
    """)

_PYTHON: Final = '''\
#!/usr/bin/env python3
"""Say in a line what this does.

Usage: python {path} FILE
"""

import sys


def main(arguments: list[str]) -> int:
    """Return 0 where it went well, 2 where it was called wrongly."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 0 if "--help" in arguments or "-h" in arguments else 2
    print(f"would work on {{arguments[0]}}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

_SHELL: Final = """\
#!/bin/sh
# Say in a line what this does. Usage: {path} FILE
set -eu

if [ "$#" -ne 1 ] || [ "$1" = "--help" ]; then
    echo "usage: {path} FILE" >&2
    exit 2
fi

echo "would work on $1"
"""

_OTHER: Final = "Say in a line what {path} is.\n"


def body_of(title: str, references: Sequence[str], scripts: Sequence[str]) -> str:
    """Return the body of SKILL.md; every file that comes with it is mentioned."""
    return f"\n# {title}\n\n{_STEPS}" + "".join(_sections(references, scripts))


def _sections(references: Sequence[str], scripts: Sequence[str]) -> Iterator[str]:
    if references:
        lines = "".join(
            f"- `{path}`: say when to read it, such as before step 2.\n"
            for path in references
        )
        yield f"\n## References\n\nRead one only when it is needed.\n\n{lines}"
    if scripts:
        lines = "".join(f"- `{path} FILE`: say what it does.\n" for path in scripts)
        yield f"\n## Scripts\n\nPaths are relative to this skill's folder.\n\n{lines}"


def reference(path: str) -> str:
    """Return a reference to begin with, by the kind of its file."""
    place = PurePosixPath(path)
    if place.suffix.lower() in {".md", ".markdown"}:
        title = place.stem.replace("-", " ").replace("_", " ").capitalize() or "Notes"
        return f"# {title}\n\nSay here what is too long, or too rare, for SKILL.md.\n"
    if place.suffix == ".py":
        return f'"""Say in a line what {path} shows."""\n'
    if place.suffix == ".json":
        return "{}\n"
    return _OTHER.format(path=path)


def script(path: str) -> str:
    """Return a script to begin with, by the kind of its file: it runs, and helps."""
    suffix = PurePosixPath(path).suffix
    if suffix == ".py":
        return _PYTHON.format(path=path)
    if suffix in {".sh", ".bash", ""}:
        return _SHELL.format(path=path)
    return _OTHER.format(path=path)
