"""Write which test covers which row, docs/contributing/requirements-coverage.md.

A test names its rows with ``@pytest.mark.row("A01", "C05")``: on a function, on a
class, on one parameter, or for a whole file as ``pytestmark``. The marks are read from
the source, so that a test that is skipped here counts, and nothing is imported.

Run as ``python -m tools.rows``, or ``make generate``.
"""

from __future__ import annotations

import ast
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = ROOT / "tests"
ROWS: Final = TESTS / "rows.toml"
PAGE: Final = ROOT / "docs" / "contributing" / "requirements-coverage.md"

DUE: Final = {
    "spine": "From packs on the machine to a prompt and a load tool",
    "tools": "Skills that carry tools",
    "serve": "Serving, and what was used",
    "authors": "For authors and teams",
    "right": "Never wrong, never silent",
    "later": "No date yet",
}

_HEAD: Final = """\
# Requirements coverage

Made by `make generate` from `tests/rows.toml` and the `row` marks of the tests; not
edited by hand. A row without a test is open.
"""

_MARK: Final = "pytest.mark.row"


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: its title in short, and a key of `DUE`."""

    id: str
    due: str
    title: str


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """One row named by one test, class or file of tests."""

    row: str
    path: str
    line: int
    test: str


def read_rows(path: Path = ROWS) -> tuple[Row, ...]:
    """Return the rows in the order of the file.

    Raises:
        ValueError: A row is due at a time that `DUE` does not know.
    """
    table = tomllib.loads(path.read_text("utf-8"))
    rows = tuple(Row(id, row["due"], row["title"]) for id, row in table.items())
    if unknown := {row.due for row in rows} - DUE.keys():
        raise ValueError(f"{path.name}: not a due time: {sorted(unknown)}")
    return rows


def read_marks(tests: Path = TESTS) -> tuple[Mark, ...]:
    """Return every row mark under ``tests``, sorted by row and place.

    ``tests/cases`` is input, not tests, and is left out.
    """
    cases = tests / "cases"
    return tuple(
        sorted(
            mark
            for path in tests.rglob("test_*.py")
            if cases not in path.parents
            for mark in parse_marks(
                path.read_text("utf-8"), path.relative_to(tests.parent).as_posix()
            )
        )
    )


def parse_marks(source: str, path: str) -> Iterator[Mark]:
    """Yield the row marks of one file of tests.

    Raises:
        TypeError: A mark names a row by anything but a literal string.
    """
    if _MARK not in source:
        return  # most files have none, and need not be parsed
    module = ast.parse(source, path)
    for call, test in _marks(module, ""):
        for argument in call.args:
            if not (
                isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ):
                raise TypeError(f"{path}:{call.lineno}: a row is a literal string")
            yield Mark(argument.value, path, call.lineno, test)


def _marks(node: ast.AST, test: str) -> Iterator[tuple[ast.Call, str]]:
    """Yield each call of the mark below ``node`` with the test it stands at."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _marks(child, f"{test}.{child.name}".lstrip("."))
            continue
        if (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Attribute)
            and child.func.attr == "row"  # which most are not, and soon seen
            and ast.unparse(child.func) == _MARK
        ):
            yield child, test
        yield from _marks(child, test)


def render_page(rows: Sequence[Row], marks: Sequence[Mark]) -> str:
    """Return the page: one table for each due time, one line for each row."""
    covered: dict[str, dict[str, None]] = defaultdict(dict)
    for mark in marks:
        covered[mark.row].setdefault(_link(mark))
    parts = [_HEAD, _summary(rows, covered)]
    for due, title in DUE.items():
        lines = [
            f"| {row.id} | {row.title} | {'<br>'.join(covered.get(row.id, ['open']))} |"
            for row in rows
            if row.due == due
        ]
        table = "\n".join(["| row | asks | tests |", "|---|---|---|", *lines])
        parts.append(f"## {title}\n\n{table}\n")
    return "\n".join(parts)


def _link(mark: Mark) -> str:
    name = mark.test or Path(mark.path).name
    return f"[`{name}`](../../{mark.path})"


def _summary(rows: Sequence[Row], covered: Mapping[str, object]) -> str:
    lines = ["| due | rows | with a test | open |", "|---|---|---|---|"]
    for due, title in DUE.items():
        ids = [row.id for row in rows if row.due == due]
        tested = sum(id in covered for id in ids)
        lines.append(f"| {title} | {len(ids)} | {tested} | {len(ids) - tested} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(render_page(read_rows(), read_marks()), "utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
