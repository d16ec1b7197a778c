"""A check of a change: what is new in a library since a git revision."""

import os
import tempfile
from collections import defaultdict
from collections.abc import (
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
    Set as AbstractSet,
)
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from satchel.errors import RevisionError
from satchel.model import Finding, Limits
from satchel.prompt import render
from satchel_lab.checking._baseline import Baseline
from satchel_lab.checking._check import check_library
from satchel_lab.checking._git import GitRepository, open_repository, write_packs
from satchel_lab.checking._library import PackFolder, named_folders, open_library
from satchel_lab.checking._pack_facts import (
    PackFacts,
    are_similar,
    pack_facts,
    similar_pairs,
)
from satchel_lab.lint import (
    DECEIVING,
    NEVER_IGNORED,
    REVIEWED,
    CheckReport,
    LibraryChange,
    Likeness,
    LintSettings,
    NewExecutable,
    SimilarPacks,
)

_LibraryState = Mapping[str, PackFacts]
# What packs have to have in common, by what is reported of them.
_SAME: Final[dict[Likeness, Callable[[PackFacts], str]]] = {
    "files": lambda facts: facts.digest,
    "name": lambda facts: facts.id,
}
_SIMILAR: Final = "description"


def check_since(
    paths: Sequence[str], rev: str, *, settings: LintSettings, skip_others: bool = False
) -> CheckReport:
    """Return what a change adds: its new findings, and what a reviewer has to know.

    The folders as they are now are compared with what git has at ``rev``, or where the
    histories part. Findings that were there already count as known.

    Args:
        paths: What to check, as `satchel_lab.checking.check` takes it; in one git
            repository each.
        rev: A revision: a branch, a tag, a commit.
        settings: How findings are judged, on both sides, and limits on what is read.
        skip_others: Skip files that are in no pack.

    Raises:
        RevisionError: The earlier state cannot be read.
        MissingPathError, ConfigError, SourceUnavailableError: As for `check`.
    """
    folders = named_folders(paths, skip_others=skip_others)
    limits = settings.limits
    # Both states are checked by the same settings, and by none that hide deception.
    strict = _with_never_ignored(settings)
    with earlier_folders(folders, rev, limits) as earlier:
        before, old, old_cost = _state(earlier, strict, limits)
        after, new, new_cost = _state(folders, strict, limits)
    packs = pack_changes(before, after)
    moved_from = {new: old for old, new in packs.moved}
    added = Baseline.of(_without_other(old, before, after)).subtract(new)
    change = LibraryChange(
        rev=rev,
        review=tuple(one for one in added.findings if one.code in REVIEWED),
        hidden=tuple(one for one in added.findings if one.code in DECEIVING),
        executables=tuple(new_executables(before, after, moved_from)),
        similar=tuple(similar_packs(before, after, {*packs.added, *packs.changed})),
        added=packs.added,
        changed=packs.changed,
        moved=packs.moved,
        removed=packs.removed,
        skills=(old_cost[0], new_cost[0]),
        tokens=(old_cost[1], new_cost[1]),
    )
    # Only now the user's own settings: `hidden` must not depend on them.
    findings = tuple(filter(None, map(settings.judge, added.findings)))
    new_at = {(finding.path, finding.code) for finding in findings}
    return replace(
        added,
        findings=findings,
        # A file without a new finding is not touched.
        fixes=tuple(
            fix
            for fix in added.fixes
            if any((fix.path, code) in new_at for code in fix.codes)
        ),
        # A change may remove findings that are turned off: never below zero.
        turned_off=max(0, new.turned_off - old.turned_off)
        + len(added.findings)
        - len(findings),
        turned_off_in_packs=max(0, new.turned_off_in_packs - old.turned_off_in_packs),
        change=change,
    )


def _without_other(
    old: CheckReport, before: _LibraryState, after: _LibraryState
) -> CheckReport:
    """Return a report without findings of deceiving text in files that changed.

    Such a finding is about all of that text, which may be another by now.
    """

    def is_same(finding: Finding) -> bool:
        pack = old.pack_of(finding)
        path = finding.path.removeprefix(f"{pack}/")
        if pack not in before or pack not in after:
            return True
        return before[pack].files.get(path) == after[pack].files.get(path)

    return replace(
        old,
        findings=tuple(
            finding
            for finding in old.findings
            if finding.code not in DECEIVING or is_same(finding)
        ),
    )


def _with_never_ignored(settings: LintSettings) -> LintSettings:
    """Return settings that turn off nothing that a reviewer has to see."""
    return replace(
        settings,
        select=settings.select and settings.select | NEVER_IGNORED,
        ignore=settings.ignore - NEVER_IGNORED,
        severity={
            code: level
            for code, level in settings.severity.items()
            if level != "off" or code not in NEVER_IGNORED
        },
        per_path=tuple(
            (glob, codes - NEVER_IGNORED) for glob, codes in settings.per_path
        ),
    )


def _state(
    folders: Sequence[PackFolder], settings: LintSettings, limits: Limits
) -> tuple[dict[str, PackFacts], CheckReport, tuple[int, int]]:
    """Return the packs of a state, its report, and what a prompt lists and costs."""
    with open_library(folders, profile=settings.profile, limits=limits) as library:
        report = check_library(library, settings)
        facts = pack_facts(library, limits)
    # The catalog of an agent, which takes what a strict check refuses.
    with open_library(folders, profile="auto", limits=limits) as library:
        catalog = library.catalog
        tokens = render(catalog, budget_tokens=None).tokens
        return facts, report, (len(catalog), tokens)


@contextmanager
def earlier_folders(
    folders: Sequence[PackFolder], rev: str, limits: Limits
) -> Generator[list[PackFolder]]:
    """Write the earlier state of folders into a temporary one."""
    by_root: dict[str, list[PackFolder]] = {}
    repositories: dict[str, GitRepository] = {}
    for folder in folders:
        if os.path.isfile(folder.path):  # noqa: PTH113
            detail = f"{folder.shown} is an archive; name the folder that it is made of"
            raise RevisionError(rev, detail)
        repository = open_repository(folder.path, rev)
        repositories[repository.root] = repository
        by_root.setdefault(repository.root, []).append(folder)
    with tempfile.TemporaryDirectory(prefix="satchel-since-") as name:
        earlier: list[PackFolder] = []
        for number, (root, members) in enumerate(by_root.items()):
            # The folder of a pack is its name, even where it is the repository's.
            target = Path(name, str(number), Path(root).name or "root")
            target.mkdir(parents=True)
            inside = [os.path.relpath(os.path.realpath(m.path), root) for m in members]
            write_packs(repositories[root], inside, target, limits)
            earlier += [
                PackFolder(str(target / path), folder.shown)
                for folder, path in zip(members, inside, strict=True)
                if (target / path).is_dir()
            ]
        yield earlier


class PackChanges(NamedTuple):
    """The packs that changed: their locations, sorted; moved ones from and to."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]


def pack_changes(before: _LibraryState, after: _LibraryState) -> PackChanges:
    """Return the changes; a removed pack that is the same as an added one has moved."""
    added = [location for location in after if location not in before]
    removed = [location for location in before if location not in after]
    # Of equal packs the first in order counts as moved.
    old = {before[location].digest: location for location in reversed(removed)}
    moved: list[tuple[str, str]] = []
    for location in added:
        # Removed once used: a pack that was copied has moved to one place only.
        origin = old.pop(after[location].digest, None)
        if origin is not None:
            moved.append((origin, location))
    origins, targets = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    changed = (
        location
        for location, facts in after.items()
        if location in before and before[location].digest != facts.digest
    )
    return PackChanges(
        tuple(sorted({*added} - targets)),
        tuple(sorted(changed)),
        tuple(sorted(moved)),
        tuple(sorted({*removed} - origins)),
    )


def new_executables(
    before: _LibraryState, after: _LibraryState, moved_from: Mapping[str, str]
) -> Iterator[NewExecutable]:
    """Yield the files that run and did not before, or have other bytes, by path."""
    for location, facts in sorted(after.items()):
        old = before.get(moved_from.get(location, location))
        programs = old.programs if old else {}
        for path, (digest, why) in sorted(facts.programs.items()):
            if programs.get(path) != (digest, why):
                yield NewExecutable(f"{location}/{path}", path not in programs, why)


def similar_packs(
    before: _LibraryState, after: _LibraryState, new: AbstractSet[str]
) -> Iterator[SimilarPacks]:
    """Yield each new pack that is similar to another, once a pair, the first likeness.

    ``new`` are the packs that were added or changed. Two packs that were similar before
    are left out.
    """
    seen: set[tuple[str, str]] = set()
    descriptions = {location: facts.description for location, facts in after.items()}
    likenesses: list[tuple[Likeness, Iterator[tuple[str, str]]]] = [
        (likeness, _equal(after, new, _SAME[likeness])) for likeness in _SAME
    ]
    likenesses.append((_SIMILAR, similar_pairs(descriptions, new)))
    for likeness, pairs in likenesses:
        for pair in pairs:
            if pair not in seen and not _were_similar(before, *pair, likeness):
                seen.add(pair)
                yield SimilarPacks(*pair, likeness)


def _equal(
    library: _LibraryState, new: AbstractSet[str], of: Callable[[PackFacts], str]
) -> Iterator[tuple[str, str]]:
    """Yield each new pack that is equal to another in one respect, with that one."""
    groups: dict[str, list[str]] = defaultdict(list)
    for location in sorted(library):
        groups[of(library[location])].append(location)
    for group in groups.values():
        others = [location for location in group if location not in new]
        for location in group:
            if location in new:
                if others:
                    yield location, others[0]
                others.append(location)


def _were_similar(
    before: _LibraryState, location: str, other: str, likeness: Likeness
) -> bool:
    if location not in before or other not in before:
        return False
    one, two = before[location], before[other]
    if likeness in _SAME:
        return _SAME[likeness](one) == _SAME[likeness](two)
    return are_similar(one.description, two.description)
