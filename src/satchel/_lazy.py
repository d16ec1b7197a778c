"""Doors of rooms that import a name when it is first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_door(
    room: str, modules: Mapping[str, str], extra: tuple[str, str] | None = None
) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a room whose names are looked up on first use.

    Args:
        room: The room's ``__name__``.
        modules: Modules of the room, each with its names, separated by spaces.
        extra: What needs a library that may be missing, and the extra that brings it.

    The function raises `AttributeError` for any other name, and `ExtraMissingError`
    where ``extra`` is given and the module cannot be imported.
    """
    homes = {name: home for home, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807 - what it becomes
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        try:
            home = import_module(f"{room}.{homes[name]}")
        except ImportError as error:
            if extra is None:
                raise
            from satchel.errors import ExtraMissingError

            raise ExtraMissingError(*extra) from error
        value: object = getattr(home, name)
        setattr(sys.modules[room], name, value)
        return value

    return __getattr__
