"""``satchel list``."""

from typing import TYPE_CHECKING

import click

from satchel.cli.census import count_locations, take_census
from satchel.cli.findings import show_findings
from satchel.cli.opening import opened, skills_option
from satchel.cli.output import bold, flat, say, say_json, tell, width
from satchel.cli.table import layout

if TYPE_CHECKING:
    from satchel.cli.inventory import Inventory
    from satchel.model import Catalog

__all__ = ["command"]


@click.command("list")
@skills_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Show every skill, and what is wrong with any.

    Status: 0, or 1 where a pack cannot be used or two claim one name.

    \b
    Examples:
      satchel list --skills ./skills
      satchel list --skills ./skills --skills ../shared
      satchel list --json | jq -r '.skills[].id'
    """
    from satchel.cli.inventory import take_inventory

    with opened(paths) as skills:
        inventory = take_inventory(skills)
        if as_json:
            say_json(inventory.as_json(skills))
        else:
            _print(inventory, skills.registry.latest)
    return 1 if inventory.troubled else 0


def _print(inventory: "Inventory", catalog: "Catalog") -> None:
    rows = [
        (
            flat(item.descriptor.id),
            str(len(item.descriptor.resources) or "-"),
            flat(_described(item.state, item.descriptor.description)),
        )
        for item in inventory.items
    ]
    if rows:
        head, *lines = layout([("SKILL", "FILES", "DESCRIPTION"), *rows], width())
        say(bold(head))
        for line in lines:
            say(line)
    if count_locations(catalog) != len(catalog):
        tell(take_census(catalog))
    show_findings(inventory.findings, hint="satchel doctor")


def _described(state: str, description: str) -> str:
    text = " ".join(description.split())
    return f"[{state}] {text}".rstrip() if state else text
