"""``satchel usage import``."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from satchel.cli import (
    NoAnswerError,
    echo,
    echo_error,
    echo_json,
    echo_prose,
    echo_table,
    errors_are_status_2,
    flag,
    json_option,
    one_line,
    progress,
    width,
)
from satchel.text import clip, first_names, plural

if TYPE_CHECKING:
    from satchel_lab.sessions import SessionFiles, SkillVerdict, UseReport

EVENTS_SCHEMA_VERSION: Final = 4
_CLIENTS: Final = ("claude-code", "codex", "github-copilot-cli")
_DAY_S: Final = 86_400
_HEADS: Final = ("SKILL", "VERDICT", "LISTED", "LOADS", "FITTING TURNS", "WHY")
# A screen has room for so many skills; those of a narrow one have two lines.
_MOST_ROWS: Final = 18
_MOST_NARROW_ROWS: Final = 8
_WIDE: Final = 100
_MOST_TURNS: Final = 3
_CLIP_CHARS: Final = 70
_WRITES: Final = click.Path(dir_okay=False)


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@click.option(
    "--client",
    "clients",
    type=click.Choice(_CLIENTS),
    multiple=True,
    help="Only sessions of this client. Repeatable.",
)
@click.option("--days", type=click.IntRange(1, 3650), help="Only the last days.")
@click.option(
    "--skills",
    "folders",
    type=click.Path(exists=True, file_okay=False),
    multiple=True,
    help="A folder of skills to judge, too. Repeatable.",
)
@flag("--show-turns", "Show the beginning of turns that a skill fits.")
@click.option("--cases", type=_WRITES, help="Write those turns as cases for eval.")
@click.option("--events", type=_WRITES, help="Write loads, for satchel usage merge.")
@json_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    paths: tuple[str, ...],
    clients: tuple[str, ...],
    days: int | None,
    folders: tuple[str, ...],
    show_turns: bool,
    cases: str | None,
    events: str | None,
    as_json: bool,
) -> None:
    """Tell why skills are never used, from the session files of clients.

    For each skill in the folders that Claude Code, Codex and GitHub Copilot CLI read:
    was it in the list, was it cut, was it loaded, and which turns does it fit that did
    not load it? PATHS are session files or folders of them; without any it is where
    the clients keep theirs. Nothing leaves this machine, and no text of a session is
    shown or written but with --show-turns and --cases.

    Status: 0; 2 could not read, or no session.

    \b
    Examples:
      satchel usage import
      satchel usage import --days 30 --client codex
      satchel usage import --cases passed-over.json --show-turns
      satchel usage import --events imported.jsonl
    """
    from satchel_lab.sessions import FORMATS, judge_skills, read_sessions

    since = time.time() - days * _DAY_S if days else 0.0
    with errors_are_status_2(), progress("reading sessions"):
        files = read_sessions(paths, clients or _CLIENTS, since)
        report = judge_skills(files, [str(Path(one).absolute()) for one in folders])
        if cases:
            text = json.dumps(list(_cases(report)), indent=2)
            Path(cases).write_text(f"{text}\n", "utf-8")
        if events:
            lines = (f"{json.dumps(event)}\n" for event in _events(report))
            Path(events).write_text("".join(lines), "utf-8")
    if not files.sessions:
        kinds = [FORMATS[key] for key in clients or _CLIENTS]
        usual = (str(kind.home / name) for kind in kinds for name in kind.sessions)
        titles = ", ".join(kind.title for kind in kinds)
        when = f" of the last {plural(days, 'day')}" if days else ""
        places = ", ".join(paths or usual)
        raise NoAnswerError(f"no session of {titles}{when} in {places}")
    if as_json:
        echo_json(_document(files, report, with_turns=show_turns))
        return
    for line in _notes(files, report):
        echo_prose(one_line(line))
    is_wide = (width() or _WIDE) >= _WIDE
    most = _MOST_ROWS if is_wide else _MOST_NARROW_ROWS
    shown, rest = report.skills[:most], report.skills[most:]
    echo()
    echo_table(_HEADS, [_row(one) for one in shown])
    if rest:
        verdicts = Counter[str](one.verdict for one in rest)
        echo_prose(f"and {len(rest):,} more ({_counts(verdicts)}): add --json")
    for one in shown if show_turns else ():
        for turn in one.evidence.fits[:_MOST_TURNS]:
            text = clip(one_line(" ".join(turn.text.split())), _CLIP_CHARS)
            echo(f"{one_line(one.evidence.skill)}: {text}")
    for file in filter(None, (cases, events)):
        echo_error(f"wrote {file}")


def _notes(files: "SessionFiles", report: "UseReport") -> Iterator[str]:
    """Yield what was read, and what to know of it: one line each."""
    times = [at for one in files.sessions for at in (one.at, one.until) if at]
    days = [time.strftime("%Y-%m-%d", time.gmtime(at)) for at in sorted(times)]
    period = f", {days[0]} to {days[-1]}" if days else ""
    turns = f"{plural(report.turns, 'turn')} of the user{period}"
    names = first_names([f"{key} {v or '?'}" for key, v, _ in files.versions()], 6)
    yield f"{plural(len(files.sessions), 'session')}, {turns}; {names}"
    for kind, version in files.newer():
        tried = f"{kind.tried}, which this was tried with"
        new = f"{kind.title} {version} is newer than {tried}"
        yield f"note: {new}: what is new in its files is not read"
    if files.unknown:
        yield f"note: unknown lines, passed over: {_counts(files.unknown)}"
    if files.bad:
        yield f"note: {plural(files.bad, 'line')} could not be read"
    if files.unread:
        reasons = Counter(reason for _, reason in files.unread)
        yield f"note: files that were not read: {_counts(reasons)}"
    if unlisted := sum(one.listed is None for one in files.sessions):
        yield f"note: lists by the measured rules in {plural(unlisted, 'session')}"
    if report.elsewhere:
        names = first_names(sorted(report.elsewhere), 3)
        yield f"listed, and in no folder here (of plugins, of clients): {names}"


def _counts(counter: Mapping[str, int]) -> str:
    most = Counter(counter).most_common(5)
    return ", ".join(f"{name} ({count:,})" for name, count in most)


def _row(one: "SkillVerdict") -> tuple[str, ...]:
    seen, counts = one.evidence, one.evidence.counts
    fits = len(seen.fits) + counts["served"] + counts["missed"]
    listed = f"{counts['listed'] + counts['part']:,} of {counts['sessions']:,}"
    name, loads = clip(one_line(seen.skill), 30), f"{counts['loads']:,}"
    return name, one.verdict, listed, loads, f"{fits:,}", one_line(one.why)


def _cases(report: "UseReport") -> Iterator[Mapping[str, Any]]:
    """Yield a case for each turn that was passed over, each text once for a skill."""
    review = "it fits by words and was not loaded: is it for this skill?"
    for one in report.skills:
        for text in dict.fromkeys(turn.text for turn in one.evidence.fits):
            case = {"query": text, "skill": one.evidence.skill, "should_trigger": True}
            yield {**case, "review": review}


def _events(report: "UseReport") -> Iterator[Mapping[str, Any]]:
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
    files: "SessionFiles", report: "UseReport", *, with_turns: bool
) -> dict[str, Any]:
    """Return all that was seen; texts of turns only if they were asked for."""
    skills: list[dict[str, Any]] = []
    for one in report.skills:
        turns = list(map(asdict, one.evidence.fits))
        for turn in () if with_turns else turns:
            del turn["text"]
        entry = {"name": one.evidence.skill, "verdict": one.verdict, "why": one.why}
        counts = one.evidence.counts
        skills.append({**entry, "dead": one.is_dead, "fits": turns, **counts})
    return {
        "sessions": len(files.sessions),
        "turns": report.turns,
        "versions": list(files.versions()),
        "newer": {kind.key: version for kind, version in files.newer()},
        "unknown_lines": files.unknown,
        "bad_lines": files.bad,
        "unread": files.unread,
        "folders": report.folders,
        "elsewhere": sorted(report.elsewhere),
        "skills": skills,
    }
