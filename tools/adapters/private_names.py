"""Which names a framework keeps to itself that its adapter needs all the same."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["private_names"]


def private_names(source: str) -> list[str]:
    """Return the private names of others that a module uses or overrides, sorted.

    These are attributes of other objects than ``self``; those that it takes by
    ``super()`` or ``getattr``; what it reads of itself and has not defined, for that is
    inherited; and what its classes define and it never reads: that is there for the
    framework.
    """
    tree = ast.parse(source)
    made, held, read, others = set[str](), set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            made.update(_methods(node))
            held.update(_fields(node))
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            if isinstance(node.ctx, ast.Store):
                held.add(node.attr)
            elif isinstance(node.value, ast.Call) and _is_name(
                node.value.func, "super"
            ):
                others.add(node.attr)
            else:
                read.add(node.attr)
                others.update([] if _is_self(node.value) else [node.attr])
        elif (name := _taken_by_name(node)) and _is_private(name):
            others.add(name)
    return sorted((others - held) | ((made | held) ^ read))


def _methods(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from filter(_is_private, [each.name])


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield from filter(_is_private, [each.target.id])


def _taken_by_name(node: ast.AST) -> str:
    """Return the name of an attribute that is taken by a text."""
    match node:
        case ast.Call(
            ast.Name("getattr" | "setattr"), [_, ast.Constant(str(name)), *_]
        ):
            return name
        case _:
            return ""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
