"""What a fixer is given, and what a fixer is."""

from collections.abc import Callable
from dataclasses import dataclass

from satchel.model import DEFAULT_LIMITS, Limits, Manifest
from satchel.spec import Profile

__all__ = ["Fixer", "Page", "fixer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A SKILL.md that is to be mended.

    ``manifest`` is what a lenient reader makes of ``text``, ``files`` the paths of what
    else the pack holds.
    """

    text: str
    folder: str
    manifest: Manifest
    files: tuple[str, ...] = ()
    profile: Profile = "spec"
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Fixer:
    """A function from a page to its text without some findings; None where it cannot.

    ``codes`` are those of the findings that it is for. ``keys`` are those of the
    frontmatter that it may write differently, and ``fields`` what a manifest may say
    differently afterwards; all others stay what they are, which is checked. ``partly``
    is that some of these findings may stay, as they may be of another kind.
    """

    mend: Callable[[Page], str | None]
    codes: frozenset[str]
    keys: frozenset[str]
    fields: frozenset[str]
    partly: bool = False

    @property
    def name(self) -> str:
        """The name of its function, which is that of its file."""
        return self.mend.__name__


def fixer(
    *codes: str,
    keys: tuple[str, ...] = (),
    fields: tuple[str, ...] = (),
    partly: bool = False,
) -> Callable[[Callable[[Page], str | None]], Fixer]:
    """Make a fixer of a function."""

    def make(mend: Callable[[Page], str | None]) -> Fixer:
        return Fixer(mend, frozenset(codes), frozenset(keys), frozenset(fields), partly)

    return make
