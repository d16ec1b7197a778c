"""References that a pack of profile ``strict`` holds and does not list."""

import re
from typing import Final

from satchel.lint.fixes.page import Page, fixer
from satchel.spec import render_frontmatter
from satchel.spec.correcting import entry_text, set_entry

__all__ = ["unlisted_references"]

_FIELD: Final = "references"
_FOLDER: Final = "references/"
_IN_BRACKETS: Final = re.compile(r"(references[ \t]*:[ \t]*\[[^\[\]#\n]*)\]([^\n]*\n)")
_IN_LINES: Final = re.compile(
    r"references[ \t]*:[^\n\[]*\n(?:[ \t]*-[^\n]*\n)*([ \t]*)- "
)


@fixer(
    "unlisted-reference",
    keys=("references",),
    fields=("references", "declares_files"),
)
def unlisted_references(page: Page) -> str | None:
    """Put them at the end of the list, which is written the way it is now.

    Only where that profile was chosen: a list closes a pack on purpose, and whether a
    file belongs on it is for its author to say.
    """
    if page.profile != "strict":
        return None
    names = [path.removeprefix(_FOLDER) for path in _unlisted(page)]
    entry = entry_text(page.text, _FIELD)
    if entry is None:
        return None
    return set_entry(page.text, _FIELD, _with(entry, names)) if names else None


def _unlisted(page: Page) -> list[str]:
    declared = {*page.manifest.references}
    listed = declared | {f"{_FOLDER}{name}" for name in declared}
    return [
        path for path in page.files if path.startswith(_FOLDER) and path not in listed
    ]


def _with(entry: str, names: list[str]) -> str:
    """Return the entry with more names; in lines of its own where there is none."""
    items = [_item(name) for name in names]
    bracket = _IN_BRACKETS.fullmatch(entry)
    if bracket is not None:
        comma = "" if bracket[1].rstrip().endswith(("[", ",")) else ","
        pad = "" if bracket[1].endswith("[") else " "
        return f"{bracket[1].rstrip()}{comma}{pad}{', '.join(items)}]{bracket[2]}"
    lines = _IN_LINES.match(entry)
    margin = lines[1] if lines else "  "
    head = entry if lines else f"{_FIELD}:\n"
    return head + "".join(f"{margin}- {item}\n" for item in items)


def _item(name: str) -> str:
    """Return a name as YAML, in quotes where it needs them."""
    return render_frontmatter({"x": [name]}).splitlines()[2].removeprefix("  - ")
