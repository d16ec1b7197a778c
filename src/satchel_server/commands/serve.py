"""``satchel serve``."""

from pathlib import Path
from typing import Any

import click

from satchel.cli import budget_option, flag, named_skills_option

STYLES = ("lean", "agent-skills", "packs", "references")
PORT = 8321


@click.command("serve")
@named_skills_option
@click.option(
    "--pin",
    metavar="RELEASE",
    help="The id that the release must have; to go back, name an older one.",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="0 takes any free port, and prints it.",
)
@flag("--stdio", "Speak MCP over the standard streams, to one client.")
@click.option(
    "--style",
    type=click.Choice(STYLES),
    default="lean",
    show_default=True,
    help="Names and results of the MCP tools.",
)
@budget_option()
@click.option("--name", default="satchel", show_default=True, help="For MCP clients.")
@click.option(
    "--refresh",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to ask sources that cannot be watched; 0 is never.",
)
@click.option(
    "--max-age",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long to serve what a registry last had while it is away; then its "
    "skills are refused. Default: without end.",
)
@flag("--strict", "Do not start if /readyz would report a problem: status 1.")
@flag("--allow-empty", "Be ready even if there is no skill to serve.")
@flag("--compat", "Add MCP resources of older readers.")
@click.option(
    "--ui/--no-ui", default=True, help="Show browsers the library at /ui, or do not."
)
@flag("--v1-index", "Add the discovery index of v0.1.0.")
@click.option(
    "--access-log/--no-access-log",
    default=True,
    help="Print a line for each request, or not. Each change is printed in any case.",
)
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file with the one token for callers. Or: the variable SATCHEL_TOKEN.",
)
@click.option(
    "--tokens",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A TOML file of tokens, each with its own skills.",
)
@click.option(
    "--rate",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Requests a second of one caller; five times as many at once.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=N",
    help="Another limit of the server, such as max_requests=128; repeatable.",
)
@click.option(
    "--runner",
    type=click.Choice(("sandbox", "subprocess")),
    help="Run scripts of loaded skills; subprocess with --stdio alone.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Where scripts work; over HTTP in a folder of each caller's own.",
)
@click.option(
    "--scripts",
    multiple=True,
    metavar="PATTERN",
    help="With --stdio: skills whose scripts may run; repeatable.",
)
@click.option(
    "--python",
    type=click.Path(),
    metavar="PATH",
    help="The interpreter of scripts, or an environment's folder.",
)
@click.option("--oauth-issuer", metavar="URL", help="Accept the tokens of this server.")
@click.option("--oauth-resource", metavar="URL", help="This server, as tokens name it.")
@click.option("--oauth-jwks", metavar="URL", help="Where the issuer's keys are.")
@click.option(
    "--oauth-scope",
    "oauth_scopes",
    multiple=True,
    default=("skills:read",),
    metavar="SCOPE",
    help="A scope that a token needs; repeatable. Default: skills:read.",
)
@click.option(
    "--oauth-only-claim",
    metavar="CLAIM",
    default="",
    help="The claim with patterns of the skills that a token may load.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name of the server besides its address; repeatable.",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Web pages that may call it, such as https://app.example.com; repeatable.",
)
def command(**options: Any) -> int:  # noqa: ANN401 - what click passes on
    """Serve skills to any agent: MCP, a JSON API and discovery, on one port.

    PATH is a folder of packs, one pack, or a release. Without --stdio
    it listens on loopback; on any other address it asks for a token. Standard error
    gets a line for each request and for each change of the skills.

    \b
    Examples:
      satchel serve ./skills
      satchel serve ./dist --strict --port 80 --host 0.0.0.0 --tokens tokens.toml
      satchel serve ./skills --stdio
    """
    from satchel_server.commands._serving import serve

    return serve(options)
