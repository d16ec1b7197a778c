"""``satchel diff``."""

import click

from satchel.cli.opening import named_paths
from satchel.cli.output import say, say_json
from satchel.errors import SkillError

__all__ = ["command"]


@click.command("diff")
@click.argument("places", nargs=2, metavar="OLD NEW", callback=named_paths)
@click.option("--stat", is_flag=True, help="One line a pack.")
@click.option("--json", "as_data", is_flag=True, help="Print one JSON object.")
def command(places: tuple[str, str], stat: bool, as_data: bool) -> int:
    """Say what changed from OLD to NEW: fields, body, files, digest, tokens.

    Each is a pack, its SKILL.md, a .skill archive, or a folder of packs, in which
    packs of one name are compared. Tokens are estimates: those of the catalog entry
    are in every prompt, those of the body once it is loaded.

    Status: 0 where nothing changed, 1 where something did, 2 where it could not tell.

    \b
    Examples:
      satchel diff ./old/pdf-forms ./skills/pdf-forms
      satchel diff pdf-forms.skill ./skills/pdf-forms --stat
      satchel diff ./released ./skills --json
    """
    from satchel.authoring.diff import compare_places
    from satchel.cli.diffing import as_json, as_lines, as_stat

    try:
        diffs = compare_places(*places)
    except SkillError as error:
        raise _CouldNotTell(str(error)) from error
    changed = [diff for diff in diffs if diff.fit != "equal"]
    if as_data:
        say_json(as_json(diffs))
    elif stat:
        for diff in changed:
            say(as_stat(diff))
    else:
        for number, diff in enumerate(changed):
            if number:
                say()
            for line in as_lines(diff):
                say(line)
    return 1 if changed else 0


class _CouldNotTell(click.ClickException):
    """Status 2: whether they differ is not known."""

    exit_code = 2
