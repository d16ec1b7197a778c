"""The pages of codes, and what each code means."""

from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from satchel.errors import SkillError
from satchel.model import code_entry, codes


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


def read_page(code: str) -> str:
    """Return the page of a code, in Markdown.

    Raises:
        UnknownCodeError: There is none; with close codes.
    """
    # So that no path, such as `../x`, is read as a page.
    if code not in codes():
        raise UnknownCodeError(code, tuple(get_close_matches(code, codes())))
    return code_entry(code).page


def page_file(code: str) -> str | None:
    """Return the path of a code's page; None without one, or in a zip file."""
    file = files("satchel") / "codes" / f"{code}.md"
    return str(file) if code in codes() and isinstance(file, Path) else None


def title_of(code: str) -> str:
    """Return what a code means: the first paragraph of its page, on one line.

    Raises:
        UnknownCodeError: It has no page.
    """
    _, _, rest = read_page(code).partition("\n\n")
    return " ".join(rest.partition("\n\n")[0].split())
