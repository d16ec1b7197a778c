"""Check packs: what the registry and lint say of them, and how they can be fixed."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from satchel.checking._library import PackLibrary, named_folders, open_library
from satchel.checking._project import path_finder
from satchel.checking._shadowed import CODE, shadow_findings
from satchel.errors import NotWrittenError, SkillError
from satchel.files import replace_file
from satchel.lint import (
    RULES,
    CheckReport,
    InlineIgnores,
    LintContext,
    LintRule,
    LintSettings,
    SkillFix,
    lint_pack,
    read_inline_ignores,
    rules_for,
    settings_of,
    without_repeats,
)
from satchel.model import SKILL_FILE, Descriptor, Finding, Limits
from satchel.runtime import empty_folder_finding, read_context
from satchel.skill_md import Profile


def check(
    paths: Sequence[str],
    *,
    profile: Profile = "dialect",
    limits: Limits | None = None,
    settings: LintSettings | None = None,
    skip_others: bool = False,
) -> CheckReport:
    """Return all findings on the packs below ``paths``.

    Each path is a pack, a file in one, or a folder of packs; paths in findings begin
    with it as it was written. A pack reached twice is checked once.

    Args:
        paths: What to check.
        profile: What is accepted, where ``settings`` do not say.
        limits: Limits on what is read; None is those of ``settings``.
        settings: Which codes count, and how much; None is all of them.
        skip_others: Skip files that are in no pack.

    Raises:
        MissingPathError: A path does not exist.
        ConfigError: A path is a file that is in no pack.
        SourceUnavailableError: A folder gave no answer.
    """
    settings = settings or settings_of(profile=profile)
    limits = limits or settings.limits
    folders = named_folders(paths, skip_others=skip_others)
    with open_library(folders, profile=settings.profile, limits=limits) as library:
        return check_library(library, settings, limits)


def check_library(
    library: PackLibrary, settings: LintSettings, limits: Limits
) -> CheckReport:
    """Return the report on packs that are open."""
    all_findings = {*library.catalog.findings, *_empty_folders(library)}
    ignores: dict[str, InlineIgnores] = {}
    claims: list[NameClaim] = []
    rules = rules_for(settings.needs)
    for pack in sorted(library.packs, key=library.rank):
        result = _lint(pack, library, settings, limits, rules)
        all_findings.update(result.findings)
        if result.ignores.codes:
            ignores[pack.origin.location] = result.ignores
        claims += [result.claim] if result.claim else []
    # The registry reports conflicts of packs that it accepts; these are all packs.
    all_findings.update(duplicate_names(claims))
    # It reads eval files and ranks every query, so it runs only where it is asked for.
    if CODE in {*(settings.select or ()), *settings.severity}:
        all_findings.update(shadow_findings(library))
    every = _in_order(all_findings)
    shown = [finding for finding in every if not _is_ignored(finding, ignores)]
    judged = (settings.judge(finding) for finding in shown)
    counted = tuple(finding for finding in judged if finding is not None)
    findings = without_repeats(counted)
    return CheckReport(
        len(library.locations),
        findings,
        settings.profile,
        turned_off=len(shown) - len(counted),
        turned_off_by=settings.turned_off_by,
        turned_off_in_packs=len(every) - len(shown),
        not_run=_not_run(settings),
        fixes=plan_fixes(library, findings, settings.profile, limits),
        locations=library.locations,
        places=tuple(folder.shown for folder in library.folders),
    )


def _empty_folders(library: PackLibrary) -> Iterator[Finding]:
    """Yield a finding for each folder without a pack and without another finding.

    To check nothing, and so to find nothing, would look like success.
    """
    paths = [finding.path for finding in library.catalog.findings]
    for state in library.catalog.sources:
        reported = any(f"{path}/".startswith(f"{state.label}/") for path in paths)
        if not (state.packs or state.error or reported):
            yield empty_folder_finding(state.label)


class _LintResult(NamedTuple):
    """The findings of one pack, what it turns off itself, and its name."""

    findings: tuple[Finding, ...] = ()
    ignores: InlineIgnores = InlineIgnores()
    claim: "NameClaim | None" = None


def _lint(
    entry: Descriptor,
    library: PackLibrary,
    settings: LintSettings,
    limits: Limits,
    rules: Iterable[LintRule],
) -> _LintResult:
    """Run the rules on a pack; on a refused one as far as it can be read."""
    location = entry.origin.location
    try:
        around = path_finder(library.folder_of(location), library.folder_of_skill)
        reader = library.reader(entry)
        pack = read_context(entry, reader, settings, limits, around)
    except SkillError as error:
        if _is_refused(location, library):
            return _LintResult()
        # The scan could read it a moment ago: silence would look like success.
        message = f"it could not be read again: {error}"
        finding = Finding.of_error(error, f"{location}/{SKILL_FILE}")
        return _LintResult((replace(finding, message=message),))
    ignores = read_inline_ignores(pack.text)
    findings = tuple(
        replace(finding, path=f"{location}/{finding.path}")
        for finding in (*lint_pack(pack, rules), *ignores.findings)
    )
    claim = _claim(pack, library) if pack.manifest.frontmatter else None
    return _LintResult(findings, ignores, claim)


def _is_refused(location: str, library: PackLibrary) -> bool:
    return any(
        finding.severity == "error" and f"{finding.path}/".startswith(f"{location}/")
        for finding in library.catalog.findings
    )


def _is_ignored(finding: Finding, ignores: dict[str, InlineIgnores]) -> bool:
    """Tell whether the pack of a finding turns it off."""
    place = finding.path
    # A finding may be deep in a pack: the nearest pack above it decides.
    while ignores and place:
        if place in ignores:
            return ignores[place].hides(finding)
        place = place.rpartition("/")[0]
    return False


def _not_run(settings: LintSettings) -> tuple[str, ...]:
    """Return the codes of the rules that do not run, sorted."""
    off = (rule.codes for rule in RULES if not settings.needs(rule))
    return tuple(sorted({code for codes in off for code in codes}))


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort, and drop a finding without a line where there is one with a line too."""
    findings = list(findings)
    with_line = {(f.code, f.path, f.message) for f in findings if f.line is not None}
    best = (
        f
        for f in findings
        if f.line is not None or (f.code, f.path, f.message) not in with_line
    )
    return tuple(sorted(best, key=lambda f: (f.path, f.line or 0, f.code, f.message)))


class NameClaim(NamedTuple):
    """A pack's claim to a name: where the pack is, and the line of the name.

    ``content`` is equal for copies of one pack.
    """

    name: str
    location: str
    line: int | None
    content: object


def _claim(pack: LintContext, library: PackLibrary) -> NameClaim:
    """Return a pack's claim to its name.

    The registry distinguishes copies of one pack from packs that differ, but not where
    a pack was refused: there the text and the sizes of the files count.
    """
    location = pack.descriptor.origin.location
    content: object = location
    if location in library.refused:
        sizes = [(file.path, file.size) for file in pack.descriptor.files]
        content = pack.text, sizes
    return NameClaim(pack.manifest.name, location, pack.line_of("name"), content)


def duplicate_names(claims: Iterable[NameClaim]) -> Iterator[Finding]:
    """Yield a finding for each pack, copies aside, whose name an earlier pack has."""
    first: dict[str, NameClaim] = {}
    for claim in claims:
        owner = first.setdefault(claim.name, claim)
        if owner.content != claim.content:
            yield Finding.of(
                "duplicate-skill",
                f"{claim.location}/{SKILL_FILE}",
                claim.line,
                location=owner.location,
                name=claim.name,
            )


def plan_fixes(
    library: PackLibrary, findings: Iterable[Finding], profile: Profile, limits: Limits
) -> tuple[SkillFix, ...]:
    """Return the fix of each SKILL.md with a finding that can be fixed.

    Nothing is written. A pack that a link leads to, outside of the checked folders, is
    not fixed: it belongs to someone else.
    """
    listed = tuple(findings)
    if not listed:
        return ()
    from satchel.lint import FIXABLE  # brings what edits files: a clean pack needs none

    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in listed:
        if finding.code in FIXABLE:
            by_path[finding.path].append(finding)
    return tuple(_plans(library, by_path, profile, limits)) if by_path else ()


def _plans(
    library: PackLibrary,
    by_path: dict[str, list[Finding]],
    profile: Profile,
    limits: Limits,
) -> Iterator[SkillFix]:
    from satchel.lint import fix_skill

    roots = [
        os.path.realpath(folder.path)
        for folder in library.folders
        if os.path.isdir(folder.path)  # noqa: PTH112 - an archive is made, not fixed
    ]
    for pack in sorted(library.packs, key=lambda pack: pack.origin.location):
        origin = pack.origin
        path = f"{origin.location}/{SKILL_FILE}"
        if path not in by_path or not _is_below(origin.location, roots):
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


def _is_below(location: str, roots: list[str]) -> bool:
    real = os.path.realpath(location)
    return any(real == root or real.startswith(f"{root}{os.sep}") for root in roots)


def write_fixes(fixes: Iterable[SkillFix]) -> Iterator[NotWrittenError]:
    """Write each file as a whole; yield the reason for each that was not written."""
    for fix in fixes:
        try:
            replace_file(fix.path, fix.before, fix.after)
        except NotWrittenError as error:
            yield error
        except OSError as error:
            yield NotWrittenError(fix.path, error.strerror or str(error))
