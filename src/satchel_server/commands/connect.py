"""``satchel connect``."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import click

from satchel.cli import (
    NoAnswerError,
    echo,
    echo_error,
    flag,
    library_settings,
    named_skills_option,
    one_line,
)
from satchel.errors import ConfigError
from satchel_server.commands._connect._clients import (
    MCP_CLIENTS,
    HttpAddress,
    McpClient,
    ServerAddress,
    StdioCommand,
)

URL: Final = "http://127.0.0.1:8321/mcp"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _plain_name(ctx: click.Context, param: click.Parameter, name: str) -> str:
    if not _NAME.fullmatch(name):
        message = "expected 1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'"
        raise click.BadParameter(message, ctx, param)
    return name


@click.command("connect")
@click.argument("client_id", metavar="CLIENT", type=click.Choice([*MCP_CLIENTS]))
@click.option("--url", help=f"Where the server is. Default: {URL}")
@flag("--stdio", "Let the client start a server of its own.")
@named_skills_option
@click.option(
    "--token-env",
    default="",
    metavar="VARIABLE",
    help="The variable that holds the token; no token is ever written.",
)
@click.option(
    "--name",
    default="satchel",
    show_default=True,
    callback=_plain_name,
    help="The name of the server in the client.",
)
@flag("--write", "Put it into the client's file: show what changes, and ask.")
@click.option(
    "-y",
    "--yes",
    "--force",
    is_flag=True,
    help="With --write, do not ask; another server of that name is replaced.",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False),
    help="A file other than the client's usual one.",
)
def command(  # noqa: PLR0913, PLR0917 - an option each
    client_id: str,
    url: str | None,
    stdio: bool,
    paths: tuple[str, ...],
    token_env: str,
    name: str,
    write: bool,
    yes: bool,
    file: str | None,
) -> None:
    """Print, or write, what a client needs to reach a server.

    CLIENT is claude-code, codex, vscode, cursor or gemini. --write shows what would
    change in the client's own file, asks, and changes nothing else there. Where nobody
    can be asked, it writes only with --yes.

    Status: 0 if it was printed, written or there already; 2 if nothing was written.

    \b
    Examples:
      satchel connect claude-code
      satchel connect codex --url https://skills.example.com --token-env SKILLS_TOKEN
      satchel connect cursor ./skills --stdio --write
      satchel connect vscode --write --yes
    """
    from satchel_server.commands._connect._write import config_block, write_config

    client = MCP_CLIENTS[client_id]
    if stdio and (url or token_env):
        raise click.UsageError("--stdio goes with neither --url nor --token-env")
    if yes and not write:
        raise click.UsageError("--yes goes with --write; without it nothing is written")
    if paths and not stdio:
        raise click.UsageError("PATH goes with --stdio; a server has its own")
    reach: ServerAddress = (
        _start_command(client, paths) if stdio else HttpAddress(url or URL, token_env)
    )
    target = Path(file) if file else client.path(os.environ, Path.home())
    if not write:
        echo_error(f"{client.name}: put this into {target}, or use --write")
        # The block alone is on standard output, so that it can go into a file.
        echo(config_block(client, name, reach).rstrip("\n"))
        return
    try:
        before = partial(_show_and_ask, str(target), yes=yes)
        done = write_config(target, client, name, reach, before_write=before)
    # The user can still put it into the file by hand.
    except ConfigError:
        echo(config_block(client, name, reach).rstrip("\n"))
        raise
    messages = {
        "made": "written, with {name} in it",
        "changed": "written; nothing but {name} was changed",
        "unchanged": "already has {name}",
    }[done]
    echo(one_line(f"{target}: {messages.format(name=name)}"))


def _show_and_ask(where: str, lines: Sequence[str], is_new: bool, *, yes: bool) -> None:
    """Show what changes; ask unless ``yes``.

    Raises:
        NoAnswerError: The answer is no, or nobody can be asked.
    """
    echo_error(f"{where} {'is new' if is_new else 'changes here, and nowhere else'}:")
    for line in lines:
        echo_error(f"  {line}")
    if yes:
        return
    nothing = f"{where}: nothing was written"
    # A script gets an error instead of a question that nobody answers.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        advice = "as nobody can be asked here; --yes writes it without a question"
        raise NoAnswerError(f"{nothing}, {advice}")
    if not click.confirm("Write it?", default=False, err=True):
        raise NoAnswerError(nothing)


def _start_command(client: McpClient, paths: tuple[str, ...]) -> ServerAddress:
    """Return the command by which the client starts the server, in any folder."""
    if not paths and client.personal:
        line = f"satchel connect {client.id} --stdio PATH"
        detail = f"{client.name} starts servers in any folder: name one, as in {line}"
        raise ConfigError("--stdio", detail)
    # The client starts the server in a folder that is not this one.
    skills = [part for path in paths for part in ("--skills", os.path.abspath(path))]  # noqa: PTH100
    arguments = ("serve", "--stdio", *skills, *_options_again())
    program = shutil.which("satchel")
    if program is None:
        return StdioCommand(sys.executable, ("-m", "satchel", *arguments))
    # In a virtual environment the program is found only while that is active.
    shared = sys.prefix == sys.base_prefix
    return StdioCommand("satchel" if shared else program, arguments)


def _options_again() -> list[str]:
    """Return ``--prefix`` and ``--on-conflict`` as arguments for another process."""
    options = library_settings()
    prefix = options.get("prefix", {})
    by_place = {"": prefix} if isinstance(prefix, str) else prefix
    arguments: list[str] = []
    for place, text in by_place.items():
        # The other process may start in another folder.
        where = f"{os.path.abspath(place)}=" if place else ""  # noqa: PTH100
        arguments += ["--prefix", f"{where}{text}"]
    if "on_conflict" in options:
        arguments += ["--on-conflict", options["on_conflict"]]
    return arguments
