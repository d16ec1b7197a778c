"""How scripts start and run: first lines, modes, prompts."""

import re
from collections.abc import Iterator
from functools import partial
from posixpath import basename, splitext
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding, Severity
from satchel.skill_md import first_request
from satchel.text import nearest
from satchel_lab.lint._context import (
    LintContext,
    body,
    bytes_of,
    is_template,
    rule,
    text_of,
)
from satchel_lab.lint._programs import shell_of
from satchel_lab.lint._review import review_table
from satchel_lab.lint._rules.syntax import compiled

_FIRST_LINE: Final = lazy_pattern(r"#![ \t]*(\S*)[ \t]*(.*?)\s*(?:\n|\Z)")
_NEARLY: Final = lazy_pattern(r"\s*(?:!#|#\s+!|#|\s#!)\s*(/\S*bin/\S.*?)\s*(?:\n|\Z)")
_LATER: Final = lazy_pattern(r"(?:[ \t]*(?:#[^\n]*)?\n){1,4}#!(/[^\n]*)")
_OF_ENV: Final = lazy_pattern(r"(-\S+\s+)*(?:\w+=\S*\s+)*(\S+)(\s+\S.*)?")
_VERSION: Final = lazy_pattern(r"(?<=[a-z])[\d.]+\Z")
_ENV: Final = "#!/usr/bin/env "
_CLOSE: Final = 0.75


@rule("script-not-executable", "script-start")
def script_start(pack: LintContext) -> Iterator[Finding]:
    """Yield each script whose first line, or mode, does not let it run."""
    for path in pack.descriptor.resources:
        usual = review_table()["programs"].get(splitext(path)[1].lower())
        text = text_of(pack, path) if usual and not is_template(path) else ""
        if not text:
            continue
        run_at = _run_at(pack, path)
        problem = _problem(text, path)
        is_missing = not problem and run_at and splitext(path)[1] and text[:2] != "#!"
        if is_missing:
            what = f"line {run_at} of SKILL.md starts it by its name, without `#!`"
            problem = what, f"{_ENV}{usual[-1]}"
        if problem:
            what, first = problem
            severity: Severity | None = "note" if is_missing else None
            at = "script-start", path, 1
            yield Finding.of(*at, severity=severity, problem=what, first=first)
        if run_at and not pack.may_run(path):
            yield Finding.of("script-not-executable", path, 1, at=run_at, path=path)


def _run_at(pack: LintContext, path: str) -> int:
    """Return the line of SKILL.md that runs a file by its own name; 0 for none."""
    word, (text, first) = review_table()["words"], body(pack)
    if path not in text:
        return 0
    # Before other scripts than those of a shell, models write the program themselves.
    asked = f"|{word['ordered']}" if path.endswith("sh") else ""
    # One pattern for all paths, and only for their lines.
    pattern = rf"(?:{word['started']}{asked})(?:\./)?\0(?![\w.-])"
    lines = enumerate(text.replace(path, "\0").split("\n"), start=first)
    runs = (at for at, line in lines if "\0" in line and re.search(pattern, line))
    return next(runs, 0)


def _problem(text: str, path: str) -> tuple[str, str] | None:
    """Return what is wrong with a first line, and the right one."""
    first = _FIRST_LINE.match(text)
    if first is None:
        if right := _NEARLY.match(text):
            return "its first line does not begin with `#!`", f"#!{right[1]}"
        right = _LATER.match(text)
        return (
            ("`#!` counts in the first line only", f"#!{right[1]}") if right else None
        )
    name = basename(first[1])
    if name == "env":
        given = _OF_ENV.match(first[2])
        if given is None or (given[3] and not given[1]):
            what = f"Linux takes {first[2]!r} for the name of one program"
            return what, f"{_ENV}-S {first[2] or 'PROGRAM'}"
        name = basename(given[2])
    elif not first[1].startswith("/"):
        what = f"{first[1]!r} is not the whole path of a program"
        return what, f"{_ENV}{name or 'PROGRAM'}"
    return _problem_of(name, text, splitext(path)[1].lower())


def _problem_of(name: str, text: str, ending: str) -> tuple[str, str] | None:
    """Return why a program does not run a script, and the right first line."""
    endings, kind = review_table()["programs"], _VERSION.sub("", name)
    programs = sorted({name for names in endings.values() for name in names})
    if kind not in programs:
        near = nearest(kind, programs, 1, _CLOSE)
        what = f"no program is called {name!r}"
        return (what, f"{_ENV}{near[0]}") if near else None
    if ending and kind not in endings[ending]:
        return f"{name} does not run {ending} files", f"{_ENV}{endings[ending][-1]}"
    # What dash, the `sh` of Debian and its kin, does not know.
    of_bash = re.search(review_table()["words"]["of_bash"], text)
    if of_bash is None or kind not in {"sh", "dash"}:
        return None
    at = text.count("\n", 0, of_bash.start(1)) + 1
    what = f"`{of_bash[1]}` in line {at} is of bash, and `{name}` may be another shell"
    return what, f"{_ENV}bash"


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


_READ: Final = lazy_pattern(rb"\bread[ \t]+-[a-zA-Z]*p\b")
# A comment, or a line that may feed what is read.
_FED: Final = lazy_pattern(rb"\A[ \t]*#|[|<]")


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


@rule("script-not-run")
def script_not_run(pack: LintContext) -> Iterator[Finding]:
    """Yield one note, on the first text that asks for scripts: Satchel runs none."""
    paths = pack.descriptor.resources
    file, asked = first_request(SKILL_FILE, partial(text_of, pack), paths)
    if asked:
        scripts = ", ".join(sorted(asked))
        yield Finding.of("script-not-run", file, min(asked.values()), scripts=scripts)
