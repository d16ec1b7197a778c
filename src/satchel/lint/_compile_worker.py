"""A program of its own, run by `programs`: compile Python files, and run none of them.

It stands apart because compiling is not safe with every text: some need gigabytes, or
end the interpreter. It imports nothing of Satchel, so that it starts in some
milliseconds, and is read by ``python -I -S``.

Its first line says that it is there: ``{}``. Each request on the standard input is a
line with the number of bytes, then the bytes. Each answer is one line of JSON:
``{"error": [line, message]}``, or where there is no error ``{"asks": [line, ...]}``,
the calls that wait for a person to type. ``{}`` is the answer where the file says that
it is for a later Python, and this one cannot compile it.
"""

import ast
import json
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import BinaryIO, Final

MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""Address space; a script of 1 MiB needs some 300 MiB."""
CPU_S: Final = 10
"""For one file."""
_REQUIRES: Final = re.compile(
    rb"^#[ \t]*requires-python[ \t]*=[ \t]*[\"'][^\"'\n]*"
    rb"(?:>=|~=|==|>)[ \t]*3\.(\d{1,3})",
    re.MULTILINE,
)
"""What inline metadata of a script asks for (PEP 723)."""
_CALLS: Final = frozenset(["input", "raw_input", "getpass", "getpass.getpass"])


def main() -> None:
    """Answer every request."""
    limit()
    serve(sys.stdin.buffer, sys.stdout.buffer, limit_time)


def serve(
    requests: BinaryIO, answers: BinaryIO, begin: Callable[[], None] = lambda: None
) -> None:
    """Answer one request after another, until there are no more.

    ``begin`` is called before each: it may bound the process, which is not done unasked
    to a process that is not this program.
    """
    warnings.simplefilter("ignore")
    answers.write(b"{}\n")
    answers.flush()
    while head := requests.readline():
        data = requests.read(int(head))
        begin()
        answers.write(json.dumps(answer(data)).encode() + b"\n")
        answers.flush()


def limit() -> None:
    """Bound what this process may use, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, amount in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (amount, amount))
        except (ValueError, OSError):  # a lower bound holds already, or none is known
            continue


def limit_time() -> None:
    """Give the next file its own time, whatever those before it took."""
    try:
        import resource
    except ImportError:  # Windows
        return
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(time.process_time()) + CPU_S
    if most == resource.RLIM_INFINITY or wanted < most:
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, most))


def answer(data: bytes) -> dict[str, object]:
    """Return what is wrong with a Python file, or where it asks somebody."""
    try:
        # Not the grammar alone, which lets pass `return` outside a function.
        compile(data, "<file>", "exec", dont_inherit=True)
        # Most files ask nobody, and a tree of objects takes longer than compiling.
        asks = _asks(_tree(data)) if b"input" in data or b"getpass" in data else []
    except SyntaxError as error:
        if _is_for_later(data):
            return {}
        return {"error": [error.lineno, error.msg]}
    except (RecursionError, MemoryError):
        return {"error": [None, "it is nested too deeply for Python"]}
    except (ValueError, OverflowError) as error:
        return {"error": [None, str(error)]}
    return {"asks": asks}


def _is_for_later(data: bytes) -> bool:
    asked = _REQUIRES.search(data)
    return asked is not None and int(asked[1]) > sys.version_info.minor


def _tree(data: bytes) -> ast.AST:
    return compile(data, "<file>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)


def _asks(tree: ast.AST) -> list[int]:
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
