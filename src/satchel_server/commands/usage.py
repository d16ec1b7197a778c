"""``satchel usage``."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from satchel.cli import (
    alias_option,
    bold,
    echo,
    echo_always,
    echo_error,
    echo_json,
    echo_prose,
    echo_table,
    errors_are_status_2,
    flag,
    json_option,
    layout,
    one_line,
    open_skills,
    width,
    with_alias,
)
from satchel.errors import ConfigError, MissingPathError
from satchel.products import import_product
from satchel.text import clip, first_names, plural
from satchel.usage import DAY_S
from satchel_server.commands._usage_upkeep import db_option, place_of

if TYPE_CHECKING:
    from satchel_server.usage import SkillStatus, UsageReport


_MIN_FREE_BYTES = 64 * 1024
# Names on one line of the report; --json has them all.
_SHOWN = 10


def now() -> float:
    """Return seconds since the epoch; tests replace it."""
    return time.time()


def _checked_reasons(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> tuple[str, ...]:
    reasons = () if text is None else tuple(text.split(","))
    if wrong := [reason for reason in reasons if reason not in ("dead", "errors")]:
        message = f"{wrong[0]!r} is neither 'dead' nor 'errors'"
        raise click.BadParameter(message, ctx, param)
    return reasons


_IMPORT = "satchel_lab.commands.usage_import"
_UPKEEP = "satchel_server.commands._usage_upkeep"
_DIMENSIONS = "skill", "owner", "team", "caller", "client", "agent", "release", "day"
# The commands of the group: their modules, what they are called there, what they do.
_COMMANDS = {
    "import": (_IMPORT, "command", "Read what clients used from their sessions."),
    "merge": (_UPKEEP, "merge", "Bring files of events into one database."),
    "prune": (_UPKEEP, "prune", "Remove old events."),
    "erase": (_UPKEEP, "erase", "Remove the events of one caller."),
}


class _ReportCommand(click.Command):
    """The report; with the name of another command as the first argument, that one."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - those of click
    ) -> click.Context:
        if not args or args[0] not in _COMMANDS:
            return super().make_context(info_name, args, parent, **extra)
        module, name, _ = _COMMANDS[args[0]]
        product = import_product(module, f"satchel usage {args[0]}")
        chosen: click.Command = getattr(product, name)
        return chosen.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, it[2]) for name, it in _COMMANDS.items()])


@click.command("usage", cls=_ReportCommand)
@click.argument("paths", nargs=-1, metavar="[PATH]...", callback=with_alias)
@alias_option("The same as PATH; repeatable. Default: all that are on record.")
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    help="Days to look at; and days on offer that make an unused skill dead.",
)
@click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    metavar="CLIENT",
    help="A client that copies skills: what it read over HTTP and MCP is no load. "
    "Repeatable.",
)
@click.option(
    "--by",
    type=click.Choice(_DIMENSIONS),
    help="Show loads and their trend by this instead; --json has all of it.",
)
@click.option(
    "--fail-on",
    metavar="WHAT",
    callback=_checked_reasons,
    help="Status 1 if there are dead skills (dead) or failed loads (errors); several "
    "with commas.",
)
@json_option
@db_option
@flag(
    "--acts",
    "Show each call of a tool that needs a skill and each run of a script instead, and "
    "whether the model had read the skill.",
)
@flag(
    "--suggest-evals",
    "Print cases for satchel eval to review instead: names that were not found, "
    "and the queries that SATCHEL_QUERIES keeps.",
)
@click.option(
    "--verify",
    "chain",
    metavar="CHAINFILE",
    type=click.Path(),
    help="Check only whether a chained log was changed; status 1 if so.",
)
@click.option(
    "--head",
    metavar="FILE",
    type=click.Path(),
    help="With --verify, a copy of the log's head. Default: CHAINFILE.head.",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    paths: tuple[str, ...],
    days: int,
    mirrors: tuple[str, ...],
    by: str | None,
    fail_on: tuple[str, ...],
    as_json: bool,
    db: str | None,
    acts: bool,
    suggest_evals: bool,
    chain: str | None,
    head: str | None,
) -> int:
    """Report which skills are used, which are dead, and which were not found.

    With a PATH, the report is on the skills in it only; a folder called as a command
    below is ./merge. Days are UTC. Loads on the command line are shown, but do not
    count. TREND compares with as many days before.

    Status: 0; 1 for what --fail-on names, or with --verify if the log was changed.

    \b
    Examples:
      satchel usage
      satchel usage ./skills --days 90
      satchel usage --json | jq -r '.dead[].name'
      satchel usage --by team --fail-on dead,errors
      satchel usage --db jsonl:///var/log/satchel.jsonl
      satchel usage --suggest-evals --json > evals/asked.json
      satchel usage --acts --db chain:usage.chain
      satchel usage --verify /var/log/satchel.chain
    """
    if chain is not None:
        return _verify(chain, head, as_json=as_json)
    if head is not None:
        raise click.UsageError("--head goes with --verify")
    if acts and paths:
        raise click.UsageError("--acts shows the acts of all skills: leave PATH out")
    if acts:
        return _acts(db, days, as_json=as_json)
    with errors_are_status_2():
        report = _report(db, paths, days, mirrors)
    if suggest_evals:
        _suggest_evals(report, as_json=as_json)
    elif as_json:
        echo_json(report.as_dict())
    else:
        for line in _lines(report, by):
            echo(line)
    return _failed(report, fail_on)


def _failed(report: "UsageReport", fail_on: Sequence[str]) -> int:
    """Say what there is of the reasons to fail; return the status."""
    dead = len(report.of("dead")) if "dead" in fail_on else 0
    errors = sum(report.errors.values()) if "errors" in fail_on else 0
    if dead:
        echo_error(f"error dead-skills: {plural(dead, 'skill')} without a load")
    if errors:
        echo_error(f"error failed-loads: {plural(errors, 'load')} failed")
    return int(bool(dead or errors))


def _acts(db: str | None, days: int, *, as_json: bool) -> int:
    from satchel_server.usage import check_acts, read_events

    path = place_of(db)
    try:
        events = read_events(path)
    except MissingPathError as error:
        if db is not None and "://" not in error.path:
            raise
        events = ()
    since = now() - days * DAY_S
    acts = [one for one in check_acts.with_skills(events) if one[0]["at"] >= since]
    if as_json:
        echo_json({"acts": [{**act, "had_skill": read} for act, read in acts]})
    elif acts:
        echo_table(check_acts.HEAD, [check_acts.row(*act) for act in acts])
    else:
        echo_error(f"no act is on record in the last {plural(days, 'day')}")
    if any("prev" in act for act, _ in acts):  # of a chain
        with open(path, "rb") as lines:  # noqa: PTH123 - it is a string
            if problem := check_acts.read_chain(lines)[2]:
                echo_error(f"the log was changed: {problem}")
                return 1
    return 0


def _suggest_evals(report: "UsageReport", *, as_json: bool) -> None:
    from satchel_server.usage import QUERIES_VARIABLE, suggest_cases

    path = os.environ.get(QUERIES_VARIABLE, "").strip()
    if not path:
        echo_error(f"no query is on record: {QUERIES_VARIABLE} names no file for them")
    try:
        cases = suggest_cases(report.missing, path, since=now() - report.days * DAY_S)
    except OSError as error:
        raise ConfigError(QUERIES_VARIABLE, f"{path}: {error.strerror}") from error
    if as_json:
        echo_json({"evals": cases})
        return
    echo_prose(
        f"{plural(len(cases), 'case')} to review: which skill should answer, if any?"
    )
    for case in cases:
        echo_prose(f"  {one_line(case['query'])}: {one_line(case['review'])}")


def _report(
    db: str | None, paths: tuple[str, ...], days: int, mirrors: tuple[str, ...]
) -> "UsageReport":
    from satchel_server.usage import Records, make_report, read_report

    path = place_of(db)
    only: Mapping[str, Sequence[str]] | None = None
    if paths:
        with open_skills(paths) as skills:
            only = {entry.id: entry.references for entry in skills.catalog}
    when = now()
    try:
        report = read_report(path, now=when, days=days, only=only, mirrors=mirrors)
    except MissingPathError as error:
        if db is not None and "://" not in error.path:
            raise
        missing = "has no events" if "://" in error.path else "does not exist"
        echo_error(f"nothing is on record yet: {error.path} {missing}")
        report = make_report(Records(), now=when, days=days, only=only)
    return replace(report, no_room=_is_full(path))


def _is_full(path: str) -> bool:
    """Return whether the disk of a file has no room for a few more events."""
    try:
        return shutil.disk_usage(path.removeprefix("sqlite:")).free < _MIN_FREE_BYTES
    except OSError:
        return False


def _verify(chain: str, head: str | None, *, as_json: bool) -> int:
    from satchel_server.usage import verify_chain

    verdict = verify_chain(chain, head)
    if as_json:
        echo_json({"ok": verdict.ok, **asdict(verdict)})
    elif verdict.ok:
        echo(f"{verdict.lines:,} lines, none changed; the last is {verdict.digest}")
        if verdict.open_writers:
            count = plural(verdict.open_writers, "writer")
            echo_error(
                f"{count} not closed: still running, killed, or the end was cut off"
            )
        if head is None and verdict.lines:
            echo_error(
                "the end matches the head; if both were cut, this cannot show it: give"
            )
            echo_error("  a copy of the head from elsewhere, with --head")
    else:
        place = f"{chain}:{verdict.broken}"
        echo_always(f"error broken-chain: {place}: {verdict.detail}")
    return 0 if verdict.ok else 1


def _lines(report: "UsageReport", by: str | None = None) -> Iterator[str]:
    fields = report.as_dict()
    title = (
        f"{fields['from']} to {fields['until']}, UTC: {plural(report.loads, 'load')}"
    )
    trend = _trend(report.loads, report.before) if report.before else ""
    yield f"{title}, {trend} on the {report.days} days before" if trend else title
    table = [_HEAD, *_rows(report)] if by is None else [*_shares(report, by)]
    if len(table) > 1:
        yield ""
        head, *rows = layout(table, width())
        yield bold(head)
        yield from rows
    columns = width()
    room = None if columns is None else max(columns - 2, 8)
    for title, lines in _sections(report):
        if lines:
            yield f"\n{bold(title)}"
            yield from (f"  {clip(one_line(x), room, at_words=True)}" for x in lines)


_HEAD = ("SKILL", "LOADS", "FILES", "TOKENS", "BY HAND", "LAST", "OWNER")


def _rows(report: "UsageReport") -> Iterator[tuple[str, ...]]:
    for skill in report.skills:
        yield (
            one_line(skill.name),
            f"{skill.loads:,}",
            f"{skill.files:,}",
            f"{skill.tokens:,}",
            f"{skill.by_hand:,}" if skill.by_hand else "-",
            str(skill.as_dict()["last"] or "-"),
            one_line(", ".join(skill.owners)) or "-",
        )


def _shares(report: "UsageReport", by: str) -> Iterator[tuple[str, ...]]:
    """Yield a head, and the loads by one dimension."""
    if by == "day":
        yield "DAY", "LOADS"
        by_day: Mapping[str, int] = report.as_dict()["by_day"]  # type: ignore[assignment]
        for day, count in by_day.items():
            yield day, f"{count:,}"
        return
    yield by.upper(), "LOADS", "TREND"
    skills = {skill.name: (skill.loads, skill.before) for skill in report.skills}
    shares = skills if by == "skill" else report.by[by]
    for value, (loads, before) in shares.items():
        yield one_line(value), f"{loads:,}", _trend(loads, before)


def _trend(loads: int, before: int) -> str:
    """Return how much more or less it is than in the period before."""
    if not before:
        return "new" if loads else "-"
    return f"{(loads - before) / before:+.0%}"


def _sections(report: "UsageReport") -> Iterator[tuple[str, list[str]]]:
    from satchel_server.usage import CORE_SHARE

    core = [first_names(report.core, _SHOWN)] if report.core else []
    few = f"{plural(len(report.core), 'skill')} of {len(report.skills):,}"
    yield f"Core: {few} make {CORE_SHARE:.0%} of the loads", core
    dead = [
        f"{skill.name}: {skill}{f'; {skill.owner}' if skill.owner else ''}"
        for skill in report.of("dead")
    ]
    yield f"Dead: no load in {report.days} days on offer", dead
    yield "Too early to say", list(_unknown(report.of("unknown")))
    unread = [
        f"{name}: {first_names(paths, _SHOWN)}" for name, paths in report.unread.items()
    ]
    yield "References that were never read, of skills that were loaded", unread
    missing = [f"{name}: {count:,}" for name, count in report.missing.items()]
    yield "Asked for, but not found", missing
    errors = [f"{code}: {count:,}" for code, count in report.errors.items()]
    yield "Loads that failed", errors
    synced = [first_names([*report.synced], _SHOWN)] if report.synced else []
    times = plural(sum(report.synced.values()), "time")
    yield f"Fetched {times} for a copy, which is no load", synced
    imported = [f"{client}: {count:,}" for client, count in report.imported.items()]
    yield "Used in sessions of clients that were imported, which is no load", imported
    looks = [
        f"{client}: read {many:,} of {most:,} on one day; if so, use --mirror"
        for client, (many, most) in report.may_mirror.items()
    ]
    yield "Clients that may copy skills instead of loading them", looks
    yield "What is not on record", list(_gaps(report))


def _unknown(skills: "Sequence[SkillStatus]") -> Iterator[str]:
    """Yield one line for each number of days, the highest first."""
    by_reason: dict[tuple[int, str], list[str]] = {}
    for skill in skills:
        by_reason.setdefault((-skill.seen, str(skill)), []).append(skill.name)
    for (_, reason), names in sorted(by_reason.items()):
        yield f"{reason}: {first_names(names, _SHOWN)}"


def _gaps(report: "UsageReport") -> Iterator[str]:
    if report.dropped:
        events = plural(report.dropped, "event")
        yield f"{events} dropped: there was no room, or they could not be stored"
    if report.unclosed:
        writers = plural(len(report.unclosed), "writer")
        most = max(writer.bound for writer in report.unclosed)
        yield (
            f"{writers} ended without closing; each may have lost up to "
            f"{plural(most, 'event')}"
        )
    if report.at_work:
        writers = plural(len(report.at_work), "writer")
        yield f"{writers} still running: what waits there is not on record yet"
    if report.no_room:
        yield "the disk of this file is full: events wait, or are lost"
    if report.bad_lines:
        yield f"{plural(report.bad_lines, 'line')} of the file could not be read"
