"""For people, at a terminal or in a log."""

from collections import defaultdict
from collections.abc import Iterator

from satchel.text import clip, plural, safe_in_log
from satchel_lab.evals._report import NOTE, EvalReport
from satchel_lab.evals._routing import Routed, Share

# More of one kind are counted; `--format json` has them all.
_MAX_LINES = 20
# Of queries and controls that did not go well; `-v` has them all.
MAX_CASES = 10
_MAX_WORDS = 5
_MAX_PATHS = 3


def render(report: EvalReport, *, whole: bool = False) -> str:
    """Return the figures, then what went wrong, then what it says and what not."""
    return "\n".join(_lines(report, None if whole else MAX_CASES))


def _lines(report: EvalReport, most: int | None) -> Iterator[str]:
    fired, missed = _fired(report, most), _missed(report, most)
    above = (_findings(report), _change(report), _confusions(report))
    for section in (*above, fired, _worst(report), missed):
        lines = list(section)
        yield from lines
        if lines:
            yield ""
    yield from summary(report)
    yield from passed_over(report)
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


def _fired(report: EvalReport, most: int | None) -> Iterator[str]:
    fired = [one for one in report.controls if not one.good]
    if fired:
        yield "Controls that fire:"
    for one in fired[:most]:
        yield safe_in_log(f"  {one.winner} for {_query(one)}")
    yield from _more(len(fired), most, "-v")


def _missed(report: EvalReport, most: int | None) -> Iterator[str]:
    missed = [one for one in report.queries if not one.good]
    if missed:
        yield "Queries that do not find their skill first:"
    for one in missed[:most]:
        skill = ", ".join(one.case.expected)
        yield safe_in_log(f"  {skill}: {_query(one)}{_goes_to(one)}")
    yield from _more(len(missed), most, "-v")


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
    if report.repeated:
        yield f"{plural(report.repeated, 'repeated row')} counted once"
    if queries:
        yield f"Hit@1      {shown(report.hit)}"
        yield f"Recall@{report.k:<3} {shown(report.recall)}"
        yield f"MRR        {report.mean_reciprocal_rank:.3f}"
    if controls:
        yield f"controls   {shown(report.fired)} fire"


def passed_over(report: EvalReport) -> Iterator[str]:
    """Yield how many files were passed over, and a line for each reason."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in report.passed_over:
        by_reason[one.reason].append(one.path)
    if by_reason:
        yield f"Passed over {plural(len(report.passed_over), 'file')}:"
    for reason, paths in sorted(by_reason.items()):
        shown = ", ".join(paths[:_MAX_PATHS])
        more = f" and {len(paths) - _MAX_PATHS:,} more" if paths[_MAX_PATHS:] else ""
        yield safe_in_log(f"  {len(paths):,} x {reason}: {shown}{more}")


def queries_of(count: int) -> str:
    """Return a number of queries, in words."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def shown(value: Share) -> str:
    """Return a share with its interval."""
    cases = plural(value.of, "case")
    return f"{value.value:.3f}  (95 %: {value.low:.3f} to {value.high:.3f}, {cases})"


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
        yield safe_in_log(f"  broken{whose}: {_query(one)}{_goes_to(one)}")
    yield from _more(broken)


def _goes_to(one: Routed) -> str:
    return f" goes to {one.winner}" if one.winner else " finds nothing"


def _query(one: Routed) -> str:
    place = f"{one.case.path}:{one.case.line}" if one.case.line else one.case.path
    return f"{clip(' '.join(one.case.query.split()), 60)!r} ({place})"


def _more(
    count: int, most: int | None = _MAX_LINES, option: str = "--format json"
) -> Iterator[str]:
    if most is not None and count > most:
        yield f"  and {count - most:,} more: {option} has all"
