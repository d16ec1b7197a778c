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

import faulthandler
import sys
import time
import warnings

TYPE_CHECKING = False  # the module that has it takes as long as the start
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable
    from typing import BinaryIO

# Address space; a script of 1 MiB needs some 300 MiB.
MEMORY_BYTES = 1024 * 1024 * 1024
# For one file: of the processor, and by the clock.
CPU_S = 10
CLOCK_S = 20
# What inline metadata of a script asks for (PEP 723).
_REQUIRES = (
    rb"(?m)^#[ \t]*requires-python[ \t]*=[ \t]*[\"'][^\"'\n]*"
    rb"(?:>=|~=|==|>)[ \t]*3\.(\d{1,3})"
)
_CALLS = frozenset(["input", "raw_input", "getpass", "getpass.getpass"])


def main() -> None:
    """Answer every request."""
    limit()
    serve(sys.stdin.buffer, sys.stdout.buffer, limit_time)


def serve(
    requests: "BinaryIO",
    answers: "BinaryIO",
    begin: "Callable[[], None]" = lambda: None,
) -> None:
    """Answer each request; ``begin`` may limit the process before it."""
    warnings.simplefilter("ignore")
    answers.write(b"{}\n")
    answers.flush()
    while head := requests.readline():
        data = requests.read(int(head))
        begin()
        answers.write(as_json(answer(data)) + b"\n")
        answers.flush()


def as_json(answer: dict[str, object]) -> bytes:
    if answer == {"prompts": []}:  # most files: no import for them
        return b'{"prompts": []}'
    import json

    return json.dumps(answer).encode()


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
    # Ends the process with status 1 from a thread that compiling does not hold up.
    faulthandler.dump_traceback_later(CLOCK_S, exit=True)
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
    import re

    asked = re.search(_REQUIRES, data)
    return asked is not None and int(asked[1]) > sys.version_info.minor


def _prompts(data: bytes) -> list[int]:
    import ast

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


def _name(node: "ast.expr") -> str:
    import ast

    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


if __name__ == "__main__":
    main()
