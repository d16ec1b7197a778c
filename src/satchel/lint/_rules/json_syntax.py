"""Files named ``.json`` that are not valid JSON."""

import json
import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, bytes_of, files_ending, rule
from satchel.lint._programs import MAX_BYTES
from satchel.model import Finding

_WITH_COMMENTS: Final = re.compile(r"(?:\A|/)(?:[tj]sconfig[^/]*\.json|\.vscode/)")


@rule("json-syntax")
def json_syntax(pack: LintContext) -> Iterator[Finding]:
    """Yield each file named ``.json`` that no strict reader accepts."""
    for path in files_ending(pack, (".json",)):
        data = bytes_of(pack, path)
        if not data or len(data) > MAX_BYTES or _WITH_COMMENTS.search(path):
            continue
        line, problem = _problem(data)
        if problem:
            yield Finding.of("json-syntax", path, line, problem=problem)


class _NoNumberError(ValueError):
    """Python reads a word as a number, and no other reader does."""


def _refuse(word: str) -> None:
    raise _NoNumberError(word)


def _problem(data: bytes) -> tuple[int | None, str]:
    try:
        json.loads(data.decode("utf-8-sig"), parse_int=str, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except _NoNumberError as error:
        return None, f"{error} is not a number in JSON"
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except RecursionError:
        return None, "it is nested too deeply"
    return None, ""
