"""Compile Python files without running them: a program of its own, see `_programs`.

Compiling is not safe with every text: some need gigabytes, or end the interpreter. The
program imports nothing of Satchel, so that it starts in some milliseconds, and runs as
``python -I -S``.

Its first line says that it runs: ``{}``. Each request on the standard input is a
line with the number of bytes, then the bytes. Each answer is one line of JSON:
``{"error": [line, message]}``, or where there is no error ``{"prompts": [line, ...]}``,
the calls that wait for a person to type. ``{}`` is the answer for a file that asks for
a later Python and does not compile with this one.
"""

import ast
import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import BinaryIO, Final

# Address space; a script of 1 MiB needs some 300 MiB.
MEMORY_BYTES: Final = 1024 * 1024 * 1024
# For one file.
CPU_S: Final = 10
# What inline metadata of a script asks for (PEP 723).
_REQUIRES: Final = re.compile(
    rb"^#[ \t]*requires-python[ \t]*=[ \t]*[\"'][^\"'\n]*"
    rb"(?:>=|~=|==|>)[ \t]*3\.(\d{1,3})",
    re.MULTILINE,
)
_CALLS: Final = frozenset(["input", "raw_input", "getpass", "getpass.getpass"])


def main() -> None:
    """Answer every request."""
    limit()
    serve(sys.stdin.buffer, sys.stdout.buffer, limit_time)


def serve(
    requests: BinaryIO, answers: BinaryIO, begin: Callable[[], None] = lambda: None
) -> None:
    """Answer each request; ``begin`` may limit the process before it."""
    warnings.simplefilter("ignore")
    answers.write(b"{}\n")
    answers.flush()
    while head := requests.readline():
        data = requests.read(int(head))
        begin()
        answers.write(json.dumps(answer(data)).encode() + b"\n")
        answers.flush()


def limit() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, amount in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (amount, amount))
        except (ValueError, OSError):  # a lower limit is in force, or none is known
            continue


def limit_time() -> None:
    """Give the next file its own time, however long the others took."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    # The limit counts from the start of the process, with all earlier files.
    until = int(time.process_time()) + CPU_S
    if most == resource.RLIM_INFINITY or until < most:
        # Only the soft limit: a hard one cannot be raised for the next file.
        resource.setrlimit(resource.RLIMIT_CPU, (until, most))


def answer(data: bytes) -> dict[str, object]:
    try:
        # Not only the grammar, which accepts `return` outside a function.
        compile(data, "<file>", "exec", dont_inherit=True)
        # Most files never prompt, and a tree of objects takes longer than compiling.
        prompts = _prompts(data) if b"input" in data or b"getpass" in data else []
    except SyntaxError as error:
        if _is_for_later(data):
            return {}
        return {"error": [error.lineno, error.msg]}
    except (RecursionError, MemoryError):
        return {"error": [None, "it is nested too deeply for Python"]}
    except (ValueError, OverflowError) as error:
        return {"error": [None, str(error)]}
    return {"prompts": prompts}


def _is_for_later(data: bytes) -> bool:
    asked = _REQUIRES.search(data)
    return asked is not None and int(asked[1]) > sys.version_info.minor


def _prompts(data: bytes) -> list[int]:
    tree = compile(data, "<file>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    # A file that defines its own `input` does not wait for a person there.
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return sorted(
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node.func) in _CALLS - own
    )


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


if __name__ == "__main__":
    main()
