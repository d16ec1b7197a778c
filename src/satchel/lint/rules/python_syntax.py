"""Python files that Python cannot compile (A32)."""

from collections.abc import Iterator, Mapping

from satchel.lint.context import Context, rule
from satchel.lint.programs import MAX_BYTES, Program, compile_python
from satchel.lint.reading import bytes_of, files_ending
from satchel.model import Finding

__all__ = ["compiled", "python_syntax"]


@rule("program-not-checked", "python-syntax")
def python_syntax(pack: Context) -> Iterator[Finding]:
    """Yield each file that is no Python; they are compiled and never run."""
    for path, program in compiled(pack).items():
        if not program.checked:
            yield Finding(
                "program-not-checked",
                "note",
                "Python could not be asked whether this is a program",
                path,
                fix="check it with `python -m py_compile`",
            )
        elif program.error:
            yield Finding(
                "python-syntax",
                "error",
                f"Python cannot compile it: {program.error}",
                path,
                program.line,
                fix="mend it; `python -m py_compile` says more",
            )


def compiled(pack: Context) -> Mapping[str, Program]:
    """Return what Python says of each of the pack's files, asked once."""
    return pack.once(_compiled)


def _compiled(pack: Context) -> Mapping[str, Program]:
    files = {path: bytes_of(pack, path) for path in files_ending(pack, (".py",))}
    small = {path: data for path, data in files.items() if len(data) <= MAX_BYTES}
    return dict(zip(small, compile_python(list(small.values())), strict=True))
