"""``satchel why``."""

from dataclasses import asdict

import click

from satchel.cli._options import complete_skill, open_skills, warn
from satchel.cli._paths import skills_option
from satchel.cli._terminal import echo, echo_json, json_option, one_line


@click.command("why")
@click.argument("name", shell_complete=complete_skill)
@skills_option
@json_option
def command(name: str, paths: tuple[str, ...], as_json: bool) -> int:
    """Explain why a skill is, or is not, in the prompt: the first reason, and its fix.

    NAME is an id, a manifest's name, the name of a pack's folder, or a path. What is on
    the disk is found also where no search goes, such as node_modules.

    Status: 0 if it is in the prompt, whole or cut by the budget; else 1.

    \b
    Examples:
      satchel why pdf-forms ./skills
      satchel why ./skills/pdf-forms/examples/letter ./skills
    """
    with open_skills(paths) as skills:
        reason = skills.why(name)
        warn(skills)
    listed = reason.stage in ("listed", "budget")
    if as_json:
        echo_json({**asdict(reason), "listed": listed})
        return 0 if listed else 1
    echo(one_line(f"{reason.name}: {reason.stage}: {reason.message}"))
    if reason.path:
        echo(f"    path: {one_line(reason.path)}")
    if reason.fix:
        echo(f"    fix: {one_line(reason.fix)}")
    return 0 if listed else 1
