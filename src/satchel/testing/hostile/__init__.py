"""Packs that try to break whoever reads them, and what shows who still works.

    from satchel.testing.hostile import hostile_packs, run_loader

    for pack in hostile_packs():
        with pack.fresh() as library:
            outcome = run_loader(["python", "-m", "my_loader"], library)
            assert outcome.served, (pack.what, outcome.detail)

From the shell: ``python -m satchel.testing.hostile --loader "python -m my_loader"``.
"""

from collections.abc import Iterator

from satchel.testing.hostile._leaks import find_leaks
from satchel.testing.hostile._pack import (
    GOOD_DESCRIPTION,
    GOOD_NAME,
    CannotMake,
    HostilePack,
)
from satchel.testing.hostile.running import Outcome, judge, run_loader

__all__ = [
    "GOOD_DESCRIPTION",
    "GOOD_NAME",
    "CannotMake",
    "HostilePack",
    "Outcome",
    "find_leaks",
    "hostile_packs",
    "judge",
    "run_loader",
]


def hostile_packs() -> Iterator[HostilePack]:
    """Yield every hostile pack, kind by kind; no two of one name.

    All are made in the same way each time. None reaches for the network, and none
    holds a payload: what gets through is a word that says so.
    """
    from satchel.testing.hostile import (
        _bombs,
        _crash,
        _encodings,
        _escapes,
        _hang,
        _links,
        _markup,
        _names,
        _special,
        _trees,
    )

    yield from _crash.PACKS
    yield from _hang.PACKS
    yield from _bombs.PACKS
    yield from _special.PACKS
    yield from _links.PACKS
    yield from _encodings.PACKS
    yield from _names.PACKS
    yield from _markup.PACKS
    yield from _escapes.PACKS
    yield from _trees.PACKS
