"""The outlook for people at a terminal: what is in trouble, the worst first."""

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from satchel.cli.outlook.groups import HEADS, groups_of, losses_of
from satchel.cli.output import bold, flat, width
from satchel.lint.report import plural

if TYPE_CHECKING:
    from satchel.cli.outlook import Told
    from satchel.cli.outlook.groups import Group
    from satchel.runtime.outlook import Outlook, PackOutlook

__all__ = ["render"]

_DEFAULT_WIDTH: Final = 88
_INDENT: Final = 13
_LEAST: Final = 30


def render(told: "Told") -> str:
    """Return a part for each pack that is not loaded by all, and a summary."""
    outlook = told.outlook
    lines = [line for pack in outlook.packs for line in _pack(pack)]
    return "\n".join([*lines, *_summary(outlook)])


def _pack(pack: "PackOutlook") -> Iterator[str]:
    groups, losses = list(groups_of(pack)), losses_of(pack)
    if not groups and not losses:
        return
    loaded = len(pack.of("loaded"))
    every = len(pack.outcomes)
    yield f"{bold(flat(pack.path))}: loaded whole by {loaded} of {every}"
    for group in groups:
        yield from _group(group)
    head = "  lost"
    for other, loaders in losses.items():
        told = f"{', '.join(loaders)}, with {flat(other)}"
        yield from _filled(told, head.ljust(_INDENT))
        head = ""
    yield ""


def _group(group: "Group") -> Iterator[str]:
    head = f"  {HEADS[group.verdict]}".ljust(_INDENT)
    yield from _filled(", ".join(loader.key for loader in group.loaders), head)
    for reason in group.reasons:
        where = f"line {reason.line}: " if reason.line else ""
        yield from _filled(f"{where}{flat(reason.about)}", " " * _INDENT)
    for fix in dict.fromkeys(reason.fix for reason in group.reasons if reason.fix):
        yield from _filled(f"fix: {flat(fix)}", " " * _INDENT)


def _filled(text: str, head: str) -> Iterator[str]:
    room = max((width() or _DEFAULT_WIDTH) - _INDENT, _LEAST)
    lines = wrap(text, room, break_long_words=False, break_on_hyphens=False)
    for at, line in enumerate(lines):
        yield f"{head if not at else ' ' * _INDENT}{line}"


def _summary(outlook: "Outlook") -> Iterator[str]:
    packs, loaders = len(outlook.packs), outlook.loaders
    whole = sum(len(p.of("loaded")) == len(p.outcomes) for p in outlook.packs)
    count = "it" if len(loaders) == 1 else f"all {len(loaders)}"
    before = plural(len(loaders), "loader") if len(loaders) != 1 else loaders[0].title
    yield f"{plural(packs, 'pack')} before {before}: {whole} loaded whole by {count}"
    read = [loader.key for loader in loaders if loader.how == "documented"]
    if read:
        yield f"Documented, not measured: {', '.join(read)}"
