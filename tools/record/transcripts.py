"""What is answered to scripts of questions: ``tests/record/questions``.

A script is Python, one statement a question. The value of an expression, what a
statement prints and what it raises are the answer; a statement that does none of these
is no question. Its source is the name of the question, so that one more question in
the middle changes no other. Each script runs in a folder of its own.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import sys
from collections import Counter
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

from satchel.errors import SkillError
from tools.adapters.frameworks import ROOT
from tools.record.answers import Answer, answer, shortened
from tools.record.asking import HELPERS, MARK, Answers

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Iterator,
        Mapping,
        Sequence,
        Set as AbstractSet,
    )
    from pathlib import Path

FOLDER: Final = ROOT / "tests" / "record" / "questions"
_NAME: Final = 80
"""Characters of a statement that name its question."""
_VARYING: Final = (
    (re.compile(r" at 0x[0-9a-f]+"), ""),
    (re.compile(r"((?:age|duration)_s['\"]?[:=] ?)[\d.e-]+"), r"\1<seconds>"),
    (re.compile(r"\b(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}\b"), r"\1:<port>"),
    (
        re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|\+00:00)?"),
        "<time>",
    ),
    (re.compile(re.escape(str(ROOT))), "<root>"),
)


def parts() -> dict[str, Callable[[Path, Mapping[str, Path]], Iterator[Answer]]]:
    """Return one part of the record for each script, in the order of their names."""
    scripts = sorted(FOLDER.glob("*.py"))
    return {f"{FOLDER.name}/{path.stem}": partial(_ask, path) for path in scripts}


def _ask(script: Path, home: Path, libraries: Mapping[str, Path]) -> Iterator[Answer]:
    folder = home / FOLDER.name / script.stem
    folder.mkdir(parents=True)
    os.chdir(folder)
    environment = dict(os.environ)
    kept = home / "state" / script.stem  # none sees what another one did
    os.environ |= {f"XDG_{kind}_HOME": str(kept / kind) for kind in ("STATE", "CACHE")}
    for case, said in _answers(script, libraries):
        text = _steady(said.replace(str(folder), "<here>"))
        yield shortened(answer(case, text, home))
    os.environ.clear()
    os.environ.update(environment)


def _steady(text: str) -> str:
    """Return an answer without what differs from run to run."""
    for pattern, placeholder in _VARYING:
        text = pattern.sub(placeholder, text)
    return text


def _answers(script: Path, libraries: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    source = script.read_text("utf-8")
    module = ModuleType(f"questions_{script.stem}")
    sys.modules[module.__name__] = module  # where a dataclass looks for its own
    names = vars(module)
    names |= {"libraries": libraries, **HELPERS}
    asked: Counter[str] = Counter()
    with asyncio.Runner() as runner:
        for statement in ast.parse(source).body:
            lines = (ast.get_source_segment(source, statement) or "").split()
            question = " ".join(lines)[:_NAME]
            for label, text in _said(statement, str(script), names, runner):
                case = _steady(f"{question} / {label}" if label else question)
                asked[case] += 1
                yield case if asked[case] == 1 else f"{case} #{asked[case]}", text


def _said(
    statement: ast.stmt, file: str, names: dict[str, Any], runner: asyncio.Runner
) -> Iterator[tuple[str, str]]:
    """Run one statement; yield what it answers, by label where it has several."""
    printed = io.StringIO()
    value: object = None
    failed = ""
    try:
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                code: Any = _compiled(ast.Expression(statement.value), file, "eval")
                value = eval(code, names)  # noqa: S307 - our own scripts
            else:
                code = _compiled(ast.Module([statement], []), file, "exec")
                value = eval(code, names)  # noqa: S307
            if inspect.iscoroutine(value):
                value = runner.run(value)
    except BaseException as error:  # what is raised is the answer
        if isinstance(error, KeyboardInterrupt):
            raise
        failed = raised(error)
    first, *sections = printed.getvalue().split(MARK)
    if first:
        yield "", first
    for section in sections:
        label, _, text = section.partition("\n")
        yield label, text
    if isinstance(value, Answers):
        yield from value
    elif value is not None:
        yield "", shown(value)
    if failed:
        yield "", failed


def _compiled(tree: ast.Expression | ast.Module, file: str, mode: str) -> object:
    return compile(tree, file, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def raised(error: BaseException) -> str:
    """Return the type, the code and the words of what was raised."""
    code = f" [{error.code}]" if isinstance(error, SkillError) else ""
    return f"raises {type(error).__name__}{code}: {error}"


def shown(value: object) -> str:
    """Return text as it is, lists of texts line by line, anything else as its repr."""
    plain = repr(value)
    if isinstance(value, str):
        return value or "''"
    if isinstance(value, (list, tuple)) and value:
        return "\n".join(map(shown, cast("Sequence[object]", value)))
    if isinstance(value, (set, frozenset)):
        members = map(repr, cast("AbstractSet[object]", value))
        return "{" + ", ".join(sorted(members)) + "}"
    return plain
