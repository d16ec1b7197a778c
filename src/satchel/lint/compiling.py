"""A program of its own, run by `programs`: compile Python files, and run none of them.

It stands apart because compiling is not safe with every text: some need gigabytes, or
end the interpreter. It imports nothing of Satchel, so that it starts in some
milliseconds, and is read by ``python -I -S``.

Its first line says that it is there: ``{}``. Each request on the standard input is a
line with the number of bytes, then the bytes. Each answer is one line of JSON:
``{"error": [line, message]}``, or where there is no error ``{"asks": [line, ...]}``,
the calls that wait for a person to type.
"""

import ast
import json
import sys
import warnings
from typing import BinaryIO, Final

__all__ = ["answer", "limit", "main", "serve"]

MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""Address space; a script of 1 MiB needs some 300 MiB."""
CPU_S: Final = 10
_CALLS: Final = frozenset(["input", "raw_input", "getpass", "getpass.getpass"])


def main() -> None:
    """Answer every request."""
    limit()
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one request after another, until there are no more."""
    warnings.simplefilter("ignore")
    answers.write(b"{}\n")
    while head := requests.readline():
        data = requests.read(int(head))
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
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (amount, amount))
        except (ValueError, OSError):  # a lower bound holds already, or none is known
            continue


def answer(data: bytes) -> dict[str, object]:
    """Return what is wrong with a Python file, or where it asks somebody."""
    try:
        tree = compile(data, "<file>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        # What the grammar lets pass: `return` outside a function, a name twice.
        compile(data, "<file>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return {"error": [error.lineno, error.msg]}
    except (RecursionError, MemoryError):
        return {"error": [None, "it is nested too deeply for Python"]}
    except (ValueError, OverflowError) as error:
        return {"error": [None, str(error)]}
    return {"asks": _asks(tree)}


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
