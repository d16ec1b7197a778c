"""What ``satchel show --layers`` prints: which layer gives what of a skill."""

import json
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

import click

from satchel.cli.opening import find_settings
from satchel.cli.output import flat, say, width
from satchel.cli.table import layout
from satchel.errors import (
    DuplicateSkillError,
    MissingPathError,
    SkillError,
    SkillNotFoundError,
)
from satchel.text.nearest import nearest

if TYPE_CHECKING:
    from satchel.model import Json
    from satchel.sources.in_layers import Explained, LayeredSource

__all__ = ["show_layers"]

_CLOSE: Final = 3


def show_layers(name: str, paths: tuple[str, ...]) -> None:
    """Print where each field, the body and each file of a skill comes from.

    Raises:
        DuplicateSkillError: Two packs that are not in the same place are called so.
        SkillNotFoundError: No layer has such a skill.
        SkillError: The layers do not go together.
    """
    with closing(_open(paths)) as source:
        found = _explained(source, name)
    layers = [layer for layer, _ in found.layers]
    say(flat(found.name))
    for line in layout([(f"  {layer}", flat(at)) for layer, at in found.layers], None):
        say(line)
    say()
    rows = [("FIELD", "FROM", "VALUE")]
    for given in found.fields:
        how = " + " if given.strategy == "append" else " < "
        rows.append((flat(given.field), how.join(given.layers), _value(given.value)))
    rows.append(("(body)", found.body, ""))
    rows += [(flat(path), layer, "") for path, layer in found.files.items()]
    for line in layout(rows, width()):
        say(line)
    if len(layers) > 1:
        say()
        say("a < b: b goes before a; a + b: both, in this order")


def _open(paths: tuple[str, ...]) -> "LayeredSource":
    import os

    from satchel.model import DEFAULT_LIMITS
    from satchel.sources.in_layers import LAYERS, LayeredSource, local_layers

    if not paths:
        every: dict[str, str | None] = dict.fromkeys(LAYERS)
        folders = every | _configured()
        return LayeredSource(local_layers(folders, limits=DEFAULT_LIMITS))
    if len(paths) > len(LAYERS):
        raise click.UsageError("there are three layers: base, team and user")
    for path in paths:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib costs start-up time
            raise MissingPathError(path)
    named = dict(zip(LAYERS, paths, strict=False))
    return LayeredSource(local_layers(named, limits=DEFAULT_LIMITS))


def _configured() -> dict[str, str | None]:
    """Return the folders that the nearest configuration file names."""
    from pathlib import Path

    from satchel.config import load_config

    settings = find_settings()
    config = None if settings is None else load_config(Path(settings))
    return dict(config.layers or ()) if config else {}


def _explained(source: "LayeredSource", name: str) -> "Explained":
    """Return the skill in the folder of this name, else the one that is called so."""
    keys = source.keys()
    folders = [key for key in keys if key.rpartition("/")[2] == name]
    owners = [each for each in map(source.explain, folders) if each.name == name]
    if len(owners) > 1:
        first, second = (owner.layers[-1][1] for owner in owners[:2])
        raise DuplicateSkillError(name, first, second, "rename one of the two")
    if owners:
        return owners[0]
    for key in keys:
        with suppress(SkillError):  # what is wrong with another is not asked for
            found = source.explain(key)
            if found.name == name:
                return found
    names = [key.rpartition("/")[2] for key in keys]
    raise SkillNotFoundError(name, tuple(nearest(name[:64], names, _CLOSE)))


def _value(value: "Json") -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return flat(text)
