"""``satchel check``."""

from typing import TYPE_CHECKING

import click

from satchel.cli.opening import named_paths
from satchel.cli.output import say
from satchel.errors import SkillError

if TYPE_CHECKING:
    from satchel.lint import FailOn, Format
    from satchel.spec import Profile

__all__ = ["command"]

FORMATS = ("text", "json", "sarif", "github", "markdown")
PROFILES = ("strict", "spec", "lenient", "auto")


@click.command("check")
@click.argument(
    "packs", nargs=-1, required=True, metavar="PATH...", callback=named_paths
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="spec",
    show_default=True,
    help="What is accepted: spec is agentskills.io, strict adds declared files, "
    "lenient and auto take what most clients take.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option(
    "--fail-on",
    type=click.Choice(("error", "warning")),
    default="error",
    show_default=True,
    help="The least severity that fails.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    help="Leave out the findings of this file, written by --format json.",
)
def command(
    packs: tuple[str, ...],
    profile: "Profile",
    style: "Format",
    fail_on: "FailOn",
    baseline: str | None,
) -> int:
    """Check packs: each finding with its place, its code, and what to do.

    PATH is a pack, its SKILL.md, or a folder of packs.

    Status: 0 clean, 1 findings that fail, 2 could not check.

    \b
    Examples:
      satchel check ./skills
      satchel check ./skills --profile strict --fail-on warning
      satchel check ./skills --format json > known.json
      satchel check ./skills --baseline known.json
      satchel check ./skills --format github
    """
    from satchel.lint import read_baseline, render_report
    from satchel.runtime.checking import check

    try:
        known = read_baseline(baseline) if baseline else None
        report = check(packs, profile=profile)
    except SkillError as error:
        raise _CouldNotCheck(str(error)) from error
    if known is not None:
        report = known.subtract(report)
    say(render_report(report, style))
    return 1 if report.fails(fail_on) else 0


class _CouldNotCheck(click.ClickException):
    """Status 2: whether the packs are sound is not known."""

    exit_code = 2
