"""``satchel check``, and the options that ``satchel predict`` has, too."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from satchel.cli import (
    alias_option,
    color_option,
    errors_are_status_2,
    flag,
    with_alias,
)
from satchel.model import SEVERITIES
from satchel_lab.commands._report_options import in_order, report_options

_FORMATS: Final = (
    *("text", "concise", "statistics", "json", "sarif", "github", "markdown"),
)
_PROFILES: Final = ("dialect", "strict", "spec", "lenient", "auto")
_Command = TypeVar("_Command", bound=Callable[..., Any])


def pack_options(
    formats: Sequence[str], help_text: str
) -> Callable[[_Command], _Command]:
    """Return the decorator for what is read, how it is judged, and how it is shown."""
    return in_order(
        click.argument("packs", nargs=-1, metavar="[PATH]...", callback=with_alias),
        alias_option("The same as PATH; repeatable."),
        report_options(formats, help_text),
        click.option(
            "--fail-on",
            type=click.Choice((*SEVERITIES, "never")),
            help="The least severity that fails.  [default: error]",
        ),
        click.option(
            "--strict",
            "fail_on",
            flag_value="warning",
            help="The same as --fail-on warning.",
        ),
        click.option(
            "--select",
            metavar="CODE,...",
            multiple=True,
            help="Only these codes; repeatable.",
        ),
        click.option(
            "--ignore",
            metavar="CODE,...",
            multiple=True,
            help="All but these codes; repeatable.",
        ),
        click.option(
            "--config",
            metavar="FILE|none",
            help="Whose table lint counts.  [default: the nearest satchel.toml]",
        ),
        click.option(
            "--baseline",
            metavar="FILE",
            type=click.Path(),
            help="Leave out the findings of this file, written by --format json.",
        ),
        flag(
            "--changed-files",
            "Skip a PATH that is a file in no pack, as hooks name some.",
        ),
        color_option,
    )


class HookCommand(click.Command):
    """A command to which hooks append names of files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a file whose name looks like an option."""
        # A change brings its own names of files: none may pass for an option.
        if "--changed-files" in args:
            for option in _options_in(args):
                if option.startswith("-") and os.path.lexists(option):
                    detail = (
                        f"{option!r} is both a file here and an option; rename the file"
                    )
                    raise click.UsageError(detail, ctx)
        return super().parse_args(ctx, args)


class _Check(HookCommand):
    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - what click passes on
    ) -> click.Context:
        """Let ``predict`` answer where earlier versions of this command did."""
        asked = any(arg.partition("=")[0] == "--for" for arg in _options_in(args))
        group = parent.command if parent else None
        if asked and parent and isinstance(group, click.Group):
            predict = group.get_command(parent, "predict")
            if predict:
                try:
                    return predict.make_context(info_name, args, parent, **extra)
                except click.NoSuchOption as error:
                    option = error.option_name
                    if any(option in parameter.opts for parameter in self.params):
                        detail = f"--for goes without {option}"
                        raise click.UsageError(detail, error.ctx) from error
                    raise
        return super().make_context(info_name, args, parent, **extra)


def _options_in(args: list[str]) -> list[str]:
    return args[: args.index("--")] if "--" in args else args


@click.command("check", cls=_Check)
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    help="What is accepted: spec is agentskills.io, strict adds declared files, "
    "dialect is that of the two in which each pack is written, lenient and auto take "
    "what most clients take.  [default: dialect]",
)
@click.option(
    "--since",
    metavar="REV",
    help="Check what changed since a git revision, next to the whole library.",
)
@flag("--fix", "Fix what is safe to fix; show the diff.")
@flag("--diff", "Show what --fix would do, and do nothing.")
@click.option(
    "--statistics",
    "style",
    flag_value="statistics",
    help="The same as --format statistics: count the findings of each code.",
)
@pack_options(_FORMATS, "How findings are printed.")
def command(as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
    """Check packs: each finding with its place, its code, and what to do.

    PATH is a pack, a file in one, a folder of packs, or a .skill archive. Folders of
    clients in it, such as .claude/skills, are searched too. Without a PATH it is where
    projects keep skills: ./skills, .agents/skills, .claude/skills, .github/skills and
    so on, and what satchel.toml names.

    As MODULE:NAME it is a registry, descriptors, or a function that gives some, for
    skills that are registered in code: the module is imported.

    Status: 0 clean, 1 findings that fail, 2 could not check, or found no pack.

    \b
    Examples:
      satchel check
      satchel check ./skills
      satchel check ./skills --profile strict --strict
      satchel check ./skills --fix
      satchel check ./skills --statistics
      satchel check ./skills --since main --format markdown
      satchel check ./skills --ignore long-description,missing-h1
      satchel check ./skills --format json > known.json
      satchel check ./skills --baseline known.json
      satchel check my_skills.bootstrap:REGISTRY
      satchel check ./skills --format github --also sarif=satchel.sarif
    """
    from satchel_lab.commands._check import CheckRun

    if as_json:
        options["style"] = "json"
    with errors_are_status_2():
        return CheckRun(**options).run()
