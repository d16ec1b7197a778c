"""What the user named, as sources: folders, sources, skills made in code, a file."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from satchel.config import CONFIG_FILE, Config, find_config, load_config
from satchel.errors import MissingPathError, NoSources
from satchel.model import DEFAULT_LIMITS, Limits
from satchel.protocols import SkillSource
from satchel.skill import Skill
from satchel.sources import folder, memory, packages, usual

if TYPE_CHECKING:  # it costs start-up time
    from pathlib import Path

__all__ = ["Named", "Opened", "open_any", "open_config", "open_named"]

One: TypeAlias = str | os.PathLike[str] | SkillSource | Skill
Named: TypeAlias = One | Sequence[One]

_LIKELY: Final = ("skills", ".agents/skills", ".claude/skills", ".github/skills")


@dataclass(frozen=True, slots=True)
class Opened:
    """Sources in order, and the labels of those that a user named as a folder.

    ``skills`` are those made in code; they are in a source too, and may bring tools.
    """

    sources: tuple[SkillSource, ...]
    named: frozenset[str]
    config: Config
    skills: tuple[Skill, ...] = ()


def open_named(what: Iterable[Named], *, limits: Limits = DEFAULT_LIMITS) -> Opened:
    """Turn what was named into sources, in order; all skills made in code are one.

    Raises:
        MissingPathError: A path does not exist.
        TypeError: Something is none of these; a `BaseSkill`, say, can only be worn.
    """
    sources: list[SkillSource] = []
    skills: list[Skill] = []
    named: set[str] = set()
    for each in _flat(what):
        if isinstance(each, (str, os.PathLike)):
            path = os.fspath(each)
            if not os.path.exists(path):  # noqa: PTH110 - pathlib costs time
                raise MissingPathError(path)
            if path not in named:
                sources.append(folder(path, limits=limits))
                named.add(path)
        elif isinstance(each, Skill):
            skills.append(each)
        elif hasattr(each, "label"):
            sources.append(each)
        else:
            kind = type(each).__name__
            raise TypeError(f"want a folder, a source or a Skill, got a {kind}")
    if skills:
        sources.append(memory(*skills, limits=limits))
    config = Config(limits=limits)
    return Opened(tuple(sources), frozenset(named), config, tuple(skills))


def open_config(
    path: "Path | None", *, start: "Path", limits: Limits | None = None
) -> Opened:
    """Open what a configuration file says; the nearest one where none is given.

    ``limits`` go before those of the file.

    Raises:
        NoSources: There is no file; says what lies about and the line to write.
        ConfigError: It cannot be used.
        MissingPathError: A folder that it names does not exist.
    """
    found = path or find_config(start)
    if found is None:
        raise NoSources(_advice(start))
    config = load_config(found)
    if limits is not None:
        config = replace(config, limits=limits)
    limits = config.limits
    opened = open_named(config.skills, limits=limits)
    more: list[SkillSource] = []
    if config.packages:
        named = config.packages
        only = named if isinstance(named, tuple) else None
        more += packages(only=only, limits=limits)
    if config.usual:
        more += usual(project=found.parent, trust=config.trust, limits=limits)
    if not opened.sources and not more:
        raise NoSources(f'{found} names no skills; add: skills = ["skills"]')
    return Opened(opened.sources + tuple(more), opened.named, config)


def open_any(
    what: tuple[Named, ...],
    config: str | os.PathLike[str] | None,
    limits: Limits | None,
) -> Opened:
    """Open what was named; with nothing, what a configuration file says.

    Raises:
        SkillError: As for `open_named` and `open_config`.
    """
    if what:
        return open_named(what, limits=limits or DEFAULT_LIMITS)
    from pathlib import Path

    path = Path(config) if config else None
    return open_config(path, start=Path.cwd(), limits=limits)


def _flat(what: Iterable[Named]) -> Iterable[One]:
    for each in what:
        if isinstance(each, (list, tuple)):
            yield from each
        else:
            yield cast("One", each)


def _advice(start: "Path") -> str:
    near = [name for name in _LIKELY if (start / name).is_dir()]
    if near:
        line = f'skills = ["{near[0]}"]'
        return (
            f"no {CONFIG_FILE} here or above; there is a folder {near[0]}: "
            f"name it, or write {line} into {CONFIG_FILE}"
        )
    return (
        f"no {CONFIG_FILE} here or above, and no folder was named; name one, or "
        f'write skills = ["path/to/skills"] into {CONFIG_FILE}'
    )
