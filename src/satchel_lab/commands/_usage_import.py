"""One run of ``satchel usage import``: a table, cases to review, marked events."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
            if not files.sessions:
                raise NoAnswerError(_nothing(self.paths, clients, files))
            report = judge_skills(
                files, [str(Path(f).absolute()) for f in self.folders]
            )
        if self.cases:
            _write(self.cases, json.dumps(list(_cases(report)), indent=2))
        if self.events:
            _write(self.events, "\n".join(map(json.dumps, _events(report))))
        if self.as_json:
            echo_json(_document(files, report, with_turns=self.show_turns))
        else:
            self._print(files, report)
        return 0

    def _print(self, files: SessionFiles, report: UseReport) -> None:
        for line in _summary(files, report):
            echo_prose(one_line(line))
        echo()
        is_narrow = (width() or _WIDE) < _WIDE
        most = _MOST_NARROW_ROWS if is_narrow else _MOST_ROWS
        shown, rest = report.skills[:most], report.skills[most:]
        echo_table(_HEADS, [_row(one) for one in shown])
        if rest:
            verdicts = Counter(one.verdict for one in rest)
            counts = ", ".join(f"{count:,} {name}" for name, count in verdicts.items())
            echo_prose(f"and {len(rest):,} more ({counts}): add --json")
        for one in shown if self.show_turns else ():
            _print_turns(one)
        for file in filter(None, (self.cases, self.events)):
            echo_error(f"wrote {file}")


def _print_turns(one: SkillVerdict) -> None:
    turns = [*one.evidence.passed, *one.evidence.cut_fits]
    if turns:
        echo(f"\n{one_line(one.evidence.skill)}")
    for turn in sorted(turns, key=lambda turn: -turn.confidence)[:_MOST_TURNS]:
        text = clip(one_line(" ".join(turn.text.split())), _CLIP_CHARS)
        echo(f"  {turn.confidence:.2f}  {text}")


def _write(path: str, text: str) -> None:
    Path(path).write_text(f"{text}\n" if text else "", "utf-8")


def _nothing(
    paths: tuple[str, ...], clients: tuple[str, ...], files: SessionFiles
) -> str:
    places = paths or [
        str(FORMATS[key].configs() / folder)
        for key in clients
        for folder in FORMATS[key].sessions
    ]
    titles = ", ".join(FORMATS[key].title for key in clients)
    unread = f"; {plural(len(files.unread), 'file')} not read" if files.unread else ""
    return f"no session of {titles} in {', '.join(places)}{unread}"


def _summary(files: SessionFiles, report: UseReport) -> Iterator[str]:
    """Yield what was read, and what to know of it: one line each."""
    versions = Counter((one.client, one.version) for one in files.sessions)
    of_client: dict[str, list[str]] = {}
    for key, version in sorted(versions):
        of_client.setdefault(key, []).append(version or "unknown version")
    clients = "; ".join(
        f"{FORMATS[key].title} {first_names(names, 3)}"
        for key, names in of_client.items()
    )
    times = [at for one in files.sessions for at in (one.at, one.until) if at]
    period = f", {_day(min(times))} to {_day(max(times))}" if times else ""
    yield (
        f"{plural(len(files.sessions), 'session')}, {plural(report.turns, 'turn')} of "
        f"the user{period}; {clients}"
    )
    yield from _notes(files, report)


def _notes(files: SessionFiles, report: UseReport) -> Iterator[str]:
    for kind, version in files.newer():
        yield (
            f"note: {kind.title} {version} is newer than {kind.tried}, with which this "
            "was tried: what is new in its files is not read"
        )
    if files.unknown:
        yield f"note: unknown lines, passed over: {_counts(files.unknown)}"
    if files.bad:
        yield f"note: {plural(files.bad, 'line')} could not be read; nothing is dead"
    if files.unread:
        reasons = Counter(reason for _, reason in files.unread)
        yield f"note: files that were not read, so nothing is dead: {_counts(reasons)}"
    unrecorded = sum(one.listed is None for one in files.sessions)
    if unrecorded:
        yield (
            f"note: {plural(unrecorded, 'session')} without a list on file: what was "
            "listed there is by the measured rules"
        )
    if report.elsewhere:
        names = first_names(sorted(report.elsewhere), 3)
        yield f"listed, and in no folder here (of plugins, of clients): {names}"


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counter.most_common(5))


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def _row(one: SkillVerdict) -> tuple[str, ...]:
    seen = one.evidence
    listed = f"{seen.listed:,} of {seen.sessions:,}"
    fits = len(seen.passed) + len(seen.cut_fits) + seen.absent_fits + seen.served
    name = clip(one_line(seen.skill), 30)
    return name, one.verdict, listed, f"{seen.loads:,}", f"{fits:,}", one_line(one.why)


def _cases(report: UseReport) -> Iterator[Mapping[str, Any]]:
    """Yield a case for each turn that was passed over, each text once for a skill."""
    for one in report.skills:
        turns = [*one.evidence.passed, *one.evidence.cut_fits]
        for text in dict.fromkeys(turn.text for turn in turns):
            yield {
                "query": text,
                "skill": one.evidence.skill,
                "should_trigger": True,
                "review": "it fits by words and was not loaded: is it for this skill?",
            }


def _events(report: UseReport) -> Iterator[Mapping[str, Any]]:
    """Yield an event for each load, marked as not ours, the same ones each time."""
    # A use of a name that several skills have is one event.
    uses = {id(one.use): one for one in reversed(report.loads)}
    for skill, session, use in reversed(uses.values()):
        source = f"{session.client}\n{session.id}\n{use.helper}"
        writer = sha256(source.encode("utf-8", "replace")).hexdigest()[:32]
        yield {
            "event": "skill_imported",
            "at": use.at,
            "name": skill,
            "client": session.client,
            "conversation": sha256(session.id.encode("utf-8", "replace")).hexdigest()[
                :16
            ],
            "writer": writer,
            "seq": use.number,
            "schema_version": EVENTS_SCHEMA_VERSION,
        }


def _document(
    files: SessionFiles, report: UseReport, *, with_turns: bool
) -> dict[str, Any]:
    """Return all that was seen; texts of turns only if they were asked for."""
    versions = Counter((one.client, one.version) for one in files.sessions)
    return {
        "sessions": len(files.sessions),
        "turns": report.turns,
        "clients": [
            {"client": key, "version": version, "sessions": count}
            for (key, version), count in sorted(versions.items())
        ],
        "newer": {kind.key: version for kind, version in files.newer()},
        "unknown_lines": dict(files.unknown),
        "bad_lines": files.bad,
        "unread": [{"file": file, "reason": reason} for file, reason in files.unread],
        "folders": list(report.folders),
        "elsewhere": sorted(report.elsewhere),
        "skills": [_entry(one, with_turns=with_turns) for one in report.skills],
    }


def _entry(one: SkillVerdict, *, with_turns: bool) -> dict[str, Any]:
    seen = one.evidence
    keys = ("sessions", "listed", "cut", "absent", "hidden", "unread", "unsure")
    more = ("loads", "opened", "turns", "near", "served", "absent_fits")
    turns = [("listed", turn) for turn in seen.passed]
    turns += [("cut", turn) for turn in seen.cut_fits]
    return {
        "name": seen.skill,
        "verdict": one.verdict,
        "dead": one.is_dead,
        "why": one.why,
        "clients": sorted(seen.clients),
        **{key: getattr(seen, key) for key in (*keys, *more)},
        "fits": [
            {
                "session": turn.session,
                "turn": turn.turn,
                "confidence": turn.confidence,
                "list": how,
                **({"text": turn.text} if with_turns else {}),
            }
            for how, turn in turns
        ],
    }
