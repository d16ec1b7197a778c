"""Programs and data that cannot be read: JSON, Python, and scripts of shells."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import Finding
from satchel_lab.lint._context import (
    LintContext,
    bytes_of,
    documents,
    is_template,
    once_per_pack,
    rule,
    text_of,
)
from satchel_lab.lint._programs import (
    MAX_BYTES,
    ProgramCheck,
    find_shell,
    is_python,
    not_checked,
    read_by_shell,
    shell_of,
    sound_scripts,
)

_WITH_COMMENTS: Final = lazy_pattern(r"(?:\A|/)(?:[tj]sconfig[^/]*\.json|\.vscode/)")
# What a template has in place of values.
_TO_FILL_IN: Final = lazy_pattern(rb"\{\{|\{%|<%|\$\{|\.\.\.")
_LAST_COMMA: Final = lazy_pattern(r",(?=\s*[}\]])")
_COMMA: Final = "a comma after the last item"


@rule("json-syntax")
def json_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield each file of JSON, and each block but for a comma, that nobody can read."""
    for path in pack.descriptor.resources:
        if path.lower().endswith((".json", ".jsonl")):
            yield from _in_file(path, bytes_of(pack, path))
    for path, page in documents(pack):
        blocks = [block for block in page.blocks if block.closed]
        lines = text_of(pack, path).split("\n") if blocks else []
        for block in blocks:
            text = "\n".join(lines[block.line : block.line + block.lines - 2])
            if block.info.lower() == "json" and _LAST_COMMA.search(text):
                line, problem = _problem_in_json(text.encode("utf-8", "replace"))
                if line and problem == _COMMA:
                    line += block.line
                    yield Finding.of("json-syntax", path, line, problem=problem)


def _in_file(path: str, data: bytes) -> Iterator[Finding]:
    if not data or len(data) > MAX_BYTES or _WITH_COMMENTS.search(path):
        return
    if is_template(path) and _TO_FILL_IN.search(data):
        return
    for number, part in enumerate(data.split(b"\n") if path[-1] in "lL" else [data]):
        line, problem = _problem_in_json(part) if part.strip() else (None, "")
        if problem:
            line = line and line + number
            yield Finding.of("json-syntax", path, line, problem=problem)
            return


class _NoNumberError(ValueError):
    """Python reads a word as a number, and no other reader does."""


def _refuse(word: str) -> None:
    raise _NoNumberError(word)


def _problem_in_json(data: bytes) -> tuple[int | None, str]:
    text = ""
    try:
        text = data.decode("utf-8-sig")
        _read_json(text)
    except json.JSONDecodeError as error:
        comma = _LAST_COMMA.search(text)
        try:
            _read_json(_LAST_COMMA.sub("", text))
        except (ValueError, RecursionError):
            return error.lineno, error.msg
        return (text.count("\n", 0, comma.start()) + 1 if comma else None), _COMMA
    except _NoNumberError as error:
        return None, f"{error} is not a number in JSON"
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except RecursionError:
        return None, "it is nested too deeply"
    return None, ""


def _read_json(text: str) -> None:
    json.loads(text, parse_int=str, parse_constant=_refuse)


# Errors that a later grammar lifts, and lines that begin as only that one has them.
_LIFTED: Final = (
    *("expected '('", "f-string", "iterable unpacking", "dict unpacking"),
    "multiple exception types",
)
_LATER: Final = lazy_pattern(r"\s*(?:type|lazy|class\s+\w+\[)|.*\b[tT][rR]?[\"']")
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
    line = "".join(text_of(pack, path).split("\n")[(program.line or 0) - 1 :][:1])
    may_be_later = program.error.startswith(_LIFTED) or (
        program.error == "invalid syntax" and _LATER.match(line)
    )
    return Finding.of(
        "python-syntax",
        path,
        program.line,
        severity="note" if may_be_later else None,
        sentence="later" if may_be_later else "",
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
    return dict(zip(small, pack.compile(list(small.values())), strict=True))


def _may_be_python(path: str) -> bool:
    """Judge by the name only, so that an image need not be read."""
    name = path.lower().rpartition("/")[2]
    return "." not in name or name.endswith((".py", ".pyw"))


# Scripts without an answer, after which no shell is asked any more.
_MOST_UNCHECKED: Final = 2


@rule("program-not-checked", "shell-syntax")
def shell_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield each script in which its shell finds an error; none is run."""
    unchecked: list[str] = []
    for path, shell, data in _scripts(pack):
        if data in pack.sound:
            continue
        # Each script without an answer may have taken the whole time that one has.
        command = find_shell(shell) if len(unchecked) < _MOST_UNCHECKED else ""
        program = read_by_shell(command, data) if command else None
        if program is None or not program.checked:
            unchecked.append(path)
        elif program.error:
            at = "shell-syntax", path, program.line
            yield Finding.of(*at, shell=shell, error=program.error, path=path)
    if unchecked:
        yield not_checked(unchecked, "shell")


@once_per_pack
def _scripts(pack: LintContext) -> tuple[tuple[str, str, bytes], ...]:
    """Return the path, the shell and the text of each script."""
    # By the name first, so that an image need not be read.
    files = (
        (path, bytes_of(pack, path))
        for path in pack.descriptor.resources
        if "." not in path.rpartition("/")[2] or path.endswith((".sh", ".bash"))
    )
    scripts = ((path, shell_of(path, data), data) for path, data in files)
    return tuple(
        script
        for script in scripts
        if script[1] and len(script[2]) <= MAX_BYTES and not is_template(script[0])
    )


def sound_in(packs: Iterable[LintContext]) -> frozenset[bytes]:
    """Return the scripts of packs in which no shell finds an error."""
    by_command: dict[str, dict[bytes, None]] = {}
    for _, shell, data in (script for pack in packs for script in _scripts(pack)):
        if command := find_shell(shell):
            by_command.setdefault(command, {})[data] = None
    sound: frozenset[bytes] = frozenset()
    return sound.union(*(sound_scripts(*scripts) for scripts in by_command.items()))
