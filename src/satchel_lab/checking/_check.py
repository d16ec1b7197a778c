"""Check packs: what the registry and lint say of them, and how they can be fixed."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from satchel.errors import NotWrittenError, SkillError
from satchel.lazy import lazy_pattern
from satchel.model import (
    SKILL_FILE,
    UNSEARCHED,
    Descriptor,
    Finding,
    Limits,
    findings_of,
)
from satchel.runtime import empty_folder_finding, need_findings
from satchel.skill_md import Profile
from satchel_lab._replace import replace_file
from satchel_lab.checking._catalog import read_context
from satchel_lab.checking._library import (
    PackLibrary,
    eval_files,
    made_in,
    named_folders,
    open_library,
    path_finder,
)
from satchel_lab.checking._plugins import plugin_findings
from satchel_lab.lint import (
    ON_REQUEST,
    RULES,
    CheckReport,
    InlineIgnores,
    LintContext,
    LintSettings,
    SkillFix,
    lint_pack,
    read_inline_ignores,
    rules_for,
    settings_of,
    sound_in,
    without_repeats,
)

# A value that a template fills in, in the frontmatter.
_PLACEHOLDER: Final = lazy_pattern(
    r"\A---\n(?:(?!---).*\n)*?[\w-]+:[ ]*(?:\{\{|\{[A-Z_]{3,}\})"
)
# A private-use character next to a letter or another one; alone it is an icon.
_SIGN: Final = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_HIDDEN_SIGN: Final = lazy_pattern(rf"\w(?=[{_SIGN}])|[{_SIGN}](?=[\w{_SIGN}])")
# Packs that are open at once, so that one process reads the scripts of all of them.
_AT_ONCE: Final = 64


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
        return check_library(library, replace(settings, limits=limits))


def check_library(library: PackLibrary, settings: LintSettings) -> CheckReport:
    """Return the report on packs that are open."""
    all_findings = {*library.catalog.findings, *_empty_folders(library)}
    ignores: dict[str, InlineIgnores] = {}
    claims: list[NameClaim] = []
    excused: dict[str, Mapping[str, str]] = {}
    packs = sorted(library.packs, key=library.rank)
    for start in range(0, len(packs), _AT_ONCE):
        for result in _lint(packs[start : start + _AT_ONCE], library, settings):
            all_findings.update(result.findings)
            if result.ignores.codes:
                ignores[result.location] = result.ignores
            claims += [result.claim] if result.claim else []
            if result.excused:
                excused[f"{result.location}/{SKILL_FILE}"] = result.excused
    # The registry reports conflicts of packs that it accepts; these are all packs.
    all_findings.update(duplicate_names(claims))
    all_findings.update(plugin_findings(library.catalog, whole=True))
    needing = sorted(
        (pack for pack in library.packs if pack.requires), key=library.rank
    )
    is_around = partial(_is_around, library)
    all_findings.update(need_findings(library.catalog, needing, is_around))
    # It reads eval files and ranks every query, so it runs only where it is asked for.
    if settings.counts("shadowed-skill"):
        from satchel_lab.evals import EvalLibrary, hidden_skills, read_evals

        skills = EvalLibrary(library.packs, library.catalog.readers)
        cases = read_evals(eval_files(library), skills).cases
        _, hidden, duplicates = hidden_skills(cases, skills)
        all_findings.update(shadow.finding() for shadow in hidden)
        all_findings.update(duplicate.finding() for duplicate in duplicates)
    unsearched = findings_of(_in_order(all_findings), {UNSEARCHED})
    rest = all_findings.difference(unsearched)
    every = _in_order(_for_client(finding, library) for finding in rest)
    asked = [f for f in every if f.code not in ON_REQUEST or settings.counts(f.code)]
    if excused:
        asked = [f for f in asked if not _is_excused(f, excused.get(f.path, {}))]
    shown = [finding for finding in asked if not _is_ignored(finding, ignores)]
    counted = tuple(filter(None, map(settings.judge, shown)))
    findings = without_repeats(counted)
    not_run = {code for r in RULES if not settings.needs(r) for code in r.codes}
    return CheckReport(
        len(library.locations),
        findings,
        settings.profile,
        turned_off=len(shown) - len(counted),
        turned_off_by=settings.turned_off_by,
        turned_off_in_packs=len(asked) - len(shown),
        not_run=tuple(sorted(not_run - ON_REQUEST)),
        fixes=tuple(plan_fixes(library, findings, settings)),
        locations=library.locations,
        places=tuple(folder.shown for folder in library.folders),
        unsearched=tuple(unsearched),
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
    """The findings of one pack, what it turns off itself, and its name.

    ``excused`` are codes of no fault in its SKILL.md, each with a word of the message.
    """

    location: str
    findings: tuple[Finding, ...] = ()
    ignores: InlineIgnores = InlineIgnores()
    claim: "NameClaim | None" = None
    excused: Mapping[str, str] = MappingProxyType({})


def _for_client(finding: Finding, library: PackLibrary) -> Finding:
    """Return a note for a name where the client of the place goes by the folder."""
    # Source: code.claude.com, "Skills": `name` is optional, and only shown.
    if finding.code in {"missing-name", "name-not-folder"}:
        folder = library.folder_of(finding.path.removesuffix(f"/{SKILL_FILE}"))
        if "Claude Code" in library.clients_of(folder):
            return replace(finding, severity="note")
    return finding


def _lint(
    entries: Iterable[Descriptor], library: PackLibrary, settings: LintSettings
) -> Iterator[_LintResult]:
    """Run the rules on packs; on a refused one as far as it can be read."""
    opened: list[tuple[str, LintContext]] = []
    sound: set[bytes] = set()
    for entry in entries:
        location = entry.origin.location
        try:
            folder = library.folder_of(location)
            around = path_finder(folder, library.folder_of_skill)
            pack = read_context(
                entry, library.reader(entry), settings, settings.limits, around
            )
            pack = replace(
                pack,
                clients=library.clients_of(folder),
                compile=library.python.read,
                sound=sound,
                may_run=partial(_may_run, folder),
            )
            opened.append((location, pack))
        except SkillError as error:
            if not _is_refused(location, library):
                # The scan could read it a moment ago: silence would look like success.
                message = f"it could not be read again: {error}"
                finding = Finding.of_error(error, f"{location}/{SKILL_FILE}")
                yield _LintResult(location, (replace(finding, message=message),))
    if settings.counts("shell-syntax"):
        sound |= sound_in(pack for _, pack in opened)
    rules = rules_for(settings.needs)
    for location, pack in opened:
        ignores = read_inline_ignores(pack.text)
        findings = tuple(
            replace(finding, path=f"{location}/{finding.path}")
            for finding in (*lint_pack(pack, rules), *ignores.findings)
        )
        claim = _claim(pack, library) if pack.manifest.frontmatter else None
        yield _LintResult(location, findings, ignores, claim, _excused(pack))


def _excused(pack: LintContext) -> dict[str, str]:
    """Return codes of what is meant in a SKILL.md, each with a word of its message."""
    codes: dict[str, str] = {}
    text, fields = pack.text, pack.manifest.frontmatter.keys()
    # Rules of an editor, which have neither, may be called so.
    if _PLACEHOLDER.search(text) or fields.isdisjoint(("name", "description")):
        codes["reserved-character"] = ""
    if not (text.isascii() or _HIDDEN_SIGN.search(text)):
        codes["hidden-text"] = "private"
    return codes


def _is_excused(finding: Finding, codes: Mapping[str, str]) -> bool:
    return finding.code in codes and codes[finding.code] in finding.message


def _is_around(library: PackLibrary, entry: Descriptor, name: str) -> bool:
    """Tell whether a skill is in the library in any state, or next to one of it."""
    folder = library.folder_of(entry.origin.location).absolute()
    sibling = folder.parent / name / SKILL_FILE
    return name in library.folder_of_skill or sibling.is_file()


def _may_run(folder: Path, path: str) -> bool:
    # An archive is no folder, and shows no modes.
    return not folder.is_dir() or os.access(folder / path, os.X_OK)


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
    """Yield a finding for each pack, copies aside, whose name an earlier pack has.

    What a repository makes of its skills for one client is a copy of them.
    """
    first: dict[tuple[str, str], NameClaim] = {}
    for claim in claims:
        owner = first.setdefault((claim.name, made_in(claim.location)), claim)
        if owner.content != claim.content:
            at = "duplicate-skill", f"{claim.location}/{SKILL_FILE}", claim.line
            yield Finding.of(*at, location=owner.location, name=claim.name)


def plan_fixes(
    library: PackLibrary, findings: Sequence[Finding], settings: LintSettings
) -> Iterator[SkillFix]:
    """Yield the fix of each SKILL.md with a finding that can be fixed.

    Nothing is written. A pack that a link leads to, outside of the checked folders, is
    not fixed: it belongs to someone else.
    """
    if not findings:  # what edits files is imported for none
        return
    from satchel_lab.lint import FIXABLE, fix_skill

    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code in FIXABLE:
            by_path[finding.path].append(finding)
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
            data = reader.read(origin.key, SKILL_FILE, settings.limits.skill_md_bytes)
            files = pack.files or tuple(reader.files(origin.key))
        except SkillError:
            continue
        fix = fix_skill(
            data,
            tuple(by_path[path]),
            path=path,
            folder=origin.key.rpartition("/")[2],
            files=tuple(file.path for file in files),
            profile=settings.profile,
            limits=settings.limits,
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
