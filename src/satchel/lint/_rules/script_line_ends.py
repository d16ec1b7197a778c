"""Scripts whose first line ends in CR LF: only Windows finds their program."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, is_template, rule
from satchel.model import Finding

_OF_PROGRAM: Final = "Linux and macOS look for a program whose name ends in CR"
_OF_COMMAND: Final = "a shell takes CR for a part of the command"


@rule("script-line-ends")
def script_line_ends(pack: LintContext) -> Iterator[Finding]:
    """Yield each shell script, or file with ``#!``, whose first line ends in CR LF."""
    for path in pack.descriptor.resources:
        data = bytes_of(pack, path)
        if not data.partition(b"\n")[0].endswith(b"\r"):
            continue
        if data.startswith(b"#!"):
            what = _OF_PROGRAM
        elif path.lower().endswith((".sh", ".bash")) and not is_template(path):
            what = _OF_COMMAND
        else:
            continue
        yield Finding.of("script-line-ends", path, 1, what=what)
