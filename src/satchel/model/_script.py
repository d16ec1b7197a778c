"""One run of a script: what runs on what, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Literal, Self, TypeAlias

Ending: TypeAlias = Literal["exit", "time-out", "limit", "cancelled", "refused"]
"""How a script ended: by itself, by its time, by another limit, by the caller, or not
run at all."""

Hold: TypeAlias = Literal["hard", "best effort"]
"""Whether a script can get around a limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A script to run, with bytes that were verified.

    Attributes:
        skill: The id of the skill.
        digest: That of SKILL.md and all listed files, as ``sha256:4f1c...``.
        path: The script, relative to the pack.
        args: What stands behind it on its command line.
        stdin: The text of its standard input.
        pack: A folder with the listed files, read-only, which nothing else writes.
        work: A folder of the user's run: its files go in, results come out. Empty for
            a run that has none.
        cancelled: Set when nobody waits for the outcome any more.
    """

    skill: str
    digest: str
    path: str
    args: tuple[str, ...] = ()
    stdin: str = ""
    pack: str
    work: str = ""
    cancelled: Event = field(default_factory=Event, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file that a script wrote or changed: its path in the work folder, with ``/``.

    ``size`` is in bytes, and ``digest`` as ``sha256:4f1c...``.
    """

    path: str
    media_type: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run.

    Attributes:
        ending: How it ended.
        exit_code: What it returned; None where it did not end by itself.
        stdout: What it printed, its end where it is too long.
        stderr: The same of its errors.
        files: What it wrote in the work folder, by path.
        left_out: What of it was not taken, each with the reason.
        runner: Which kind of runner it was, such as ``bubblewrap``.
        limits: What was held, and how surely: ``{"memory": "hard"}``.
        detail: Why it was not run, or which limit ended it; for the model, too.
        seconds: How long it ran, by the clock on the wall.
    """

    ending: Ending
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    files: tuple[OutputFile, ...] = ()
    left_out: tuple[str, ...] = ()
    runner: str = ""
    limits: Mapping[str, Hold] = field(default_factory=dict[str, Hold], hash=False)
    detail: str = ""
    seconds: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether the script ended by itself, with status 0."""
        return self.ending == "exit" and self.exit_code == 0


class ScriptOutput(str):  # noqa: SLOT000 - it has attributes
    """What a model reads of a script's run; the application reads ``outcome``.

    ``work`` is the folder that the outcome's files are in.
    """

    outcome: Outcome
    work: str

    @classmethod
    def of(cls, text: str, outcome: Outcome, work: str) -> Self:
        output = cls(text)
        output.outcome, output.work = outcome, work
        return output

    def with_text(self, text: str) -> Self:
        """Return the same run with another text."""
        return self.of(text, self.outcome, self.work)
