"""Why a skill is not in the prompt: the first reason, with its fix."""

# ruff: noqa: PTH100, PTH111, PTH112, PTH119 - paths as they are written
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, cast

from satchel.errors import SkillError
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    UNSEARCHED,
    Catalog,
    Decision,
    Descriptor,
    Excluded,
    Rendered,
)
from satchel.text import first_names, plural

Stage = Literal[
    "source",
    "path",
    "parse",
    "profile",
    "trust",
    "policy",
    "disabled",
    "shadowed",
    "conflict",
    "filtered",
    "deprecated",
    "hidden",
    "budget",
    "listed",
]

# By reason of an exclusion; the others are called as their stage is.
_STAGES: Final[dict[str, Stage]] = {
    "refused": "parse",
    "untrusted": "trust",
    "unverified": "trust",
}


@dataclass(frozen=True, slots=True)
class Why:
    """The first stage that a skill did not pass; ``listed`` where it passed all."""

    name: str
    stage: Stage
    message: str
    fix: str = ""
    path: str = ""

    def __str__(self) -> str:
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{self.name}: {self.stage}: {self.message}{fix}"


def why(  # noqa: PLR0913 - what is known of skills, most of it by name
    catalog: Catalog,
    name: str,
    prompt: Rendered,
    *,
    exacting: bool,
    decide: Callable[[str], Decision],
    roots: Iterable[str] = (),
) -> Why:
    """Return the first reason why ``name`` is not in ``prompt``.

    ``name`` is an id, a manifest's name, the name of a pack's folder, or a path.
    ``exacting`` says that a profile narrower than ``auto`` was chosen. ``decide``
    returns what the policy says of listing an id. ``roots`` are the folders in which to
    look for what no source has found.
    """
    place = _absolute(name) if "/" in name or os.path.lexists(name) else ""
    entry = catalog.get(name) or _first_at(place, catalog.entries)
    if entry is not None:
        decision, path = decide(entry.id), entry.origin.location
        if decision.verdict == "deny":
            denied = f"the policy denies listing it without a `who` ({decision.reason})"
            fix = "change the policy; a session with a `who` may list it"
            return Why(name, "policy", denied, fix, path)
        return _listed(name, entry.id, path, prompt)
    for conflict in catalog.unresolved:
        if conflict.id == name or _first_at(place, conflict.owners):
            path = conflict.owners[0].origin.location
            claim = f"{conflict.places} claim this id"
            return Why(name, "conflict", claim, conflict.fix, path)
    for excluded in catalog.excluded:
        descriptor = excluded.descriptor
        folder = descriptor.origin.location.rstrip("/").rpartition("/")[2]
        has_name = name in {descriptor.id, descriptor.name, folder}
        if has_name or _first_at(place, [descriptor]):
            return _excluded(name, excluded, exacting=exacting)
    return _unknown(catalog, name, place, roots)


def _absolute(path: str) -> str:
    """Return a path for comparing; that of SKILL.md is the one of its folder."""
    whole = os.path.abspath(os.path.expanduser(path))
    return whole.removesuffix(f"{os.sep}{SKILL_FILE}")


def _first_at(place: str, packs: Iterable[Descriptor]) -> Descriptor | None:
    """Return the first pack that is in a folder; None where no folder was named."""
    here = (
        pack
        for pack in (packs if place else ())
        if any(_absolute(origin.location) == place for origin in pack.origins)
    )
    return next(here, None)


def _listed(name: str, skill_id: str, path: str, prompt: Rendered) -> Why:
    tokens = f"{prompt.budget_tokens} tokens"
    if skill_id in prompt.left_out:
        why = f"the catalog does not fit {tokens}; this one is cut"
        fix = "raise budget_tokens, or let the model search"
        return Why(name, "budget", why, fix, path)
    if skill_id in prompt.names_only or skill_id in prompt.shortened:
        is_bare = skill_id in prompt.names_only
        how = "only its name" if is_bare else "a shortened description"
        why = f"it is listed with {how}, for {tokens}"
        fix = "raise budget_tokens, or shorten descriptions"
        return Why(name, "budget", why, fix, path)
    return Why(name, "listed", "it is in the prompt, whole", path=path)


def _excluded(name: str, excluded: Excluded, *, exacting: bool) -> Why:
    stage = _STAGES.get(excluded.reason, cast("Stage", excluded.reason))
    if stage == "parse" and exacting:
        stage = "profile"
    location = excluded.descriptor.origin.location
    return Why(name, stage, excluded.detail, excluded.fix, location)


def _unknown(catalog: Catalog, name: str, place: str, roots: Iterable[str]) -> Why:
    # A folder that was passed over has a finding and no descriptor.
    for finding in catalog.findings:
        last = finding.path.split("/")[-2:]
        if _absolute(finding.path) == place if place else name in last:
            more = f"; {_inside(place)}" if finding.code == UNSEARCHED else ""
            return Why(name, "path", f"{finding}{more}", finding.fix, finding.path)
    if os.path.isdir(place) and place not in (folders := _skill_folders(place)):
        fix = f"name one of them: {_shown(folders[0])}" if folders else ""
        return Why(name, "path", _inside(place), fix, _shown(place))
    for folder in [place] if os.path.isdir(place) else _called(catalog, name, roots):
        around = [f for f in catalog.findings if _is_in(folder, _absolute(f.path))]
        near = max(around, key=lambda finding: len(finding.path), default=None)
        detail = str(near) if near else "it is in no folder that was looked at"
        shown = _shown(folder)
        path = f"{shown}/{SKILL_FILE}"
        return Why(name, "path", detail, f"name it: {shown}", path)
    for state in catalog.sources:
        if state.stale:
            away = f"source {state.label!r} did not answer ({state.error})"
            fix = "see `satchel doctor`; sync again when it is back"
            return Why(name, "source", away, fix)
    from satchel.text import nearest

    close = nearest(name, [entry.id for entry in catalog.entries], 3)
    looked = ", ".join(state.label for state in catalog.sources) or "no source"
    fix = f"did you mean {', '.join(close)}?" if close else "add its folder as a source"
    return Why(name, "path", f"no pack of this name in {looked}", fix)


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _inside(place: str) -> str:
    """Return which folders below one have a SKILL.md, as words."""
    folders = [_shown(folder) for folder in _skill_folders(place)]
    if not folders:
        return f"there is no {SKILL_FILE} in it"
    count = plural(len(folders), "folder")
    return f"{count} with a {SKILL_FILE} in it: {first_names(folders)}"


def _called(catalog: Catalog, name: str, roots: Iterable[str]) -> Iterator[str]:
    """Yield the folders of this name, or of a skill of this name, that are no source's.

    Those are looked into that a search leaves out, too.
    """
    owners = (owner for conflict in catalog.conflicts for owner in conflict.owners)
    others = (excluded.descriptor for excluded in catalog.excluded)
    packs = (*catalog.entries, *owners, *others)
    places = {_absolute(o.location) for pack in packs for o in pack.origins}
    for root in roots:
        for folder in _skill_folders(root):
            if folder in places:
                continue
            if name in (os.path.basename(folder), _name(folder)):
                yield folder


def _skill_folders(root: str) -> list[str]:
    """Return every folder with a SKILL.md, also where no search goes; no link does."""
    steps = islice(os.walk(root), DEFAULT_LIMITS.scan_entries)
    return sorted(here for here, _, files in steps if SKILL_FILE in files)


def _name(folder: str) -> str:
    """Return the name in a SKILL.md; empty where none can be read."""
    from satchel.files import read_confined
    from satchel.skill_md import parse

    try:
        data = read_confined(folder, SKILL_FILE, DEFAULT_LIMITS.skill_md_bytes)
    except SkillError:
        return ""
    manifest = parse(data, profile="lenient").manifest
    return manifest.name if manifest else ""


def _shown(path: str) -> str:
    """Return a path as one would type it here, with ``/`` on every system."""
    return min(path, os.path.relpath(path), key=len).replace(os.sep, "/")
