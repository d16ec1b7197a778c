"""The pages of the public modules, which Sphinx fills from their docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import TYPE_CHECKING, Final

from tools.api import names_of, public_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

SRC: Final = Path(__file__).parents[2] / "src"
ADAPTERS: Final = SRC / "satchel" / "adapters"

_VALUE_CHARS: Final = 300
"""A longer value of a constant is no help to a reader."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the page of each public module.

    What several modules offer is described once, in the first of them; the front door
    comes first. The others link to it.
    """
    described: dict[int, str] = {}
    for module in sorted(filter(names_of, public_modules())):
        if module.startswith("satchel.adapters."):
            tree = _tree(module)
            aliases = [name for name in _public(tree) if _value(tree, name)]
            yield module, _page(module, {}, aliases)
            continue
        door = importlib.import_module(module)
        elsewhere: dict[str, str] = {}
        constants: list[str] = []
        for name in door.__all__:
            each = getattr(door, name)
            if inspect.isclass(each) or inspect.isfunction(each):
                first = described.setdefault(id(each), module)
                if first != module:
                    elsewhere[name] = first
            elif not isinstance(each, ModuleType):
                constants.append(name)
        yield module, _page(module, elsewhere, constants)


def with_code_blocks(docstring: str) -> str:
    """Mark the indented examples of a module's docstring as code, for Sphinx."""
    paragraphs: list[str] = []
    for each in docstring.split("\n\n"):
        before = paragraphs[-1] if paragraphs else ""
        if each.startswith("    ") and not before.startswith("    "):
            paragraphs += [] if before.endswith("::") else ["::"]
        paragraphs.append(each)
    return "\n\n".join(paragraphs)


def _page(module: str, elsewhere: dict[str, str], constants: list[str]) -> str:
    """Return a page; autodoc says nothing of a constant that a door imports."""
    excluded = ", ".join([*elsewhere, *constants])
    lines = [
        f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n",
        "   :members:\n   :undoc-members:\n   :show-inheritance:\n",
        f"   :exclude-members: {excluded}\n" if excluded else "",
        # The function of this name that its door has is at this address already.
        "   :no-index:\n" if module.rpartition(".")[2] in elsewhere else "",
        *(_constant_entry(module, name) for name in constants),
        "```\n",
    ]
    if elsewhere:
        lines.append("\nAlso here, and described where they are linked:\n\n")
        for name, first in elsewhere.items():
            lines.append(f"- {{py:obj}}`{name} <{first}.{name}>`\n")
    return "".join(lines)


def _constant_entry(module: str, name: str) -> str:
    value, text = _described(module, name)
    said = f"\n{indent(text, '   ')}\n" if text else ""
    shown = f"   :value: {value}\n" if value and len(value) <= _VALUE_CHARS else ""
    return f"\n.. py:data:: {name}\n   :no-index-entry:\n{shown}{said}"


def _described(module: str, name: str) -> tuple[str, str]:
    """Return the value and the docstring of a name, from where it is written."""
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and name in _imported(node):
            return _described(node.module or "", name)
    for node, after in zip(tree.body, [*tree.body[1:], ast.Pass()], strict=True):
        if isinstance(node, _Definition) and node.name == name:
            return "", (ast.get_docstring(node) or "").partition("\n\n")[0]
        if isinstance(node, ast.Assign | ast.AnnAssign) and _value_of(node, name):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = inspect.cleandoc(str(after.value.value))
            return " ".join(_value_of(node, name).split()), text
    raise LookupError(f"{module}.{name}: nothing of that name is written there")


def _imported(node: ast.ImportFrom) -> set[str]:
    return {each.asname or each.name for each in node.names}


def _value_of(node: ast.stmt, name: str) -> str:
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
        return ast.unparse(node.value) if node.value else ""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
        return ast.unparse(node.value)
    return ""


def _value(tree: ast.Module, name: str) -> str:
    return "".join(_value_of(node, name) for node in tree.body)


def _tree(module: str) -> ast.Module:
    path = SRC.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text("utf-8"))


def _public(tree: ast.Module) -> list[str]:
    names: list[str] = ast.literal_eval(_value(tree, "__all__"))
    return names


def adapter_outlines() -> Iterator[tuple[str, str]]:
    """Yield the name of each adapter, and Python that has its public names.

    No framework is installed where the site is made, so the modules cannot be imported.
    What is left of them is docstrings and signatures.
    """
    for path in sorted(ADAPTERS.glob("[a-z]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names = _public(tree)
        defined = [
            node
            for node in tree.body
            if isinstance(node, _Definition) and node.name in names
        ]
        lines = [
            "from __future__ import annotations",
            f"__doc__ = {ast.get_docstring(tree)!r}",
            f"__all__ = {[node.name for node in defined]!r}",
            *(ast.unparse(_outline(node)) for node in defined),
        ]
        yield path.stem, "\n".join(lines)


def _outline(node: _Definition) -> _Definition:
    """Strip a definition of what needs other modules: bases, defaults, bodies."""
    body: list[ast.stmt] = [ast.Expr(ast.Constant(ast.get_docstring(node) or ""))]
    node.decorator_list = []
    if isinstance(node, ast.ClassDef):
        node.bases, node.keywords = [], []
        body += [
            _outline(each)
            for each in node.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            and not each.name.startswith("_")
            and ast.get_docstring(each)
        ]
    else:
        given = node.args
        given.defaults = [_constant(each) for each in given.defaults]
        given.kw_defaults = [each and _constant(each) for each in given.kw_defaults]
    node.body = body
    return node


def _constant(default: ast.expr) -> ast.expr:
    """Return a default that needs no name of the module."""
    return default if isinstance(default, ast.Constant) else ast.Constant(...)
