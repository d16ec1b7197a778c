"""An evaluation of the packs that a user named, and of a change to them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from satchel.errors import MissingPathError
from satchel.model import DEFAULT_LIMITS, Finding, Limits
from satchel_lab.checking._library import (
    PackFolder,
    PackLibrary,
    eval_files,
    named_folders,
    open_library,
)
from satchel_lab.checking._since import earlier_folders
from satchel_lab.evals import (
    EvalFile,
    EvalLibrary,
    EvalReport,
    PassedOver,
    Suggestion,
    compared,
    evaluate,
    is_eval_file,
    named_files,
    outcomes_of,
    read_evals,
    suggest,
)


@dataclass(frozen=True, slots=True)
class EvalRun:
    """A report, and what could be written where a skill is hidden, if asked for."""

    report: EvalReport
    suggestions: tuple[Suggestion, ...] = ()


def run_evals(  # noqa: PLR0913 - all but the first by name
    paths: Sequence[str],
    *,
    k: int = 5,
    since: str | None = None,
    suggestions: bool = False,
    disabled: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> EvalRun:
    """Route every eval case of the packs below ``paths``, without a model.

    Args:
        paths: Packs, folders of packs, and eval files or folders of them. Where an
            eval file is named, the evals of packs are passed over.
        k: Up to which rank a skill counts as found.
        since: A git revision; the same cases are routed in the packs of then, too.
        suggestions: Whether to propose descriptions for hidden skills.
        disabled: Ids, or shell patterns over ids, of skills that do not count.
        limits: Limits on what is read.

    Raises:
        MissingPathError: A path does not exist.
        LimitExceededError: There are more queries than ``eval_queries``.
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
        opened = stack.enter_context(_open(folders, limits, disabled))
        library = EvalLibrary(opened.packs, opened.catalog.readers)
        given = list(_files(opened, library, paths, with_packs=not files))
        evals = read_evals(given, library, limits)
        report = evaluate(evals, library, k)
        hidden = report.shadows if suggestions else ()
        proposals = tuple(suggest(hidden, evals.cases, library))
        if since is not None:
            places = stack.enter_context(earlier_folders(folders, since, limits))
            earlier = stack.enter_context(_open(places, limits, disabled))
            before = EvalLibrary(earlier.packs, earlier.catalog.readers)
            old = evaluate(read_evals(given, before, limits), before, k)
            then = {skill.id: skill.digest for skill in before.skills}
            now = {skill.id: skill.digest for skill in library.skills}
            changed = [name for name in now if then.get(name) != now[name]]
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
    folders: Sequence[PackFolder], limits: Limits, disabled: Sequence[str] = ()
) -> AbstractContextManager[PackLibrary]:
    # An agent's catalog takes what a strict check refuses.
    return open_library(folders, profile="auto", limits=limits, disabled=disabled)


def _files(
    opened: PackLibrary, library: EvalLibrary, paths: Sequence[str], *, with_packs: bool
) -> Iterator[EvalFile | PassedOver | Finding]:
    off = {one.descriptor.origin.location for one in opened.catalog.excluded}
    places = map(opened.folder_of, opened.locations | off)
    packs = frozenset(map(os.path.realpath, places))
    for path in paths:
        if Path(path).is_dir() or is_eval_file(path):
            yield from named_files(path, library, packs)
    for file in eval_files(opened):
        if isinstance(file, EvalFile) and not with_packs:
            reason = "an eval file was named, so those of packs are not run"
            yield PassedOver(file.path, reason)
        else:
            yield file
