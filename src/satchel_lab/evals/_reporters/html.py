"""One page for a browser, with a drawing of the skills that compete."""

import math
from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from satchel.text import plural, printable
from satchel_lab._markup import html_page
from satchel_lab.evals._report import NOTE, EvalReport
from satchel_lab.evals._reporters.junit import why
from satchel_lab.evals._reporters.text import queries_of, shown

if TYPE_CHECKING:
    from satchel_lab.evals._shadows import Rival

_STYLE: Final = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; max-width: 70rem; }
table { border-collapse: collapse; }
td, th { border: 1px solid #8886; padding: .15rem .5rem; text-align: left; }
.missed, .fires { background: #f5535333; }
.found { background: #e5b30033; }
svg { max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: CanvasText; }
svg line { stroke: #c58a00; stroke-opacity: .6; }
svg line.shadow { stroke: #d22; stroke-opacity: 1; }"""
# More edges than these are a drawing that nobody can read.
_MAX_EDGES: Final = 60
_MAX_ROWS: Final = 2_000


def render(report: EvalReport) -> str:
    """Return the page: figures, drawing, confusions, every case."""
    return html_page("Which skill is found", _STYLE, _body(report))


def _body(report: EvalReport) -> Iterator[str]:
    queries = queries_of(len(report.queries))
    yield f"<h1>{plural(report.skills, 'skill')}, {queries}</h1>"
    figures = [
        ("Hit@1", shown(report.hit)),
        (f"Recall@{report.k}", shown(report.recall)),
        ("MRR", f"{report.mean_reciprocal_rank:.3f}"),
        ("controls that fire", shown(report.fired)),
    ]
    yield from _table(("figure", "value"), figures)
    yield f"<p>{_text(NOTE)}</p>"
    if report.rivals:
        yield "<h2>Skills that compete</h2>"
        yield "<p>A line leads from a skill to the one that takes its queries, the"
        yield "wider the more of them; red where it is hidden by that one.</p>"
        yield from _drawing(report)
    if report.findings:
        yield "<h2>Findings</h2>"
        cells = (
            (str(one.severity), one.code, one.path, one.message)
            for one in report.findings
        )
        yield from _table(("severity", "code", "where", "what"), cells)
    if report.confusions:
        yield "<h2>Who takes whose queries</h2>"
        rows = [
            (one.skill, one.taken_by, str(len(one.queries)), ", ".join(one.lacks[:8]))
            for one in report.confusions
        ]
        yield from _table(("skill", "taken by", "queries", "it does not say"), rows)
    yield "<h2>Cases</h2>"
    yield "<table><tr><th>verdict</th><th>query</th><th>expected</th><th>why</th></tr>"
    for one in report.routed[:_MAX_ROWS]:
        expected = ", ".join(one.case.expected) or "none"
        reason = "" if one.good else why(one)
        texts = (one.verdict, " ".join(one.case.query.split()), expected, reason)
        row = "".join(f"<td>{_text(text)}</td>" for text in texts)
        yield f'<tr class="{one.verdict}">{row}</tr>'
    yield "</table>"


def _drawing(report: EvalReport) -> Iterator[str]:
    """Yield the graph: skills on a circle by name, each edge once."""
    edges: dict[tuple[str, str], Rival] = {}
    for rival in report.rivals:
        edges.setdefault((rival.skill, rival.taken_by), rival)
    shown_edges = list(edges.values())[:_MAX_EDGES]
    hidden = {(one.rival.skill, one.rival.taken_by) for one in report.shadows}
    names = sorted({name for one in shown_edges for name in (one.skill, one.taken_by)})
    radius = max(120, 9 * len(names))
    centre = radius + 170, radius + 40
    places = {
        name: 2 * math.pi * number / len(names) for number, name in enumerate(names)
    }
    yield f'<svg viewBox="0 0 {2 * centre[0]} {2 * centre[1]}" role="img">'
    for one in shown_edges:
        ends = [_at(places[name], radius, centre) for name in (one.skill, one.taken_by)]
        (x1, y1), (x2, y2) = ends
        kind = ' class="shadow"' if (one.skill, one.taken_by) in hidden else ""
        wide = 1 + 5 * one.share
        yield (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            f' stroke-width="{wide:.1f}"{kind}><title>{_text(one.taken_by)} takes'
            f" {len(one.queries)} of {one.of} of {_text(one.skill)}</title></line>"
        )
    for name, angle in places.items():
        x, y = _at(angle, radius + 8, centre)
        anchor = "start" if math.cos(angle) >= 0 else "end"
        yield (
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">'
            f"{_text(name[:28])}</text>"
        )
    yield "</svg>"
    if len(edges) > _MAX_EDGES:
        yield f"<p>{len(edges) - _MAX_EDGES:,} weaker ones are not drawn.</p>"


def _at(angle: float, radius: float, centre: tuple[int, int]) -> tuple[float, float]:
    return centre[0] + radius * math.cos(angle), centre[1] + radius * math.sin(angle)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f"<table><tr>{''.join(f'<th>{_text(cell)}</th>' for cell in head)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>"
    yield "</table>"


def _text(text: str) -> str:
    return escape(printable(text, keep=""))
