"""``satchel show``."""

from typing import TYPE_CHECKING

import click

from satchel.cli.opening import (
    complete_skill,
    opened,
    recording,
    skills_option,
    warn,
)
from satchel.cli.output import on_terminal, tell, write_text

if TYPE_CHECKING:
    from satchel.cli.envelope import Envelope
    from satchel.model import Loaded

__all__ = ["command"]

ENVELOPES = ("xml", "json")


@click.command("show")
@click.argument("name", shell_complete=complete_skill)
@click.option("--reference", metavar="FILE", help="Print one of its references.")
@click.option("--script", metavar="FILE", help="Print one of its scripts.")
@click.option("--asset", metavar="FILE", help="Print one of its assets.")
@click.option(
    "--envelope",
    type=click.Choice(ENVELOPES),
    help="Print the result that a tool gives a model, that of a miss too: xml is "
    "load_skill(skill_id), json is load_skill(name, reference, script).",
)
@click.option(
    "--layers",
    is_flag=True,
    help="Say which layer gives what. --skills are then base, team and user.",
)
@skills_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    name: str,
    reference: str | None,
    script: str | None,
    asset: str | None,
    envelope: "Envelope | None",
    layers: bool,
    paths: tuple[str, ...],
) -> int:
    """Print the body of a skill, or one of its files.

    Into a pipe go the exact bytes; on a terminal, control characters are made
    visible. FILE is a short name or a path in the pack.

    Status: 0, or 1 where it is not there or not handed out.

    \b
    Examples:
      satchel show pdf-forms --skills ./skills
      satchel show pdf-forms --reference fields.md
      satchel show pdf-forms --script fill.py > fill.py
      satchel show pdf-forms --envelope xml
      satchel show pdf-forms --layers
    """
    from satchel.cli.envelope import Wish, enveloped

    wanted = [(k, v) for k, v in _buckets(reference, script, asset) if v is not None]
    if len(wanted) > 1:
        raise click.UsageError("ask for one file: --reference, --script or --asset")
    if layers:
        if wanted or envelope:
            raise click.UsageError("--layers goes with no other option but --skills")
        from satchel.cli.layering import show_layers

        show_layers(name, paths)
        return 0
    bucket, file = wanted[0] if wanted else ("", None)
    wish = Wish(name, bucket, file)
    with recording() as sinks, opened(paths, sinks=sinks) as skills:
        if envelope is not None:
            result = enveloped(skills, wish, envelope)
            write_text(result.text)
            return 1 if result.missed else 0
        warn(skills)
        _print(skills.load(name, wish.path_in(skills), via="cli"))
    return 0


def _buckets(
    reference: str | None, script: str | None, asset: str | None
) -> tuple[tuple[str, str | None], ...]:
    return (("references", reference), ("scripts", script), ("assets", asset))


def _print(loaded: "Loaded") -> None:
    for note in loaded.notes:
        tell(f"note: {note}")
    if loaded.is_instructions:
        write_text(loaded.body)
    elif loaded.is_binary and on_terminal():
        tell(f"{loaded.file}: {loaded.media_type}, {len(loaded.data):,} bytes, no text")
    else:
        write_text(loaded.text, loaded.data)
