"""``satchel check``."""

import os
from typing import Any

import click

from satchel.cli import (
    alias_option,
    color_option,
    errors_are_status_2,
    flag,
    report_options,
    with_alias,
)
from satchel.model import SEVERITIES

_FORMATS = ("text", "concise", "json", "sarif", "github", "markdown", "html")
_PROFILES = ("dialect", "strict", "spec", "lenient", "auto")


def _loader_names(
    ctx: click.Context, param: click.Parameter, names: str | None
) -> str | None:
    """Return the names; print which there are if ``list`` is asked for."""
    if names is not None and not names.strip(" ,"):
        detail = "expected names with commas between them, or list"
        raise click.BadParameter(detail, ctx, param)
    if names in ("list", "?"):
        from satchel_lab.commands._prediction import list_loaders

        list_loaders()
        ctx.exit()
    return names


def _window_sizes(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> tuple[int, ...]:
    """Return tokens: of ``200k``, ``1m`` or plain numbers; nothing of nothing."""
    units = {"k": 1_000, "m": 1_000_000}
    sizes: list[int] = []
    for word in (text or "").lower().replace(" ", "").split(","):
        digits = word.rstrip("km")
        if digits.isdecimal() and digits.isascii() and len(word) - len(digits) < 2:  # noqa: PLR2004 - one letter
            sizes.append(int(digits) * units.get(word[-1], 1))
        elif text is not None:
            detail = "expected sizes such as 128k,200k,1m"
            raise click.BadParameter(detail, ctx, param)
    return tuple(sizes)


class _Check(click.Command):
    """A command to which hooks append names of files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a file whose name looks like an option."""
        # A change brings its own names of files: none may pass for an option.
        if "--changed-files" in args:
            options = args[: args.index("--")] if "--" in args else args
            for option in options:
                if option.startswith("-") and os.path.lexists(option):
                    detail = (
                        f"{option!r} is both a file here and an option; rename the file"
                    )
                    raise click.UsageError(detail, ctx)
        return super().parse_args(ctx, args)


@click.command("check", cls=_Check)
@click.argument("packs", nargs=-1, metavar="[PATH]...", callback=with_alias)
@alias_option("The same as PATH; repeatable.")
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    help="What is accepted: spec is agentskills.io, strict adds declared files, "
    "dialect is that of the two in which each pack is written, lenient and auto take "
    "what most clients take.  [default: dialect]",
)
@report_options(_FORMATS, "How findings are printed; html goes with --for.")
@click.option(
    "--fail-on",
    type=click.Choice((*SEVERITIES, "never")),
    help="The least severity that fails.  [default: error]",
)
@flag("--strict", "The same as --fail-on warning.")
@click.option(
    "--select", metavar="CODE,...", multiple=True, help="Only these codes; repeatable."
)
@click.option(
    "--ignore",
    metavar="CODE,...",
    multiple=True,
    help="All but these codes; repeatable.",
)
@click.option(
    "--config",
    metavar="FILE|none",
    help="Whose table lint counts.  [default: the nearest satchel.toml]",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    help="Leave out the findings of this file, written by --format json.",
)
@click.option(
    "--for",
    "loaders",
    metavar="NAME,...|all|list",
    callback=_loader_names,
    is_eager=True,
    help="Predict instead how these clients and frameworks will see the packs.",
)
@flag("--library", "With --for: what each client shows of all packs together.")
@click.option(
    "--window",
    "windows",
    metavar="SIZE,...",
    callback=_window_sizes,
    help="Context windows for --library.  [default: 128k,200k,1m]",
)
@click.option(
    "--since",
    metavar="REV",
    help="Check what changed since a git revision, next to the whole library.",
)
@flag("--fix", "Fix what is safe to fix; show the diff.")
@flag("--diff", "Show what --fix would do, and do nothing.")
@flag("--statistics", "Count the findings of each code instead of printing them.")
@flag("--changed-files", "Skip a PATH that is a file in no pack, as hooks name some.")
@color_option
def command(packs: tuple[str, ...], as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
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
      satchel check ./skills --for claude-code,codex,crewai
      satchel check ./skills --for all --format html > skills.html
      satchel check ./skills --library --for codex,claude-code --window 200k
      satchel check ./skills --format github --also sarif=satchel.sarif
    """
    from satchel_lab.commands._check import CheckRun

    if as_json:
        options["style"] = "json"
    with errors_are_status_2():
        return CheckRun(packs=packs, **options).run()
