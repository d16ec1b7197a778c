"""``satchel convert``."""

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from satchel.cli import (
    MOST,
    echo,
    echo_error,
    echo_json,
    echo_table,
    flag,
    json_option,
    name_values,
    one_line,
    show_finding,
)
from satchel.text import count_severities

if TYPE_CHECKING:
    from satchel_lab.authoring import ConversionResult, ConvertOptions, ConvertTarget


KINDS = (
    *("auto", "strict", "spec", "roles", "agents-md", "cursor", "copilot"),
    *("commands", "subagents", "windsurf", "cline"),
)
SCHEMA_VERSION = 1
_NOTHING = "nothing to convert"


def _source(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the path with ``/`` between its parts, on every system."""
    if not value:
        raise click.BadParameter("the path is empty", ctx, param)
    return value.replace(os.sep, "/")


@click.command("convert")
@click.argument("source", metavar="SOURCE", type=click.Path(), callback=_source)
@click.option(
    "--from",
    "of",
    type=click.Choice(KINDS),
    metavar="KIND",
    default="auto",
    show_default=True,
    help="What SOURCE is: strict, spec (packs of that dialect), roles, agents-md, "
    "cursor, copilot, commands, subagents, windsurf or cline.",
)
@click.option(
    "--to",
    metavar="TARGET",
    default="",
    help="strict, spec, or a client: agents, claude, codex, copilot, cursor, gemini, "
    "opencode, ... Default: strict for roles, spec for rules and instructions.",
)
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(),
    default="",
    help="Where packs go; for a client its project, this folder by default.",
)
@flag("--in-place", "Change the packs where they are.")
@flag("--overwrite", "Replace packs that differ.")
@flag("--dry-run", "Print what would be done; write nothing.", "rehearse")
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    callback=name_values,
    help="Fill {{NAME}}, and decide its conditions; repeatable.",
)
@flag("--split", "One pack for each section of level 2.")
@click.option("--name", metavar="NAME", default="", help="What to call the pack.")
@json_option
def command(*, as_json: bool, **fields: Any) -> int:  # noqa: ANN401 - by click
    """Convert packs, role templates, and rules of other programs into packs.

    SOURCE is a pack or a folder of packs, role templates, AGENTS.md, rules, commands
    or workflows of Cursor, Windsurf or Cline, instructions, prompts or agents of
    Copilot, commands or agents of Claude, or a project with any of these: then each is
    converted. It is not changed without --in-place.

    Status: 0 if everything became a pack without an error; 1 if something was refused,
    or has an error; 2 if nothing could be converted.

    \b
    Examples:
      satchel convert ./packs --to spec -o ./portable
      satchel convert ./packs --to strict --in-place
      satchel convert templates/roles --dry-run
      satchel convert AGENTS.md --split -o ./skills
      satchel convert .cursor/rules -o ./skills
      satchel convert ./packs --to claude
    """
    from satchel_lab.authoring import TARGETS, ConvertOptions, convert

    options = ConvertOptions(**fields)
    if options.to and options.to not in TARGETS:
        raise click.UsageError(_unknown_target(options.to, TARGETS))
    done: list[ConversionResult] = []
    try:
        done.extend(convert(options))
    except Exception:
        if done and not as_json:  # what is written comes before what failed
            _show(done, options)
        raise
    if as_json:
        echo_json(
            {
                "schema_version": SCHEMA_VERSION,
                "written": not options.rehearse,
                "lossless": all(result.conversion.lossless for result in done),
                "packs": [_pack_entry(result) for result in done],
            }
        )
    else:
        _show(done, options)
    # A pack with an error is one that its target would refuse.
    findings = (finding for result in done for finding in result.conversion.findings)
    errors = any(finding.severity == "error" for finding in findings)
    return 1 if errors or any(result.status == "refused" for result in done) else 0


def _unknown_target(to: str, targets: "Mapping[str, ConvertTarget]") -> str:
    """Return the message for an unknown target, with targets of a similar name."""
    from satchel.text import nearest

    squashed = _squashed(to)
    named = [
        target.name
        for target in targets.values()
        if squashed and target.client and squashed in _squashed(target.client)
    ]
    close = named[:3] or nearest(to.casefold(), list(targets), 3)
    shown = ", ".join(
        f"{match} ({client})" if (client := targets[match].client) else match
        for match in close
    )
    advice = f"did you mean {shown}?" if close else "expected strict, spec or a client."
    return f"there is no target {to!r}; {advice} All: {', '.join(targets)}"


def _squashed(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _show(done: "Sequence[ConversionResult]", options: "ConvertOptions") -> None:
    rows = [
        (
            one_line(result.conversion.draft.name if result.conversion.draft else "-"),
            result.status,
            one_line(result.conversion.source),
        )
        for result in done
    ]
    echo_table(("PACK", "STATUS", "FROM"), rows)
    shown: Counter[str] = Counter()
    for result in done:
        for finding in result.conversion.findings:
            shown[finding.code] += 1
            # A project with hundreds of rules has hundreds of some warnings.
            if finding.severity == "error" or shown[finding.code] <= MOST:
                show_finding(finding)
                _quote("was", finding.before)
                _quote("now", finding.after)
            elif shown[finding.code] == MOST + 1:
                echo_error(f"{finding.code}: more, which --json lists")
    echo()
    for line in _summary(done, options):
        echo(line)


def _quote(head: str, text: str) -> None:
    for number, line in enumerate(text.rstrip().splitlines()):
        echo_error(f"    {'     ' if number else f'{head}: '}{line}")


def _summary(
    done: "Sequence[ConversionResult]", options: "ConvertOptions"
) -> Sequence[str]:
    statuses = [result.status for result in done]
    counts = ", ".join(
        f"{statuses.count(status)} {status}"
        for status in ("installed", "updated", "unchanged", "refused")
        if status in statuses
    )
    findings = count_severities(
        finding for result in done for finding in result.conversion.findings
    )
    lines = [f"{counts}; found: {findings}" if findings else counts or _NOTHING]
    written = [result.path for result in done if result.status != "refused"]
    places = {os.path.dirname(path) or os.curdir for path in written}  # noqa: PTH120
    if options.rehearse:
        lines.append("nothing was written; leave out --dry-run to write it")
    elif places:
        place = options.source if options.in_place else min(places)
        strict = {result.conversion.dialect for result in done} == {"strict"}
        profile = " --profile strict" if strict else ""
        typed = shlex.quote(f"./{place}" if place.startswith("-") else place)
        lines.append(f"next: satchel check {one_line(typed)}{profile}")
    return lines


def _pack_entry(result: "ConversionResult") -> dict[str, object]:
    conversion, draft = result.conversion, result.conversion.draft
    return {
        "source": conversion.source,
        "name": draft.name if draft else None,
        "path": result.path,
        "status": result.status,
        "files": len(draft.files) if draft else 0,
        "findings": [asdict(finding) for finding in conversion.findings],
    }
