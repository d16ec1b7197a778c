"""``satchel doctor``."""

import platform
from typing import TYPE_CHECKING

import click

from satchel.cli.census import take_census
from satchel.cli.findings import counted
from satchel.cli.opening import opened, skills_option
from satchel.cli.output import bold, flat, say
from satchel.errors import NoSources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel.cli.inventory import Inventory
    from satchel.model import Finding
    from satchel.runtime import Satchel

__all__ = ["command"]

_GRAVEST = ("error", "warning", "note")


@click.command("doctor")
@skills_option
def command(paths: tuple[str, ...]) -> int:
    """Say what was read from where, what is wrong, and what to do.

    Status: 0, or 1 where a source, a pack or the settings are in trouble.

    \b
    Examples:
      satchel doctor
      satchel doctor --skills ./skills
    """
    from importlib.metadata import version

    from satchel.cli.frameworks import framework_lines

    python, system = platform.python_version(), platform.system()
    say(f"satchel {version('satchel')}, Python {python}, {system}")
    _section("Frameworks", framework_lines())
    try:
        with opened(paths) as skills:
            return _examine(skills, paths)
    except NoSources as error:
        _section("What to do", [flat(str(error))])
        return 1


def _examine(skills: "Satchel", paths: tuple[str, ...]) -> int:
    from satchel.cli.inventory import take_inventory

    inventory = take_inventory(skills)
    inventory = inventory._replace(
        findings=(*inventory.findings, *_damaged(skills)),
    )
    health = skills.health()
    _section("Read", _sources(skills, paths))
    _section("Prompt", _prompt(skills))
    _section("Wrong", _findings(inventory))
    _section("What to do", _advice(inventory))
    return 1 if inventory.troubled or not health.ok else 0


def _damaged(skills: "Satchel") -> "Iterator[Finding]":
    """Yield what of a release on this machine is not what the release says."""
    for source in skills.registry.sources.values():
        look = getattr(source, "damage", None)
        held = getattr(source, "near", False) and getattr(source, "release", "")
        if look is not None and held:
            yield from look()


def _section(title: str, lines: "Sequence[str]") -> None:
    if lines:
        say(f"\n{bold(title)}")
        for line in lines:
            say(f"  {line}")


def _sources(skills: "Satchel", paths: tuple[str, ...]) -> list[str]:
    from satchel.cli.opening import find_settings

    settings = "not read, for --skills was given" if paths else find_settings()
    lines = [f"settings: {flat(settings or 'none')}"]
    for each in skills.health().sources:
        state = each.state
        line = f"{flat(state.label)}: {_many(state.packs, 'pack')}"
        line += f", release {flat(state.release)}" if state.release else ""
        if state.error:
            age = "" if each.age_s is None else f", {each.age_s:.0f} s old"
            line += f", no answer ({flat(state.error)}){age}"
        lines.append(line)
    return lines


def _prompt(skills: "Satchel") -> list[str]:
    catalog = skills.registry.latest
    lines = [take_census(catalog)]
    section = skills.prompt()
    of = f" of {section.budget_tokens:,}" if section.budget_tokens else ""
    whole = "all in full" if section.complete else "some cut: raise the budget"
    said = f"{section.tokens:,}{of} tokens, by {section.counted_by}; {whole}"
    return [*lines, said] if section.text else lines


def _findings(inventory: "Inventory") -> list[str]:
    from satchel.lint.reporters.text import lines_of

    lines: list[str] = []
    for severity in _GRAVEST:
        for finding in inventory.findings:
            if finding.severity == severity:
                lines.extend(lines_of(finding))
    return lines


def _advice(inventory: "Inventory") -> list[str]:
    lines: list[str] = []
    if inventory.findings:
        lines.append(f"{counted(inventory.findings)}: mend them by their fixes")
        gravest = min(inventory.findings, key=lambda f: _GRAVEST.index(f.severity))
        lines.append(f"read more: satchel explain {flat(gravest.code)}")
    return lines or ["nothing: all is well"]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
