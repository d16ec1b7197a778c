"""Check packs: what the registry and lint say of them, and how they can be fixed."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from satchel.catalog import allow
from satchel.checking._library import PackLibrary, named_folders, open_library
from satchel.checking._project import path_finder
from satchel.errors import NotWrittenError, SkillError
from satchel.files import replace_file
from satchel.lint import (
    FIXABLE,
    RULES,
    CheckReport,
    InlineIgnores,
    LintContext,
    LintRule,
    LintSettings,
    SkillFix,
    fix_skill,
    lint_pack,
    read_inline_ignores,
    rules_for,
    settings_of,
    without_repeats,
)
from satchel.model import SKILL_FILE, Descriptor, Finding, Limits, Manifest
from satchel.runtime import empty_folder_finding
from satchel.skill_md import Profile, dialect_of, parse
from satchel.text import decode


class NameClaim(NamedTuple):
    """A pack's claim to a name: where the pack is, and on which line it says so.

    ``content`` is equal for packs that are one, a copy of the other.
    """

    name: str
    location: str
    line: int | None
    content: object


def duplicate_names(claims: Iterable[NameClaim]) -> Iterator[Finding]:
    """Tell each claimant of a name but the first who has it too.

    The first is the one that comes first. Copies of one pack are no rivals.
    """
    first: dict[str, NameClaim] = {}
    for claim in claims:
        holder = first.setdefault(claim.name, claim)
        if holder.content != claim.content:
            yield Finding.of(
                "duplicate-skill",
                f"{claim.location}/{SKILL_FILE}",
                claim.line,
                location=holder.location,
                name=claim.name,
            )


def plan_fixes(
    library: PackLibrary, findings: Iterable[Finding], profile: Profile, limits: Limits
) -> tuple[SkillFix, ...]:
    """Return how each SKILL.md with a finding that can be mended is mended.

    Nothing is written. A pack that a link leads to, out of its place, is left alone:
    it is another's.
    """
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code in FIXABLE:
            by_path[finding.path].append(finding)
    return tuple(_plans(library, by_path, profile, limits)) if by_path else ()


def _plans(
    library: PackLibrary,
    by_path: dict[str, list[Finding]],
    profile: Profile,
    limits: Limits,
) -> Iterator[SkillFix]:
    roots = [
        os.path.realpath(place.folder)
        for place in library.places
        if os.path.isdir(place.folder)  # noqa: PTH112 - an archive is made, not mended
    ]
    for pack in sorted(library.packs, key=lambda pack: pack.origin.location):
        origin = pack.origin
        path = f"{origin.location}/{SKILL_FILE}"
        if path not in by_path or not _lies_in(origin.location, roots):
            continue
        reader = library.reader(pack)
        try:
            data = reader.read(origin.key, SKILL_FILE, limits.skill_md_bytes)
            files = pack.files or tuple(reader.files(origin.key))
        except SkillError:
            continue
        fix = fix_skill(
            data,
            tuple(by_path[path]),
            path=path,
            folder=origin.key.rpartition("/")[2],
            files=tuple(file.path for file in files),
            profile=profile,
            limits=limits,
        )
        if fix is not None:
            yield fix


def write_fixes(fixes: Iterable[SkillFix]) -> Iterator[NotWrittenError]:
    """Write each file as a whole; yield why one was not written."""
    for fix in fixes:
        try:
            replace_file(fix.path, fix.before, fix.after)
        except NotWrittenError as error:
            yield error
        except OSError as error:
            yield NotWrittenError(fix.path, error.strerror or str(error))


def _lies_in(location: str, roots: list[str]) -> bool:
    place = os.path.realpath(location)
    return any(place == root or place.startswith(f"{root}{os.sep}") for root in roots)


def check(
    paths: Sequence[str],
    *,
    profile: Profile = "dialect",
    limits: Limits | None = None,
    settings: LintSettings | None = None,
    skip_others: bool = False,
) -> CheckReport:
    """Return all that is worth telling the authors of the packs below ``paths``.

    Each path is a pack, a file in one, or a folder of packs; paths in findings begin
    with it as it was written. A pack reached twice is checked once.

    Args:
        paths: What to check.
        profile: What is accepted, where ``settings`` do not say.
        limits: Bounds on what is read; None is those of ``settings``.
        settings: Which codes count, and how much; None is all of them.
        skip_others: Pass by a file that lies in no pack.

    Raises:
        MissingPathError: A path does not exist.
        ConfigError: A path is a file that lies in no pack.
        SourceUnavailableError: A folder gave no answer.
    """
    settings = settings or settings_of(profile=profile)
    limits = limits or settings.limits
    places = named_folders(paths, skip_others=skip_others)
    with open_library(places, profile=settings.profile, limits=limits) as library:
        return check_library(library, settings, limits)


def check_library(
    library: PackLibrary, settings: LintSettings, limits: Limits
) -> CheckReport:
    """Return the report on packs that are open."""
    found = {*library.catalog.findings, *_empty(library)}
    asked: dict[str, InlineIgnores] = {}
    claims: list[NameClaim] = []
    rules = rules_for(settings.asks)
    for pack in sorted(library.packs, key=library.rank):
        looked = _look_at(pack, library, settings, limits, rules)
        found.update(looked.findings)
        if looked.inline.codes:
            asked[pack.origin.location] = looked.inline
        claims += [looked.claim] if looked.claim else []
    found.update(duplicate_names(claims))
    every = _in_order(found)
    wanted = [each for each in every if not _is_hidden(each, asked)]
    judged = [settings.judge(each) for each in wanted]
    counted = tuple(each for each in judged if each is not None)
    findings = without_repeats(counted)
    return CheckReport(
        len(library.locations),
        findings,
        settings.profile,
        off=len(wanted) - len(counted),
        off_by=settings.told_by,
        inline=len(every) - len(wanted),
        unasked=_unasked(settings),
        fixes=plan_fixes(library, findings, settings.profile, limits),
        locations=library.locations,
        places=tuple(place.shown for place in library.places),
    )


def _empty(library: PackLibrary) -> Iterator[Finding]:
    """Yield a finding for each folder without a pack, of which nothing else is said.

    To check nothing, and to find nothing wrong, would look like success.
    """
    told = [each.path for each in library.catalog.findings]
    for state in library.catalog.sources:
        said = any(f"{path}/".startswith(f"{state.label}/") for path in told)
        if not (state.packs or state.error or said):
            yield empty_folder_finding(state.label)


def _is_refused(location: str, library: PackLibrary) -> bool:
    return any(
        each.severity == "error" and f"{each.path}/".startswith(f"{location}/")
        for each in library.catalog.findings
    )


class _PackFindings(NamedTuple):
    """What lint says of one pack, and what the pack asks to be left out."""

    findings: tuple[Finding, ...] = ()
    inline: InlineIgnores = InlineIgnores()
    claim: NameClaim | None = None


def _look_at(
    entry: Descriptor,
    library: PackLibrary,
    settings: LintSettings,
    limits: Limits,
    rules: Iterable[LintRule],
) -> _PackFindings:
    """Return what lint says of a pack; of a refused one as far as it can be read."""
    origin = entry.origin
    try:
        pack = _context(entry, library, settings, limits)
    except SkillError as error:
        if _is_refused(origin.location, library):
            return _PackFindings()
        # It could be read a moment ago: not to say so would look like success.
        message = f"it could not be looked at: {error}"
        path = f"{origin.location}/{SKILL_FILE}"
        return _PackFindings((Finding(error.code, "error", message, path),))
    inline = read_inline_ignores(pack.text)
    found = (
        *lint_pack(pack, rules),
        *inline.findings,
    )
    return _PackFindings(
        tuple(replace(each, path=f"{origin.location}/{each.path}") for each in found),
        inline,
        _claim(pack, library) if pack.manifest.frontmatter else None,
    )


def _context(
    entry: Descriptor, library: PackLibrary, settings: LintSettings, limits: Limits
) -> LintContext:
    """Return what rules may look at.

    Raises:
        SkillError: SKILL.md, or the list of files, cannot be read.
    """
    key = entry.origin.key
    reader = library.reader(entry)
    data = reader.read(key, SKILL_FILE, limits.skill_md_bytes)
    files = entry.files or tuple(reader.files(key))
    folder = key.rpartition("/")[2]
    parsed = parse(
        data,
        profile="lenient",
        directory=folder,
        limits=limits,
        allow_empty_description=True,
    )
    manifest = parsed.manifest or Manifest(name=folder, description="")
    profile, by_dialect = settings.profile, settings.profile == "dialect"
    if by_dialect:
        profile = dialect_of(manifest)
    listed = allow(manifest, files, closed=profile == "strict")

    def read(path: str) -> bytes:
        if path == SKILL_FILE:
            return data
        return reader.read(key, path, limits.file_bytes)

    return LintContext(
        descriptor=replace(
            entry,
            references=listed.references,
            scripts=listed.scripts,
            assets=listed.assets,
            others=listed.others,
            files=files,
        ),
        manifest=manifest,
        text=decode(data).text,
        read=cache(read),
        around=path_finder(library.folder_of(entry.origin.location), library.folders),
        told=listed.findings,
        profile=profile,
        by_dialect=by_dialect,
        limits=limits,
        thresholds=settings.strict_thresholds
        if by_dialect and profile == "strict"
        else settings.thresholds,
    )


def _claim(pack: LintContext, library: PackLibrary) -> NameClaim:
    """Return a pack's claim to its name.

    The registry has told copies of one pack from packs that differ, but not where a
    pack was refused: there its text and the sizes of its files tell.
    """
    origin = pack.descriptor.origin
    content: object = origin.location
    if origin.location in library.refused:
        content = (
            pack.text,
            [(each.path, each.size) for each in pack.descriptor.files],
        )
    return NameClaim(pack.manifest.name, origin.location, pack.line_of("name"), content)


def _is_hidden(finding: Finding, asked: dict[str, InlineIgnores]) -> bool:
    """Tell whether the pack that a finding is about asks to leave it out."""
    place = finding.path
    while asked and place:
        inline = asked.get(place)
        if inline is not None:
            return inline.hides(finding)
        place = place.rpartition("/")[0]
    return False


def _unasked(settings: LintSettings) -> tuple[str, ...]:
    """Return the codes of the rules that were not asked, sorted."""
    silent = (rule.codes for rule in RULES if not settings.asks(rule))
    return tuple(sorted({code for codes in silent for code in codes}))


def _in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort, and drop what was said without a line where it was said with one too."""
    found = list(found)
    with_line = {(f.code, f.path, f.message) for f in found if f.line is not None}
    best = (
        f
        for f in found
        if f.line is not None or (f.code, f.path, f.message) not in with_line
    )
    return tuple(sorted(best, key=lambda f: (f.path, f.line or 0, f.code, f.message)))
