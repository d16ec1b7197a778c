"""A check that judges what a change adds, beside the whole library."""

import os
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from satchel.authoring.since.comparing import executables, moves, twins
from satchel.authoring.since.facts import Facts, facts_of
from satchel.authoring.since.git import Repository, open_repository
from satchel.authoring.since.mirror import write_packs
from satchel.errors import RevisionError
from satchel.lint.baseline import Baseline
from satchel.lint.change import Change
from satchel.lint.inline import NEVER
from satchel.lint.report import Report
from satchel.lint.settings import Settings
from satchel.model import Finding, Limits
from satchel.prompt import render
from satchel.runtime.checking import report_on
from satchel.runtime.library import Library, Place, named_places, opened_library

__all__ = ["check_since"]


def check_since(
    paths: Sequence[str],
    rev: str,
    *,
    settings: Settings,
    skip_others: bool = False,
) -> Report:
    """Return what a change adds: its new findings, and what a reviewer asks first.

    Compared are the folders as they are with what git has of them at ``rev``, or where
    the histories part. What was found there already is counted as known.

    Args:
        paths: What to check, as `satchel.runtime.checking.check` takes it; in one git
            repository each.
        rev: A revision: a branch, a tag, a commit.
        settings: How findings are judged, on both sides, and bounds on what is read.
        skip_others: Pass by a file that lies in no pack.

    Raises:
        RevisionError: The earlier state cannot be read.
        MissingPathError, ConfigError, SourceUnavailableError: As `check` does.
    """
    places = named_places(paths, skip_others=skip_others)
    limits = settings.limits
    watchful = _watchful(settings)
    with _earlier(places, rev, limits) as earlier:
        before, old, old_cost = _state(earlier, watchful, limits)
        after, new, new_cost = _state(places, watchful, limits)
    moved = moves(before, after)
    fresh = (*moved.added, *moved.changed)
    added = Baseline.of(_without_other(old, before, after)).subtract(new)
    judged = [settings.judge(finding) for finding in added.findings]
    change = Change(
        rev=rev,
        hidden=tuple(each for each in added.findings if each.code in NEVER),
        executables=tuple(
            executables(before, after, {to: origin for origin, to in moved.moved})
        ),
        twins=tuple(twins(before, after, tuple(sorted(fresh)))),
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
    old: Report, before: Mapping[str, Facts], after: Mapping[str, Facts]
) -> Report:
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
            each for each in old.findings if each.code not in NEVER or is_same(each)
        ),
    )


def _watchful(settings: Settings) -> Settings:
    """Return settings that turn off nothing that a reviewer has to see."""
    return replace(
        settings,
        select=settings.select and settings.select | NEVER,
        ignore=settings.ignore - NEVER,
        severity={
            code: level
            for code, level in settings.severity.items()
            if level != "off" or code not in NEVER
        },
        per_path=tuple((glob, codes - NEVER) for glob, codes in settings.per_path),
    )


def _state(
    places: Sequence[Place], settings: Settings, limits: Limits
) -> tuple[dict[str, Facts], Report, tuple[int, int]]:
    """Return the packs of a state, its report, and the size of its catalog."""
    with opened_library(places, profile=settings.profile, limits=limits) as library:
        report, facts = report_on(library, settings, limits), facts_of(library, limits)
    with opened_library(places, profile="auto", limits=limits) as library:
        return facts, report, _cost(library)


def _cost(library: Library) -> tuple[int, int]:
    """Return how many skills a prompt lists, and its tokens, without a budget.

    Of packs as an agent takes them, however strict the check is.
    """
    catalog = library.catalog
    return len(catalog), render(catalog, budget_tokens=None).tokens


@contextmanager
def _earlier(
    places: Sequence[Place], rev: str, limits: Limits
) -> Generator[list[Place]]:
    """Write the earlier state of some places into a folder, and delete it again."""
    by_root: dict[str, list[Place]] = {}
    repositories: dict[str, Repository] = {}
    for place in places:
        if os.path.isfile(place.folder):  # noqa: PTH113
            detail = f"{place.shown} is an archive; name the folder that it is made of"
            raise RevisionError(rev, detail)
        repository = open_repository(place.folder, rev)
        repositories[repository.root] = repository
        by_root.setdefault(repository.root, []).append(place)
    with tempfile.TemporaryDirectory(prefix="satchel-since-") as name:
        found: list[Place] = []
        for number, (root, mine) in enumerate(by_root.items()):
            # The folder of a pack is its name, even where it is the repository's.
            folder = Path(name, str(number), Path(root).name or "root")
            folder.mkdir(parents=True)
            inside = [os.path.relpath(os.path.realpath(p.folder), root) for p in mine]
            write_packs(repositories[root], inside, folder, limits)
            found += [
                Place(str(folder / rel), place.shown)
                for place, rel in zip(mine, inside, strict=True)
                if (folder / rel).is_dir()
            ]
        yield found
