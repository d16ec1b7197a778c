"""Write the table of docs/reference/lint-rules.md from the heads of the codes' pages.

Run as ``python -m tools.lint_rules``, or ``make generate``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from satchel.model import code_entry
from satchel_lab._pages import title_of
from satchel_lab.lint import FIXABLE, ON_REQUEST, RULES

__all__ = ["PAGE", "render"]

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "lint-rules.md"
_ROWS: Final = re.compile(r"(?<=\|---\|---\|---\|---\|\n)(?:\| `[^\n]*\n)*")


def render() -> str:
    """Return the page with a row for each code of a rule: severity, fix, meaning."""
    rows = "".join(
        f"| `{code}` | {', '.join(code_entry(code).severities)}"
        f"{', when asked' if code in ON_REQUEST else ''} "
        f"| {'yes' if code in FIXABLE else ''} | {title_of(code)} |\n"
        for code in sorted({code for rule in RULES for code in rule.codes})
    )
    return _ROWS.sub(lambda _: rows, PAGE.read_text("utf-8"), count=1)


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8", newline="\n")
