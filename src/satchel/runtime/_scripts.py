"""The tool that runs scripts of loaded skills, and what a model reads of a run."""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, cast

from satchel.errors import ToolError, echo
from satchel.load import RUN_SCRIPT, resolve, wording
from satchel.model import (
    Activation,
    Decision,
    Descriptor,
    Job,
    Json,
    Loaded,
    Question,
    ScriptOutput,
)
from satchel.text import first_names
from satchel.tools import Tool

if TYPE_CHECKING:
    from satchel.model import Outcome
    from satchel.protocols import Runner
    from satchel.runtime._authorizer import Authorizer
    from satchel.runtime._components import Components

# What the operator's table of interpreters has by default; a runner may know more.
_SUFFIXES: Final = (".py", ".sh", ".js")
_FOLDER: Final = "scripts/"
# Files that a result names.
_MOST_FILES: Final = 50

_PARAMETERS: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {
        "skill_id": {"type": "string", "description": "A skill that is loaded."},
        "path": {
            "type": "string",
            "description": "The script, as the skill's instructions name it.",
        },
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Its arguments, one text each; there is no shell.",
        },
        "stdin": {"type": "string", "description": "Its standard input."},
    },
    "required": ["skill_id", "path"],
    "additionalProperties": False,
}
_DESCRIPTION: Final = (
    "Run a script of a loaded skill. It runs in the work folder, where files of the "
    "user are and results belong; the skill's own files are in the folder that the "
    "variable SKILL_DIR names. Returns what it printed, and which files it wrote."
)


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A call that can be made: the job, and what a person's yes is for."""

    owner: Descriptor
    job: Job
    kind: str

    @property
    def version(self) -> str:
        """The same for the same bytes and the same kind of runner."""
        return f"{self.job.digest} {self.kind}"

    @property
    def identity(self) -> str:
        """The same for the same bytes, script, arguments, input and kind of runner."""
        job = self.job
        # As JSON, so that no two calls give one text: an input may have any character.
        parts = [job.digest, job.path, job.args, job.stdin, self.kind]
        return sha256(json.dumps(parts).encode()).hexdigest()[:32]

    @property
    def shown(self) -> dict[str, object]:
        """What the question shows, under the names of the tool's parameters."""
        job = self.job
        shown: dict[str, object] = {"skill_id": job.skill, "path": job.path}
        shown |= {"args": [*job.args]}
        return {**shown, "stdin": job.stdin} if job.stdin else shown

    def question(self, authorizer: "Authorizer", decision: Decision) -> Question:
        """Return what somebody is asked: also which bytes run, and how."""
        bytes_and_runner = f"{self.job.digest}, with {self.kind}"
        reason = "; ".join(filter(None, (decision.reason, bytes_and_runner)))
        return authorizer.question(
            replace(decision, reason=reason),
            self.owner,
            RUN_SCRIPT,
            self.shown,
            self.identity,
        )


class Scripts:
    """The scripts of the skills of one session."""

    def __init__(  # noqa: PLR0913, PLR0917 - what it uses of its session
        self,
        components: "Components",
        look: Callable[..., Loaded],
        in_use: Callable[[], Sequence[Descriptor]],
        read: Callable[[], Iterable[Activation]],
        work: Callable[[], str],
        check: Callable[[Descriptor], None],
    ) -> None:
        self._runner = cast("Runner", components.runner)
        self._stager = components.script_stager
        self._look = look
        self._notes = components.script_notes
        self._in_use, self._read_skills = in_use, read
        self._work = work
        self._check = check
        self.tool = Tool(
            RUN_SCRIPT,
            _DESCRIPTION,
            _PARAMETERS,
            handler=self._run_unprepared,
            coerce=_coerced,
        )

    @property
    def kind(self) -> str:
        """How scripts are run."""
        kind = getattr(self._runner, "kind", "")
        return kind if isinstance(kind, str) and kind else type(self._runner).__name__

    @property
    def isolated(self) -> bool | None:
        """Whether the runner says that it keeps scripts from all else; None of none."""
        runner = cast("Runner | None", self._runner)
        return None if runner is None else getattr(runner, "isolated", None) is True

    def prepare(self, arguments: Mapping[str, object]) -> ScriptCall:
        """Return the call that these arguments ask for, with its bytes verified.

        Raises:
            ToolError: They have not the form of a call, name no script, or one of a
                skill that is not loaded.
            DeniedError: The policy denies it.
            SkillError: Its files cannot be read.
        """
        from satchel.runtime._staging import stage_files

        filled = _coerced(arguments)
        skill_id, path = str(filled["skill_id"]), str(filled["path"])
        owner = {entry.id: entry for entry in self._in_use()}.get(skill_id)
        if owner is None:
            advice = f"load the skill {echo(skill_id)!r} first, and read what it says"
            raise ToolError(RUN_SCRIPT, advice)
        self._check(owner)
        # An edited skill may want another script, or none.
        owner = (loaded := self._look(skill_id)).descriptor
        digests = {one.digest for one in self._read_skills() if one.id == skill_id}
        if not digests <= {"", loaded.digest}:
            raise ToolError(RUN_SCRIPT, wording.SKILL_CHANGED.format(skill_id))
        path = resolve(owner, path)
        if path not in scripts_of(owner):
            raise ToolError(RUN_SCRIPT, wording.NO_SCRIPT.format(path, skill_id))
        folder, digest = stage_files(self._stager, self._look, owner)
        job = Job(
            skill=skill_id,
            digest=digest,
            path=path,
            args=cast("tuple[str, ...]", filled["args"]),
            stdin=str(filled["stdin"]),
            pack=folder,
            work=self._work(),
        )
        return ScriptCall(owner, job, self.kind)

    def needs_note(self, owner: Descriptor) -> str:
        """Return what a skill's scripts need and is not here; empty for nothing.

        The line that installs it is logged, once for these bytes.
        """
        check = getattr(self._runner, "missing", None)
        if check is None or not scripts_of(owner):
            return ""
        key, notes = (owner.id, owner.digest, owner.files), self._notes
        if key not in notes:
            lacking = check(owner, partial(self._read, owner.id))
            notes[key] = ""
            if lacking is not None:
                import logging

                needs = (*lacking.requirements, *getattr(lacking, "programs", ()))
                names = first_names([echo(name) for name in needs])
                logger, line = logging.getLogger("satchel"), lacking.install
                logger.warning(wording.NEEDS_WARNING, owner.id, line or names)
                notes[key] = wording.NEEDS_MISSING.format(names)
        return notes[key]

    def _read(self, skill_id: str, path: str) -> bytes:
        return self._look(skill_id, path).data

    def bound(self, call: ScriptCall) -> Tool:
        """Return the tool, made to run this very job."""
        return replace(self.tool, handler=partial(self._run, call))

    def _run_unprepared(self, **arguments: object) -> object:
        return self._run(self.prepare(arguments), **arguments)

    def _run(self, call: ScriptCall, **arguments: object) -> ScriptOutput:
        """Run a job whose bytes are still those that were decided about."""
        latest = self.prepare(arguments)
        if latest.job.digest != call.job.digest or latest.kind != call.kind:
            raise ToolError(RUN_SCRIPT, wording.SCRIPT_CHANGED)
        job = replace(latest.job, cancelled=call.job.cancelled)
        try:
            os.makedirs(job.work, 0o700, exist_ok=True)  # noqa: PTH103 - pathlib costs start-up time
        except OSError as error:
            reason = f"the work folder cannot be used: {error.strerror}"
            raise ToolError(RUN_SCRIPT, reason) from error
        outcome = self._runner.run(job)
        return ScriptOutput.of("\n".join(_lines(job, outcome)), outcome, job.work)


def scripts_of(entry: Descriptor) -> list[str]:
    """Return the listed files of a skill that may be run."""
    return [
        path
        for path in entry.resources
        if path.startswith(_FOLDER) or path.endswith(_SUFFIXES)
    ]


def _coerced(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments as the tool takes them; texts and flags are understood."""
    filled: dict[str, object] = {"args": (), "stdin": "", **arguments}
    for name in ("skill_id", "path", "stdin"):
        if not isinstance(filled.get(name), str):
            raise ToolError(RUN_SCRIPT, f"argument {name!r} has to be a text")
    args = tuple(_args(filled["args"]))
    if any("\0" in text for text in args):
        raise ToolError(RUN_SCRIPT, "no argument may have a zero byte")
    return {**filled, "args": args}


def _args(value: object) -> Iterator[str]:
    """Yield a command line: of a list, of one text, or of an object of flags."""
    if value is None:
        return
    if isinstance(value, str):
        with suppress(ValueError):  # a list that was written as text
            value = json.loads(value) if value.startswith("[") else value
    if isinstance(value, str):
        try:
            yield from shlex.split(value)
        except ValueError as error:
            raise ToolError(RUN_SCRIPT, f"args: {error}; write a list") from None
    elif isinstance(value, Mapping):
        for flag, setting in cast("Mapping[object, object]", value).items():
            text = str(flag)
            name = text if text.startswith("-") else f"--{text}"
            if setting is False or setting is None:
                continue
            yield name
            if setting is not True:
                values = setting if _is_list(setting) else [setting]
                yield from map(_text, cast("Sequence[object]", values))
    elif _is_list(value):
        yield from map(_text, cast("Sequence[object]", value))
    else:
        raise ToolError(RUN_SCRIPT, "args has to be a list of texts")


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _text(value: object) -> str:
    if isinstance(value, (Mapping, list, tuple)):
        raise ToolError(RUN_SCRIPT, "args has to be a list of texts")
    return value if isinstance(value, str) else str(value)


def _lines(job: Job, outcome: "Outcome") -> Iterator[str]:
    """Yield what a model reads: how it ended, files first, then what it printed."""
    yield _ending(job, outcome)
    if outcome.files:
        yield "Files in the work folder:"
        for file in outcome.files[:_MOST_FILES]:
            of = f"{file.media_type}, {file.size:,} bytes, {file.digest}"
            yield f"  {file.path} ({of})"
        if (more := len(outcome.files) - _MOST_FILES) > 0:
            yield f"  and {more:,} more"
    for line in outcome.left_out[:_MOST_FILES]:
        yield f"Not taken out of the work folder: {line}"
    for name, text in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if text.strip():
            yield f"{name}:"
            yield text.rstrip("\n")


def _ending(job: Job, outcome: "Outcome") -> str:
    by = f" ({outcome.runner})" if outcome.runner else ""
    detail = f": {outcome.detail}" if outcome.detail else ""
    if outcome.ending == "exit":
        status = f"status {outcome.exit_code}"
        return f"{job.path} ended with {status} after {outcome.seconds:.1f} s{by}."
    if outcome.ending == "refused":
        return f"{job.path} was not run{detail}"
    return f"{job.path} was ended, {outcome.ending}{detail}{by}"
