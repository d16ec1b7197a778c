"""A whole conversion: what is at a path, into a dialect, to where it belongs."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Final, NamedTuple

from satchel.errors import ConfigError, MissingPathError
from satchel.files import is_excluded_file
from satchel.model import DEFAULT_LIMITS, MAX_NAME_CHARS, SKILL_FILE, Finding
from satchel.skill_md import parse
from satchel_lab._frontmatter_editor import set_entry
from satchel_lab.authoring._convert._agents_md import read_agents_md
from satchel_lab.authoring._convert._formats import (
    AGENTS_MD,
    FORMATS,
    UNREAD_FOLDERS,
    ForeignFormat,
    read_format,
)
from satchel_lab.authoring._convert._markup import fill_placeholders
from satchel_lab.authoring._convert._output import (
    check_place,
    put_pack,
    replace_skill_md,
)
from satchel_lab.authoring._convert._packs import (
    files_outside,
    into_dialect,
    read_packs,
)
from satchel_lab.authoring._convert._roles import (
    folder_above,
    holds_roles,
    read_roles,
    roles_folder,
)
from satchel_lab.authoring._convert._values import (
    DIALECTS,
    TARGETS,
    Conversion,
    ConversionResult,
    ConvertTarget,
    Dialect,
    predict_client,
)
from satchel_lab.authoring._role_format import SYSTEM_PROMPT

# Files that name the folder they are in.
_OF_A_FOLDER: Final[dict[str, str]] = {SKILL_FILE: "packs", SYSTEM_PROMPT: "roles"}
# Endings that many files have: they do not tell a format by themselves.
_COMMON_SUFFIXES: Final = ("", ".md")
# What only its place tells: rules of Cursor have an ending of their own.
_BY_PLACE: Final = ".cursor/commands"
# Formats of a kind whose files may have any name where the user names the kind.
_OF_ANY_NAME: Final = (AGENTS_MD[0], ".github/instructions")


class Detected(NamedTuple):
    """What something is, the path to read, and the format where there is one.

    ``kind`` is ``packs``, ``roles``, or that of a format.
    """

    kind: str
    path: str
    form: ForeignFormat | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it is one file for all, which is read as AGENTS.md is."""
        return self.form is not None and self.form.whole


def detect(path: str, kind: str = "") -> list[Detected]:
    """Return what to convert at a path: all that is there without a ``kind``.

    A folder without a file of its kind is left out next to others.
    """
    if not os.path.lexists(path):
        raise MissingPathError(path)
    every = _in_folder(path) if Path(path).is_dir() else _as_file(path, kind)
    things = [thing for thing in every if kind in ("", thing.kind)]
    things = things or [*_named_by_user(path, kind)]
    if not things:
        raise nothing_there(path, kind)
    return [thing for thing in things if _has_files(thing)] or things


def _has_files(thing: Detected) -> bool:
    folder = Path(thing.path)
    if thing.form is None or not folder.is_dir():
        return True
    return next(folder.rglob(f"*{thing.form.suffix}"), None) is not None


def nothing_there(path: str, kind: str = "") -> ConfigError:
    what = kind or "a pack, role templates, AGENTS.md, rules, prompts or agents"
    return ConfigError(path, f"expected {what}; nothing of that kind is there")


def _named_by_user(path: str, kind: str) -> Iterator[Detected]:
    """Yield a folder of any name whose Markdown files are what the user says."""
    forms = [form for form in FORMATS if form.kind == kind and _is_plain(form)]
    if forms and any(next(Path(path).glob(files), "") for files in _MARKDOWN):
        yield Detected(forms[0].kind, path, forms[0])


_MARKDOWN: Final = ("*.md", "*/*.md")


def _is_plain(form: ForeignFormat) -> bool:
    return form.suffix == ".md" and form.place != _BY_PLACE


def _as_file(path: str, kind: str) -> Iterator[Detected]:
    """Yield what a file is by its name, else by its place, else what the user says."""
    name = path.rpartition("/")[2]
    if name in _OF_A_FOLDER:
        folder = path.removesuffix(name).rstrip("/") or os.curdir
        yield Detected(_OF_A_FOLDER[name], folder)
        return
    inside = f"/{path}".rpartition("/")[0] + "/"
    for form in FORMATS:
        named = form.suffix not in _COMMON_SUFFIXES and name.endswith(form.suffix)
        if form.whole:
            named = name == form.place.rpartition("/")[2]
        if named or f"/{form.place}/" in inside:
            yield Detected(form.kind, path, form)
            return
    # Any name will do for a kind that the user names, unless its files have an suffix
    # of their own.
    for form in FORMATS:
        if form.kind == kind and (_is_plain(form) or form.place in _OF_ANY_NAME):
            yield Detected(form.kind, path, form)
            return


def _in_folder(path: str) -> Iterator[Detected]:
    nothing = True
    if holds_roles(path):
        nothing = False
        yield Detected("roles", path)
    # Projects often have AGENTS.md and CLAUDE.md with the same text: one is enough.
    agents_md = False
    for form in FORMATS:
        if form.kind == "agents-md" and agents_md:
            continue
        place = _place_in(path, form)
        if place is not None:
            nothing, agents_md = False, agents_md or form.kind == "agents-md"
            yield Detected(form.kind, place, form)
    # A project is searched for packs only where it is nothing else.
    packs = Path(path, SKILL_FILE).is_file() or any(Path(path).glob(f"*/{SKILL_FILE}"))
    if nothing or packs:
        yield Detected("packs", path)


def _place_in(path: str, form: ForeignFormat) -> str | None:
    """Return where a project has files of a format: at the path itself, or below it."""
    whole = path.rstrip("/") or "/"
    inner = f"{whole}/{form.place}" if whole != os.curdir else form.place
    if form.whole:
        return inner if os.path.lexists(inner) and not Path(inner).is_dir() else None
    if Path(inner).is_dir():
        return inner
    own = f"/{Path(path).absolute().as_posix()}"
    files = Path(path).glob(f"*{form.suffix}")
    ended = form.suffix not in _COMMON_SUFFIXES and any(files)
    return path if own.endswith(f"/{form.place}") or ended else None


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
    _check_name(things, options)
    plans: list[tuple[Detected, ConvertTarget, str]] = []
    for thing in things:
        target = _target(thing.kind, options, things)
        plans.append((thing, target, _destination(thing, target, options)))
        # Before anything is read: no report on packs that have nowhere to go.
        if not options.in_place:
            check_place(plans[-1][2])
    # By place, in lower case: on some systems `A` and `a` are one folder.
    sources: dict[str, tuple[str, int]] = {}
    rehearse = options.rehearse
    unread = [] if kind else _unread_folders(options.source)
    for thing, target, out in plans:
        for pack in _read(thing, target, out, options):
            # These are about the whole project: only the first pack has them.
            reported, unread = pack.with_findings(unread), []
            conversion = _with_predictions(reported, target, out, options)
            if options.in_place:
                yield replace_skill_md(conversion, root=thing.path, rehearse=rehearse)
                continue
            conversion, again = _with_own_name(conversion, thing, out, sources)
            overwrite = options.overwrite
            result = put_pack(conversion, out, overwrite=overwrite, rehearse=rehearse)
            yield replace(result, status="unchanged") if again else result


def _with_own_name(
    conversion: Conversion,
    thing: Detected,
    out: str,
    sources: dict[str, tuple[str, int]],
) -> tuple[Conversion, bool]:
    """Return a conversion whose name no other has, and whether it was there before.

    A pack with the name of another is refused; what becomes a pack is renamed. Files of
    one name in two folders of a source have names of their own already (`pages_at`).
    """
    draft = conversion.draft
    if draft is None:
        return conversion, False
    files = sorted(draft.files.items())
    own = conversion.source, hash((draft.name, *files, draft.programs))
    first, first_hash = sources.setdefault(f"{out}/{draft.name}".lower(), own)
    # A library may have one pack in two places.
    if first == own[0] or first_hash == own[1]:
        return conversion, first != own[0]
    name = "" if thing.kind in {"packs", "roles"} else draft.name
    for end in chain([thing.kind], map(str, count(2))) if name else ():
        name = f"{draft.name[: MAX_NAME_CHARS - len(end) - 1]}-{end}"
        if sources.setdefault(f"{out}/{name}".lower(), own) == own:
            break
    written = draft.skill_md.decode()
    text = set_entry(written, "name", f"name: {name}\n") if name else None
    twice = Finding.of(
        "duplicate-skill",
        conversion.source,
        severity="note" if text else None,
        sentence="renamed" if text else "conversion",
        first=first,
        name=draft.name,
        new=name,
    )
    if text is None:
        return conversion.refused(twice), False
    renamed = replace(draft.with_skill_md(text.encode()), name=name)
    # Advice such as always=['x'] has to name this pack, not the other of that name.
    findings = tuple(
        replace(one, fix=one.fix.replace(repr(draft.name), repr(name)))
        for one in (*conversion.findings, twice)
    )
    return replace(conversion, findings=findings, draft=renamed), False


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


def _kinds(things: list[Detected]) -> str:
    return ", ".join(dict.fromkeys(thing.kind for thing in things))


def _target(
    kind: str, options: ConvertOptions, things: list[Detected]
) -> ConvertTarget:
    if not options.to and kind == "packs":
        detail = "say what the packs are for: --to strict, ..."
        if len(things) > 1:
            detail += f"; or choose one kind by --from: {_kinds(things)}"
        raise ConfigError(options.source, detail)
    return TARGETS[options.to or ("strict" if kind == "roles" else "spec")]


def _check_name(things: list[Detected], options: ConvertOptions) -> None:
    thing, kinds = things[0], _kinds(things)
    if "," in kinds and (options.name or options.split or options.in_place):
        detail = f"several kinds are there: {kinds}; choose one by --from"
        raise ConfigError(options.source, detail)
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
    refused = _violations(conversion, target.dialect, pack)
    return replace(conversion.with_findings(refused), dialect=target.dialect)


def _violations(
    conversion: Conversion, dialect: Dialect, pack: str
) -> tuple[Finding, ...]:
    """Return what a dialect refuses in a draft, each with its line and what to do."""
    draft = conversion.draft
    if draft is None:
        return ()
    path = f"{pack}/{SKILL_FILE}"
    parsed = parse(draft.skill_md, profile=dialect, directory=draft.name, path=path)
    return parsed.findings


def _read(
    thing: Detected, target: ConvertTarget, out: str, options: ConvertOptions
) -> Iterator[Conversion]:
    """Yield the packs of one thing, in the target's dialect."""
    path, dialect = thing.path, target.dialect
    if thing.kind == "packs":
        outside = [] if options.in_place else files_outside(path, out)
        pack = None
        for pack in read_packs(path):
            # The packs of an earlier conversion are not converted again.
            if not options.in_place and _is_outcome(pack.source, path, out):
                continue
            # A pack has to be in the dialect that the user says it is in.
            of = DIALECTS.get(options.of)
            refused = _violations(pack, of, pack.source) if of else ()
            read = replace(pack, draft=None) if refused else pack
            reported, outside = [*refused, *outside], []
            filled = fill_placeholders(read.with_findings(reported), options.values)
            yield into_dialect(filled, dialect, rename=not options.in_place)
        if pack is None and outside:
            raise nothing_there(path)
    elif thing.form is None:
        yield from read_roles(path, dialect, options.values)
    elif thing.form.whole:
        second = [*_second_files(thing, options)]
        name, split = options.name, options.split
        for pack in read_agents_md(path, dialect, name=name, split=split):
            # The warning is about the whole project: only the first pack has it.
            warned, second = pack.with_findings(second), []
            yield fill_placeholders(warned, options.values, out)
    else:
        for pack in read_format(path, thing.form, dialect, options.name):
            yield fill_placeholders(pack, options.values, out)


def _second_files(thing: Detected, options: ConvertOptions) -> Iterator[Finding]:
    """Yield a warning for each other file like AGENTS.md in the project."""
    if thing.kind != "agents-md" or not Path(options.source).is_dir():
        return
    read = Path(thing.path)
    report = partial(Finding.of, "not-carried", thing.path, sentence="second-file")
    left = DEFAULT_LIMITS.scan_entries
    for folder, folders, files in os.walk(read.parent):
        folders[:] = sorted(f for f in folders if not is_excluded_file(f))
        left -= len(folders) + len(files)
        if left < 0:  # as many as are ever looked at for packs
            return
        for other in (Path(folder, name) for name in AGENTS_MD if name in files):
            if other.is_file() and not other.samefile(read):
                second = other.relative_to(read.parent).as_posix()
                yield report(name=read.name, name2=second)


def _unread_folders(source: str) -> list[Finding]:
    """Return a warning for each folder of another client whose files nothing reads."""
    root = "" if source == os.curdir else f"{source.rstrip('/')}/"
    return [
        Finding.of("not-carried", root + place, sentence="unread-folder")
        for place in UNREAD_FOLDERS
        if Path(root + place).is_dir() and any(Path(root + place).iterdir())
    ]


def _is_outcome(pack: str, root: str, out: str) -> bool:
    """Return whether a pack lies in the place for packs, and that below the source."""
    place, source = Path(out).resolve(), Path(root).resolve()
    below = place != source and place.is_relative_to(source)
    return below and Path(pack).resolve().is_relative_to(place)
