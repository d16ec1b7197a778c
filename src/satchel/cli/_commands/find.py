"""``satchel find``."""

import os
import shlex

import click

from satchel.cli._options import find_settings, open_skills, warn
from satchel.cli._paths import option_paths, skills_option
from satchel.cli._terminal import (
    echo_error,
    echo_json,
    echo_table,
    json_option,
    one_line,
)


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
@json_option
def command(query: str, paths: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Search the skills for what a task needs, best first.

    A QUERY of several words goes in quotes.

    \b
    Examples:
      satchel find "fill in a tax form" ./skills
      satchel find "numbers look wrong" ./skills -k 3 --json
    """
    _refuse_words(query, paths)
    with open_skills(paths, trusted=True) as skills:
        hits = skills.find(query, k=limit)
        warn(skills)
    if as_json:
        results = [
            {
                "id": hit.id,
                "description": hit.description,
                "score": round(hit.score, 4),
                "source": hit.source,
            }
            for hit in hits
        ]
        echo_json({"query": query, "hits": results})
        return
    if not hits:
        echo_error(f"no skill matches {query!r}; `satchel list` shows them all")
        return
    mark = "[untrusted] " if not (paths or find_settings()) else ""
    rows = [
        (one_line(hit.id), one_line(mark + " ".join(hit.description.split())))
        for hit in hits
    ]
    echo_table(("SKILL", "DESCRIPTION"), rows)


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
