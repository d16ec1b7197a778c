"""Pin what a lock file pins with an extra without it, too, as old pips need it.

What is developed with may need ``pydantic[email]`` where users run ``pydantic``: a pip
that checks hashes takes neither line for the other. Run as
``python -m tools.plain_pins FILE PLAIN`` after FILE was resolved; PLAIN is the lock
file that says which packages are needed without their extra.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_BLOCK = re.compile(
    r"^(?P<name>[a-z0-9-]+)\[[a-z0-9,-]+\]"
    r"(?P<rest>==[^\n]*\\\n(?:    --hash[^\n]*\n)+)",
    re.MULTILINE,
)


def with_plain_pins(text: str, plain: str) -> str:
    """Return a lock file that also has what ``plain`` pins without an extra."""
    names = set(re.findall(r"^([a-z0-9-]+)==", plain, re.MULTILINE))

    def doubled(match: re.Match[str]) -> str:
        also = match["name"] + match["rest"] if match["name"] in names else ""
        return also + match[0]

    return _BLOCK.sub(doubled, text)


if __name__ == "__main__":
    file, other = map(Path, sys.argv[1:])
    text = with_plain_pins(file.read_text("utf-8"), other.read_text("utf-8"))
    file.write_text(text, "utf-8", newline="\n")
