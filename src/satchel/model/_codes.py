"""The table of codes: what each means, how severe it is, what it says, what to do.

Each code has a file, ``satchel/codes/CODE.md``; see docs/contributing/lint-rule.md.
"""

import os
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from satchel.errors import SkillError

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from zipimport import zipimporter

# The import of pathlib takes longer than that of all values in this room.
# Read through the loader, for the package may be in a zip file.
_FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "codes")  # noqa: PTH118, PTH120
_FENCE: Final = "---\n"


class UnknownCodeError(SkillError, LookupError):
    """No page explains this code."""

    code = "unknown-code"

    def __init__(self, requested: str, close: tuple[str, ...] = ()) -> None:
        super().__init__(requested, close)
        self.requested = requested
        self.close = close

    def __str__(self) -> str:
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no code {self.requested!r}{close}"


class CodeEntry(NamedTuple):
    """One code; the default severity is first, the usual sentence has no name."""

    code: str
    severities: tuple[str, ...]
    messages: dict[str, str]
    fixes: dict[str, str]
    page: str


# The head of a page has `severity` (the default first), `message` and `fix`, and
# `message.NAME` for other sentences. An indented line continues the one above. An error
# that is raised has a severity only: its class makes the sentence.
@cache
def code_entry(code: str) -> CodeEntry:
    """Return the entry of a code; `OSError` where the table has none."""
    loader = cast("FileLoader | zipimporter", __spec__.loader)
    text = loader.get_data(os.path.join(_FOLDER, f"{code}.md")).decode()  # noqa: PTH118
    whole = text.replace("\r\n", "\n").removeprefix(_FENCE)
    head, _, page = whole.partition(f"\n{_FENCE}")
    fields: dict[str, str] = {}
    for line in head.replace("\n  ", " ").splitlines():
        key, _, value = line.partition(": ")
        fields[key] = value
    return CodeEntry(
        code,
        tuple(fields["severity"].split(", ")),
        _variants(fields, "message"),
        _variants(fields, "fix"),
        page,
    )


def _variants(fields: dict[str, str], kind: str) -> dict[str, str]:
    return {
        key.removeprefix(kind).removeprefix("."): value
        for key, value in fields.items()
        if key.partition(".")[0] == kind
    }


@cache
def codes() -> tuple[str, ...]:
    """Return every code, sorted."""
    from importlib.resources import files

    pages = files("satchel").joinpath("codes").iterdir()
    return tuple(sorted(page.name[:-3] for page in pages if page.name.endswith(".md")))


def read_page(code: str) -> str:
    """Return the page of a code, in Markdown.

    Raises:
        UnknownCodeError: There is none; with close codes.
    """
    # So that no path, such as `../x`, is read as a page.
    if code not in codes():
        from difflib import get_close_matches

        raise UnknownCodeError(code, tuple(get_close_matches(code, codes())))
    return code_entry(code).page


def page_file(code: str) -> str | None:
    """Return the path of a code's page; None without one, or in a zip file."""
    file = os.path.join(_FOLDER, f"{code}.md")  # noqa: PTH118
    return file if code in codes() and os.path.isfile(file) else None  # noqa: PTH113


def title_of(code: str) -> str:
    """Return what a code means: the first paragraph of its page, on one line.

    Raises:
        UnknownCodeError: It has no page.
    """
    _, _, rest = read_page(code).partition("\n\n")
    return " ".join(rest.partition("\n\n")[0].split())
