"""The usage report: which skills are used. Pure: the clock is an argument."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Final, Literal, TypeAlias, cast

from satchel.usage import DAY_S
from satchel_server.usage._records import (
    ListedSkill,
    Period,
    Records,
    WriterState,
    ended_unclosed,
    host_mark,
)
from satchel_server.usage._sums import NOT_FOUND, Figures

# The core set is the fewest skills that make this share of the loads.
CORE_SHARE: Final = 0.8
REPORT_VERSION: Final = 1
# Of fewer skills a busy agent may well load each on one day.
_MIN_SKILLS: Final = 5
# The share of all skills that no agent loads on one day.
_MIRROR_SHARE: Final = 0.9
_EPOCH: Final = date(1970, 1, 1).toordinal()
# Kinds of sums, and the field of a skill that has them.
_COUNTED: Final = "release", "digest", "owner", "source", "agent", "client", "caller"
_COUNTERS: Final = {"via": "edges", **{kind: f"{kind}s" for kind in _COUNTED}}

UsageStatus = Literal["used", "dead", "unknown"]
_Pairs: TypeAlias = Mapping[str, tuple[int, int]]


@dataclass(slots=True)
class SkillUse:
    """The loads of one skill in the days of the report.

    ``loads`` succeeded, of SKILL.md and of other files; ``files`` of them were of other
    files. ``by_hand`` are loads of the command line, which count nowhere else. ``last``
    is the last day on record, even before these days. The mappings count loads;
    ``digests`` only those of SKILL.md. ``before`` are the loads in as many days before
    these; ``conversations`` counts different ones.
    """

    name: str
    loads: int = 0
    files: int = 0
    by_hand: int = 0
    tokens: int = 0
    last: int | None = None
    releases: Counter[str] = field(default_factory=Counter[str])
    digests: Counter[str] = field(default_factory=Counter[str])
    owners: Counter[str] = field(default_factory=Counter[str])
    sources: Counter[str] = field(default_factory=Counter[str])
    edges: Counter[str] = field(default_factory=Counter[str])
    agents: Counter[str] = field(default_factory=Counter[str])
    clients: Counter[str] = field(default_factory=Counter[str])
    callers: Counter[str] = field(default_factory=Counter[str])
    before: int = 0
    conversations: int = 0

    def as_dict(self) -> dict[str, object]:
        """Return the fields for JSON; in each mapping the most frequent comes first."""
        values: dict[str, object] = {}
        for field_ in fields(self):
            value = values[field_.name] = getattr(self, field_.name)
            if isinstance(value, Counter):
                values[field_.name] = _most(cast("Counter[str]", value))
        return {**values, "last": iso_day(self.last)}


@dataclass(frozen=True, slots=True)
class SkillStatus:
    """Whether a skill on offer is used.

    ``seen`` is on how many days it was on offer, at most ``days_needed``. It is
    ``dead`` if it was not loaded in its last ``days_needed`` days on offer, and
    ``unknown`` if there were fewer days and it was loaded neither in these nor in the
    last ``days_needed`` days of the calendar. ``last`` is the day of its last load,
    None for never; ``offered`` is the last day on offer.
    """

    name: str
    state: UsageStatus
    seen: int
    days_needed: int
    last: int | None = None
    offered: int | None = None
    owner: str = ""

    def __str__(self) -> str:
        """Return the reason in words."""
        if self.state == "unknown":
            return f"unknown: {self.seen} of {self.days_needed} days seen"
        return (
            "never loaded" if self.last is None else f"last loaded {iso_day(self.last)}"
        )


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The use of skills in the ``days`` days that end with ``until``; days are UTC.

    ``core`` is the fewest skills that make 80 % of the loads. ``unread`` are references
    that were never read, of skills that were loaded in these days. ``missing`` counts
    names that were asked for but do not exist, ``errors`` counts failures by code.
    ``unclosed`` writers ended without being closed: each may have lost up to ``bound``
    events. ``synced`` counts files that were fetched for a copy, by skill; they count
    nowhere else. ``may_mirror`` are clients that read nearly all skills on one day:
    how many, of how many. ``at_work`` are writers that may have events which are not
    written yet; ``no_room`` means that the disk of the file is full. ``before`` are
    the loads in as many days before these. ``by_day`` has every day of these with
    loads. ``conversations`` counts different ones. ``imported`` counts, by client,
    what was read from sessions of clients; that is no load. ``by`` has loads by
    ``owner``, ``team``, ``caller``, ``client``, ``agent`` and ``release``: in these
    days, and in as many before. ``replicas`` counts loads by where they were recorded,
    of all skills; ``origins`` are the files that writers were merged from.
    """

    until: int
    days: int
    skills: tuple[SkillUse, ...]
    core: tuple[str, ...]
    statuses: tuple[SkillStatus, ...]
    unread: Mapping[str, tuple[str, ...]]
    missing: Mapping[str, int]
    errors: Mapping[str, int]
    dropped: int = 0
    unclosed: tuple[WriterState, ...] = ()
    bad_lines: int = 0
    synced: Mapping[str, int] = field(default_factory=dict[str, int])
    may_mirror: _Pairs = field(default_factory=dict[str, tuple[int, int]])
    at_work: tuple[WriterState, ...] = ()
    no_room: bool = False
    before: int = 0
    by_day: Mapping[int, int] = field(default_factory=dict[int, int])
    conversations: int = 0
    imported: Mapping[str, int] = field(default_factory=dict[str, int])
    by: Mapping[str, _Pairs] = field(default_factory=dict[str, _Pairs])
    replicas: Mapping[str, int] = field(default_factory=dict[str, int])
    origins: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def loads(self) -> int:
        """How many loads there were, without those by hand."""
        return sum(skill.loads for skill in self.skills)

    def _now_by(self, dimension: str) -> dict[str, int]:
        shares = self.by.get(dimension, {}).items()
        return {value: now for value, (now, _) in shares if now}

    def of(self, state: UsageStatus) -> tuple[SkillStatus, ...]:
        """Return the skills of one state, by name."""
        return tuple(status for status in self.statuses if status.state == state)

    @property
    def may_be_missing(self) -> int:
        """How many events may be missing, in addition to those that were dropped."""
        return sum(writer.bound for writer in self.unclosed)

    def as_dict(self) -> dict[str, object]:
        """Return all of it for JSON, with a ``schema_version``; days as 2026-11-21."""
        return {
            "schema_version": REPORT_VERSION,
            "from": iso_day(self.until - self.days + 1),
            "until": iso_day(self.until),
            "days": self.days,
            "loads": self.loads,
            "skills": [skill.as_dict() for skill in self.skills],
            "core": list(self.core),
            "dead": [_status_entry(status) for status in self.of("dead")],
            "unknown": [_status_entry(status) for status in self.of("unknown")],
            "references_never_read": {k: list(v) for k, v in self.unread.items()},
            "not_found": dict(self.missing),
            "errors": dict(self.errors),
            "dropped": self.dropped,
            "writers_not_closed": len(self.unclosed),
            "may_be_missing": self.may_be_missing,
            "lines_not_read": self.bad_lines,
            "synced": dict(self.synced),
            "may_mirror": {
                client: {"skills": many, "of": most}
                for client, (many, most) in self.may_mirror.items()
            },
            "writers_at_work": len(self.at_work),
            "no_room": self.no_room,
            "before": self.before,
            "by_day": {iso_day(day): count for day, count in self.by_day.items()},
            "callers": self._now_by("caller"),
            "teams": self._now_by("team"),
            "conversations": self.conversations,
            "imported": dict(self.imported),
            "by": {
                dimension: [
                    {"name": value, "loads": now, "before": before}
                    for value, (now, before) in shares.items()
                ]
                for dimension, shares in self.by.items()
            },
            "replicas": dict(self.replicas),
            "origins": dict(self.origins),
        }


def make_report(
    records: Records,
    *,
    now: float,
    days: int = 30,
    only: Mapping[str, Sequence[str]] | None = None,
    unclosed: Sequence[WriterState] = (),
) -> UsageReport:
    """Return the report for the last ``days`` days.

    Args:
        records: What was read for these days.
        now: Seconds since the epoch; the report ends with this day.
        days: Days of the report, and days on offer after which an unused skill is dead.
        only: The skills of the report, with their references; None is every skill that
            was on offer or loaded in these days.
        unclosed: Writers that ended without being closed.
    """
    until = int(now // DAY_S)
    first = until - days + 1
    figures = records.figures
    if only is None:
        listed = {
            name: skill
            for name, skill in records.listed.items()
            if name in records.offers and records.offers[name].last >= first
        }
    else:
        none = ListedSkill("", "", "", ())
        listed = {name: records.listed.get(name, none) for name in sorted(only)}
    skills = _uses(figures, only)
    references = {
        skill.name: listed[skill.name].references if only is None else only[skill.name]
        for skill in skills
        if skill.loads and skill.name in listed
    }
    return UsageReport(
        until=until,
        days=days,
        skills=skills,
        core=_core(skills),
        statuses=tuple(
            _status_of(name, listed[name].owner, records, days, until)
            for name in sorted(listed)
        ),
        unread=_unread(figures, references),
        missing=_by_name(figures, "error", NOT_FOUND, but=only or ()),
        errors=_counted(_of_kind(figures.now, "error", None)),
        dropped=sum(writer.dropped for writer in records.writers),
        unclosed=tuple(unclosed),
        bad_lines=records.unread,
        may_mirror=suspected_mirrors(figures.readers, records.on_offer),
        at_work=tuple(
            w for w in records.writers if w.closed is None and w not in unclosed
        ),
        synced=_by_name(figures, "copy", ""),
        before=sum(count for _, count in _of_kind(figures.before, "load", only)),
        by_day=_by_day(figures, only),
        conversations=figures.talks[""],
        imported=_counted(_of_kind(figures.now, "imported", only)),
        by=_shares(figures, only),
        replicas=_counted(_of_kind(figures.now, "replica", None)),
        origins=_counted((w.origin, 1) for w in records.writers if w.origin),
    )


def read_report(  # noqa: PLR0913 - by name, and each with a default
    place: str,
    *,
    now: float,
    days: int = 30,
    only: Mapping[str, Sequence[str]] | None = None,
    mirrors: Collection[str] = (),
    brief: bool = False,
) -> UsageReport:
    """Return the report on a file of events, or on a store that a URL names.

    Args:
        place: A path, or a URL that ``SATCHEL_USAGE`` may have.
        now: Seconds since the epoch; the report ends with this day.
        days: Days of the report.
        only: The skills of the report, with their references; None is all.
        mirrors: Clients whose reads over HTTP and MCP are copies, not loads.
        brief: Leave out what takes time to read and no page shows: the mappings, files
            and conversations of each skill, and ``unread``, ``synced`` and
            ``may_mirror``. They are not to be used then.

    Raises:
        MissingPathError: There is no such file, or nothing was ever stored there.
        ConfigError: It is something else, or a later Satchel wrote it.
        SourceUnavailableError: The database does not answer.
    """
    from satchel_server.usage._reader import read_records

    until = int(now // DAY_S)
    period = Period(until, days, mirrors, of_skills=only is not None, brief=brief)
    records = read_records(place, period)
    ended = ended_unclosed(records.writers, now=now, host=host_mark())
    return make_report(records, now=now, days=days, only=only, unclosed=ended)


def suspected_mirrors(
    readers: Mapping[tuple[str, int], int], on_offer: Mapping[int, int]
) -> dict[str, tuple[int, int]]:
    """Return clients that read nearly all skills on one day: how many, of how many."""
    suspects: dict[str, tuple[int, int]] = {}
    for (client, day), many in sorted(readers.items()):
        most = on_offer.get(day, 0)
        if most >= _MIN_SKILLS and many >= _MIRROR_SHARE * most:
            suspects[client] = max(suspects.get(client, (0, 0)), (many, most))
    return suspects


def team_of(caller: str) -> str:
    """Return the team of a caller: what is before the first ``/`` or ``.``, if any."""
    team, mark, _ = caller.replace(".", "/").partition("/")
    return team if mark else ""


def _by_name(
    figures: Figures, kind: str, value: str, *, but: Collection[str] = ()
) -> dict[str, int]:
    counts = figures.now.items()
    return _most(
        {k[0]: n for k, n in counts if n and k[1:] == (kind, value) and k[0] not in but}
    )


def _by_day(figures: Figures, only: Collection[str] | None) -> dict[int, int]:
    by_day: Counter[int] = Counter()
    for (day, name), count in sorted(figures.by_day.items()):
        if count and (only is None or name in only):
            by_day[day] += count
    return dict(by_day)


def _of_kind(
    counts: Mapping[tuple[str, str, str], int], kind: str, only: Collection[str] | None
) -> Iterator[tuple[str, int]]:
    for (name, of, value), count in counts.items():
        if of == kind and count and (only is None or name in only):
            yield value, count


def _shares(
    figures: Figures, only: Collection[str] | None
) -> dict[str, dict[str, tuple[int, int]]]:
    """Return the loads by each dimension: in the period, and in the one before."""
    shares: dict[str, dict[str, tuple[int, int]]] = {}
    for dimension in ("owner", "caller", "client", "agent", "release"):
        names = {""} if only is None else only
        now = _counted(_of_kind(figures.now, dimension, names))
        before = _counted(_of_kind(figures.before, dimension, names))
        shares[dimension] = _ranked(now, before)
    callers = shares["caller"].items()
    teams = [_counted((team_of(name), n[at]) for name, n in callers) for at in (0, 1)]
    shares["team"] = _ranked(*teams)
    shares["team"].pop("", None)
    return shares


def _ranked(now: dict[str, int], before: dict[str, int]) -> dict[str, tuple[int, int]]:
    pairs = {name: (now.get(name, 0), before.get(name, 0)) for name in now | before}
    return dict(sorted(pairs.items(), key=lambda it: (-it[1][0], -it[1][1], it[0])))


def _uses(figures: Figures, only: Collection[str] | None) -> tuple[SkillUse, ...]:
    """Return the loads by skill, most first, ties by name."""
    uses: dict[str, SkillUse] = {}
    for (name, kind, _), count in figures.now.items():
        if kind in {"load", "hand"} and count and (only is None or name in only):
            if name not in uses:
                uses[name] = SkillUse(name)
            use = uses[name]
            if kind == "hand":
                use.by_hand = count
            else:
                use.loads = count
                use.tokens = figures.tokens[name]
                use.last = figures.last.get(name)
                use.before = figures.before[name, "load", ""]
                use.conversations = figures.talks[name]
    for (name, kind, value), count in figures.now.items():
        if name not in uses or not count:
            continue
        use = uses[name]
        if kind == "file":
            use.files += count
        elif kind in _COUNTERS:
            getattr(use, _COUNTERS[kind])[value] += count
    return tuple(sorted(uses.values(), key=lambda u: (-u.loads, -u.by_hand, u.name)))


def _core(skills: Sequence[SkillUse]) -> tuple[str, ...]:
    goal = CORE_SHARE * sum(skill.loads for skill in skills)
    core: list[str] = []
    made = 0
    for skill in skills:
        # Before it is added: the skill that reaches the share belongs to the core.
        if made >= goal:
            break
        core.append(skill.name)
        made += skill.loads
    return tuple(core)


def _status_of(
    name: str, owner: str, records: Records, days_needed: int, until: int
) -> SkillStatus:
    last, offered = records.figures.last.get(name), records.offers.get(name)
    # Days on offer, not of the calendar: nobody can load what is not offered.
    first = until - days_needed + 1
    since = offered.since if offered else None
    enough = since is not None
    if since is None:
        since = min(first, offered.first) if offered else first
    state: UsageStatus = "used"
    if last is None or last < since:
        state = "dead" if enough else "unknown"
    latest = offered.last if offered else None
    seen = min(offered.count, days_needed) if offered else 0
    return SkillStatus(name, state, seen, days_needed, last, latest, owner)


def _unread(
    figures: Figures, references: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    unread = {
        name: tuple(path for path in paths if (name, path) not in figures.files)
        for name, paths in sorted(references.items())
    }
    return {name: paths for name, paths in unread.items() if paths}


def _counted(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sums, most first, ties by key."""
    counts: Counter[str] = Counter()
    for key, count in pairs:
        counts[key] += count
    return _most(counts)


def _most(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def iso_day(day: int | None) -> str | None:
    """Return a day since the epoch as 2026-11-29; None for none."""
    return None if day is None else date.fromordinal(_EPOCH + day).isoformat()


def _status_entry(status: SkillStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "reason": str(status),
        "days_seen": status.seen,
        "last": iso_day(status.last),
        "offered": iso_day(status.offered),
        "owner": status.owner,
    }
