"""Packs that attack programs that read them, and a runner that shows who survives.

    from satchel_lab.hostile import hostile_packs, run_loader

    for pack in hostile_packs():
        with pack.fresh() as library:
            outcome = run_loader(["python", "-m", "my_loader"], library)
            assert outcome.served, (pack.what, outcome.detail)

From the shell: ``python -m satchel_lab.hostile --loader "python -m my_loader"``.
"""

from collections.abc import Iterator

from satchel_lab.hostile import _files, _names, _yaml
from satchel_lab.hostile._pack import (
    GOOD_DESCRIPTION as GOOD_DESCRIPTION,
    GOOD_NAME as GOOD_NAME,
    CannotMake,
    HostilePack as HostilePack,
)
from satchel_lab.hostile._runner import (
    LoaderOutcome as LoaderOutcome,
    find_leaks as find_leaks,
    judge as judge,
    run_loader,
)

__all__ = ["CannotMake", "hostile_packs", "run_loader"]


def hostile_packs() -> Iterator[HostilePack]:
    """Yield every hostile pack, kind by kind; each name is unique.

    They are the same each time. None uses the network, and none has a payload: what
    gets through is a word that says so.
    """
    yield from _yaml.CRASH_PACKS
    yield from _yaml.HANG_PACKS
    yield from _yaml.BOMB_PACKS
    yield from _files.SPECIAL_PACKS
    yield from _files.LINK_PACKS
    yield from _names.ENCODING_PACKS
    yield from _names.NAME_PACKS
    yield from _names.MARKUP_PACKS
    yield from _names.ESCAPE_PACKS
    yield from _files.TREE_PACKS
