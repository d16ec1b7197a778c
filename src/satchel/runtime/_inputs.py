"""What a user gives a Satchel, as sources: folders, sources, skills made in code.

A file.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from satchel.agent import Skill
from satchel.config import CONFIG_FILE, Config, find_config, load_config
from satchel.errors import ConfigError, MissingPathError, NoSources
from satchel.files import is_archive_name
from satchel.model import DEFAULT_LIMITS, RELEASE_FILE, SKILL_FILE, Limits
from satchel.protocols import SkillSource
from satchel.sources import folder, layered, memory, packages, prefixed, released, usual

if TYPE_CHECKING:  # it costs start-up time
    from pathlib import Path

    from satchel.sources import LegacySource

SkillInput: TypeAlias = "str | os.PathLike[str] | SkillSource | LegacySource | Skill"
SkillInputs: TypeAlias = "SkillInput | Sequence[SkillInput]"
Prefix: TypeAlias = str | Mapping[str, str]
"""What stands in front of ids: of everything that is named, or by place."""

_COMMON_FOLDERS: Final = (
    "skills",
    ".agents/skills",
    ".claude/skills",
    ".github/skills",
)


@dataclass(frozen=True, slots=True)
class OpenedInputs:
    """Sources in order, and the labels of those that a user named as a folder.

    ``skills`` are those made in code; they are in a source too, and may bring tools.
    ``advice`` says what to do where nothing says which skills are meant.
    """

    sources: tuple[SkillSource, ...]
    named: frozenset[str]
    config: Config
    skills: tuple[Skill, ...] = ()
    advice: str = ""


def open_inputs(
    what: Iterable[SkillInputs],
    *,
    limits: Limits = DEFAULT_LIMITS,
    pin: str | None = None,
    allow_private: bool = False,
    prefix: Prefix = "",
) -> OpenedInputs:
    """Turn what was named into sources, in order; all skills made in code are one.

    A file named like an archive is opened as one. A folder that is a release, or a site
    of releases, is opened as one, and so is an
    ``http(s)`` address, which may end in ``#`` and the id of a release. ``pin`` is for
    the one release that is among them. ``allow_private`` lets addresses lead to this
    machine and its network. ``prefix`` goes in front of the ids of every place, or of
    those that it names (`satchel.sources.prefixed`).

    Raises:
        MissingPathError: A path does not exist.
        ConfigError: ``pin`` is given, and not exactly one release is named; or a path
            is a file that is no SKILL.md and no archive; or ``prefix`` names what is
            not there.
        InvalidReleaseError, DigestMismatchError: A release in a folder cannot be used,
            or is not the pinned one.
        TypeError: Something is none of these; a `BaseSkill`, say, can only be worn.
    """
    sources: list[SkillSource] = []
    skills: list[Skill] = []
    named: set[str] = set()
    flat = list(_flatten(what))
    pinned = None if pin is None else _pinned_input(flat)
    for each in flat:
        if isinstance(each, (str, os.PathLike)):
            path = os.fspath(each)
            if path not in named:
                own = pin if path == pinned else None
                sources.append(_open_path(path, own, limits, private=allow_private))
                named.add(path)
        elif isinstance(each, Skill):
            skills.append(each)
        elif hasattr(each, "label"):
            source = cast("SkillSource", each)
            sources.append(source)
            named |= _required_labels(source)
            if getattr(each, "client_folders", False):  # a command made it of a path
                named.add(sources[-1].label)
        elif hasattr(each, "iter_skills"):
            from satchel.sources import as_source

            sources.append(as_source(each, limits=limits))
        else:
            kind = type(each).__name__
            hint = _advice_for(each)
            raise TypeError(f"want a folder, a source or a Skill, got a {kind}{hint}")
    if prefix:
        sources = _with_prefixes(sources, prefix)
    if skills:
        sources.append(memory(*skills, limits=limits))
    config = Config(limits=limits)
    return OpenedInputs(tuple(sources), frozenset(named), config, tuple(skills))


def _required_labels(source: SkillSource) -> set[str]:
    """Return the label of a source that is a folder and has to be there."""
    is_folder = hasattr(source, "root") and not getattr(source, "missing_ok", False)
    return {source.label} if is_folder else set()


def _with_prefixes(sources: list[SkillSource], prefix: Prefix) -> list[SkillSource]:
    """Return the sources with their prefixes; skills made in code have none.

    Raises:
        ConfigError: ``prefix`` is for a place that was not named.
    """
    if isinstance(prefix, str):
        return [prefixed(source, prefix) for source in sources]
    labels = [source.label for source in sources]
    for place in prefix:
        if place not in labels:
            among = ", ".join(labels) or "no folder"
            raise ConfigError("prefix", f"{place!r} is not named; named: {among}")
    return [
        prefixed(source, prefix[source.label]) if source.label in prefix else source
        for source in sources
    ]


def _advice_for(what: object) -> str:
    """Return what to do with something that cannot be listed as it is."""
    if isinstance(what, type):
        return f", the class {what.__name__}"
    if hasattr(what, "import_path"):
        return "; put it into a SkillRegistry"
    if hasattr(what, "instructions"):
        return "; give it to an agent, or to session(always=[...])"
    return ""


def _pinned_input(what: Iterable[SkillInput]) -> str:
    """Return the one place that a pin can be for: a pin that nothing checks is none."""
    paths = [os.fspath(e) for e in what if isinstance(e, (str, os.PathLike))]
    places = {path for path in paths if _is_url(path) or _is_release(path)}
    if len(places) == 1:
        return places.pop()
    if places:
        raise ConfigError("pin", f"for which of {', '.join(sorted(places))} is it?")
    detail = "nothing that was named is a release; name its folder, or its address"
    raise ConfigError("pin", detail)


def _is_url(path: str) -> bool:
    return path.startswith(("https://", "http://"))


def _is_release(path: str) -> bool:
    if not os.path.exists(f"{path}/{RELEASE_FILE}"):  # noqa: PTH110 - as below
        return False
    from satchel.sources import is_release

    return is_release(path)


def _open_path(
    path: str, pin: str | None, limits: Limits, *, private: bool
) -> SkillSource:
    if _is_url(path):
        from satchel.sources import http

        # Whatever stands there is meant as a pin; one that is mistyped is not none.
        address, mark, digest = path.partition("#")
        if mark and pin not in (None, digest):
            raise ConfigError("pin", f"there are two pins for {address}")
        pin = digest if mark else pin
        return http(address, pin=pin, allow_private=private, limits=limits)
    if not os.path.exists(path):  # noqa: PTH110 - pathlib costs time
        raise MissingPathError(path)
    if os.path.isfile(path):  # noqa: PTH113
        return _open_file(path, limits)
    if not _is_release(path):
        return folder(path, limits=limits)
    source = released(path, pin=pin, limits=limits)
    source.open()  # what is wrong with it is said at once, and not by an empty catalog
    return source


def _open_file(path: str, limits: Limits) -> SkillSource:
    """Open an archive, or the pack that a SKILL.md is in."""
    if is_archive_name(path):
        from satchel.sources import archive

        return archive(path, limits=limits)
    head, tail = os.path.split(path)
    if tail != SKILL_FILE:
        detail = f"want a folder of packs, a pack or its {SKILL_FILE}, or an archive"
        raise ConfigError(path, detail)
    return folder(head or os.curdir, limits=limits)


def open_config(
    path: "Path | None",
    *,
    start: "Path",
    limits: Limits | None = None,
    allow_private: bool = False,
    prefix: Prefix | None = None,
) -> OpenedInputs:
    """Open what a configuration file says; the nearest one where none is given.

    ``limits`` and ``prefix`` go before those of the file; ``allow_private`` is added to
    what it says.

    Raises:
        NoSources: There is no file; says what lies about and the line to write.
        ConfigError: It cannot be used.
        MissingPathError: A folder that it names does not exist.
    """
    found = path or find_config(start)
    if found is None:
        raise NoSources(no_input_advice(start))
    config = load_config(found)
    if limits is not None:
        config = replace(config, limits=limits)
    limits = config.limits
    private = allow_private or config.allow_private
    opened = open_inputs(
        config.skills,
        limits=limits,
        allow_private=private,
        prefix=config.prefix if prefix is None else prefix,
    )
    more: list[SkillSource] = []
    if config.packages:
        named = config.packages
        only = named if isinstance(named, tuple) else None
        more += packages(only=only, limits=limits)
    if config.layers is not None:
        more.append(layered(**dict(config.layers), limits=limits))
    if config.usual:
        more += usual(project=found.parent, trust=config.trust, limits=limits)
    if not opened.sources and not more:
        raise NoSources(f'{found} names no skills; add: skills = ["skills"]')
    return OpenedInputs(opened.sources + tuple(more), opened.named, config)


def open_inputs_or_config(  # noqa: PLR0913 - what the front door was given
    what: tuple[SkillInputs, ...],
    config: str | os.PathLike[str] | None,
    limits: Limits | None,
    pin: str | None = None,
    *,
    allow_private: bool = False,
    prefix: Prefix | None = None,
) -> OpenedInputs:
    """Open what was named; with nothing, what a configuration file says.

    Without a configuration file, too, there are no sources.

    Raises:
        SkillError: As for `open_named` and `open_config`.
    """
    if what and config is not None:
        detail = "it is read where nothing is named; write what is named into it"
        raise ConfigError("config", detail)
    if what:
        return open_inputs(
            what,
            limits=limits or DEFAULT_LIMITS,
            pin=pin,
            allow_private=allow_private,
            prefix=prefix or "",
        )
    if pin is not None:
        detail = "name what it is for; satchel.toml is not looked at for it"
        raise ConfigError("pin", detail)
    from pathlib import Path

    path, here = Path(config) if config else None, Path.cwd()
    if path is None and find_config(here) is None:
        config_of = Config(limits=limits or DEFAULT_LIMITS)
        return OpenedInputs((), frozenset(), config_of, advice=no_input_advice(here))
    return open_config(
        path, start=here, limits=limits, allow_private=allow_private, prefix=prefix
    )


def _flatten(what: Iterable[SkillInputs]) -> Iterable[SkillInput]:
    for each in what:
        if isinstance(each, (list, tuple)):
            yield from each
        else:
            yield cast("SkillInput", each)


def no_input_advice(start: "Path") -> str:
    """Return what to do where no folder is named and no configuration file is."""
    near = [name for name in _COMMON_FOLDERS if (start / name).is_dir()]
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
