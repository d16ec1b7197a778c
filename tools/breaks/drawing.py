"""Draw one-line breaks from all rooms, with a seed."""

from __future__ import annotations

import ast
import json
import random
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from tools.adapters.frameworks import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FILE: Final = ROOT / "tests" / "record" / "breaks.jsonl"
_SOURCE: Final = ROOT / "src"
_COMPARED: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.In: (" in ", " not in "),
    ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "),
}


@dataclass(frozen=True, slots=True)
class Break:
    """One line of one file, as it is and as it is broken."""

    file: str
    line: int
    before: str
    after: str


def draw(seed: int, count: int) -> list[Break]:
    """Return ``count`` breaks: room by room in turn, a file, then a place in it."""
    chance = random.Random(seed)  # noqa: S311 - which lines are broken is no secret
    rooms = _rooms()
    names = sorted(rooms)
    chance.shuffle(names)
    drawn: list[Break] = []
    while len(drawn) < count:
        for name in names:
            candidates = list(_candidates(chance.choice(rooms[name])))
            if candidates and len(drawn) < count:
                found = chance.choice(candidates)
                if found not in drawn:
                    drawn.append(found)
    return drawn


def write(breaks: Iterable[Break]) -> None:
    """Write them, a line of JSON each."""
    lines = (f"{json.dumps(asdict(each))}\n" for each in breaks)
    FILE.write_text("".join(lines), "utf-8")


def read() -> list[Break]:
    """Return those that were written."""
    lines = FILE.read_text("utf-8").splitlines()
    return [Break(**json.loads(line)) for line in lines]


def _rooms() -> dict[str, list[Path]]:
    """Return the files of each room; a file of its own is a room."""
    rooms: dict[str, list[Path]] = {}
    for path in sorted(_SOURCE.rglob("*.py")):
        room = "/".join(path.relative_to(_SOURCE).parts[:2])
        if room != "satchel/packs" and path.read_text("utf-8").count("\n") > 10:  # noqa: PLR2004 - an empty __init__ holds nothing to break
            rooms.setdefault(room, []).append(path)
    return rooms


def _candidates(path: Path) -> Iterator[Break]:
    """Yield every break of one file that is one line, and compiles."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    file = path.relative_to(ROOT).as_posix()
    for node in _code(ast.parse(text)):
        number = getattr(node, "lineno", 0)
        if number != getattr(node, "end_lineno", 0) or not number:
            continue
        before = lines[number - 1]
        if not before.isascii():
            continue  # offsets of ast count bytes
        for after in _broken(node, before):
            changed = [*lines[: number - 1], after, *lines[number:]]
            if after != before and _compiles("\n".join(changed)):
                yield Break(file, number, before, after)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run: no annotation, docstring, import or member list."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom | ast.arguments):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.ClassDef) and any(
            ast.unparse(base).startswith("Protocol") for base in child.bases
        ):
            continue
        if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__all__":
            continue
        if isinstance(child, ast.AnnAssign):
            if child.value is not None:
                yield child.value
                yield from _code(child.value)
            continue
        yield child
        yield from _code(child)


def _broken(node: ast.AST, line: str) -> Iterator[str]:
    """Yield the line with the node broken; the node is on this line alone."""
    start = getattr(node, "col_offset", 0)
    end = getattr(node, "end_col_offset", 0)
    head, own, tail = line[:start], line[start:end], line[end:]
    if line.lstrip().startswith("@"):
        return  # slots and frozen are how a value is made, not what it does
    changed = _flipped(node, own) or _replaced(node)
    if changed:
        yield head + changed + tail


def _flipped(node: ast.AST, own: str) -> str:
    """Return the text of a condition turned round; empty for anything else."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            return own.replace(*_COMPARED[type(op)], 1)
        case ast.BoolOp(op=ast.And()):
            return own.replace(" and ", " or ", 1)
        case ast.BoolOp():
            return own.replace(" or ", " and ", 1)
        case ast.UnaryOp(op=ast.Not()):
            return own.removeprefix("not ")
        case _:
            return ""


def _replaced(node: ast.AST) -> str:
    """Return what stands for a value or a statement; empty where nothing can."""
    match node:
        case ast.Constant(value=bool() as flag):
            return str(not flag)
        case ast.Constant(value=int() as number):
            return str(number + 1)
        case ast.Return(value=ast.expr()):
            return "return None"
        case ast.Expr(value=ast.Call()):
            return "pass"
        case ast.IfExp():
            return ast.unparse(node.orelse)
        case _:
            return ""


def _compiles(text: str) -> bool:
    try:
        compile(text, "broken", "exec")
    except SyntaxError:
        return False
    return True
