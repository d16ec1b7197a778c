"""Scripts that wait for a person to type."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint.context import Context, rule
from satchel.lint.programs import shell_of
from satchel.lint.reading import bytes_of
from satchel.lint.rules.python_syntax import compiled
from satchel.model import Finding

__all__ = ["interactive_script"]

_READ: Final = re.compile(
    rb"^(?![ \t]*#)[^\n|<]*?\bread[ \t]+-[a-zA-Z]*p\b[^\n<]*$", re.MULTILINE
)


@rule("interactive-script")
def interactive_script(pack: Context) -> Iterator[Finding]:
    """Yield a note on each call that prompts: an agent cannot answer it.

    Source: agentskills.io, "Using scripts", which has it as a hard requirement.
    """
    asks: list[tuple[str, int]] = [
        (path, line) for path, each in compiled(pack).items() for line in each.asks
    ]
    for path in pack.descriptor.resources:
        data = bytes_of(pack, path)
        if b"read" in data and shell_of(path, data):
            asks += [
                (path, data.count(b"\n", 0, match.start()) + 1)
                for match in _READ.finditer(data)
            ]
    for path, line in asks:
        yield Finding(
            "interactive-script",
            "note",
            "here the script waits for somebody to type; an agent cannot",
            path,
            line,
            fix="take it as an option, an argument or an environment variable",
        )
