"""The command ``satchel``, which imports its commands when they are called."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn, cast

import click

from satchel.cli._errors import report_error
from satchel.cli._paths import store_line
from satchel.cli._terminal import color_option, use_utf8, verbosity_options
from satchel.products import COMMANDS as PRODUCTS, added, import_product
from satchel.published import VERSION

# What users do, and the commands for it in the order of ``--help``. The module of a
# command is imported when it is called.
GROUPS: Final = {
    "Look": {
        "list": "Show every skill, and what is wrong with any.",
        "find": "Search the skills for what a task needs.",
        "show": "Print a skill, or one of its files.",
        "prompt": "Print the catalog section for a system prompt.",
        "role": "Print the prompt of a role: its pack, or its legacy template.",
        "doctor": "Report what was read from where, what is wrong, what to do.",
        "why": "Explain why a skill is, or is not, in the prompt.",
    },
    "Check": {
        "check": "Check packs: for authors, and for CI.",
        "predict": "Predict what clients and frameworks make of packs.",
        "eval": "Test which skill each query finds, without a model.",
        "explain": "Explain the code of a finding or an error.",
        "diff": "Show what changed between two packs.",
    },
    "Make": {
        "new": "Make a skill.",
        "convert": "Convert packs, role templates and rules of other programs.",
        "pack": "Check a pack, and make its .skill archive.",
        "retire": "Deprecate a skill, and name the one that takes its place.",
    },
    "Install": {
        "add": "Add skills to the project, from git, an archive, a site, a folder.",
        "remove": "Remove skills from the project.",
        "sync": "Make the project's skills what it wants, and lock them.",
        "verify": "Compare the project's skills with its lock.",
        "trust": "Approve the project's lock, or an older release of a registry.",
        "store": "Show or prune the store of what was fetched.",
    },
    "Serve": {
        "build": "Build a release, named by the digest of all its bytes.",
        "publish": "Put a release on a static site.",
        "push": "Put a release into a registry, under a tag.",
        "withdraw": "Take skills of a registry out of use, wherever they are.",
        "serve": "Serve skills over MCP and HTTP, or over MCP's stdio.",
        "connect": "Print, or write, what a client needs to reach a server.",
    },
    "Measure": {
        "cost": "Show what skills cost a model, in tokens.",
        "usage": "Report which skills are used, are dead, or were not found.",
    },
    "Set up": {"completion": "Print what lets a shell complete commands and skills."},
}
COMMANDS: Final = {
    name: line for group in GROUPS.values() for name, line in group.items()
}

# What other tools call these commands.
ALIASES: Final = {"lint": "check", "validate": "check", "init": "new"}


class _App(click.Group):
    """A group that imports a command when it is called, and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return cast("click.Command | None", added("satchel.commands", name))
        product = PRODUCTS.get(name)
        if product is None:
            module = import_module(f"satchel.cli._commands.{name}")
        else:
            module = import_product(f"{product}.commands.{name}", f"satchel {name}")
        command = cast("click.Command", module.command)
        if not any(param.name == "quiet" for param in command.params):
            command.params += verbosity_options()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        store_line(ctx, args)
        name = args[0]
        # Completion asks with names that are half typed, which are no errors.
        is_name = name in COMMANDS or name in ALIASES or name.startswith("-")
        if is_name or ctx.resilient_parsing or self.get_command(ctx, name):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        close = get_close_matches(name, COMMANDS, 3, 0.5)
        advice = f"Did you mean {', '.join(close)}?" if close else "See --help."
        raise click.UsageError(f"No such command {name!r}. {advice}", ctx)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:  # without importing each of them
        del ctx
        widest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(widest), line) for name, line in commands.items()]
                formatter.write_dl(rows)

    def main(  # type: ignore[override]  # never returns, as in standalone mode
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401 - what click passes on
    ) -> NoReturn:
        """Run, and end the process with a status: 0, 1, 2, or 130 when interrupted."""
        use_utf8()
        # Otherwise click prints errors and exits by itself; here `report_error` does.
        extra["standalone_mode"] = False
        # As Python itself decides: no colour wins where both are set.
        if os.environ.get("NO_COLOR"):
            extra.setdefault("color", False)
        elif os.environ.get("FORCE_COLOR"):
            extra.setdefault("color", True)
        sys.exit(_status(lambda: super(_App, self).main(args, prog_name, **extra)))


def _status(run: Callable[[], object]) -> int:
    try:
        result = run()
        # Flush here: at exit, a closed pipe or a full disk could not change the status.
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - what it does not know it raises
        return report_error(error)
    return result if isinstance(result, int) else 0


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    click.echo(f"satchel {VERSION}")
    ctx.exit()


@click.group(
    cls=_App,
    params=verbosity_options(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version and exit.",
)
@color_option
def main() -> None:
    """Carry every skill, unpack only what the task needs.

    Commands that read skills take PATHs: folders of packs, packs, archives. Without
    any they read the nearest satchel.toml (or [tool.satchel] in pyproject.toml).

    \b
    Try:
      satchel list ./skills
      satchel find "fill in a form" ./skills
      satchel check ./skills
    """
