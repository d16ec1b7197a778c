"""Check packs: what a registry says of them, and what lint adds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from satchel.catalog.allowlist import allow
from satchel.errors import SkillError
from satchel.lint import RULES, Context, Report, Rule, lint_pack, rules_for
from satchel.lint.inline import Inline, read_inline
from satchel.lint.one_fact import once
from satchel.lint.settings import Settings, settings_of
from satchel.model import (
    SKILL_FILE,
    Descriptor,
    Finding,
    Limits,
    Manifest,
)
from satchel.runtime.around import look_around
from satchel.runtime.duplicates import Claim, duplicates
from satchel.runtime.findings import no_skills
from satchel.runtime.fixing import plan_fixes
from satchel.runtime.library import Library, named_places, opened_library
from satchel.spec import Profile, dialect_of, parse
from satchel.text.decoding import decode

__all__ = ["check", "report_on"]


def check(
    paths: Sequence[str],
    *,
    profile: Profile = "dialect",
    limits: Limits | None = None,
    settings: Settings | None = None,
    skip_others: bool = False,
) -> Report:
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
    places = named_places(paths, skip_others=skip_others)
    with opened_library(places, profile=settings.profile, limits=limits) as library:
        return report_on(library, settings, limits)


def report_on(library: Library, settings: Settings, limits: Limits) -> Report:
    """Return the report on packs that are open."""
    found = {*library.catalog.findings, *_empty(library)}
    asked: dict[str, Inline] = {}
    claims: list[Claim] = []
    rules = rules_for(settings.asks)
    for pack in sorted(library.packs, key=library.rank):
        looked = _look_at(pack, library, settings, limits, rules)
        found.update(looked.findings)
        if looked.inline.codes:
            asked[pack.origin.location] = looked.inline
        claims += [looked.claim] if looked.claim else []
    found.update(duplicates(claims))
    every = _in_order(found)
    wanted = [each for each in every if not _is_hidden(each, asked)]
    judged = [settings.judge(each) for each in wanted]
    counted = tuple(each for each in judged if each is not None)
    findings = once(counted)
    return Report(
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


def _empty(library: Library) -> Iterator[Finding]:
    """Yield a finding for each folder without a pack, of which nothing else is said.

    To check nothing, and to find nothing wrong, would look like success.
    """
    told = [each.path for each in library.catalog.findings]
    for state in library.catalog.sources:
        said = any(f"{path}/".startswith(f"{state.label}/") for path in told)
        if not (state.packs or state.error or said):
            yield no_skills(state.label)


def _is_refused(location: str, library: Library) -> bool:
    return any(
        each.severity == "error" and f"{each.path}/".startswith(f"{location}/")
        for each in library.catalog.findings
    )


class _Looked(NamedTuple):
    """What lint says of one pack, and what the pack asks to be left out."""

    findings: tuple[Finding, ...] = ()
    inline: Inline = Inline()
    claim: Claim | None = None


def _look_at(
    entry: Descriptor,
    library: Library,
    settings: Settings,
    limits: Limits,
    rules: Iterable[Rule],
) -> _Looked:
    """Return what lint says of a pack; of a refused one as far as it can be read."""
    origin = entry.origin
    try:
        pack = _context(entry, library, settings, limits)
    except SkillError as error:
        if _is_refused(origin.location, library):
            return _Looked()
        # It could be read a moment ago: not to say so would look like success.
        message = f"it could not be looked at: {error}"
        path = f"{origin.location}/{SKILL_FILE}"
        return _Looked((Finding(error.code, "error", message, path),))
    inline = read_inline(pack.text)
    found = (
        *lint_pack(pack, rules),
        *inline.findings,
    )
    return _Looked(
        tuple(replace(each, path=f"{origin.location}/{each.path}") for each in found),
        inline,
        _claim(pack, library) if pack.manifest.frontmatter else None,
    )


def _context(
    entry: Descriptor, library: Library, settings: Settings, limits: Limits
) -> Context:
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

    return Context(
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
        around=look_around(library.folder_of(entry.origin.location), library.folders),
        told=listed.findings,
        profile=profile,
        by_dialect=by_dialect,
        limits=limits,
        thresholds=settings.strict_thresholds
        if by_dialect and profile == "strict"
        else settings.thresholds,
    )


def _claim(pack: Context, library: Library) -> Claim:
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
    return Claim(pack.manifest.name, origin.location, pack.line_of("name"), content)


def _is_hidden(finding: Finding, asked: dict[str, Inline]) -> bool:
    """Tell whether the pack that a finding is about asks to leave it out."""
    place = finding.path
    while asked and place:
        inline = asked.get(place)
        if inline is not None:
            return inline.hides(finding)
        place = place.rpartition("/")[0]
    return False


def _unasked(settings: Settings) -> tuple[str, ...]:
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
