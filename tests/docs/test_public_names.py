"""Each public name is in a page, and the pages use public names alone."""

import re
from itertools import chain
from typing import Final

import satchel
from tools.api import API, ROOT

DOCS: Final = ROOT / "docs"
NAMES: Final = API.read_text("utf-8").split()
# They say what was, or are measured; a name that only they have is in no page.
RECORDS: Final = {
    *DOCS.glob("decisions/*.md"),
    DOCS / "benchmarks.md",
    DOCS / "contributing" / "requirements-coverage.md",
    *(
        DOCS / "reference" / f"{name}.md"
        for name in ("faults", "loader-findings", "moved", "truth-table")
    ),
}
_CODE: Final = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_IMPORT: Final = re.compile(
    r"^(?:>>> |> )?from (satchel[\w.]*) import (\([^)]*\)|[^\n]+)", re.MULTILINE
)
# How a page of contributors shows where a helper of this repository is.
INNER: Final = {DOCS / "contributing" / "command.md"}


def code_in_pages() -> str:
    """Return all that is written as code in the pages, one below the other."""
    pages = sorted({*DOCS.rglob("*.md")} - RECORDS)
    return "\n".join(
        chain.from_iterable(_CODE.findall(page.read_text("utf-8")) for page in pages)
    )


def test_each_public_name_is_in_a_page() -> None:
    """Write what it is for in docs/, or take it out of ``__all__``."""
    words = {*re.findall(r"\w+", code_in_pages())}

    assert [name for name in NAMES if name.rpartition(".")[2] not in words] == []


def test_pages_and_examples_import_public_names() -> None:
    """Promise the name, or write the page without it."""
    pages = {ROOT / "README.md", *DOCS.rglob("*.md")} - RECORDS - INNER
    earlier = {f"satchel.{name}" for name in vars(satchel)["_HOMES"]}
    imported = {
        f"{module}.{name.partition(' as ')[0].strip()}": page.name
        for page in [*pages, *ROOT.glob("examples/**/*.py")]
        for module, names in _IMPORT.findall(page.read_text("utf-8"))
        for name in re.split(r"[,\n]", re.sub(r"#.*|^> ", "", names.strip("()")))
        if name.strip()
    }

    assert {k: v for k, v in imported.items() if k not in {*NAMES, *earlier}} == {}
