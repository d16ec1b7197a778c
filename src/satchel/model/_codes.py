"""The table of codes: a page for each, in Markdown."""

from functools import cache
from importlib.resources import files

from satchel.errors import SkillError


class UnknownCodeError(SkillError, LookupError):
    """No page explains this code."""

    code = "unknown-code"

    def __init__(self, wanted: str, close: tuple[str, ...] = ()) -> None:
        """Keep the code as it was asked for, and close ones."""
        super().__init__(wanted, close)
        self.wanted = wanted
        self.close = close

    def __str__(self) -> str:
        """Return a sentence, with close codes where there are any."""
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no code {self.wanted!r}{close}"


@cache
def codes() -> tuple[str, ...]:
    """Return every code that has a page, sorted."""
    names = (page.name for page in files("satchel.lint").joinpath("pages").iterdir())
    return tuple(sorted(name[:-3] for name in names if name.endswith(".md")))


def read_page(code: str) -> str:
    """Return the page of a code, in Markdown.

    Raises:
        UnknownCodeError: There is none.
    """
    if code not in codes():
        from difflib import get_close_matches

        raise UnknownCodeError(code, tuple(get_close_matches(code, codes())))
    return files("satchel.lint").joinpath("pages", f"{code}.md").read_text("utf-8")


def title_of(code: str) -> str:
    """Return what a code means: the first paragraph of its page, on one line.

    Raises:
        UnknownCodeError: It has no page.
    """
    _, _, rest = read_page(code).partition("\n\n")
    return " ".join(rest.partition("\n\n")[0].split())
