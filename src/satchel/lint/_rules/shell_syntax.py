"""Shell scripts that no shell can read."""

from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, is_template, rule
from satchel.lint._programs import (
    MAX_BYTES,
    find_shell,
    not_checked,
    read_by_shell,
    shell_of,
)
from satchel.model import Finding

# Scripts without an answer, after which no shell is asked any more.
_MOST_UNCHECKED: Final = 2


@rule("program-not-checked", "shell-syntax")
def shell_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield each script in which its shell finds an error; none is run."""
    unchecked: list[str] = []
    for path in pack.descriptor.resources:
        # By the name first, so that an image need not be read.
        if "." in path.rpartition("/")[2] and not path.endswith((".sh", ".bash")):
            continue
        data = bytes_of(pack, path)
        shell = shell_of(path, data)
        if not shell or len(data) > MAX_BYTES or is_template(path):
            continue
        # Each script without an answer may have taken the whole time that one has.
        command = find_shell(shell) if len(unchecked) < _MOST_UNCHECKED else ""
        program = read_by_shell(command, data) if command else None
        if program is None or not program.checked:
            unchecked.append(path)
        elif program.error:
            yield Finding.of(
                "shell-syntax",
                path,
                program.line,
                shell=shell,
                error=program.error,
                path=path,
            )
    if unchecked:
        yield not_checked(unchecked, "shell")
