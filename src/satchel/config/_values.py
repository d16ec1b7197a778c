"""Values of a table, each checked: of which kind, and of which choice."""

from collections.abc import Collection, Mapping
from typing import Any, cast

from satchel.errors import ConfigError

__all__ = ["choice", "count", "flag", "keys", "strings", "table_of"]


def keys(
    table: Mapping[str, object], known: Collection[str], path: str, kind: str = "key"
) -> None:
    """Refuse what is not known, with what is.

    Raises:
        ConfigError: A key is not one of ``known``.
    """
    for key in table:
        if key not in known:
            from satchel.text.nearest import nearest

            close = nearest(key, sorted(known), 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            among = ", ".join(sorted(known))
            raise ConfigError(path, f"unknown {kind} {key!r}; {hint}known: {among}")


def strings(
    table: Mapping[str, object], key: str, path: str, *, shown: str = ""
) -> tuple[str, ...]:
    """Return a list of strings; empty where the key is absent.

    Raises:
        ConfigError: It is something else; ``shown`` is what it is called, or the key.
    """
    value = table.get(key, [])
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = tuple(item for item in items if isinstance(item, str))
    if len(texts) != len(items):
        detail = f"{shown or key}: want a list of strings, got {value!r}"
        raise ConfigError(path, detail)
    return texts


def flag(table: Mapping[str, object], key: str, path: str) -> bool:
    """Return true or false; false where the key is absent.

    Raises:
        ConfigError: It is something else.
    """
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ConfigError(path, f"{key}: want true or false, got {value!r}")
    return value


def choice(value: object, choices: Collection[str], path: str, shown: str) -> str:
    """Return one of a few words.

    Raises:
        ConfigError: It is none of them.
    """
    if not isinstance(value, str) or value not in choices:
        from satchel.text.nearest import nearest

        among = ", ".join(choices)
        close = nearest(value, [*choices], 1) if isinstance(value, str) else []
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ConfigError(path, f"{shown} = {value!r}; {hint}want one of {among}")
    return value


def count(value: object, path: str, shown: str) -> int:
    """Return a whole number from 0.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(path, f"{shown}: want a count, got {value!r}")
    return value


def table_of(table: Mapping[str, object], key: str, path: str) -> dict[str, Any]:
    """Return the table below a key; empty where the key is absent.

    Raises:
        ConfigError: It is no table.
    """
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(path, f"{key}: want a table, got {value!r}")
    return cast("dict[str, Any]", value)
