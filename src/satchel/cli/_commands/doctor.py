"""``satchel doctor``."""

import json
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

import click

from satchel.cli._findings import finding_fields
from satchel.cli._inventory import Inventory, summarize_catalog
from satchel.cli._options import find_settings, open_skills
from satchel.cli._paths import skills_option
from satchel.cli._terminal import bold, echo, echo_json, json_option, one_line
from satchel.errors import NoSources, install_command
from satchel.model import SEVERITIES, UNSEARCHED, Catalog, Finding
from satchel.products import has_product, import_product
from satchel.text import count_severities, first_names, plural, unsearched_folders

_LAB: Final = "satchel_lab"
_SCRIPTS: Final = "satchel_scripts"

if TYPE_CHECKING:
    from satchel.runtime import Satchel


@click.command("doctor")
@skills_option
@json_option
def command(paths: tuple[str, ...], as_json: bool) -> int:
    """Report what was read from where, what is wrong, and what to do.

    Status: 0; 1 if a source or pack cannot be used, 2 if the settings cannot.

    \b
    Examples:
      satchel doctor
      satchel doctor ./skills
    """
    from importlib.metadata import version

    python, system = platform.python_version(), platform.system()
    own = {"satchel": version("satchel"), "python": python, "system": system}
    if not as_json:
        echo(f"satchel {own['satchel']}, Python {python}, {system}")
        _section("Frameworks", framework_lines())
    try:
        with open_skills(paths, quiet=as_json) as skills:
            from satchel.cli._inventory import take_inventory

            inventory = take_inventory(skills)
            more = *inventory.findings, *_damaged(skills), *_of_the_lab(skills)
            inventory = inventory._replace(findings=tuple(dict.fromkeys(more)))
            ok = skills.health().ok and not inventory.troubled
            if as_json:
                echo_json({"ok": ok, **own, **_fields(skills, paths, inventory)})
            else:
                _print(skills, paths, inventory)
    except NoSources as error:
        ok, problem = False, str(error)
        if as_json:
            echo_json({"ok": ok, **own, "problems": [problem]})
        else:
            _section("What to do", [one_line(problem)])
    return 0 if ok else 1


def _print(skills: "Satchel", paths: tuple[str, ...], inventory: Inventory) -> None:
    left = unsearched_folders(inventory.findings)
    _section("Read", [*_sources(skills, paths), *([one_line(left)] if left else [])])
    _section("Prompt", _prompt(skills))
    ordered = sorted(_wrong(inventory), key=lambda f: SEVERITIES.index(f.severity))
    _section("Scripts", [line for one in _missing(skills) for line in _needs(*one)])
    _section("Wrong", [line for one in ordered for line in _lines_of(one)])
    _section("What to do", _advice(inventory))


def _fields(
    skills: "Satchel", paths: tuple[str, ...], inventory: Inventory
) -> dict[str, object]:
    """Return what ``doctor --json`` prints, after the versions."""
    health, section = skills.health(), skills.prompt()
    keys = ("label", "packs", "release", "error")
    counts = ("tokens", "counted_by", "budget_tokens", "complete")
    return {
        "frameworks": installed_frameworks(),
        "settings": None if paths else find_settings(),
        "sources": [
            {key: getattr(source.state, key) for key in keys} | {"age_s": source.age_s}
            for source in health.sources
        ],
        "skills": len(skills.catalog),
        "prompt": {key: getattr(section, key) for key in counts},
        "scripts": [
            {
                "skill": skill_id,
                "missing": list(lacking.requirements),
                "programs": list(lacking.programs),
                "install": lacking.install,
            }
            for skill_id, lacking in _missing(skills)
        ],
        "findings": finding_fields(inventory.findings),
        "problems": list(health.problems),
    }


def _damaged(skills: "Satchel") -> Iterator[Finding]:
    """Yield the files of local releases that do not match their release.json."""
    for source in skills.registry.sources.values():
        look = getattr(source, "damage", None)
        # To compare digests reads every file, so a remote release is left out.
        release = getattr(source, "near", False) and getattr(source, "release", "")
        if look is not None and release:
            yield from look()


def _lines_of(finding: Finding) -> list[str]:
    if not has_product(_LAB):
        return [one_line(str(finding))]
    lint = import_product(f"{_LAB}.lint", "doctor")
    return list(lint.lines_of([finding]))


def _of_the_lab(skills: "Satchel") -> Sequence[Finding]:
    if not has_product(_LAB):
        return ()
    lint = import_product(f"{_LAB}.lint", "doctor")
    checking = import_product(f"{_LAB}.checking", "doctor")
    # What is on another machine is not fetched for this.
    readers = skills.catalog.readers
    some = (e for e in skills.catalog if e.resources and readers[e.source].near)
    catalog = Catalog(tuple(some), readers=readers)
    settings = lint.settings_of(select=("script-not-run",))
    report = checking.check_catalog(catalog, (), skills.limits, settings)
    plugins = checking.plugin_findings(skills.registry.latest, whole=True)
    return cast("Sequence[Finding]", (*report.findings, *plugins))


def _missing(skills: "Satchel") -> list[tuple[str, Any]]:
    """Return what the Python scripts of skills need, and this interpreter lacks."""
    if not has_product(_SCRIPTS):
        return []
    return [*import_product(_SCRIPTS, "doctor").missing_in(skills)]


def _needs(skill_id: str, missing: Any) -> Iterator[str]:  # noqa: ANN401 - of another product
    names = first_names((*missing.requirements, *missing.programs))
    line = one_line(missing.install)
    yield one_line(f"{skill_id}: needs {names}{'; to install them:' if line else ''}")
    if line:
        yield f"  {line}"


def _section(title: str, lines: Sequence[str]) -> None:
    if lines:
        echo(f"\n{bold(title)}")
        for line in lines:
            echo(f"  {line}")


def _sources(skills: "Satchel", paths: tuple[str, ...]) -> list[str]:
    settings = "not read, because a path was given" if paths else find_settings()
    lines = [f"settings: {one_line(settings or 'none')}"]
    for source in skills.health().sources:
        state = source.state
        line = f"{one_line(state.label)}: {plural(state.packs, 'pack')}"
        line += f", release {one_line(state.release)}" if state.release else ""
        if state.error:
            age = "" if source.age_s is None else f", {source.age_s:.0f} s old"
            line += f", no answer ({one_line(state.error)}){age}"
        lines.append(line)
    index = skills.registry.index
    file = one_line(index.path) if index else "none, it is switched off"
    return [*lines, f"index: {file}"]


def _prompt(skills: "Satchel") -> list[str]:
    catalog = skills.registry.latest
    lines = [summarize_catalog(catalog)]
    section = skills.prompt()
    of = f" of {section.budget_tokens:,}" if section.budget_tokens else ""
    whole = "all in full"
    if not section.complete:
        # A budget that is not spent does not help those that are cut: this one does.
        needed = skills.prompt(budget_tokens=None).tokens
        whole = f"some are cut: in full they take {needed:,}, as the budget may be"
    summary = f"{section.tokens:,}{of} tokens, by {section.counted_by}; {whole}"
    return [*lines, summary] if section.text else lines


def _wrong(inventory: Inventory) -> list[Finding]:
    return [finding for finding in inventory.findings if finding.code != UNSEARCHED]


def _advice(inventory: Inventory) -> list[str]:
    lines: list[str] = []
    if findings := _wrong(inventory):
        lines.append(f"{count_severities(findings)}: see the fix of each")
        worst = min(findings, key=lambda f: SEVERITIES.index(f.severity))
        lines.append(f"read more: satchel explain {one_line(worst.code)}")
    return lines or ["nothing: everything is in order"]


class FrameworkResults(TypedDict):
    """The results of the adapters' contract suite with one framework.

    ``missing`` are the requirements that did not pass, with the reasons; ``failed`` are
    those of them that are defects rather than limits of the framework.
    """

    extra: str
    distribution: str
    lowest: str
    newest: str
    python: str
    missing: dict[str, list[str]]
    failed: list[str]


def read_tested() -> dict[str, FrameworkResults]:
    """Return the results for each adapter; ``python -m tools.adapters`` makes them."""
    data = resources.files("satchel.adapters").joinpath("tested.json")
    return cast("dict[str, FrameworkResults]", json.loads(data.read_text("utf-8")))


def installed_frameworks() -> dict[str, str]:
    """Return the version of each framework that is installed, by its adapter."""
    from importlib.metadata import PackageNotFoundError, version

    versions: dict[str, str] = {}
    for name, tested in read_tested().items():
        with suppress(PackageNotFoundError):
            versions[name] = version(tested["distribution"])
    return versions


def framework_lines() -> list[str]:
    """Return a line for each installed framework, or a line that there is none."""
    lines: list[str] = []
    results = read_tested()
    for name, installed in installed_frameworks().items():
        tested = results[name]
        lines.append(
            f"{tested['distribution']} {installed}: "
            f"{_compare_versions(installed, tested)}"
        )
        if tested["failed"]:
            what = f"{len(tested['failed'])} tests of the suite failed"
            lines.append(f"  satchel.adapters.{name}: {what}")
    return lines or [
        f"none is installed; for LangChain: {install_command('langchain')}"
    ]


def _compare_versions(installed: str, tested: FrameworkResults) -> str:
    lowest, newest = tested["lowest"], tested["newest"]
    releases = lowest if lowest == newest else f"{lowest} to {newest}"
    if _version_key(installed) < _version_key(lowest):
        upgrade = install_command(tested["extra"], upgrade=True)
        return f"older than its adapter is tested with ({releases}): {upgrade}"
    if _version_key(installed) > _version_key(newest):
        return f"newer than its adapter is tested with ({releases})"
    return f"its adapter is tested with {releases}"


def _version_key(version: str) -> tuple[int, ...]:
    """Return the numbers of a release, for comparing; a suffix does not count."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()
