"""Codes by the names that users bring along from other tools."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from satchel.lint.pages import UnknownCodeError, codes

__all__ = ["aliases", "codes_named"]


@cache
def aliases() -> Mapping[str, tuple[str, ...]]:
    """Return each name with the codes that it means, as ``aliases.toml`` has them."""
    import tomllib

    text = files("satchel.lint").joinpath("aliases.toml").read_text("utf-8")
    return {name: tuple(meant) for name, meant in tomllib.loads(text).items()}


def codes_named(name: str) -> tuple[str, ...]:
    """Return the codes that a name means: several for a group, else itself.

    Raises:
        UnknownCodeError: It is neither a code nor a known name; with close ones.
    """
    meant = aliases().get(name)
    if meant is not None:
        return meant
    if name in codes():
        return (name,)
    from difflib import get_close_matches

    known = sorted({*codes(), *aliases()})
    raise UnknownCodeError(name, tuple(get_close_matches(name, known)))
