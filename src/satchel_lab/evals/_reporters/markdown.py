"""A comment on a pull request: what changed, the figures, the rest folded."""

from collections.abc import Iterable, Iterator

from satchel.text import plural
from satchel_lab._markup import markdown_code, markdown_details, markdown_text
from satchel_lab.evals._report import NOTE, EvalReport
from satchel_lab.evals._reporters.junit import why
from satchel_lab.evals._reporters.text import MAX_CASES, queries_of, shown
from satchel_lab.evals._routing import Routed

# Of each table; a comment has 65,536 characters at most, and a cell 400.
_MAX_ROWS = 25


def render(report: EvalReport) -> str:
    """Return the comment."""
    return "\n".join(_lines(report))


def _lines(report: EvalReport) -> Iterator[str]:
    queries = queries_of(len(report.queries))
    controls = plural(len(report.controls), "control")
    yield f"**satchel eval**: {plural(report.skills, 'skill')}, {queries}, {controls}"
    yield ""
    yield "| figure | value |"
    yield "|---|---|"
    if report.queries:
        yield f"| Hit@1 | {shown(report.hit)} |"
        yield f"| Recall@{report.k} | {shown(report.recall)} |"
        yield f"| MRR | {report.mean_reciprocal_rank:.3f} |"
    if report.controls:
        yield f"| controls that fire | {shown(report.fired)} |"
    change = report.change
    if change is not None:
        yield ""
        yield (
            f"Since {markdown_code(change.since)}: {len(change.broken)} broken, "
            f"{len(change.fixed)} fixed, {change.new} new."
        )
        others = "broken, of skills that did not change"
        yield from _cases(others, change.of_others, is_open=True)
        rest = [one for one in change.broken if one not in change.of_others]
        yield from _cases("broken", rest, is_open=True)
        yield from _cases("fixed", change.fixed)
    missed = [one for one in report.queries if not one.good]
    fired = [one for one in report.controls if not one.good]
    yield from _cases("not found first", missed, most=MAX_CASES, is_open=True)
    yield from _cases("fired, and should not have", fired, most=MAX_CASES, is_open=True)
    for what, rows in (
        ("finding", [*_findings(report)]),
        ("confusion", [*_confusions(report)]),
    ):
        yield from markdown_details(plural(len(rows), what), _cut(rows))
    yield ""
    yield f"<sub>{NOTE}</sub>"


def _cases(
    title: str, cases: Iterable[Routed], *, most: int = _MAX_ROWS, is_open: bool = False
) -> Iterator[str]:
    rows = [
        f"- {markdown_text(' '.join(one.case.query.split())[:200])}"
        + ("" if one.good else f": {markdown_text(why(one))}")
        for one in cases
    ]
    yield from markdown_details(
        f"{len(rows)} {title}", _cut(rows, most), is_open=is_open
    )


def _findings(report: EvalReport) -> Iterator[str]:
    for one in report.findings:
        place = f"{one.path}:{one.line}" if one.line else one.path
        head = f"- {one.severity} {markdown_code(one.code)} {markdown_code(place)}"
        yield f"{head}: {markdown_text(one.message)}"


def _confusions(report: EvalReport) -> Iterator[str]:
    for one in report.confusions:
        words = ", ".join(one.lacks[:5])
        yield (
            f"- {markdown_code(one.taken_by)} takes {len(one.queries)} of "
            f"{markdown_code(one.skill)}; it does not say: {markdown_text(words)}"
        )


def _cut(rows: list[str], most: int = _MAX_ROWS) -> Iterator[str]:
    yield from rows[:most]
    if len(rows) > most:
        yield f"- and {len(rows) - most:,} more"
