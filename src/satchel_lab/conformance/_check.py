"""Try a loader on every pack, and say what of it each pack breaks."""

import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, Literal, Self, cast

from satchel_lab.conformance._cases import (
    PLAIN,
    HostileCase,
    LoaderCase,
    PackCase,
    ShownPack,
    all_cases,
    judge,
    shown_of,
)
from satchel_lab.conformance._report import CaseResult, LoaderReport
from satchel_lab.hostile import CannotMake, find_leaks

MEMORY_BYTES: Final = 2 << 30  # two at once have to fit a small machine
_CHILD: Final = Path(__file__).with_name("_answering.py")
_IMPORT_S: Final = 120.0  # a framework with all that it imports, on a slow machine
_GRACE_S: Final = 10.0

End = Literal["answered", "hung", "died"]


class LoaderNotRunError(Exception):
    """The loader cannot be imported or asked; the text says why."""


@dataclass(frozen=True, slots=True)
class LoaderAnswer:
    """What a loader did with one folder.

    ``error`` is the exception that it raised, ``where`` its line in the loader.
    ``notes`` are its warnings and log records, and what it printed. ``prompt`` is None
    where there was nothing to ask for it, or it was not made, for ``prompt_error``.
    """

    listed: tuple[tuple[str, str | None], ...] = ()
    error: str = ""
    where: str = ""
    notes: tuple[str, ...] = ()
    prompt: str | None = None
    prompt_error: str = ""
    end: End = "answered"
    status: int = 0

    @property
    def names(self) -> frozenset[str]:
        """What is listed, by name."""
        return frozenset(name for name, _ in self.listed)


class LoaderProcess:
    """A loader, imported once and asked about many folders; see `_answering`."""

    def __init__(
        self, target: str, *, python: str | None = None, timeout_s: float
    ) -> None:
        """Import it.

        Raises:
            LoaderNotRunError: It cannot be imported.
        """
        self._command = [python or sys.executable, str(_CHILD), target]
        self._command += [str(timeout_s), str(MEMORY_BYTES)]
        self._timeout_s = 2 * timeout_s + _GRACE_S
        self._start()

    def ask(self, folder: Path) -> LoaderAnswer:
        """Return what it does with a folder; one that ends it does not end the rest."""
        with suppress(BrokenPipeError):
            self._pipe.write(json.dumps(str(folder)).encode() + b"\n")
            self._pipe.flush()
        line = self._line(self._timeout_s)
        if line is None:
            ended = self._child.poll()
            self.close()
            self._start()
            return LoaderAnswer(
                end="hung" if ended is None else "died", status=ended or 0
            )
        return _answer_of(line, str(folder))

    def close(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.communicate()

    def _start(self) -> None:
        try:
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise LoaderNotRunError(f"{self._command[0]}: {error.strerror}") from error
        self._pipe = _there(self._child.stdin)
        answer = self._line(_IMPORT_S) or {"error": "the process ended or hung"}
        if "error" in answer:
            self.close()
            message = f"{self._command[2]} cannot be imported: {answer['error']}"
            raise LoaderNotRunError(message)
        self.version = str(answer["version"])

    def _line(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next line; None where it does not come."""
        pipe, data = _there(self._child.stdout).fileno(), bytearray()
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while selector.select(max(deadline - time.monotonic(), 0)):
                chunk = os.read(pipe, 1 << 16)
                data += chunk
                if not chunk:
                    return None
                if chunk.endswith(b"\n"):
                    return cast("dict[str, Any]", json.loads(data))
        return None


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError(pipe)
    return pipe


def _answer_of(line: dict[str, Any], folder: str) -> LoaderAnswer:
    texts = [*line.get("notes", ()), *line["printed"].splitlines()]
    notes = tuple(text.replace(folder, "") for text in texts if text.strip())
    return LoaderAnswer(
        listed=tuple((name, about) for name, about in line.get("listed", ())),
        error=line.get("error", "").replace(folder, ""),
        where=line.get("where", "") or line.get("prompt_where", ""),
        notes=notes,
        prompt=line.get("prompt"),
        prompt_error=line.get("prompt_error", "").replace(folder, ""),
        end=line["end"],
        status=line["status"],
    )


TIMEOUT_S: Final = 2.0
_AT_ONCE: Final = max(2, min(4, os.cpu_count() or 1))
_LONG: Final = ("tree/", "bomb/", "hang/")
_ALONE: Final = frozenset(["breaks-neighbours", "refuses-valid", "silent"])
_BY_HARM: Final = ("secret", "markup", "line")


def check_loader(
    target: str,
    *,
    python: str | None = None,
    timeout_s: float = TIMEOUT_S,
    cases: Iterable[LoaderCase] | None = None,
) -> LoaderReport:
    """Try a loader on the packs of the truth table and on hostile ones.

    Each pack is put next to good ones; the smallest that break them, or are not listed,
    are also tried alone. It needs ``fork``, so it does not run on Windows.

    Args:
        target: ``module:function`` or ``file.py:function``. It gets a folder, and
            returns what it found: objects or dicts with ``name`` and ``description``,
            a mapping by name, pairs, or names. A second one behind a comma returns
            what of a folder a model is shown; without it no prompt is looked at.
        python: The interpreter that has the loader; None is this one.
        timeout_s: Seconds of work for each folder, and twice as many to wait.
        cases: Those packs alone; None is all.

    Raises:
        LoaderNotRunError: It cannot be imported, or does not find two plain packs.
    """
    chosen = tuple(all_cases() if cases is None else cases)
    with LoaderTrial(target, python=python, timeout_s=timeout_s) as trial:
        trial.start(chosen)
        return trial.report()


@dataclass(frozen=True, slots=True)
class _Base:
    """What a loader says and shows of plain packs, which no pack is blamed for."""

    names: frozenset[str]
    notes: frozenset[str]
    characters: frozenset[str]


class LoaderTrial:
    """A loader that is being tried, some packs at once."""

    def __init__(
        self, target: str, *, python: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        """Import the loader, and look whether it finds plain packs.

        Raises:
            LoaderNotRunError: It does not.
        """
        self.target = target
        self.shows_prompt = "," in target
        self._free = queue.SimpleQueue[LoaderProcess]()
        self._pool = ThreadPoolExecutor(_AT_ONCE)
        self._results: dict[str, Future[CaseResult | None]] = {}
        self._cases: tuple[LoaderCase, ...] = ()
        with ExitStack() as processes:
            self.version = ""
            for _ in range(_AT_ONCE):
                process = LoaderProcess(target, python=python, timeout_s=timeout_s)
                processes.callback(process.close)
                self._free.put(process)
                self.version = process.version
            self._base = self._look_at_plain()
            self._processes = processes.pop_all()

    def start(self, cases: Iterable[LoaderCase]) -> None:
        """Begin with these packs; those that take longest go first."""
        self._cases = tuple(cases)
        for case in sorted(self._cases, key=lambda one: not one.name.startswith(_LONG)):
            self._results[case.name] = self._pool.submit(self._try, case)

    def result(self, case: LoaderCase) -> CaseResult | None:
        """Wait for what came of a pack; None where there can be no such pack here."""
        return self._results[case.name].result()

    def report(self) -> LoaderReport:
        """Wait for all; try those that it shows alone, too."""
        every = (self._results[case.name].result() for case in self._cases)
        results = tuple(result for result in every if result is not None)
        shows = self.shows_prompt
        report = LoaderReport(self.target, self.version, results, shows_prompt=shows)
        cases = {case.name: case for case in self._cases}
        alone = {
            shown.name: self._alone(cases[shown.name])
            for group in report.groups
            for shown in group.examples
            if group.flaw.verdict in _ALONE
        }
        return replace(report, alone=alone)

    def _alone(self, case: LoaderCase) -> str:
        answer, _ = self._ask(case, with_neighbours=False)
        if answer.end != "answered":
            return answer.end
        if answer.error:
            return f"raises {answer.error.partition(chr(10))[0][:200]}"
        return f"lists {len(answer.names - self._base.names) or 'nothing'}"

    def __enter__(self) -> Self:
        """Return the trial itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)
        self._processes.close()

    def _look_at_plain(self) -> _Base:
        answer, _ = self._ask(PLAIN, with_neighbours=True)
        if answer.error or answer.prompt_error:
            problem = answer.error or answer.prompt_error
            message = f"{self.target} fails on three plain packs: {problem}"
            raise LoaderNotRunError(message)
        expected = {*PLAIN.neighbours, PLAIN.candidate.folder}
        if missing := sorted(expected - answer.names):
            message = (
                f"{self.target} does not find {', '.join(missing)} in a folder of plain"
                " packs; it has to return what it found there"
            )
            raise LoaderNotRunError(message)
        return _Base(
            answer.names - expected,
            frozenset(answer.notes),
            frozenset(answer.prompt or ""),
        )

    def _ask(
        self, case: LoaderCase, *, with_neighbours: bool
    ) -> tuple[LoaderAnswer, ShownPack]:
        process = self._free.get()
        try:
            with tempfile.TemporaryDirectory(
                prefix="loader-", ignore_cleanup_errors=True
            ) as home:
                library = case.write(Path(home), with_neighbours=with_neighbours)
                shown = shown_of(library, case)
                return process.ask(library), shown
        finally:
            self._free.put(process)

    def _try(self, case: LoaderCase) -> CaseResult | None:
        try:
            answer, shown = self._ask(case, with_neighbours=True)
            flaw = _flaw(case, answer, self._base)
        except CannotMake:
            return None
        return CaseResult(
            case.name,
            case.about,
            flaw,
            detail=_detail(answer),
            where=answer.where,
            text=shown.text,
            size_bytes=shown.size_bytes,
        )


def _flaw(case: LoaderCase, answer: LoaderAnswer, base: _Base) -> str:
    """Return the key of what is wrong, in `_report.FLAWS`; empty for nothing."""
    notes = {note for note in answer.notes if note not in base.notes}
    broken = _broken(case, answer, notes)
    if broken is not None:
        return broken
    if leak := _leak(answer, base):
        return leak
    if isinstance(case, PackCase) and case.is_open:
        return ""
    if answer.names - base.names - case.neighbours.keys():
        return _misread(case, answer) if isinstance(case, PackCase) else ""
    if isinstance(case, PackCase) and case.is_valid:
        return "refuses-valid"
    return "silent" if case.is_skill and not notes else ""


def _broken(case: LoaderCase, answer: LoaderAnswer, notes: set[str]) -> str | None:
    """Return how the good packs are lost; None where they are not."""
    if answer.error:
        return "raises"
    if answer.end != "answered":
        return "hangs" if answer.end == "hung" else "dies"
    is_twin = isinstance(case, HostileCase) and case.is_twin
    for name, about in case.neighbours.items():
        texts = [text for other, text in answer.listed if other == name]
        if not any(text is None or text.strip() == about for text in texts):
            if is_twin:
                return "" if notes else "replaces"
            return "loses"
    return "prompt-raises" if answer.prompt_error else None


def _leak(answer: LoaderAnswer, base: _Base) -> str:
    text = "\n".join(f"{name}\n{about}" for name, about in answer.listed)
    leaks = {"secret"} & set(find_leaks(text))
    if answer.prompt is not None:
        # Plain packs alone bring these into it, so they are the loader's own.
        usual = {ord(one): None for one in base.characters if not one.isprintable()}
        usual.pop(ord("\n"), None)
        leaks |= set(find_leaks(answer.prompt.translate(usual)))
    for kind in _BY_HARM:
        if kind in leaks:
            return f"leaks-{kind}"
    return "leaks-characters" if leaks else ""


def _misread(case: PackCase, answer: LoaderAnswer) -> str:
    expected = case.expected
    judged = judge(answer.listed, expected)
    shown = judged.shown
    if judged.verdict == "cut":
        return "cuts" if case.is_valid else ""
    if judged.verdict != "wrong" or shown is None:
        return ""
    if expected.description is None:
        return "lists-no-skill"
    if (shown.name or "").strip() not in expected.names:
        return "renames"
    return "misreads" if shown.description else "empties"


def _detail(answer: LoaderAnswer) -> str:
    if answer.end == "died":
        return f"its process ended with status {answer.status}"
    return (answer.error or answer.prompt_error).partition("\n")[0][:300]
