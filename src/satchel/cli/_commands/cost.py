"""``satchel cost``."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import index
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from satchel.cli._options import open_skills, warn
from satchel.cli._paths import skills_option
from satchel.cli._terminal import (
    echo_error,
    echo_json,
    echo_prose,
    echo_table,
    json_option,
    one_line,
)
from satchel.errors import SkillError
from satchel.model import Catalog, Descriptor, Request

if TYPE_CHECKING:
    from satchel.prompt import Format
    from satchel.protocols import TokenCounter

FORMATS: "tuple[Format, ...]" = ("lean", "xml-id", "markdown", "xml-spec", "json")


class SkillCost(NamedTuple):
    """Tokens of one skill: its line of the catalog, its SKILL.md, its other files."""

    id: str
    catalog: int
    instructions: int
    files: int


def _counter(
    ctx: click.Context, param: click.Parameter, name: str | None
) -> "TokenCounter":
    from satchel.text import EstimateCounter

    if name is None:
        return EstimateCounter()
    sys.path.insert(0, "")  # an installed command does not search the working folder
    try:
        count = resolve_name(name)
        index(count("two words"))
    # A module may call `sys.exit` when it is imported.
    except (Exception, SystemExit) as error:
        problem = f"{name!r} cannot count: {type(error).__name__}: {error}"
        raise click.BadParameter(problem, ctx, param) from error
    return cast("TokenCounter", SimpleNamespace(name=name, count=count))


@click.command("cost")
@skills_option
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="lean",
    show_default=True,
    help="How the catalog is written that --max-tokens is about.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Fail if that catalog, with every skill in full, has more.",
)
@click.option(
    "--counter",
    metavar="MODULE:NAME",
    callback=_counter,
    help="Count tokens with this function, of a text; its module is imported.",
)
@json_option
def command(
    paths: tuple[str, ...],
    style: "Format",
    max_tokens: int | None,
    counter: "TokenCounter",
    as_json: bool,
) -> None:
    """Show what skills cost a model, in tokens.

    For each skill: its line of the catalog, which every model call pays; its SKILL.md,
    paid when it is loaded; its other text files together. Then the catalog in each
    format, and what all instructions would cost in every prompt. Tokens are an
    estimate, bytes of UTF-8 divided by four, or what a --counter of yours returns.

    Status: 0, or 1 if the catalog has more than --max-tokens.

    \b
    Examples:
      satchel cost ./skills
      satchel cost ./skills --max-tokens 2000
      satchel cost ./skills --json | jq .inlined
    """
    from satchel.prompt import render

    with open_skills(paths) as skills:
        warn(skills)
        catalog = skills.catalog
        costs = list(_costs(catalog, counter.count))
        costs.sort(key=lambda cost: (-cost.instructions, cost.id))
        whole = partial(render, catalog, budget_tokens=None, counter=counter)
        catalogs: Mapping[Format, int] = {
            shape: whole(format=shape).tokens for shape in FORMATS
        }
    inlined = sum(cost.instructions for cost in costs)
    if as_json:
        value = {"counted_by": counter.name, "catalog": catalogs}
        rows = [cost._asdict() for cost in costs]
        echo_json({**value, "inlined": inlined, "skills": rows})
    else:
        table = [(one_line(cost.id), *(f"{n:,}" for n in cost[1:])) for cost in costs]
        echo_table(("SKILL", "CATALOG", "INSTRUCTIONS", "FILES"), table)
        formats = ", ".join(f"{name} {tokens:,}" for name, tokens in catalogs.items())
        echo_prose(f"Catalog of all, by format: {formats} tokens.")
        echo_prose(f"All instructions in every prompt: {inlined:,} tokens.")
        echo_prose(f"Tokens are counted by {counter.name}.")
    if max_tokens is not None and catalogs[style] > max_tokens:
        raise click.ClickException(
            f"the catalog has {catalogs[style]:,} tokens in the format {style}, over "
            f"--max-tokens {max_tokens:,}; shorten the longest descriptions, or list "
            "fewer skills"
        )


def _costs(catalog: Catalog, count: Callable[[str], int]) -> Iterator[SkillCost]:
    from satchel.text import clean_line, list_line

    for entry in catalog.entries:
        line = list_line(clean_line(entry.id), clean_line(entry.description))
        texts = [_text(catalog, entry, path) for path in (None, *entry.resources)]
        instructions, *files = map(count, texts)
        yield SkillCost(entry.id, count(line), instructions, sum(files))


def _text(catalog: Catalog, entry: Descriptor, path: str | None) -> str:
    """Return what a load gives; nothing for a binary file, or one that is away."""
    from satchel.load import load

    try:
        return load(catalog, Request(entry.id, path)).text
    except SkillError as error:
        echo_error(f"not counted: {error}")
        return ""
