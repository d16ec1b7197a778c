"""``satchel store``."""

import click

from satchel.cli import json_option


@click.group("store", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show where the store of fetched skills is, or prune it.

    \b
    Examples:
      satchel store prune
    """
    if ctx.invoked_subcommand is None:
        from satchel.cli import echo
        from satchel_store.content import ContentStore

        echo(str(ContentStore().folder))


@command.command("prune")
@json_option
def prune(as_json: bool) -> int:
    """Remove what no project's lock needs any more; projects that are gone count not.

    What is removed is fetched again when it is needed.
    """
    from satchel_install._commands import prune_store

    return prune_store(as_json=as_json)
