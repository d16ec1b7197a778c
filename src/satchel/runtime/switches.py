"""From what was named as disabled, here and in the environment, to switches (E24)."""

from collections.abc import Iterable, Mapping
from typing import Final

from satchel.catalog.switches import Switch
from satchel.config import names_in

__all__ = ["patterns_of", "switches"]

_SKILLS: Final = "SATCHEL_DISABLED"
_SOURCES: Final = "SATCHEL_DISABLED_SOURCES"


def switches(disabled: Iterable[str], environ: Mapping[str, str]) -> tuple[Switch, ...]:
    """Return what is off: what was named, and what the environment adds.

    The environment can only switch off more, so that an operator can without a change
    of the program.

    Raises:
        ConfigError: A variable is neither a JSON array of strings nor names parted by
            commas.
    """
    return (
        *(Switch(pattern) for pattern in disabled),
        *(Switch(pattern, where=_SKILLS) for pattern in names_in(environ, _SKILLS)),
        *(
            Switch(pattern, "source", _SOURCES)
            for pattern in names_in(environ, _SOURCES)
        ),
    )


def patterns_of(given: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns that were given; a mere text is one pattern.

    Letter by letter it would fit everything wherever there is a ``*`` in it.
    """
    return (given,) if isinstance(given, str) else tuple(given)
