"""An evaluation of the packs that a user named, and of a change to them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from satchel.checking._library import (
    PackFolder,
    PackLibrary,
    named_folders,
    open_library,
)
from satchel.checking._shadowed import eval_files
from satchel.checking._since import earlier_folders
from satchel.errors import MissingPathError
from satchel.evals import (
    EvalFile,
    EvalLibrary,
    EvalReport,
    Suggestion,
    compared,
    evaluate,
    folder_files,
    is_eval_file,
    outcomes_of,
    read_evals,
    suggest,
)
from satchel.model import DEFAULT_LIMITS, Finding, Limits


@dataclass(frozen=True, slots=True)
class EvalRun:
    """A report, and what could be written where a skill is hidden, if asked for."""

    report: EvalReport
    suggestions: tuple[Suggestion, ...] = ()


def run_evals(
    paths: Sequence[str],
    *,
    k: int = 5,
    since: str | None = None,
    suggestions: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> EvalRun:
    """Route every eval case of the packs below ``paths``, without a model.

    Args:
        paths: Packs, folders of packs, and eval files or folders of them. Where an
            eval file is named, only named files count.
        k: Up to which rank a skill counts as files_and_findings.
        since: A git revision; the same cases are routed in the packs of then, too.
        suggestions: Whether to propose descriptions for hidden skills.
        limits: Limits on what is read.

    Raises:
        MissingPathError: A path does not exist.
        RevisionError: The earlier state cannot be read.
        ConfigError, SourceUnavailableError: As for `check`.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise MissingPathError(path)
    files = [path for path in paths if is_eval_file(path)]
    rest = [path for path in paths if path not in files]
    folders = named_folders(rest)
    with ExitStack() as stack:
        opened = stack.enter_context(_open(folders, limits))
        library = EvalLibrary(opened.packs, opened.catalog.readers)
        files_and_findings = list(_files(opened, library, rest, files))
        report = evaluate(read_evals(files_and_findings, library), library, k)
        proposals = tuple(suggest(report.shadows, library)) if suggestions else ()
        if since is not None:
            places = stack.enter_context(earlier_folders(folders, since, limits))
            earlier = stack.enter_context(_open(places, limits))
            before = EvalLibrary(earlier.packs, earlier.catalog.readers)
            old = evaluate(read_evals(files_and_findings, before), before, k)
            changed = _changed(before, library)
            report = compared(report, since, outcomes_of(old), changed)
    return EvalRun(report, proposals)


def folders_of_skills(paths: Sequence[str]) -> dict[str, Path]:
    """Return the folder of each pack below some paths, by its name."""
    folders = named_folders([path for path in paths if not is_eval_file(path)])
    with _open(folders, DEFAULT_LIMITS) as library:
        return {
            pack.name or pack.id: library.folder_of(pack.origin.location)
            for pack in sorted(library.packs, key=library.rank, reverse=True)
        }


def _open(
    folders: Sequence[PackFolder], limits: Limits
) -> AbstractContextManager[PackLibrary]:
    # An agent's catalog takes what a strict check refuses.
    return open_library(folders, profile="auto", limits=limits)


def _files(
    opened: PackLibrary,
    library: EvalLibrary,
    folders: Sequence[str],
    files: Sequence[str],
) -> Iterator[EvalFile | Finding]:
    if not files:
        yield from eval_files(opened)
    for path in files or folders:
        if Path(path).is_dir() or path in files:
            yield from folder_files(path, library)


def _changed(before: EvalLibrary, after: EvalLibrary) -> Iterator[str]:
    """Yield the skills whose SKILL.md is another than before."""
    old = {skill.id: skill.digest for skill in before.skills}
    for skill in after.skills:
        if old.get(skill.id) != skill.digest:
            yield skill.id
