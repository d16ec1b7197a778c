"""What a user names for a Satchel, as sources: folders, files, sources, skills."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from satchel import sources as places
from satchel.config import CHOICES, Config
from satchel.errors import ConfigError, MissingPathError
from satchel.files import is_archive_name
from satchel.index import LARGE_SOURCE, NO_INDEX, DiskIndex
from satchel.model import CONFIG_FILE, DEFAULT_LIMITS, RELEASE_FILE, SKILL_FILE, Limits
from satchel.protocols import SkillSource, with_abilities
from satchel.runtime._options import DEFAULT_OPTIONS, Options, Prefix, check_choice

if TYPE_CHECKING:  # each costs start-up time
    from pathlib import Path

    from satchel.agent import Skill
    from satchel.index import Check
    from satchel.protocols import LegacySource
SkillInput: TypeAlias = "str | os.PathLike[str] | SkillSource | LegacySource | Skill"
SkillInputs: TypeAlias = "SkillInput | Sequence[SkillInput]"

_INDEX_FILE: Final = "index.db"


@dataclass(frozen=True, slots=True)
class OpenedInputs:
    """Sources in order; all skills made in code share one.

    ``named`` are the labels of folders that the user named, which should have packs;
    ``skills`` may bring tools; ``advice`` is what to do if nothing says which skills
    are meant.
    """

    sources: tuple[SkillSource, ...]
    named: frozenset[str]
    config: Config
    skills: "tuple[Skill, ...]" = ()
    advice: str = ""


def index_settings(
    options: Options, config: Config, environ: Mapping[str, str]
) -> DiskIndex | None:
    """Return what a program, its configuration and ``SATCHEL_INDEX`` choose together.

    Each of the three can switch it off, and each can name a file, the first one first.
    So it is with what is looked at, of which the variable is ``SATCHEL_CHECK``.
    If none of them says anything, the index is used for large sources.
    """
    variable = environ.get("SATCHEL_INDEX", "").strip() or None
    choices = (options.index, config.index, variable)
    if False in choices or NO_INDEX in choices:
        return None
    named = [os.fspath(one) for one in choices if not isinstance(one, (bool, NoneType))]
    path = named[0] if named else default_index()
    fewest = LARGE_SOURCE if choices == (None, None, None) else 0
    asked = environ.get("SATCHEL_CHECK", "").strip() or None
    check_choice("SATCHEL_CHECK", asked, CHOICES["check"])
    check = cast("Check", options.check or config.check or asked or "files")
    return DiskIndex(path, not named, fewest, check)


def default_index() -> str:
    """Return the path of the file in the user's cache folder."""
    return os.path.join(_user_folder("cache"), _INDEX_FILE)  # noqa: PTH118


def _user_folder(kind: str) -> str:
    """Return the user's folder for a ``cache``, or for ``config``."""
    if sys.platform in {"win32", "darwin"}:
        import platformdirs

        folder_of = getattr(platformdirs, f"user_{kind}_dir")
        return str(folder_of("satchel", appauthor=False))
    # As platformdirs finds it, which brings modules that no start needs.
    place = os.environ.get(f"XDG_{kind.upper()}_HOME", "").strip() or f"~/.{kind}"
    return f"{os.path.expanduser(place)}/satchel"  # noqa: PTH111


def may_verify(opened: OpenedInputs, environ: Mapping[str, str]) -> bool:
    """Tell whether settings, or a source, may ask to verify or to refuse something."""
    own = f"{_user_folder('config')}/{CONFIG_FILE}"
    has_own = environ.get("SATCHEL_CONFIG") or os.path.exists(own)  # noqa: PTH110
    # A registry may have withdrawn what it once had.
    refusing = any(hasattr(source, "refusal_of") for source in opened.sources)
    return bool(opened.config.path or has_own or refusing)


def open_inputs_or_config(
    what: tuple[SkillInputs, ...], pin: str | None, options: Options
) -> OpenedInputs:
    """Open what was named; if nothing was, what a configuration file says.

    Without a configuration file that names skills there are no sources.
    """
    limits = options.limits or DEFAULT_LIMITS
    if what:
        if options.config is not None:
            detail = "it is read only if nothing is named; add the folders to the file"
            raise ConfigError("config", detail)
        return open_inputs(
            what,
            limits=limits,
            pin=pin,
            allow_private=options.allow_private,
            prefix=options.prefix or "",
        )
    # A pin that nothing checks would be worse than none.
    if pin is not None:
        detail = "name the release that it is for; satchel.toml is not read for it"
        raise ConfigError("pin", detail)
    from pathlib import Path

    from satchel.config import find_config

    here = Path.cwd()
    environ = options.environ
    path = Path(options.config) if options.config else find_config(here, environ)
    if path is None:
        advice = no_input_advice(here)
        return OpenedInputs((), frozenset(), Config(limits=limits), advice=advice)
    return open_config(path, options)


def open_inputs(
    what: Iterable[SkillInputs],
    *,
    limits: Limits = DEFAULT_LIMITS,
    pin: str | None = None,
    allow_private: bool = False,
    prefix: Prefix = "",
) -> OpenedInputs:
    """Turn what was named into sources, in order.

    ``pin`` is the id of the one release among ``what``; ``prefix`` goes in front of the
    ids of every place, or of those that it names. `TypeError` where something is no
    input; a `BaseSkill`, for example, can only be given to an agent or a session.
    """
    inputs = [
        cast("SkillInput", one)
        for entry in what
        for one in (entry if isinstance(entry, (list, tuple)) else (entry,))
    ]
    sources: list[SkillSource] = []
    skills: list[Skill] = []
    named: set[str] = set()
    pinned = None if pin is None else _pinned_input(inputs)
    for entry in inputs:
        if isinstance(entry, (str, os.PathLike)):
            path = os.fspath(entry)
            if path not in named:  # a folder that is named twice is one source
                own_pin = pin if path == pinned else None
                sources.append(_open_path(path, own_pin, limits, private=allow_private))
                named.add(path)
        elif hasattr(entry, "label"):
            sources.append(source := cast("SkillSource", entry))
            abilities = with_abilities(source)
            if abilities.root and not abilities.missing_ok:
                named.add(source.label)
        elif hasattr(entry, "iter_skills"):
            from satchel.products import import_product

            compat = import_product("satchel_compat", "a source of an earlier system")
            sources.append(compat.as_source(entry, limits=limits))
        else:
            skills.append(_skill(entry))
    # Before the skills made in code: their ids are what the program writes.
    if prefix:
        sources = _with_prefixes(sources, prefix)
    if skills:
        sources.append(places.memory(*skills, limits=limits))
    config = Config(limits=limits)
    return OpenedInputs(tuple(sources), frozenset(named), config, tuple(skills))


def open_config(path: "Path", options: Options = DEFAULT_OPTIONS) -> OpenedInputs:
    """Open what a configuration file says.

    ``limits`` and ``prefix`` of the options win over those of the file, and
    ``allow_private`` of either allows.
    """
    from satchel.config import load_config

    config = load_config(path, options.environ)
    if options.limits is not None:
        config = replace(config, limits=options.limits)
    limits = config.limits
    try:
        opened = open_inputs(
            config.skills,
            limits=limits,
            allow_private=options.allow_private or config.allow_private,
            prefix=config.prefix if options.prefix is None else options.prefix,
        )
    except MissingPathError as error:
        if error.path != str(path.parent / "skills"):
            raise
        detail = "there is no folder skills; if [skills] says what is in it, type: "
        raise ConfigError(str(path), f"{detail}satchel sync") from error
    more: list[SkillSource] = []
    if config.packages:
        names = config.packages if isinstance(config.packages, tuple) else None
        more += places.packages(only=names, limits=limits)
    if config.layers is not None:
        more.append(places.layered(**dict(config.layers), limits=limits))
    if config.usual:
        more += places.usual(project=path.parent, trust=config.trust, limits=limits)
    sources = (*opened.sources, *more)
    advice = "" if sources else no_input_advice(path.parent)
    return OpenedInputs(sources, opened.named, config, advice=advice)


def _skill(entry: object) -> "Skill":
    from satchel.agent import Skill

    if isinstance(entry, Skill):
        return entry
    expected = "expected a folder, a source or a Skill"
    raise TypeError(f"{expected}; got {type(entry).__name__}{_advice_for(entry)}")


def _with_prefixes(sources: list[SkillSource], prefix: Prefix) -> list[SkillSource]:
    if isinstance(prefix, str):
        return [places.prefixed(source, prefix) for source in sources]
    labels = [source.label for source in sources]
    for place in prefix:
        if place not in labels:
            among = ", ".join(labels) or "no folder"
            raise ConfigError("prefix", f"{place!r} is not named; named: {among}")
    return [
        places.prefixed(one, prefix[one.label]) if one.label in prefix else one
        for one in sources
    ]


def _advice_for(value: object) -> str:
    if isinstance(value, type):
        return f", the class {value.__name__}"
    if hasattr(value, "import_path"):
        return "; put it into a SkillRegistry"
    if hasattr(value, "instructions"):
        return "; give it to an agent, or to session(always=[...])"
    return ""


def _pinned_input(inputs: Iterable[SkillInput]) -> str:
    """Return the one input that a pin can be for: a pin must never go unchecked."""
    paths = [os.fspath(one) for one in inputs if isinstance(one, (str, os.PathLike))]
    releases = {path for path in paths if "://" in path or _is_release(path)}
    if len(releases) == 1:
        return releases.pop()
    detail = "nothing that was named is a release; name its folder or its address"
    if releases:
        detail = f"for which of {', '.join(sorted(releases))} is it?"
    raise ConfigError("pin", detail)


def _is_release(path: str) -> bool:
    if not os.path.exists(f"{path}/{RELEASE_FILE}"):  # noqa: PTH110 - as below
        return False
    from satchel.products import import_product

    release = import_product("satchel_store.release", "a release")
    return bool(release.is_release(path))


def _open_path(
    path: str, pin: str | None, limits: Limits, *, private: bool
) -> SkillSource:
    source = _open_address(path, pin, limits, private=private)
    if source is not None:
        return source
    if not os.path.exists(path):  # noqa: PTH110 - pathlib costs time
        raise MissingPathError(path)
    if os.path.isfile(path):  # noqa: PTH113
        return _open_file(path, limits)
    if _is_release(path):
        release = places.released(path, pin=pin, limits=limits)
        # If it is broken: an error now, not an empty catalog later.
        cast("Any", release).open()
        return release
    return places.LocalSource(path, limits=limits)


def _open_address(
    path: str, pin: str | None, limits: Limits, *, private: bool
) -> SkillSource | None:
    """Return the source of an address; None for a path, or if nothing opens it."""
    if "://" not in path:
        return None
    from satchel.products import opener_of

    if (opener := opener_of(path)) is None:
        return None
    # Anything after the # is meant as a pin; a mistyped one must not be ignored.
    address, mark, digest = path.partition("#")
    if mark and pin not in (None, digest):
        raise ConfigError("pin", f"there are two pins for {address}")
    pin = digest if mark else pin
    source = opener(address, pin=pin, allow_private=private, limits=limits)
    return cast("SkillSource", source)


def _open_file(path: str, limits: Limits) -> SkillSource:
    if is_archive_name(path):
        return places.archive(path, limits=limits)
    head, tail = os.path.split(path)
    if tail != SKILL_FILE:
        detail = f"expected a folder of packs, a pack, its {SKILL_FILE} or an archive"
        raise ConfigError(path, detail)
    return places.LocalSource(head or os.curdir, limits=limits)


def no_input_advice(start: "Path") -> str:
    """Return what to do if no folder is named, not by a configuration file either."""
    usual = places.PROJECT_FOLDERS
    nearby = next((name for name in usual if (start / name).is_dir()), None)
    seen = "no folder was named; name one"
    if nearby is not None:
        seen = f"there is a folder {nearby}; name it"
    folder = nearby or "path/to/skills"
    return (
        f"no {CONFIG_FILE} here or above names skills, and {seen}, or "
        f'write skills = ["{folder}"] into {CONFIG_FILE}'
    )
