"""For people, at a terminal or in a log."""

from collections.abc import Iterator

from satchel.evals._report import NOTE, EvalReport
from satchel.evals._routing import Routed, Share
from satchel.lint import safe_in_log
from satchel.text import clip, plural

# More of one kind are counted; `--format json` has them all.
_MAX_LINES = 20
_MAX_WORDS = 5


def render(report: EvalReport) -> str:
    """Return the figures, then what went wrong, then what it says and what not."""
    return "\n".join(_lines(report))


def _lines(report: EvalReport) -> Iterator[str]:
    sections = (_findings, _change, _confusions, _fired, _worst)
    for section in sections:
        lines = list(section(report))
        yield from lines
        if lines:
            yield ""
    yield from summary(report)
    yield NOTE


def _findings(report: EvalReport) -> Iterator[str]:
    for finding in report.findings:
        yield safe_in_log(str(finding))
        if finding.fix:
            yield safe_in_log(f"  fix: {finding.fix}")


def _confusions(report: EvalReport) -> Iterator[str]:
    if report.confusions:
        yield "Who takes whose queries:"
    for one in report.confusions[:_MAX_LINES]:
        words = ", ".join(one.lacks[:_MAX_WORDS])
        lacks = f"; {one.skill} does not say: {words}" if words else ""
        count = queries_of(len(one.queries))
        yield safe_in_log(f"  {one.taken_by} takes {count} of {one.skill}{lacks}")
    yield from _more(len(report.confusions))


def _fired(report: EvalReport) -> Iterator[str]:
    fired = [one for one in report.controls if one.verdict == "fires"]
    if fired:
        yield "Controls that fire:"
    for one in fired[:_MAX_LINES]:
        yield safe_in_log(f"  {one.winner} for {_query(one)}")
    yield from _more(len(fired))


def _worst(report: EvalReport) -> Iterator[str]:
    worst = sorted(
        (one for one in report.by_skill if one.hits < one.queries),
        key=lambda one: (one.hits / one.queries, -one.queries, one.skill),
    )
    if worst:
        yield "Skills that are not found first for all of their queries:"
        yield "first found   all"
    for one in worst[:_MAX_LINES]:
        counts = f"{one.hits:>5} {one.found:>5} {one.queries:>5}"
        yield safe_in_log(f"{counts}  {one.skill}")
    yield from _more(len(worst))


def summary(report: EvalReport) -> Iterator[str]:
    """Yield the figures, a line each."""
    queries, controls = len(report.queries), len(report.controls)
    yield (
        f"{plural(report.skills, 'skill')}, {queries_of(queries)} and "
        f"{plural(controls, 'control')} in {plural(report.files, 'eval file')}"
    )
    if queries:
        yield f"Hit@1      {shown(report.hit)}"
        yield f"Recall@{report.k:<3} {shown(report.recall)}"
        yield f"MRR        {report.mean_reciprocal_rank:.3f}"
    if controls:
        yield f"controls   {shown(report.fired)} fire"


def queries_of(count: int) -> str:
    """Return a number of queries, in words."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def shown(value: Share) -> str:
    """Return a share with its interval."""
    low, high = value.low, value.high
    return f"{value.value:.3f}  (95 %: {low:.3f} to {high:.3f}, {value.of:,} cases)"


def _change(report: EvalReport) -> Iterator[str]:
    change = report.change
    if change is None:
        return
    broken, fixed = len(change.broken), len(change.fixed)
    yield safe_in_log(
        f"Since {change.since}: {broken} broken, {fixed} fixed, {change.new} new"
    )
    others = {one.key for one in change.of_others}
    for one in change.broken[:_MAX_LINES]:
        whose = ", of a skill that did not change" if one.key in others else ""
        who = f" goes to {one.winner}" if one.winner else " finds nothing"
        yield safe_in_log(f"  broken{whose}: {_query(one)}{who}")
    yield from _more(broken)


def _query(one: Routed) -> str:
    place = f"{one.case.path}:{one.case.line}" if one.case.line else one.case.path
    return f"{clip(' '.join(one.case.query.split()), 60)!r} ({place})"


def _more(count: int) -> Iterator[str]:
    if count > _MAX_LINES:
        yield f"  and {count - _MAX_LINES:,} more: --format json has all"
