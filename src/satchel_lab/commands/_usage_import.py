"""One run of ``satchel usage import``: a table, cases to review, marked events."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from satchel.cli import (
    NoAnswerError,
    echo,
    echo_error,
    echo_json,
    echo_prose,
    echo_table,
    one_line,
    progress,
    width,
)
from satchel.text import clip, first_names, plural
from satchel_lab.sessions import (
    FORMATS,
    SessionFiles,
    SkillVerdict,
    UseReport,
    judge_skills,
    read_sessions,
)

EVENTS_SCHEMA_VERSION: Final = 4
_DAY_S: Final = 86_400
_HEADS: Final = ("SKILL", "VERDICT", "LISTED", "LOADS", "FITTING TURNS", "WHY")
# A screen has room for so many skills; --json has them all.
_MOST_ROWS: Final = 18
_MOST_NARROW_ROWS: Final = 8  # of two lines
_WIDE: Final = 100
_MOST_TURNS: Final = 3
_CLIP_CHARS: Final = 70


def now() -> float:
    """Return seconds since the epoch; tests replace it."""
    return time.time()


@dataclass(frozen=True, kw_only=True)
class ImportRun:
    """One run with the options of ``satchel usage import``; `run` does it."""

    paths: tuple[str, ...]
    clients: tuple[str, ...]
    days: int | None
    folders: tuple[str, ...]
    show_turns: bool
    cases: str | None
    events: str | None
    as_json: bool

    def run(self) -> int:
        """Read, judge, print, write; return the exit status."""
        clients = self.clients or tuple(FORMATS)
        since = now() - self.days * _DAY_S if self.days else 0.0
        with progress("reading sessions"):
            files = read_sessions(self.paths, clients, since)
            folders = [str(Path(folder).absolute()) for folder in self.folders]
            report = judge_skills(files, folders)
        if not files.sessions:
            usual = (
                FORMATS[key].home / n for key in clients for n in FORMATS[key].sessions
            )
            titles = ", ".join(FORMATS[key].title for key in clients)
            places = ", ".join(map(str, self.paths or usual))
            raise NoAnswerError(f"no session of {titles} in {places}")
        if self.cases:
            Path(self.cases).write_text(
                json.dumps(list(_cases(report)), indent=2), "utf-8"
            )
        if self.events:
            lines = (f"{json.dumps(event)}\n" for event in _events(report))
            Path(self.events).write_text("".join(lines), "utf-8")
        if self.as_json:
            echo_json(_document(files, report, with_turns=self.show_turns))
        else:
            self._print(files, report)
        return 0

    def _print(self, files: SessionFiles, report: UseReport) -> None:
        for line in _notes(files, report):
            echo_prose(one_line(line))
        echo()
        is_narrow = (width() or _WIDE) < _WIDE
        most = _MOST_NARROW_ROWS if is_narrow else _MOST_ROWS
        shown, rest = report.skills[:most], report.skills[most:]
        echo_table(_HEADS, [_row(one) for one in shown])
        if rest:
            verdicts = Counter(one.verdict for one in rest)
            echo_prose(f"and {len(rest):,} more ({_counts(verdicts)}): add --json")
        for one in shown if self.show_turns else ():
            turns = [*one.evidence.passed, *one.evidence.cut_fits]
            for turn in sorted(turns, key=lambda turn: -turn.confidence)[:_MOST_TURNS]:
                text = clip(one_line(" ".join(turn.text.split())), _CLIP_CHARS)
                echo(f"{one_line(one.evidence.skill)}: {text}")
        for file in filter(None, (self.cases, self.events)):
            echo_error(f"wrote {file}")


def _notes(files: SessionFiles, report: UseReport) -> Iterator[str]:
    """Yield what was read, and what to know of it: one line each."""
    every, of_client = files.sessions, dict[str, set[str]]()
    for one in every:
        versions = of_client.setdefault(FORMATS[one.client].title, set())
        versions.add(one.version or "unknown version")
    clients = (f"{key} {first_names(sorted(v), 3)}" for key, v in of_client.items())
    times = [at for one in every for at in (one.at, one.until) if at] or [0.0]
    days = (time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (min(times), max(times)))
    turns = f"{plural(report.turns, 'turn')} of the user"
    head = f"{plural(len(every), 'session')}, {turns}, {' to '.join(days)}"
    yield f"{head}; {'; '.join(clients)}"
    for kind, version in files.newer():
        yield (
            f"note: {kind.title} {version} is newer than {kind.tried}, with which this "
            "was tried: what is new in its files is not read"
        )
    if files.unknown:
        yield f"note: unknown lines, passed over: {_counts(files.unknown)}"
    if files.bad:
        yield f"note: {plural(files.bad, 'line')} could not be read"
    if files.unread:
        reasons = Counter(reason for _, reason in files.unread)
        yield f"note: files not read, so that nothing is dead: {_counts(reasons)}"
    if unlisted := sum(one.listed is None for one in every):
        yield f"note: lists by the measured rules in {plural(unlisted, 'session')}"
    if report.elsewhere:
        names = first_names(sorted(report.elsewhere), 3)
        yield f"listed, and in no folder here (of plugins, of clients): {names}"


def _counts(counter: Mapping[str, int]) -> str:
    most = Counter(counter).most_common(5)
    return ", ".join(f"{name} ({count:,})" for name, count in most)


def _row(one: SkillVerdict) -> tuple[str, ...]:
    seen = one.evidence
    fits = len(seen.passed) + len(seen.cut_fits)
    fits += seen.counts["served"] + seen.counts["missed"]
    listed = f"{seen.counts['listed']:,} of {seen.counts['sessions']:,}"
    name = clip(one_line(seen.skill), 30)
    loads = f"{seen.counts['loads']:,}"
    return name, one.verdict, listed, loads, f"{fits:,}", one_line(one.why)


def _cases(report: UseReport) -> Iterator[Mapping[str, Any]]:
    """Yield a case for each turn that was passed over, each text once for a skill."""
    review = "it fits by words and was not loaded: is it for this skill?"
    for one in report.skills:
        turns = [*one.evidence.passed, *one.evidence.cut_fits]
        for text in dict.fromkeys(turn.text for turn in turns):
            case = {"query": text, "skill": one.evidence.skill, "should_trigger": True}
            yield {**case, "review": review}


def _events(report: UseReport) -> Iterator[Mapping[str, Any]]:
    """Yield an event for each load, marked as not ours, the same ones each time."""
    # A use of a name that several skills have is one event.
    uses = {id(one.use): one for one in reversed(report.loads)}
    for skill, session, use in reversed(uses.values()):
        yield {
            "event": "skill_imported",
            "at": use.at,
            "name": skill,
            "client": session.client,
            "conversation": _digest(session.id)[:16],
            "writer": _digest(f"{session.client}\n{session.id}\n{use.helper}")[:32],
            "seq": use.number,
            "schema_version": EVENTS_SCHEMA_VERSION,
        }


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _document(
    files: SessionFiles, report: UseReport, *, with_turns: bool
) -> dict[str, Any]:
    """Return all that was seen; texts of turns only if they were asked for."""
    versions = Counter((one.client, one.version) for one in files.sessions)
    skills: list[dict[str, Any]] = []
    for one in report.skills:
        entry = asdict(one.evidence)
        for turn in () if with_turns else (*entry["passed"], *entry["cut_fits"]):
            del turn["text"]
        skills.append(
            {"verdict": one.verdict, "dead": one.is_dead, "why": one.why, **entry}
        )
    return {
        "sessions": len(files.sessions),
        "turns": report.turns,
        "versions": [[*key, count] for key, count in sorted(versions.items())],
        "newer": {kind.key: version for kind, version in files.newer()},
        "unknown_lines": files.unknown,
        "bad_lines": files.bad,
        "unread": files.unread,
        "folders": report.folders,
        "elsewhere": sorted(report.elsewhere),
        "skills": skills,
    }
