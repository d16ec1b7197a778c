"""Python files that Python cannot compile."""

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from satchel.lint._context import (
    LintContext,
    bytes_of,
    is_template,
    once_per_pack,
    rule,
    text_of,
)
from satchel.lint._programs import (
    MAX_BYTES,
    ProgramCheck,
    compile_python,
    is_python,
    later_version_for,
    not_checked,
)
from satchel.model import Finding

_VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


@rule("program-not-checked", "python-syntax")
def python_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield each Python file that does not compile; a later Python may accept it."""
    unchecked: list[str] = []
    for path, program in compiled(pack).items():
        if not program.checked:
            unchecked.append(path)
        elif program.error:
            yield _refused(pack, path, program)
    if unchecked:
        yield not_checked(unchecked, "python")


def _refused(pack: LintContext, path: str, program: ProgramCheck) -> Finding:
    later = later_version_for(text_of(pack, path), program.line, program.error)
    return Finding.of(
        "python-syntax",
        path,
        program.line,
        severity="note" if later else None,
        sentence="later" if later else "",
        later=later,
        version=_VERSION,
        error=program.error,
    )


@once_per_pack
def compiled(pack: LintContext) -> Mapping[str, ProgramCheck]:
    """Return what Python finds in each of the pack's files."""
    files = {
        path: bytes_of(pack, path)
        for path in pack.descriptor.resources
        if _may_be_python(path) and not is_template(path)
    }
    small = {
        path: data
        for path, data in files.items()
        if len(data) <= MAX_BYTES and is_python(path, data)
    }
    return dict(zip(small, compile_python(list(small.values())), strict=True))


def _may_be_python(path: str) -> bool:
    """Judge by the name only, so that an image need not be read."""
    name = path.lower().rpartition("/")[2]
    return "." not in name or name.endswith((".py", ".pyw"))
