"""A check of a change: what is new in a library since a git revision."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from satchel.checking._baseline import Baseline
from satchel.checking._check import check_library
from satchel.checking._git import GitRepository, open_repository, write_packs
from satchel.checking._library import (
    PackFolder,
    PackLibrary,
    named_folders,
    open_library,
)
from satchel.checking._pack_facts import (
    PackFacts,
    are_similar,
    pack_facts,
    similar_pairs,
)
from satchel.errors import RevisionError
from satchel.lint import (
    NEVER_IGNORED,
    CheckReport,
    LibraryChange,
    Likeness,
    LintSettings,
    NewExecutable,
    SimilarPacks,
)
from satchel.model import Finding, Limits
from satchel.prompt import render

_LibraryState = Mapping[str, PackFacts]


class PackChanges(NamedTuple):
    """What happened to packs; locations, sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]


def pack_changes(before: _LibraryState, after: _LibraryState) -> PackChanges:
    """Return what happened; a pack that went and one that came, the same, moved."""
    added = [each for each in after if each not in before]
    removed = [each for each in before if each not in after]
    gone = {before[each].digest: each for each in reversed(removed)}
    moved: list[tuple[str, str]] = []
    for each in added:
        origin = gone.pop(after[each].digest, None)
        if origin is not None:
            moved.append((origin, each))
    froms, tos = {origin for origin, _ in moved}, {place for _, place in moved}
    return PackChanges(
        tuple(sorted(each for each in added if each not in tos)),
        tuple(
            sorted(
                each
                for each, facts in after.items()
                if each in before and before[each].digest != facts.digest
            )
        ),
        tuple(sorted(moved)),
        tuple(sorted(each for each in removed if each not in froms)),
    )


def new_executables(
    before: _LibraryState, after: _LibraryState, moved: Mapping[str, str]
) -> Iterator[NewExecutable]:
    """Yield what runs and did not before, or has other bytes; sorted by path.

    ``moved`` tells, by where a pack is, where it was.
    """
    for location, facts in sorted(after.items()):
        old = before.get(moved.get(location, location))
        known = old.programs if old else {}
        for path, (digest, why) in sorted(facts.programs.items()):
            if path not in known or known[path] != (digest, why):
                yield NewExecutable(f"{location}/{path}", path not in known, why)


def similar_packs(
    before: _LibraryState, after: _LibraryState, new: tuple[str, ...]
) -> Iterator[SimilarPacks]:
    """Yield every pack that is like another, once a pair, by its first likeness.

    ``new`` are the packs that were added or changed. A likeness that was there
    before, between the same two, is none of this change's.
    """
    fresh = frozenset(new)
    told: set[tuple[str, str]] = set()
    descriptions = {place: facts.description for place, facts in after.items()}
    likenesses: tuple[tuple[Likeness, Iterator[tuple[str, str]]], ...] = (
        ("files", _equal(after, fresh, lambda facts: facts.digest)),
        ("name", _equal(after, fresh, lambda facts: facts.id)),
        ("description", similar_pairs(descriptions, fresh)),
    )
    for likeness, pairs in likenesses:
        for pair in pairs:
            if pair not in told and not _were_similar(before, *pair, likeness):
                told.add(pair)
                yield SimilarPacks(*pair, likeness)


def _equal(
    library: _LibraryState, fresh: frozenset[str], of: Callable[[PackFacts], str]
) -> Iterator[tuple[str, str]]:
    """Yield each fresh pack that has something in common with another, with that."""
    groups: dict[str, list[str]] = defaultdict(list)
    for place in sorted(library):
        groups[of(library[place])].append(place)
    for places in groups.values():
        known = [place for place in places if place not in fresh]
        for place in places:
            if place in fresh:
                if known:
                    yield place, known[0]
                known.append(place)


def _were_similar(
    before: _LibraryState, place: str, other: str, likeness: Likeness
) -> bool:
    if place not in before or other not in before:
        return False
    one, two = before[place], before[other]
    match likeness:
        case "files":
            return one.digest == two.digest
        case "name":
            return one.id == two.id
        case "description":
            return are_similar(one.description, two.description)


def check_since(
    paths: Sequence[str],
    rev: str,
    *,
    settings: LintSettings,
    skip_others: bool = False,
) -> CheckReport:
    """Return what a change adds: its new findings, and what a reviewer asks first.

    Compared are the folders as they are with what git has of them at ``rev``, or where
    the histories part. What was found there already is counted as known.

    Args:
        paths: What to check, as `satchel.checking._check.check` takes it; in one git
            repository each.
        rev: A revision: a branch, a tag, a commit.
        settings: How findings are judged, on both sides, and bounds on what is read.
        skip_others: Pass by a file that lies in no pack.

    Raises:
        RevisionError: The earlier state cannot be read.
        MissingPathError, ConfigError, SourceUnavailableError: As `check` does.
    """
    places = named_folders(paths, skip_others=skip_others)
    limits = settings.limits
    watchful = _watchful(settings)
    with _earlier(places, rev, limits) as earlier:
        before, old, old_cost = _state(earlier, watchful, limits)
        after, new, new_cost = _state(places, watchful, limits)
    moved = pack_changes(before, after)
    fresh = (*moved.added, *moved.changed)
    added = Baseline.of(_without_other(old, before, after)).subtract(new)
    judged = [settings.judge(finding) for finding in added.findings]
    change = LibraryChange(
        rev=rev,
        hidden=tuple(each for each in added.findings if each.code in NEVER_IGNORED),
        executables=tuple(
            new_executables(before, after, {to: origin for origin, to in moved.moved})
        ),
        twins=tuple(similar_packs(before, after, tuple(sorted(fresh)))),
        added=moved.added,
        changed=moved.changed,
        moved=moved.moved,
        removed=moved.removed,
        skills=(old_cost[0], new_cost[0]),
        tokens=(old_cost[1], new_cost[1]),
    )
    findings = tuple(each for each in judged if each is not None)
    return replace(
        added,
        findings=findings,
        off=max(0, new.off - old.off) + len(judged) - len(findings),
        inline=max(0, new.inline - old.inline),
        change=change,
    )


def _without_other(
    old: CheckReport, before: Mapping[str, PackFacts], after: Mapping[str, PackFacts]
) -> CheckReport:
    """Return a report without text that deceives in files that changed.

    What is said of such text is said of all of it: it may be another by now.
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
            each
            for each in old.findings
            if each.code not in NEVER_IGNORED or is_same(each)
        ),
    )


def _watchful(settings: LintSettings) -> LintSettings:
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
    places: Sequence[PackFolder], settings: LintSettings, limits: Limits
) -> tuple[dict[str, PackFacts], CheckReport, tuple[int, int]]:
    """Return the packs of a state, its report, and the size of its catalog."""
    with open_library(places, profile=settings.profile, limits=limits) as library:
        report, facts = (
            check_library(library, settings, limits),
            pack_facts(library, limits),
        )
    with open_library(places, profile="auto", limits=limits) as library:
        return facts, report, _cost(library)


def _cost(library: PackLibrary) -> tuple[int, int]:
    """Return how many skills a prompt lists, and its tokens, without a budget.

    Of packs as an agent takes them, however strict the check is.
    """
    catalog = library.catalog
    return len(catalog), render(catalog, budget_tokens=None).tokens


@contextmanager
def _earlier(
    places: Sequence[PackFolder], rev: str, limits: Limits
) -> Generator[list[PackFolder]]:
    """Write the earlier state of some places into a folder, and delete it again."""
    by_root: dict[str, list[PackFolder]] = {}
    repositories: dict[str, GitRepository] = {}
    for place in places:
        if os.path.isfile(place.folder):  # noqa: PTH113
            detail = f"{place.shown} is an archive; name the folder that it is made of"
            raise RevisionError(rev, detail)
        repository = open_repository(place.folder, rev)
        repositories[repository.root] = repository
        by_root.setdefault(repository.root, []).append(place)
    with tempfile.TemporaryDirectory(prefix="satchel-since-") as name:
        found: list[PackFolder] = []
        for number, (root, mine) in enumerate(by_root.items()):
            # The folder of a pack is its name, even where it is the repository's.
            folder = Path(name, str(number), Path(root).name or "root")
            folder.mkdir(parents=True)
            inside = [os.path.relpath(os.path.realpath(p.folder), root) for p in mine]
            write_packs(repositories[root], inside, folder, limits)
            found += [
                PackFolder(str(folder / rel), place.shown)
                for place, rel in zip(mine, inside, strict=True)
                if (folder / rel).is_dir()
            ]
        yield found
