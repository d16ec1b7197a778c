"""``satchel find``."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import click

from satchel.cli._options import open_skills, warn
from satchel.cli._paths import line_about, option_paths, skills_option
from satchel.cli._terminal import (
    echo_error,
    echo_json,
    echo_table,
    flag,
    json_option,
    on_terminal,
    one_line,
    progress,
    width,
)
from satchel.model import Hit, respelled
from satchel.text import wrap


@click.command("find")
@click.argument("query")
@skills_option
@click.option(
    "-k",
    "limit",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Show at most this many.",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Leave out hits of a lower confidence, 0 to 1.",
)
@click.option("--source", help="Search only the source of this label.")
@click.option("--tag", help="Search only skills with this tag or keyword.")
@click.option("--owner", help="Search only skills of this owner.")
@flag("--explain", "Show what each word adds to a score.")
@json_option
def command(
    query: str,
    paths: tuple[str, ...],
    limit: int,
    *,
    explain: bool,
    as_json: bool,
    **filters: Any,  # noqa: ANN401 - text or a number each, as `Satchel.find` says
) -> None:
    """Search the skills for what a task needs, best first.

    A QUERY of several words goes in quotes.

    \b
    Examples:
      satchel find "fill in a tax form" ./skills
      satchel find "numbers look wrong" ./skills -k 3 --json
    """
    _refuse_words(query, paths)
    # A person at a terminal gets an answer at once, a program only a complete one.
    whole = as_json or not on_terminal()
    with open_skills(paths) as skills:
        with progress("searching"):
            hits = skills.find(query, limit, whole=whole, **filters)
        warn(skills)
        show = partial(_show, query, explain=explain)
        if as_json:
            _print_json(query, hits, explain=explain)
        else:
            show(hits)
        if any(hit.partial for hit in hits):
            echo_error("only names and descriptions so far: instructions are indexed")
            with progress("indexing"):
                complete = skills.find(query, limit, whole=True, **filters)
            if [hit.id for hit in complete] != [hit.id for hit in hits]:
                show(complete)


def _print_json(query: str, hits: Sequence[Hit], *, explain: bool) -> None:
    results = [
        {
            "id": hit.id,
            "description": hit.description,
            "score": round(hit.score, 4),
            "source": hit.source,
            "confidence": hit.confidence,
            "weak": hit.weak,
            "copies": list(hit.copies),
            **({"matches": [asdict(m) for m in hit.matches]} if explain else {}),
        }
        for hit in hits
    ]
    echo_json({"query": query, "read_as": respelled(hits), "hits": results})


def _show(query: str, hits: Sequence[Hit], *, explain: bool) -> None:
    if not hits:
        typed = line_about("list")
        echo_error(f"no skill matches {query!r}; to see them all, type: {typed}")
        return
    for word, other in respelled(hits).items():
        echo_error(f"no skill has {one_line(word)!r}; it was read as {other!r}")
    if explain:
        _explain(hits)
        return
    rows = [
        (
            one_line(hit.id),
            one_line(
                ("[weak] " if hit.weak else "")
                + " ".join(hit.description.split())
                + (f" [{len(hit.copies)} more like it]" if hit.copies else "")
            ),
        )
        for hit in hits
    ]
    echo_table(("SKILL", "DESCRIPTION"), rows)
    if any(hit.weak for hit in hits):
        for line in wrap("[weak] marks weak matches; use one only if it fits", width()):
            echo_error(line)


def _explain(hits: Sequence[Hit]) -> None:
    """Print a line for each word that a hit has."""
    rows = [
        (
            one_line(hit.id) if at == 0 else "",
            f"{hit.score:.2f}" if at == 0 else "",
            f"{hit.confidence:.2f}" if at == 0 else "",
            one_line(match.word) if match else "",
            f"{match.points:.2f}" if match else "",
            ", ".join(match.fields) if match else "",
        )
        for hit in hits
        for at, match in enumerate(hit.matches or (None,))
    ]
    echo_table(("SKILL", "SCORE", "CONFIDENCE", "WORD", "POINTS", "IN"), rows)


def _refuse_words(query: str, paths: tuple[str, ...]) -> None:
    """Refuse words of a query that were typed without quotes: they would be paths."""
    named = option_paths()
    words = paths[: len(paths) - len(named)]
    missing = [word for word in words if not os.path.exists(word)]  # noqa: PTH110
    # With a separator in it, it is meant as a path, and opening it reports it.
    if missing and not any("/" in word or os.sep in word for word in missing):
        typed = shlex.join(("satchel", "find", " ".join((query, *words)), *named))
        message = f"{missing[0]}: no such file or folder; as one query, type: {typed}"
        raise click.UsageError(message)
