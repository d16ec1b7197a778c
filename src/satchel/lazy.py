"""What is made when it is first asked for: names of rooms, and patterns."""

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import AnyStr, cast


def lazy_door(
    room: str, modules: Mapping[str, str], extra: tuple[str, str] | None = None
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a room whose names are looked up on first use.

    Args:
        room: The room's ``__name__``.
        modules: Modules of the room, or with its whole path one of another product,
            each with its names, separated by spaces.
        extra: What needs a library that may be missing, and the extra that brings it.

    The function raises `AttributeError` for any other name, and `ExtraMissingError`
    where ``extra`` is given and the module cannot be imported.
    """
    homes = {name: home for home, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807 - what it becomes
        if name not in homes:
            from satchel.moved import moved_name

            return moved_name(room, name)
        home = homes[name]
        try:
            if home.startswith("satchel_"):
                from satchel.products import import_product

                module = import_product(home, f"{room}.{name}")
            else:
                module = import_module(f"{room}.{home}")
        except ImportError as error:
            if extra is None:
                raise
            from satchel.errors import ExtraMissingError

            raise ExtraMissingError(*extra) from error
        value: object = getattr(module, name)
        setattr(sys.modules[room], name, value)
        return value

    return __getattr__


class _LazyPattern:
    def __init__(self, make: Callable[[], object]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self._make(), name)
        setattr(self, name, value)
        return value


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first used."""
    lazy = _LazyPattern(lambda: re.compile(pattern, flags))
    return cast("re.Pattern[AnyStr]", lazy)
