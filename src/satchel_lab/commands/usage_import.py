"""``satchel usage import``."""

from typing import Any

import click

from satchel.cli import errors_are_status_2, flag, json_option

_CLIENTS = ("claude-code", "codex", "github-copilot-cli")


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@click.option(
    "--client",
    "clients",
    type=click.Choice(_CLIENTS),
    multiple=True,
    help="Only sessions of this client. Repeatable.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    help="Only sessions of the last days.  [default: all]",
)
@click.option(
    "--skills",
    "folders",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    multiple=True,
    help="A folder of skills to judge, too. Repeatable.",
)
@flag("--show-turns", "Show the beginning of turns that a skill fits.")
@click.option(
    "--cases",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write turns that were passed over as cases for satchel eval, to review.",
)
@click.option(
    "--events",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write each load as a marked event, for satchel usage merge.",
)
@json_option
def command(as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
    """Tell why skills are never used, from the session files of clients.

    For each skill in the folders that Claude Code, Codex and GitHub Copilot CLI read:
    was it in the list, was it cut, was it loaded, and which turns does it fit that did
    not load it? PATHS are session files or folders of them; without any it is where
    the clients keep theirs. Nothing leaves this machine, and no text of a session is
    written but with --cases.

    Status: 0; 2 could not read, or no session.

    \b
    Examples:
      satchel usage import
      satchel usage import --days 30 --client codex
      satchel usage import --cases passed-over.json --show-turns
      satchel usage import --events imported.jsonl
    """
    from satchel_lab.commands._usage_import import ImportRun

    with errors_are_status_2():
        return ImportRun(as_json=as_json, **options).run()
