"""Findings that few libraries have: names that fit nothing, and needs in vain."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase, translate
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import Final, cast

from satchel.catalog import DisabledPattern, Registry
from satchel.errors import echo
from satchel.model import SKILL_FILE, Catalog, Descriptor, Finding
from satchel.policy import Policy
from satchel.products import has_product, import_product
from satchel.text import first_names, nearest

# Skills that a message names.
_MOST_NAMED: Final = 10
# Each takes a look at all; the next ones show when these are gone.
_MOST_CIRCLES: Final = 10


def empty_folder_finding(label: str) -> Finding:
    return Finding.of("no-skills", label, sentence="folder")


def empty_folder(latest: Catalog, label: str) -> Iterator[Finding]:
    """Yield that a folder has no pack, unless one is too large or cannot be read."""
    errors = (one for one in latest.findings if one.severity == "error")
    if not any(f"{finding.path}/".startswith(f"{label}/") for finding in errors):
        yield empty_folder_finding(label)


def unused_finding(disabled: DisabledPattern, latest: Catalog) -> Finding:
    names = [entry.id for entry in latest.entries]
    if disabled.kind == "source":
        names = [state.label for state in latest.sources]
    return Finding.of(
        "disabled-unknown",
        disabled.where.strip("`"),
        kind=disabled.kind,
        pattern=disabled.pattern,
        fix=_write_instead(disabled.pattern, names),
        option=disabled.fix,
    )


def _write_instead(given: str, names: Sequence[str]) -> str:
    """Return the beginning of a fix that has a close name; empty where none is."""
    close = nearest(given, names, 1)
    return f"write {close[0]!r}, or " if close else ""


def plugin_findings(latest: Catalog) -> Sequence[Finding]:
    """Return what is wrong with manifests of plugins, and which packs no plugin has."""
    if not has_product("satchel_lab"):
        return ()
    findings = import_product("satchel_lab.checking", "plugins").plugin_findings(latest)
    # A source whose prefix has the names of plugins reports the manifests, too.
    return [finding for finding in findings if finding not in latest.findings]


def idle_rules(policy: Policy, registry: Registry) -> Iterator[Finding]:
    """Yield the rules that fit no skill, or no tool of those that they fit."""
    latest = registry.latest
    for number, needed in enumerate(policy.requirements, 1):
        if needed.skill not in registry.ids:
            yield _idle(number, needed, "skill", needed.skill, registry.ids)
    for number, rule in enumerate(policy.rules, 1):
        if rule.missing_ok:
            continue
        kind, given, names = "skill", rule.pattern, registry.ids
        fits = re.compile(translate(given)).match
        if given in names or any(map(fits, names)):
            if rule.tool is None:
                continue
            packs = chain(latest.entries, (one.descriptor for one in latest.excluded))
            kind, given = "tool", rule.tool
            names = {tool for pack in packs if fits(pack.id) for tool in pack.tools}
            if any(fnmatchcase(name, given) for name in names):
                continue
        yield _idle(number, rule, kind, given, names)


def _idle(
    number: int, rule: object, kind: str, given: str, names: Collection[str]
) -> Finding:
    """Return the finding for a rule whose name of a skill or tool is none."""
    return Finding.of(
        "rule-names-nothing",
        "policy",
        number=number,
        rule=echo(str(rule)),
        kind=kind,
        fix=_write_instead(echo(given), sorted(names)),
    )


def need_findings(
    catalog: Catalog,
    entries: Iterable[Descriptor],
    is_around: Callable[[Descriptor, str], bool] = lambda _entry, _name: False,
) -> Iterator[Finding]:
    """Yield which of these skills need one that is missing, then circles.

    ``is_around`` tells whether one that the catalog does not have is somewhere else.
    """
    from satchel.load import needed_skill  # what finds no skill here loads none

    links: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    for entry in entries:
        paths[entry.id] = path = f"{entry.origin.location}/{SKILL_FILE}"
        needed = {name: needed_skill(catalog, entry, name) for name in entry.requires}
        links[entry.id] = [one.id for one in needed.values() if one is not None]
        gone = [name for name, one in needed.items() if one is None]
        if missing := [repr(name) for name in gone if not is_around(entry, name)]:
            names = first_names(missing, _MOST_NAMED)
            yield Finding.of("required-skill-missing", path, names=names)
    for _ in range(_MOST_CIRCLES):
        try:
            return TopologicalSorter(links).prepare()
        except CycleError as error:
            # From what is needed to what needs it, and the first one again.
            circle = cast("list[str]", error.args[1])[:0:-1]
            at = circle.index(min(circle))
            circle = circle[at:] + circle[:at]
            shown = circle[:_MOST_NAMED] + ["..."] * (len(circle) > _MOST_NAMED)
            way = " -> ".join([*shown, circle[0]])
            yield Finding.of("requires-circle", paths[circle[0]], way=way)
            links = {id: to for id, to in links.items() if id not in circle}
