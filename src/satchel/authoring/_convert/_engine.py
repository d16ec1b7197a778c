"""A whole conversion: what is at a path, into a dialect, to where it belongs."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from satchel.authoring._convert._agents_md import read_agents_md
from satchel.authoring._convert._detection import Detected, Kind, detect, nothing_there
from satchel.authoring._convert._formats import AGENTS_MD, read_format
from satchel.authoring._convert._markup import fill_placeholders
from satchel.authoring._convert._output import check_place, put_pack, replace_skill_md
from satchel.authoring._convert._packs import files_outside, into_dialect, read_packs
from satchel.authoring._convert._roles import folder_above, read_roles, roles_folder
from satchel.authoring._convert._targets import TARGETS, ConvertTarget, predict_client
from satchel.authoring._convert._values import (
    DIALECTS,
    Conversion,
    ConversionResult,
    Dialect,
)
from satchel.errors import ConfigError
from satchel.files import is_excluded_file
from satchel.model import DEFAULT_LIMITS, SKILL_FILE, Finding, Limits
from satchel.skill_md import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What to convert, into what, and where to put it.

    ``source`` is a path, and ``of`` a kind of `detect`, a dialect that packs have to
    be in, or empty for whatever is there. ``to`` names one of `TARGETS`; empty is
    ``strict`` for roles, and ``spec`` for other things that are not packs. ``out`` is
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


def convert(options: ConvertOptions) -> Iterator[ConversionResult]:
    """Yield what became of each thing at the source, in the order of their paths.

    Of two that would have one name the second is refused.

    Raises:
        MissingPathError: There is nothing at the source.
        ConfigError: Nothing of that kind is there, or the options do not fit together.
        SourceUnavailableError: A folder cannot be listed.
        OSError: A pack cannot be written.
    """
    kind = "" if options.of in {"", "auto"} else options.of
    things = detect(options.source, "packs" if kind in DIALECTS else kind)
    first = things[0]
    _check_name(first, options)
    target = _target(first.kind, options)
    out = _destination(first, target, options)
    # Before anything is read: no report on packs that have nowhere to go.
    if not options.in_place:
        check_place(out)
    # By name in lower case: on some systems `A` and `a` are one folder.
    sources: dict[str, tuple[str, int]] = {}
    read = chain.from_iterable(_read(thing, target, out, options) for thing in things)
    for pack in read:
        conversion = _with_predictions(pack, target, out, options)
        if options.in_place:
            yield replace_skill_md(
                conversion, root=first.path, rehearse=options.rehearse
            )
            continue
        draft = conversion.draft
        again = False
        if draft is not None:
            own = conversion.source, hash(draft)
            first_source, first_hash = sources.setdefault(draft.name.lower(), own)
            # A library may have one pack in two places.
            again = first_source != own[0] and first_hash == own[1]
            if first_source != own[0] and not again:
                twice = Finding.of(
                    "duplicate-skill",
                    conversion.source,
                    sentence="conversion",
                    first=first_source,
                    name=draft.name,
                )
                conversion = conversion.refused(twice)
        result = put_pack(
            conversion, out, overwrite=options.overwrite, rehearse=options.rehearse
        )
        yield replace(result, status="unchanged") if again else result


def _destination(
    thing: Detected, target: ConvertTarget, options: ConvertOptions
) -> str:
    """Return the folder that packs go to; empty for their own."""
    source = options.source
    if options.in_place:
        if options.values:
            raise ConfigError(source, "--set goes with -o, not with --in-place")
        if options.out or target.folder or thing.kind != "packs":
            detail = "--in-place is for packs that change their dialect, without -o"
            raise ConfigError(source, detail)
        return ""
    if target.folder:
        if target.home and not options.out:
            detail = f"{target.name} looks in a user's home only: give it, -o ~"
            raise ConfigError(source, detail)
        project = Path(options.out or os.curdir)
        # A link in the project must not lead the packs out of it.
        if not (project / target.folder).resolve().is_relative_to(project.resolve()):
            detail = f"{target.folder} leads out of it by a link; name that by -o"
            raise ConfigError(str(project), detail)
        return str(project / target.folder)
    if options.out:
        return options.out
    if thing.kind == "roles":
        above = folder_above(roles_folder(thing.path))
        return os.path.normpath(os.path.join(above, "skills"))  # noqa: PTH118
    raise ConfigError(source, "say where the packs go: -o DIR, or --in-place")


def _target(kind: Kind, options: ConvertOptions) -> ConvertTarget:
    if not options.to and kind == "packs":
        detail = "say what the packs are for: --to strict, ..."
        raise ConfigError(options.source, detail)
    return TARGETS[options.to or ("strict" if kind == "roles" else "spec")]


def _check_name(thing: Detected, options: ConvertOptions) -> None:
    alone = thing.form is not None and Path(thing.path).is_file()
    if options.name and not (thing.is_whole or alone):
        raise ConfigError(options.source, "--name is for a file that gives one pack")
    if options.split and not thing.is_whole:
        detail = "--split is for AGENTS.md, and files like it"
        raise ConfigError(options.source, detail)


def _with_predictions(
    conversion: Conversion, target: ConvertTarget, out: str, options: ConvertOptions
) -> Conversion:
    """Add what the target refuses in the result, with lines of the result."""
    draft = conversion.draft
    if draft is None or target.dialect is None:
        return predict_client(conversion, target)
    place = f"{out.rstrip('/')}/{draft.name}"
    pack = conversion.source if options.in_place else place
    refused = _violations(conversion, target.dialect, pack, options.limits)
    return replace(conversion.with_findings(refused), dialect=target.dialect)


def _violations(
    conversion: Conversion, dialect: Dialect, pack: str, limits: Limits
) -> tuple[Finding, ...]:
    """Return what a dialect refuses in a draft, each with its line and what to do."""
    draft = conversion.draft
    if draft is None:
        return ()
    path = f"{pack}/{SKILL_FILE}"
    return parse(
        draft.skill_md, profile=dialect, directory=draft.name, path=path, limits=limits
    ).findings


def _read(
    thing: Detected, target: ConvertTarget, out: str, options: ConvertOptions
) -> Iterator[Conversion]:
    """Yield the packs of one thing, in the target's dialect."""
    path, dialect, limits = thing.path, target.dialect, options.limits
    if thing.kind == "packs":
        outside = [] if options.in_place else files_outside(path, out, limits)
        pack = None
        for pack in read_packs(path, limits=limits):
            # The packs of an earlier conversion are not converted again.
            if not options.in_place and _is_outcome(pack.source, path, out):
                continue
            # A pack has to be in the dialect that the user says it is in.
            of = DIALECTS.get(options.of)
            refused = _violations(pack, of, pack.source, limits) if of else ()
            read = replace(pack, draft=None) if refused else pack
            reported, outside = [*refused, *outside], []
            yield into_dialect(
                fill_placeholders(read.with_findings(reported), options.values),
                dialect,
                rename=not options.in_place,
                limits=limits,
            )
        if pack is None and outside:
            raise nothing_there(path)
    elif thing.form is None:
        yield from read_roles(path, dialect, options.values, limits=limits)
    elif thing.form.whole:
        second = _second_files(thing, options)
        for pack in read_agents_md(
            path, dialect, name=options.name, split=options.split, limits=limits
        ):
            # The warning is about the whole project: only the first pack has it.
            warned, second = pack.with_findings(second), []
            yield fill_placeholders(warned, options.values, out)
    else:
        for pack in read_format(path, thing.form, dialect, options.name, limits):
            yield fill_placeholders(pack, options.values, out)


def _second_files(thing: Detected, options: ConvertOptions) -> list[Finding]:
    """Return a warning for each other file like AGENTS.md in the project."""
    if thing.kind != "agents-md" or not Path(options.source).is_dir():
        return []
    read, findings = Path(thing.path), list[Finding]()
    left = options.limits.scan_entries
    for folder, folders, files in os.walk(read.parent):
        folders[:] = sorted(f for f in folders if not is_excluded_file(f))
        left -= len(folders) + len(files)
        if left < 0:  # as many as are ever looked at for packs
            break
        for name in (name for name in AGENTS_MD if name in files):
            other = Path(folder, name)
            if other.is_file() and not other.samefile(read):
                findings.append(
                    Finding.of(
                        "not-carried",
                        thing.path,
                        sentence="second-file",
                        name=read.name,
                        name2=other.relative_to(read.parent).as_posix(),
                    )
                )
    return findings


def _is_outcome(pack: str, root: str, out: str) -> bool:
    """Return whether a pack lies in the place for packs, and that below the source."""
    place, source = Path(out).resolve(), Path(root).resolve()
    below = place != source and place.is_relative_to(source)
    return below and Path(pack).resolve().is_relative_to(place)
