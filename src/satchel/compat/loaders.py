"""The loaders that something is known of."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from satchel.compat.data import Entry, read_documented, read_measured
from satchel.errors import SkillError
from satchel.text.nearest import nearest

__all__ = ["Loader", "UnknownLoaderError", "choose_loaders", "loaders"]


@dataclass(frozen=True, slots=True, order=True)
class Loader:
    """A program that lists packs, in one version.

    ``kind`` is ``framework``, ``client``, or ``validator`` for one that only says
    whether a pack is good. ``checked`` is the day it was measured or its documentation
    read, as ISO date. ``source`` says what was called, or where it is documented.
    """

    key: str
    title: str
    version: str
    kind: Literal["framework", "client", "validator"]
    checked: str
    how: Literal["measured", "documented"]
    source: str


class UnknownLoaderError(SkillError, LookupError):
    """Nothing is known of a loader of this key."""

    code = "unknown-loader"

    def __init__(self, wanted: str, close: tuple[str, ...] = ()) -> None:
        """Keep the key as it was asked for, and close ones."""
        super().__init__(wanted, close)
        self.wanted = wanted
        self.close = close

    def __str__(self) -> str:
        """Return a sentence, with close keys where there are any."""
        close = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no loader {self.wanted!r}{close}"


@cache
def loaders() -> tuple[Loader, ...]:
    """Return every loader, measured ones first, each kind by key.

    What was measured goes before what is documented of the same key.
    """
    measured, documented = read_measured().loaders, read_documented().loaders
    return (
        *(_loader(key, said, "measured") for key, said in sorted(measured.items())),
        *(
            _loader(key, said, "documented")
            for key, said in sorted(documented.items())
            if key not in measured
        ),
    )


def choose_loaders(keys: Iterable[str]) -> tuple[Loader, ...]:
    """Return the loaders of these keys, each once, in the order of the keys.

    ``_`` and ``-`` are the same here, and case does not count; ``all`` is all of them.

    Raises:
        UnknownLoaderError: Nothing is known of one; carries close keys.
    """
    known = {loader.key: loader for loader in loaders()}
    chosen: dict[str, Loader] = {}
    for wanted in keys:
        key = wanted.strip().lower().replace("_", "-")
        if key == "all":
            chosen |= known
        elif key in known:
            chosen[key] = known[key]
        else:
            raise UnknownLoaderError(wanted, _close(key, [*known]))
    return tuple(chosen.values())


def _close(key: str, known: list[str]) -> tuple[str, ...]:
    """Return those that a key is a part of, then those that are spelled like it."""
    parts = [each for each in known if key and key in each]
    return tuple(dict.fromkeys([*parts, *nearest(key, known, 3)]))[:3]


def _loader(key: str, said: Entry, how: Literal["measured", "documented"]) -> Loader:
    return Loader(
        key, said.title, said.version, said.kind, said.checked, how, said.source
    )
