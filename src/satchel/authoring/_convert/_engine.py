"""A whole conversion: what is at a path, into a dialect, to where it is wanted."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final

from satchel.authoring._convert import (
    _agents_md as agents_md,
    _commands as commands,
    _copilot as copilot,
    _cursor as cursor,
)
from satchel.authoring._convert._detection import Detected, Kind, detect
from satchel.authoring._convert._markup import fill_placeholders
from satchel.authoring._convert._output import check_place, put_pack, replace_skill_md
from satchel.authoring._convert._packs import into_dialect, read_packs
from satchel.authoring._convert._roles import folder_above, read_roles, roles_folder
from satchel.authoring._convert._rules import format_of, is_whole, read_rules
from satchel.authoring._convert._targets import TARGETS, ConvertTarget, predict_client
from satchel.authoring._convert._values import Conversion, ConversionResult, Dialect
from satchel.errors import ConfigError
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Finding, Limits
from satchel.skill_md import parse

_DIALECTS: Final = ("strict", "spec")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What is wanted of a conversion.

    ``source`` is a path, and ``of`` a kind of `detect`, a dialect that packs have to
    be in, or empty for whatever is there. ``to`` names one of `TARGETS`; empty is
    ``strict`` for roles, and ``spec`` for other things that are no packs. ``out`` is
    the folder for packs in a dialect, and the project for a client; empty is the usual
    one. ``name`` is for a file that gives one pack. ``values`` fill placeholders.
    """

    source: str
    of: str = ""
    to: str = ""
    out: str = ""
    name: str = ""
    split: bool = False
    in_place: bool = False
    overwrite: bool = False
    rehearse: bool = False
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Limits = DEFAULT_LIMITS


def convert(wish: ConvertOptions) -> Iterator[ConversionResult]:
    """Yield what became of each thing at the source, in the order of their paths.

    A name that two of them would have is refused to the second.

    Raises:
        MissingPathError: There is nothing at the source.
        ConfigError: Nothing of the wanted kind is there, or the wishes do not agree.
        SourceUnavailableError: A folder cannot be listed.
        OSError: A pack cannot be written.
    """
    kind = "" if wish.of in {"", "auto"} else wish.of
    things = detect(wish.source, "packs" if kind in _DIALECTS else kind)
    _check_name(things[0], wish)
    target = _target(things[0][0], wish)
    out = destination(things, target, wish)
    if not wish.in_place:
        check_place(out)
    taken: dict[str, str] = {}
    read = chain.from_iterable(_read(thing, target, out, wish) for thing in things)
    for each in read:
        conversion = _with_predictions(each, target, out, wish)
        if wish.in_place:
            root = things[0][1]
            yield replace_skill_md(conversion, root=root, rehearse=wish.rehearse)
            continue
        draft = conversion.draft
        if draft is not None:
            first = taken.get(draft.name.lower())
            if first is not None:
                conversion = conversion.refused(_twice(draft.name, conversion, first))
            taken[draft.name.lower()] = conversion.source
        yield put_pack(
            conversion, out, overwrite=wish.overwrite, rehearse=wish.rehearse
        )


def destination(
    things: list[Detected], target: ConvertTarget, wish: ConvertOptions
) -> str:
    """Return the folder that packs go to.

    Raises:
        ConfigError: It has to be named, and was not; or it was, and nothing goes there.
    """
    if wish.in_place:
        if wish.values:
            raise ConfigError(wish.source, "--set goes with -o, not with --in-place")
        if wish.out or target.folder or things[0][0] != "packs":
            detail = "--in-place is for packs that change their dialect, without -o"
            raise ConfigError(wish.source, detail)
        return ""
    if target.folder:
        if target.home and not wish.out:
            detail = f"{target.name} looks in a user's home only: give it, -o ~"
            raise ConfigError(wish.source, detail)
        project = Path(wish.out or os.curdir)
        if not (project / target.folder).resolve().is_relative_to(project.resolve()):
            detail = f"{target.folder} leads out of it by a link; name that by -o"
            raise ConfigError(str(project), detail)
        return str(project / target.folder)
    if wish.out:
        return wish.out
    kind, path = things[0]
    if kind == "roles":
        beside = folder_above(roles_folder(path))
        return os.path.normpath(os.path.join(beside, "skills"))  # noqa: PTH118
    raise ConfigError(wish.source, "say where the packs go: -o DIR, or --in-place")


def _target(kind: Kind, wish: ConvertOptions) -> ConvertTarget:
    if not wish.to and kind == "packs":
        raise ConfigError(wish.source, "say what the packs are for: --to strict, ...")
    return TARGETS[wish.to or ("strict" if kind == "roles" else "spec")]


def _with_predictions(
    conversion: Conversion, target: ConvertTarget, out: str, wish: ConvertOptions
) -> Conversion:
    """Add what the target refuses in the result, with lines of the result."""
    draft = conversion.draft
    if draft is None or target.dialect is None:
        return predict_client(conversion, target)
    pack = conversion.source if wish.in_place else f"{out.rstrip('/')}/{draft.name}"
    broken = parse(
        draft.skill_md,
        profile=target.dialect,
        directory=draft.name,
        path=f"{pack}/{SKILL_FILE}",
        limits=wish.limits,
    ).findings
    return replace(conversion.telling(broken), dialect=target.dialect)


def _check_name(thing: Detected, wish: ConvertOptions) -> None:
    kind, path = thing
    one = kind == "agents-md" or path.endswith((cursor.LEGACY, copilot.WHOLE))
    one = one or is_whole(path)
    alone = kind not in {"packs", "roles"} and Path(path).is_file()
    if wish.name and not (one or alone):
        raise ConfigError(wish.source, "--name is for a file that gives one pack")
    if wish.split and not one:
        raise ConfigError(wish.source, "--split is for AGENTS.md, and files like it")


def _read(
    thing: Detected, target: ConvertTarget, out: str, wish: ConvertOptions
) -> Iterator[Conversion]:
    """Yield what one thing holds, in the target's dialect."""
    kind, path = thing
    dialect, limits = target.dialect, wish.limits
    if kind == "packs":
        for pack in read_packs(path, limits=limits):
            if not wish.in_place and _is_outcome(pack.source, path, out):
                continue
            checked = _of_dialect(pack, wish.of, limits)
            yield into_dialect(
                fill_placeholders(checked, wish.values),
                dialect,
                rename=not wish.in_place,
                limits=limits,
            )
        return
    beside = _others_like_it(thing, wish)
    for each in _others(kind, path, dialect, wish):
        told, beside = each.telling(beside), []
        yield told if kind == "roles" else fill_placeholders(told, wish.values, out)


def _others_like_it(thing: Detected, wish: ConvertOptions) -> list[Finding]:
    """Return the warning that a project has more files like AGENTS.md than are read."""
    kind, path = thing
    if kind != "agents-md" or not Path(wish.source).is_dir():
        return []
    read = Path(path)
    found = [
        name
        for name in agents_md.FILES
        if (other := read.with_name(name)).is_file() and not other.samefile(read)
    ]
    return [
        Finding.of(
            "not-carried", path, sentence="second-file", name=read.name, name2=name
        )
        for name in found
    ]


def _is_outcome(pack: str, root: str, out: str) -> bool:
    """Tell whether a pack lies in the place for packs, and that below the source."""
    place, source = Path(out).resolve(), Path(root).resolve()
    below = place != source and place.is_relative_to(source)
    return below and Path(pack).resolve().is_relative_to(place)


def _others(
    kind: Kind, path: str, dialect: Dialect | None, wish: ConvertOptions
) -> Iterator[Conversion]:
    limits = wish.limits
    file = path.rpartition("/")[2]
    if kind == "roles":
        return read_roles(path, dialect, wish.values, limits=limits)
    form = format_of(kind, path)
    if form is not None and not is_whole(path):
        return read_rules(path, form, dialect, name=wish.name, limits=limits)
    if kind == "commands":
        return commands.read_commands(path, dialect, name=wish.name, limits=limits)
    if kind == "cursor" and file != cursor.LEGACY:
        return cursor.read_cursor(path, dialect, name=wish.name, limits=limits)
    if kind == "copilot" and file != copilot.WHOLE.rpartition("/")[2]:
        return copilot.read_copilot(path, dialect, name=wish.name, limits=limits)
    return agents_md.read_agents_md(
        path, dialect, name=wish.name, split=wish.split, limits=limits
    )


def _of_dialect(pack: Conversion, of: str, limits: Limits) -> Conversion:
    """Refuse a pack that is not in the dialect which the user said it was in."""
    if pack.draft is None or of not in _DIALECTS:
        return pack
    dialect: Dialect = "strict" if of == "strict" else "spec"
    path = f"{pack.source}/{SKILL_FILE}"
    broken = parse(
        pack.draft.skill_md,
        profile=dialect,
        directory=pack.draft.name,
        path=path,
        limits=limits,
    ).findings
    return replace(pack, draft=None).telling(broken) if broken else pack


def _twice(name: str, conversion: Conversion, first: str) -> Finding:
    return Finding.of(
        "duplicate-skill",
        conversion.source,
        sentence="conversion",
        first=first,
        name=name,
    )
