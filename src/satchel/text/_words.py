"""Words: which tell nothing about a text, and which are near to one another."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

STOP_WORDS: Final = frozenset(
    (  # noqa: SIM905 - ninety lines of one word each would read worse
        "a about after all also am an and any are as at be been but by can could did "
        "do does for from get had has have he her here him his how i if in into is it "
        "its just me my no not now of off on only or our out please she should so some "
        "such than that the their them then there these they this to too up us use "
        "using very want was we were what when where which who why will with would you "
        "your"
    ).split()
)


# Letters of other alphabets that look like a Latin one, and that one.
_LOOKS: Final = str.maketrans(
    "\u0430\u0441\u0501\u0435\u0455\u0456\u0458\u043a\u043e\u0440\u0443\u0445"
    "\u03b1\u03b9\u03ba\u03bd\u03bf\u03c1\u03c5\u0261\u0131\u051b\u051d\u04bb"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "acdesijkopyxaikvopugiqwhABEKMHOPCTYXSIJABEZHIKMNOPTYX",
)
# Names that are compared letter by letter, at some 50 microseconds each.
MAX_COMPARED: Final = 200


def nearest(
    name: str, names: Sequence[str], count: int, cutoff: float = 0.6
) -> list[str]:
    """Return at most ``count`` names that are close to ``name``, the closest first."""
    from difflib import get_close_matches

    look = folded(name)
    alike = [one for one in names if folded(one) == look]
    if alike:
        return alike[:count]
    if len(names) > MAX_COMPARED:
        from heapq import nlargest

        pairs = _pairs(name)
        names = nlargest(
            MAX_COMPARED, names, key=lambda candidate: len(pairs & _pairs(candidate))
        )
    return get_close_matches(name, names, count, cutoff)


def folded(name: str) -> str:
    """Return what names that look the same, or differ in case alone, have in common."""
    if name.isascii():
        return name.lower()
    from unicodedata import normalize

    return normalize("NFKC", name).translate(_LOOKS).casefold()


def slug(text: str) -> str:
    """Return text as part of an id; a slash is a hyphen too."""
    chars = (char if char.isalnum() else "-" for char in text.lower())
    return "-".join(filter(None, "".join(chars).split("-")))


def _pairs(name: str) -> set[tuple[str, str]]:
    return set(pairwise(name))
