"""``satchel prompt``."""

import click

from satchel.cli.opening import opened, skills_option, warn_empty
from satchel.cli.output import tell, write_text
from satchel.model import Rendered

__all__ = ["command"]

FORMATS = ("xml-id", "markdown", "xml-spec", "json")


class _Budget(click.ParamType):
    """A count of tokens, or ``none``."""

    name = "N|none"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | None | str:
        text = str(value).lower()
        if text == "none":
            return "none"
        if not text.isascii() or not text.isdecimal() or int(text) < 1:
            self.fail(f"{value!r} is neither a count from 1 nor 'none'", param, ctx)
        return int(text)


@click.command("prompt")
@skills_option
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="xml-id",
    show_default=True,
    help="How the catalog is written.",
)
@click.option(
    "--budget",
    type=_Budget(),
    default=None,
    help="Tokens at most; 'none' lists everything in full. "
    "Default: 4000, or what satchel.toml says.",
)
def command(paths: tuple[str, ...], style: str, budget: int | str | None) -> None:
    """Print the catalog section for a system prompt.

    What does not fit the budget is shortened, then listed by name only, then counted;
    a line on standard error says what was done.

    \b
    Examples:
      satchel prompt --skills ./skills
      satchel prompt --format markdown --budget 1000
      satchel prompt --budget none > catalog.txt
    """
    chosen = {} if budget is None else {"budget_tokens": budget}
    if budget == "none":
        chosen = {"budget_tokens": None}
    with opened(paths) as skills:
        section = skills.prompt(format=style, **chosen)  # type: ignore[arg-type]
        warn_empty(skills.findings)
    if section.text:
        text = section.text
        write_text(text if text.endswith("\n") else f"{text}\n")
    if not section.complete:
        tell(_cut(section))


def _cut(section: Rendered) -> str:
    parts = (
        (len(section.shortened), "shortened"),
        (len(section.names_only), "by name only"),
        (len(section.left_out), "left out"),
    )
    said = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return (
        f"budget of {section.budget_tokens:,} tokens: {said}; "
        f"the section has {section.tokens:,} ({section.counted_by})"
    )
