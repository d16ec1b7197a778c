"""Scripts that wait for a person to type."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, rule
from satchel.lint._programs import shell_of
from satchel.lint._rules.python_syntax import compiled
from satchel.model import Finding

_READ: Final = re.compile(rb"\bread[ \t]+-[a-zA-Z]*p\b")
# A comment, or a line that may feed what is read.
_FED: Final = re.compile(rb"\A[ \t]*#|[|<]")


@rule("interactive-script")
def interactive_script(pack: LintContext) -> Iterator[Finding]:
    """Yield a note on each call that prompts: an agent cannot answer it."""
    # agentskills.io, "Using scripts", has this as a hard requirement.
    prompts: list[tuple[str, int]] = [
        (path, line) for path, check in compiled(pack).items() for line in check.prompts
    ]
    for path in pack.descriptor.resources:
        data = bytes_of(pack, path)
        if b"read" in data and shell_of(path, data):
            prompts += [
                (path, number)
                for number, line in enumerate(data.split(b"\n"), start=1)
                if _READ.search(line) and not _FED.search(line)
            ]
    for path, line in prompts:
        yield Finding.of("interactive-script", path, line)
