"""``satchel list``."""

import click

from satchel.cli._findings import show_findings
from satchel.cli._inventory import (
    Inventory,
    count_packs,
    summarize_catalog,
    take_inventory,
)
from satchel.cli._options import open_skills
from satchel.cli._paths import line_about, skills_option
from satchel.cli._terminal import (
    echo_error,
    echo_json,
    echo_table,
    json_option,
    one_line,
)
from satchel.model import Catalog


@click.command("list")
@skills_option
@json_option
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Show every skill, and what is wrong with any.

    Status: 0, or 1 if a pack cannot be used or two packs claim one name.

    \b
    Examples:
      satchel list ./skills
      satchel list ./skills ../shared
      satchel list ./skills --json | jq -r '.skills[].id'
    """
    with open_skills(paths) as skills:
        inventory = take_inventory(skills)
        if as_json:
            echo_json(inventory.as_json(skills))
        else:
            _print(inventory, skills.registry.latest)
    return 1 if inventory.troubled else 0


def _print(inventory: Inventory, catalog: Catalog) -> None:
    rows = [
        (
            one_line(item.descriptor.id),
            str(len(item.descriptor.resources) or "-"),
            one_line(_described(item.state, item.descriptor.description)),
        )
        for item in inventory.items
    ]
    echo_table(("SKILL", "FILES", "DESCRIPTION"), rows)
    if count_packs(catalog) != len(catalog):
        echo_error(summarize_catalog(catalog))
    show_findings(inventory.findings, hint=line_about("doctor"))


def _described(state: str, description: str) -> str:
    text = " ".join(description.split())
    return f"[{state}] {text}".rstrip() if state else text
