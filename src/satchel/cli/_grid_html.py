"""``satchel check --for`` as one page for a browser, with every skill and reason."""

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from satchel.cli._grid import (
    MARKS,
    Grid,
    LoaderProblem,
    first_repairs,
    names_of,
    problems_of,
)
from satchel.cli._terminal import one_line
from satchel.text import plural

if TYPE_CHECKING:
    from satchel.checking import LibraryPrediction

# No script, and nothing from elsewhere: the page is safe to open and to attach.
PAGE_HEAD: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Skills as clients see them</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
td, th { border: 1px solid #8886; padding: .15rem .5rem; text-align: left; }
th { background: Canvas; vertical-align: bottom; }
thead th { position: sticky; top: 0; }
.breaks { background: #c00; color: #fff; font-weight: bold; }
.dropped, .lost { background: #f5535333; }
.misread { background: #c058e033; }
.cut { background: #e5b30033; }
.unknown { background: #18a0c033; }
.loaded { background: #30a04622; }
code { font: 13px ui-monospace, monospace; }
</style>
</head>
<body>"""


def render_html(library: "LibraryPrediction") -> str:
    """Return the whole grid, and below it every reason with every place."""
    grid, problems = Grid.of(library), problems_of(library)
    skills, clients = len(library.packs), len(library.loaders)
    lines = [
        PAGE_HEAD,
        f"<h1>{plural(skills, 'skill')} in {plural(clients, 'client')}</h1>",
    ]
    lines.append(f"<p>{skills - len(grid.rows):,} loaded whole by all of them.</p>")
    if grid.rows:
        lines += [*_first_repairs(library), *_legend(grid), *_table(grid)]
        lines += _problems(problems)
    return "\n".join([*lines, "</body>", "</html>"])


def _first_repairs(library: "LibraryPrediction") -> Iterator[str]:
    plan = first_repairs(library)
    if plan is not None:
        yield f"<p><b>{plan.what}:</b> {plan.back}</p><ul>"
        for place, fix in plan.repairs:
            yield f"<li><code>{_text(place)}</code>: {_text(fix)}</li>"
        yield "</ul>"


def _legend(grid: Grid) -> Iterator[str]:
    yield "<p>"
    for mark in (MARKS[state] for state in grid.present if MARKS[state].meaning):
        yield f'<b class="{mark.word}">{mark.word}</b>: {mark.meaning}.'
    yield "* by its documentation, not run.</p>"


def _table(grid: Grid) -> Iterator[str]:
    heads = ("<br>".join(names_of(loaders)) for loaders in grid.columns)
    yield f"<table><thead>{_row('th', ['skill', *heads])}</thead><tbody>"
    for pack, states in zip(grid.rows, grid.states, strict=True):
        marks = (MARKS[state].word for state in states)
        cells = "".join(f'<td class="{word}">{word}</td>' for word in marks)
        yield f"<tr><th><code>{_text(pack.pack)}</code></th>{cells}</tr>"
    yield "</tbody></table>"


def _problems(problems: Iterable[LoaderProblem]) -> Iterator[str]:
    yield "<h2>Why, and what to do</h2>"
    for problem in problems:
        yield f"<h3>{_text(problem.about)}</h3>"
        yield f"<p>{_text(problem.fix)}</p><ul>"
        for state, loaders in problem.loaders.items():
            names = ", ".join(loader.key for loader in loaders)
            yield f"<li>{MARKS[state].of_loaders} {names}</li>"
        yield f"</ul><details><summary>{plural(len(problem.places), 'skill')}</summary>"
        yield "<br>".join(f"<code>{_text(place)}</code>" for place in problem.places)
        yield "</details>"


def _row(tag: str, texts: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in texts)}</tr>"


def _text(text: str) -> str:
    return escape(one_line(text))
