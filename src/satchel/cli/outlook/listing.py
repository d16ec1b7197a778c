"""``satchel check --for list``: which loaders something is known of, and since when."""

from typing import TYPE_CHECKING, Final

from satchel.cli.output import bold, say, width
from satchel.cli.table import layout
from satchel.compat import loaders
from satchel.runtime.outlook import GROUPS

if TYPE_CHECKING:
    from satchel.compat import Loader

__all__ = ["list_loaders"]

_HEADS: Final = {
    "client": "Clients",
    "framework": "Frameworks",
    "validator": "Validators",
}


def list_loaders() -> None:
    """Print them by kind: key, version, how it is known, the day, the source."""
    known = loaders()
    rows = {
        kind: [_row(each) for each in known if each.kind == kind] for kind in _HEADS
    }
    for kind, head in _HEADS.items():
        if rows[kind]:
            say(bold(head))
            for line in layout(rows[kind], width()):
                say(f"  {line}")
            say()
    say(bold("Several at once"))
    for line in layout([*GROUPS.items()], width()):
        say(f"  {line}")


def _row(loader: "Loader") -> tuple[str, ...]:
    how = "measured" if loader.how == "measured" else "documented"
    return loader.key, loader.version, how, loader.checked, loader.source
