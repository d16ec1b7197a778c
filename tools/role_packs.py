"""Write what the role packs give, for people and for tests.

That is the table in docs/reference/role-packs.md; and below tests/cases/role-packs the
index of all packs, byte for byte, and the digest of every result that a load tool gives
of them. Run as ``python -m tools.role_packs``, or ``make generate``.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from satchel import Satchel, sources
from satchel.text import EstimateCounter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from satchel.model import Descriptor, Style

__all__ = ["INDEX", "PAGE", "RESULTS", "render_index", "render_page", "render_results"]

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "role-packs.md"
INDEX: Final = ROOT / "tests" / "cases" / "role-packs" / "index.txt"
RESULTS: Final = ROOT / "tests" / "cases" / "role-packs" / "results.txt"

_TABLE: Final = re.compile(
    r"(?<=<!-- made by python -m tools\.role_packs -->\n).*?(?=\n<!-- end -->)",
    re.DOTALL,
)


def render_index(skills: Satchel) -> str:
    """Return the plain index of all packs, as it stands in a role's prompt."""
    return str(skills.prompt(format="markdown"))


def render_results(skills: Satchel) -> str:
    """Return a line for each result: its SHA-256, the style, the pack, the file.

    The first line of a pack has the digest of its files instead.
    """
    return "".join(
        line
        for entry in skills.catalog
        for line in (
            f"{skills.digest(entry.id)}  tree  {entry.id}\n",
            *_results(skills, entry),
        )
    )


def render_page(page: str, skills: Satchel) -> str:
    """Return the page with its table made again.

    Raises:
        ValueError: The page has lost the two comments around the table.
    """
    if not _TABLE.search(page):
        raise ValueError(f"{PAGE.name}: no table between its two comments")
    return _TABLE.sub(lambda _: _table(skills), page)


def _results(skills: Satchel, entry: Descriptor) -> Iterator[str]:
    for style, name, arguments, file in _calls(entry):
        session = skills.session(style=style)  # fresh: nothing is "loaded already"
        result = session.call(name, arguments)
        text = result if isinstance(result, str) else json.dumps(result, sort_keys=True)
        digest = sha256(str(text).encode()).hexdigest()
        yield f"{digest}  {style}  {entry.id}{file and f' {file}'}\n"


def _calls(entry: Descriptor) -> Iterator[tuple[Style, str, Mapping[str, str], str]]:
    yield "agent-skills", "load_skill", {"skill_id": entry.id}, ""
    yield "packs", "load_skill", {"name": entry.id}, ""
    yield "references", "load_skill_instructions", {"skill_name": entry.id}, ""
    for path in entry.resources:
        asked = {"skill_id": entry.id, "path": path}
        yield "agent-skills", "read_skill_file", asked, path
        if path in entry.assets:
            yield "packs", "read_skill_file", {"name": entry.id, "path": path}, path
        else:
            kind = "script" if path in entry.scripts else "reference"
            yield "packs", "load_skill", {"name": entry.id, kind: path}, path
        asked = {"skill_name": entry.id, "reference": path}
        yield "references", "load_skill_instructions", asked, path


def _table(skills: Satchel) -> str:
    count = EstimateCounter().count
    rows = [
        "| role | what it does, and when | files | index | body | all files |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    totals = [0, 0, 0]
    for entry in skills.catalog:
        names = ", ".join(f"`{path.partition('/')[2]}`" for path in entry.resources)
        costs = [
            count(f"- {entry.id}: {entry.description}\n"),
            count(skills.load(entry.id).body),
            sum(count(skills.load(entry.id, path).text) for path in entry.resources),
        ]
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
        numbers = " | ".join(f"{cost:,}" for cost in costs)
        rows.append(f"| `{entry.id}` | {entry.description} | {names} | {numbers} |")
    numbers = " | ".join(f"{total:,}" for total in totals)
    rows.append(f"| all {len(skills.catalog)} | | | {numbers} |")
    return "\n".join(rows)


def main() -> None:
    """Write the three files."""
    skills = Satchel(sources.roles())
    made = {
        INDEX: render_index(skills),
        RESULTS: render_results(skills),
        PAGE: render_page(PAGE.read_text("utf-8"), skills),
    }
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
