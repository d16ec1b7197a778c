"""``satchel find``."""

import click

from satchel.cli._options import open_skills, skills_option, warn
from satchel.cli._terminal import echo_error, echo_json, echo_table, one_line

SCHEMA_VERSION = 1


@click.command("find")
@click.argument("query", nargs=-1, required=True)
@skills_option
@click.option(
    "-k",
    "limit",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Show at most this many.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    query: tuple[str, ...], paths: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Search the skills for what a task needs, best first.

    \b
    Examples:
      satchel find fill in a tax form --skills ./skills
      satchel find "numbers look wrong" -k 3 --json
    """
    text = " ".join(query)
    with open_skills(paths) as skills:
        hits = skills.find(text, k=limit)
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
        echo_json({"schema_version": SCHEMA_VERSION, "query": text, "hits": results})
        return
    if not hits:
        echo_error(f"no skill matches {text!r}; `satchel list` shows them all")
        return
    rows = [
        (one_line(hit.id), one_line(" ".join(hit.description.split()))) for hit in hits
    ]
    echo_table(("SKILL", "DESCRIPTION"), rows)
