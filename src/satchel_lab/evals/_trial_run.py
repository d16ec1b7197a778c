"""Trials with a model: asked for at once, within limits, and none of them lost."""

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from satchel.errors import ConfigError
from satchel.model import LOAD_TOOLS, Catalog, Style
from satchel.runtime import Satchel
from satchel_lab.evals._dialects import EvalCase
from satchel_lab.evals._trial_answers import (
    Answer,
    AnswerFile,
    ChatModel,
    ModelBusyError,
    ModelDeniedError,
    ModelError,
)
from satchel_lab.evals._trial_report import (
    PROMPT,
    Trial,
    TrialReport,
    is_named,
    plan_trials,
    trial_result,
)

STYLES: Final[tuple[Style, ...]] = tuple(LOAD_TOOLS)
# Trials in a row that the endpoint denied; another key or URL is needed then.
_MOST_DENIED: Final = 3


@dataclass(frozen=True, slots=True)
class TrialLimits:
    """What trials may cost, in calls, tokens and time.

    ``max_calls`` and ``max_tokens`` count the answers in the cache, too, so the same
    command gives the same report; None is no limit. Each of the ``workers`` may go over
    ``max_tokens`` by one answer. An endpoint that is busy is asked ``attempts`` times,
    after ``back_off_s`` seconds and then twice as many each time, or when it says, but
    not if that is after more than ``max_wait_s``. After ``give_up_after`` trials in a
    row without an answer the rest is left out.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    workers: int = 4
    attempts: int = 4
    back_off_s: float = 2.0
    max_wait_s: float = 60.0
    give_up_after: int = 24


def run_trials(  # noqa: PLR0913 - what is asked, and how, all by name
    satchel: Satchel,
    cases: Sequence[EvalCase],
    model: ChatModel,
    *,
    styles: Sequence[Style] = STYLES,
    runs: int = 3,
    cache: str | os.PathLike[str] | None = None,
    identity: str = "",
    limits: TrialLimits | None = None,
    prompt: str = PROMPT,
) -> TrialReport:
    """Put each query to a model, and report which skills it loads first.

    A trial is one call of the model: it sees the instructions and tools of a new
    session, and the query. A trial without a usable answer is in the report with its
    reason, and is asked for again next time.

    Args:
        satchel: Whose skills.
        cases: The queries.
        model: What is asked. It is called from several threads.
        styles: The styles of the sessions; the default is each that there is.
        runs: Trials of each query in each style.
        cache: A file of answers, one line of JSON each: read, and added to.
        identity: Which model answers, and where; part of what an answer is cached by.
        limits: What the trials may cost.
        prompt: The system prompt above the skills.

    Raises:
        ConfigError: A number that has to be above 0 is not, or the cache is no file
            that can be read.
    """
    limits = limits or TrialLimits()
    if min(runs, limits.workers, limits.attempts, limits.give_up_after) < 1:
        raise ConfigError("eval", "runs, workers and attempts have to be above 0")
    try:
        answers = AnswerFile(cache)
    except OSError as error:
        raise ConfigError(str(cache), f"not read: {error.strerror}") from error
    trials = [
        *plan_trials(satchel, cases, styles, runs, identity=identity, prompt=prompt)
    ]
    return _TrialRun(model, answers, limits).report(trials, runs, satchel.catalog)


class _TrialRun:
    """The trials that are asked for now, by several threads."""

    def __init__(
        self, model: ChatModel, answers: AnswerFile, limits: TrialLimits
    ) -> None:
        self._model = model
        self._answers = answers
        self._limits = limits
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._calls = self._calls_now = self._tokens = 0
        self._failed_in_a_row = self._denied_in_a_row = 0
        self._failures: dict[str, str] = {}
        self._rest = ""
        self._raised: list[BaseException] = []

    def report(
        self, trials: Sequence[Trial], runs: int, catalog: Catalog
    ) -> TrialReport:
        """Ask for what is not cached; ``runs`` trials in a row are of one query."""
        absent = {id(trial.case): _absence(trial.case, catalog) for trial in trials}
        asked = {trial.key: trial for trial in trials if not absent[id(trial.case)]}
        answers = self._answers.of(asked)
        self._calls = sum(answer.attempts for answer in answers.values())
        self._tokens = sum(answer.tokens for answer in answers.values())
        self._ask_all([trial for key, trial in asked.items() if key not in answers])
        answers, failures = self._answers.of(asked), self._failures
        rest = (t for t in trials if t.key not in answers and t.key not in failures)
        return TrialReport(
            tuple(
                trial_result(trials[start : start + runs], answers, failures, catalog)
                for start in range(0, len(trials), runs)
            ),
            tuple(answers.values()),
            self._calls_now,
            Counter(absent[id(trial.case)] or self._rest for trial in rest),
            tuple(self._answers.problems),
        )

    def _ask_all(self, trials: Sequence[Trial]) -> None:
        queue = iter(trials)
        threads = [
            # Daemons: an interrupted program does not wait for an endpoint that hangs.
            threading.Thread(target=self._work, args=(queue,), daemon=True)
            for _ in range(min(self._limits.workers, len(trials)))
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._stop.set()
        if self._raised:
            raise self._raised[0]

    def _work(self, queue: Iterator[Trial]) -> None:
        try:
            while (trial := self._next(queue)) is not None:
                self._ask(trial)
        # It ends the caller, not this thread alone: what ends a program may be raised
        # wherever it is.
        except BaseException as error:  # noqa: BLE001 - raised again by `_ask_all`
            self._stop.set()
            self._raised.append(error)

    def _next(self, queue: Iterator[Trial]) -> Trial | None:
        """Return the next trial, with its first call reserved; None for no more."""
        with self._lock:
            if self._stop.is_set() or self._rest:
                return None
            trial = next(queue, None)
            if trial is None:
                return None
            self._rest = self._over_budget() or self._why_give_up()
            if self._rest:
                return None
            self._count_call()
            return trial

    def _over_budget(self) -> str:
        limits = self._limits
        if limits.max_calls is not None and self._calls >= limits.max_calls:
            return f"more than max_calls = {limits.max_calls:,}"
        if limits.max_tokens is not None and self._tokens >= limits.max_tokens:
            return f"more than max_tokens = {limits.max_tokens:,}"
        return ""

    def _why_give_up(self) -> str:
        last = [*self._failures.values()][-1:]
        if self._denied_in_a_row >= _MOST_DENIED:
            return f"given up: {last[0]}"
        if self._failed_in_a_row >= self._limits.give_up_after:
            many = f"{self._failed_in_a_row:,} trials in a row had no answer"
            return f"given up: {many}, the last one: {last[0]}"
        return ""

    def _count_call(self) -> None:
        self._calls += 1
        self._calls_now += 1

    def _ask(self, trial: Trial) -> None:
        attempts, is_denied = 1, False
        while True:
            try:
                reply = self._model.complete(trial.request)
                answer = Answer.of(reply, trial.request, attempts)
            except ModelBusyError as error:
                failure = str(error)
                if problem := self._wait(attempts, error):
                    failure = f"{failure}; {problem}"
                else:
                    attempts += 1
                    continue
            except ModelError as error:
                failure, is_denied = str(error), isinstance(error, ModelDeniedError)
            except Exception as error:  # noqa: BLE001 - a plug-in's
                failure = f"the model raised {type(error).__name__}"
            else:
                with self._lock:
                    self._tokens += answer.tokens
                    self._failed_in_a_row = self._denied_in_a_row = 0
                    self._answers.put(trial.key, answer)
                return
            with self._lock:
                self._failures[trial.key] = failure
                self._failed_in_a_row += 1
                self._denied_in_a_row = (self._denied_in_a_row + 1) * is_denied
            return

    def _wait(self, attempts: int, error: ModelBusyError) -> str:
        """Wait until the next attempt, and reserve it; return why there is none."""
        limits = self._limits
        if attempts >= limits.attempts:
            return f"asked {attempts} times"
        # The jitter keeps the workers from asking at the same moment again.
        wait_s = limits.back_off_s * 2.0 ** (attempts - 1) * random.uniform(0.5, 1.5)  # noqa: S311
        wait_s = max(wait_s, error.after_s or 0.0)
        if wait_s > limits.max_wait_s:
            return f"it asks to wait {wait_s:,.0f} s, more than {limits.max_wait_s:g}"
        if self._stop.wait(wait_s):
            return "stopped"
        with self._lock:
            problem = self._over_budget()
            if not problem:
                self._count_call()
        return problem


def _absence(case: EvalCase, catalog: Catalog) -> str:
    """Return why a case needs no model: its skills are not in this library."""
    names = case.forbidden if case.is_control else case.expected
    if not names or any(is_named(names, entry) for entry in catalog):
        return ""
    return "its skills are not in this library"
