"""The usage report: which skills are used. Pure: the clock is an argument."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from operator import attrgetter
from typing import Final, Literal, cast

from satchel.usage import DAY_S
from satchel_server.usage._mirrors import split_mirrors, suspected_mirrors
from satchel_server.usage._records import ListedSkill, Records, Tally, WriterState

# The core set is the fewest skills that make this share of the loads.
CORE_SHARE: Final = 0.8
REPORT_VERSION: Final = 1
NOT_FOUND: Final = "skill-not-found"
# When a person looks at a skill on the command line, no agent uses it.
BY_HAND: Final = "cli"
_EPOCH: Final = date(1970, 1, 1).toordinal()
_origin_of = attrgetter("release", "owner", "source", "via", "agent", "client")

UsageStatus = Literal["used", "dead", "unknown"]


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
        return {**values, "last": _iso(self.last)}


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
        return "never loaded" if self.last is None else f"last loaded {_iso(self.last)}"


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
    loads. ``callers`` and ``teams`` count loads; ``conversations`` counts different
    ones. ``imported`` counts, by client, what was read from sessions of clients; that
    is no load.
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
    may_mirror: Mapping[str, tuple[int, int]] = field(
        default_factory=dict[str, tuple[int, int]]
    )
    at_work: tuple[WriterState, ...] = ()
    no_room: bool = False
    before: int = 0
    by_day: Mapping[int, int] = field(default_factory=dict[int, int])
    callers: Mapping[str, int] = field(default_factory=dict[str, int])
    teams: Mapping[str, int] = field(default_factory=dict[str, int])
    conversations: int = 0
    imported: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def loads(self) -> int:
        """How many loads there were, without those by hand."""
        return sum(skill.loads for skill in self.skills)

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
            "from": _iso(self.until - self.days + 1),
            "until": _iso(self.until),
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
            "by_day": {_iso(day): count for day, count in self.by_day.items()},
            "callers": dict(self.callers),
            "teams": dict(self.teams),
            "conversations": self.conversations,
            "imported": dict(self.imported),
        }


def make_report(  # noqa: PLR0913 - by name, and each with a default
    records: Records,
    *,
    now: float,
    days: int = 30,
    only: Mapping[str, Sequence[str]] | None = None,
    unclosed: Sequence[WriterState] = (),
    mirrors: Collection[str] = (),
) -> UsageReport:
    """Return the report for the last ``days`` days.

    Rows with a day after ``now`` do not count: a clock was wrong.

    Args:
        records: The rows.
        now: Seconds since the epoch; the report ends with this day.
        days: Days of the report, and days on offer after which an unused skill is dead.
        only: The skills of the report, with their references; None is every skill that
            was on offer or loaded in these days.
        unclosed: Writers that ended without being closed.
        mirrors: Clients whose reads over HTTP and MCP are copies, not loads.
    """
    until = int(now // DAY_S)
    first = until - days + 1
    dated = (t for t in records.tallies if t.day <= until)
    loads, fetched = split_mirrors(dated, mirrors)
    copies = [*records.copies, *fetched]
    ours = [t for t in loads if only is None or t.name in only]
    skills = _uses(ours, first)
    last = _last_days(ours)
    if only is None:
        listed = {
            name: skill
            for name, skill in records.listed.items()
            if any(first <= day <= until for day in skill.days)
        }
    else:
        none = ListedSkill("", "", "", (), ())
        listed = {name: records.listed.get(name, none) for name in sorted(only)}
    references = {
        name: skill.references if only is None else tuple(only[name])
        for name, skill in listed.items()
    }
    used = {skill.name for skill in skills if skill.loads}
    recent = [t for t in loads if t.day >= first]
    missing = [t for t in recent if t.code == NOT_FOUND and t.name not in (only or ())]
    before = Counter[str]()
    by_day = Counter[int]()
    for tally in ours:
        if tally.via != BY_HAND and not tally.code:
            if tally.day >= first:
                by_day[tally.day] += tally.count
            elif tally.day >= first - days:
                before[tally.name] += tally.count
    for skill in skills:
        skill.before = before[skill.name]
    return UsageReport(
        until=until,
        days=days,
        skills=skills,
        core=_core(skills),
        statuses=tuple(
            _status_of(name, listed[name], last.get(name), days, until)
            for name in sorted(listed)
        ),
        unread=_unread(ours, {n: r for n, r in references.items() if n in used}),
        missing=_counted((t.name, t.count) for t in missing),
        errors=_counted((t.code, t.count) for t in recent if t.code),
        dropped=sum(writer.dropped for writer in records.writers),
        unclosed=tuple(unclosed),
        bad_lines=records.unread,
        may_mirror=suspected_mirrors(recent, records.listed),
        at_work=tuple(
            w for w in records.writers if w.closed is None and w not in unclosed
        ),
        synced=_counted((c.name, c.count) for c in copies if first <= c.day <= until),
        before=before.total(),
        by_day=dict(sorted(by_day.items())),
    )


def read_report(
    place: str,
    *,
    now: float,
    days: int = 30,
    only: Mapping[str, Sequence[str]] | None = None,
    mirrors: Collection[str] = (),
) -> UsageReport:
    """Return the report on a file of events, or on a store that a URL names.

    Raises:
        MissingPathError: There is no such file.
        ConfigError: It is something else, or a later Satchel wrote it.
    """
    from satchel_server.usage._location import parse_location
    from satchel_server.usage._reader import read_records
    from satchel_server.usage._records import ended_unclosed, host_mark

    if place.startswith(("sqlite:", "jsonl:", "chain:")):
        place = parse_location(place).path
    records = read_records(place)
    return make_report(
        records,
        now=now,
        days=days,
        only=only,
        unclosed=ended_unclosed(records.writers, now=now, host=host_mark()),
        mirrors=mirrors,
    )


def _uses(tallies: Iterable[Tally], first: int) -> tuple[SkillUse, ...]:
    """Return the loads by skill, most first, ties by name."""
    last = _last_days(tallies)
    uses: dict[str, SkillUse] = {}
    for tally in tallies:
        if tally.code or tally.day < first:
            continue
        use = uses.setdefault(tally.name, SkillUse(tally.name))
        if tally.via == BY_HAND:
            use.by_hand += tally.count
        else:
            use.last = last[tally.name]
            _count(use, tally)
    return tuple(sorted(uses.values(), key=lambda u: (-u.loads, -u.by_hand, u.name)))


def _count(use: SkillUse, tally: Tally) -> None:
    use.loads += tally.count
    use.tokens += tally.tokens
    if tally.file:
        use.files += tally.count
    else:
        use.digests[tally.digest] += tally.count
    counters = use.releases, use.owners, use.sources, use.edges, use.agents, use.clients
    for counter, key in zip(counters, _origin_of(tally), strict=True):
        if key:
            counter[key] += tally.count


def _last_days(tallies: Iterable[Tally]) -> dict[str, int]:
    """Return the last day on which each skill was loaded, other than by hand."""
    last: dict[str, int] = {}
    for tally in tallies:
        if not tally.code and tally.via != BY_HAND:
            last[tally.name] = max(tally.day, last.get(tally.name, tally.day))
    return last


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
    name: str, listed: ListedSkill, last: int | None, days_needed: int, until: int
) -> SkillStatus:
    # Days on offer, not of the calendar: nobody can load what is not offered.
    days = sorted(day for day in listed.days if day <= until)
    enough = len(days) >= days_needed
    first = until - days_needed + 1
    since = days[-days_needed] if enough else min([first, *days])
    state: UsageStatus = "used"
    if last is None or last < since:
        state = "dead" if enough else "unknown"
    offered = days[-1] if days else None
    seen = min(len(days), days_needed)
    return SkillStatus(name, state, seen, days_needed, last, offered, listed.owner)


def _unread(
    tallies: Iterable[Tally], references: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    read: defaultdict[str, set[str]] = defaultdict(set)
    for tally in tallies:
        if tally.file and not tally.code and tally.via != BY_HAND:
            read[tally.name].add(tally.file)
    unread = {
        name: tuple(path for path in paths if path not in read[name])
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


def _iso(day: int | None) -> str | None:
    return None if day is None else date.fromordinal(_EPOCH + day).isoformat()


def _status_entry(status: SkillStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "reason": str(status),
        "days_seen": status.seen,
        "last": _iso(status.last),
        "offered": _iso(status.offered),
        "owner": status.owner,
    }
