"""``satchel prompt``."""

from typing import TYPE_CHECKING

import click

from satchel.cli._options import budget_option, open_skills, warn
from satchel.cli._paths import skills_option
from satchel.cli._terminal import echo_error, echo_json, json_option, write_text
from satchel.model import Rendered

if TYPE_CHECKING:
    from satchel.prompt import Format


FORMATS = ("lean", "xml-id", "markdown", "xml-spec", "json")


@click.command("prompt")
@skills_option
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    help="How the catalog is written. Default: as the style of satchel.toml has it.",
)
@budget_option()
@click.option(
    "--message",
    metavar="TEXT",
    help="What the user says: if not all skills are listed in full, add the 20 that "
    "fit it best.",
)
@json_option
def command(
    paths: tuple[str, ...],
    style: "Format | None",
    budget: int | str | None,
    message: str | None,
    as_json: bool,
) -> None:
    """Print the catalog section for a system prompt.

    Skills that do not fit the budget are shortened, then listed by name only, then only
    counted; a line on standard error reports it.

    \b
    Examples:
      satchel prompt ./skills
      satchel prompt ./skills --format markdown --budget 1000
      satchel prompt --budget none > catalog.txt
    """
    with open_skills(paths, trusted=False) as skills:
        section = skills.prompt(format=style, budget_tokens=budget, message=message)
        warn(skills)
    if as_json:
        echo_json(section_fields(section))
    elif section.text:
        text = section.text
        write_text(text if text.endswith("\n") else f"{text}\n")
    if not section.complete:
        echo_error(_cut(section))


def section_fields(section: Rendered) -> dict[str, object]:
    """Return a section as JSON has it: the text, what it costs, what is cut."""
    keys = ("text", "tokens", "counted_by", "budget_tokens", "complete")
    cut = ("shortened", "names_only", "left_out", "suggested")
    fields = {key: getattr(section, key) for key in (*keys, *cut)}
    return {**fields, "groups": [group._asdict() for group in section.groups]}


def _cut(section: Rendered) -> str:
    parts = (
        (len(section.shortened), "shortened"),
        (len(section.names_only), "by name only"),
        (len(section.left_out), "left out"),
    )
    changes = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return (
        f"budget of {section.budget_tokens:,} tokens: {changes}; "
        f"the section has {section.tokens:,} by {section.counted_by}"
    )
