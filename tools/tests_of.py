"""Print the test files of one product: ``python -m tools.tests_of satchel_store``.

`tests/products.toml` says which product a test belongs to. What of the heart takes
longer than a minute is named on the error stream, and left to ``make test``.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((ROOT / "tests" / "products.toml").read_text("utf-8"))


def test_files() -> list[str]:
    """Return every file with tests; `tests/cases` is input."""
    paths = (
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")
    )
    return sorted(path for path in paths if not path.startswith("tests/cases/"))


def product_of(file: str) -> str | None:
    """Return the product of a test file: that of the longest path that fits."""
    fitting = [
        (len(path), product)
        for product, row in _table().items()
        for path in row["paths"]
        if file.startswith(path)
    ]
    return max(fitting)[1] if fitting else None


def main() -> int:
    """Print the files, and what is left out."""
    product = sys.argv[1]
    if product not in _table():
        print(f"no product is called {product}: {', '.join(_table())}", file=sys.stderr)
        return 2
    files = [file for file in test_files() if product_of(file) == product]
    later = tuple(_table()[product].get("later", ()))
    now = [file for file in files if not (later and file.startswith(later))]
    print(*now)
    if later:
        left = f"{len(files) - len(now)} of its {len(files)} test files"
        where = ", ".join(later)
        print(f"{product}: left to `make test`: {left}, in {where}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
