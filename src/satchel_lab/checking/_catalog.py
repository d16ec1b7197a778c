"""The rules of ``satchel check`` on packs that are open."""

from collections.abc import Callable, Iterable, Iterator, Set as AbstractSet
from dataclasses import replace
from functools import cache

from satchel.catalog import allow
from satchel.errors import SkillError
from satchel.model import (
    SKILL_FILE,
    Catalog,
    Descriptor,
    FileReader,
    Finding,
    Limits,
    Manifest,
)
from satchel.skill_md import Profile, corrected_keys, dialect_of_keys, parse
from satchel.text import decode
from satchel_lab import lint


def check_catalog(
    catalog: Catalog,
    findings: tuple[Finding, ...],
    limits: Limits,
    settings: lint.LintSettings | None = None,
) -> lint.CheckReport:
    """Return the findings of a library with those of the rules on each listed pack."""
    settings = settings or lint.settings_of()
    rules = lint.rules_for(settings.needs)
    every = dict.fromkeys(findings)
    for entry in catalog:
        reader, location = catalog.readers[entry.origin.source], entry.origin.location
        try:
            pack = read_context(entry, reader, settings, limits)
        except SkillError as error:
            every[Finding.of_error(error, f"{location}/{SKILL_FILE}")] = None
            continue
        every |= dict.fromkeys(_heeded(pack, rules))
    judged = filter(None, map(settings.judge, every))
    ordered = sorted(judged, key=lambda one: (one.path, one.line or 0, one.code))
    locations = frozenset(entry.origin.location for entry in catalog)
    shown = lint.without_repeats(tuple(ordered))
    return lint.CheckReport(
        len(locations), shown, settings.profile, locations=locations
    )


def check_entry(
    entry: Descriptor,
    catalog: Catalog,
    limits: Limits,
    codes: AbstractSet[str] = lint.REVIEWED,
) -> Iterator[Finding]:
    """Yield the findings of some codes on a pack, without those it turns off.

    A pack that cannot be read has none: its error is reported by who reads it.
    """
    try:
        reader = catalog.readers[entry.source]
        pack = read_context(entry, reader, lint.settings_of(), limits)
    except SkillError:
        return
    rules = _rules_of(frozenset(codes))
    yield from (one for one in _heeded(pack, rules) if one.code in codes)


@cache
def _rules_of(codes: frozenset[str]) -> tuple[lint.LintRule, ...]:
    return lint.rules_for(lambda rule: not codes.isdisjoint(rule.codes))


def _heeded(
    pack: lint.LintContext, rules: Iterable[lint.LintRule]
) -> Iterator[Finding]:
    """Yield the findings of some rules on a pack but for those that it turns off."""
    ignores = lint.read_inline_ignores(pack.text)
    location = pack.descriptor.origin.location
    for finding in (*lint.lint_pack(pack, rules), *ignores.findings):
        if not ignores.hides(finding):
            yield replace(finding, path=f"{location}/{finding.path}")


def read_context(
    entry: Descriptor,
    reader: FileReader,
    settings: lint.LintSettings,
    limits: Limits,
    around: Callable[[str], lint.Neighbour | None] = lambda _: None,
) -> lint.LintContext:
    """Return what rules may look at of a pack, also of one that its profile refuses.

    Raises:
        SkillError: Its SKILL.md cannot be read now.
    """
    key = entry.origin.key
    data = reader.read(key, SKILL_FILE, limits.skill_md_bytes)
    files = entry.files or tuple(reader.files(key))
    folder = key.rpartition("/")[2]
    # Rules also run on packs that the profile refuses, so accept all that is readable.
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
    # The list that a load would use, by this profile.
    listed = allow(manifest, files, closed=profile == "strict")

    def read(path: str) -> bytes:
        if path == SKILL_FILE:
            return data
        return reader.read(key, path, limits.file_bytes)

    return lint.LintContext(
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
        # Several rules read the same file: it is read from its source once.
        read=cache(read),
        around=around,
        file_findings=listed.findings,
        profile=profile,
        by_dialect=by_dialect,
        limits=limits,
        thresholds=settings.strict_thresholds
        if by_dialect and profile == "strict"
        else settings.thresholds,
    )


def dialect_of(manifest: Manifest) -> Profile:
    """Return the profile of the dialect that a manifest is written in."""
    return dialect_of_keys(corrected_keys(manifest.frontmatter).keys())
