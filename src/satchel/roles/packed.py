"""The prompt that a role's pack gives: the index, and a hint or the body."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from satchel.errors import ChangedSinceSyncError, SkillError
from satchel.load import load
from satchel.model import (
    Catalog,
    Descriptor,
    Finding,
    Limits,
    Loaded,
    Rendered,
    Request,
)
from satchel.prompt import render
from satchel.roles.resolved import ResolvedRolePrompt
from satchel.roles.stock import Stock
from satchel.roles.wish import Wish
from satchel.runtime.findings import unanswered

__all__ = ["PackPath"]

_ABOVE: Final = re.compile(r"\A(?:[^\S\n]*\n)+")
"""Blank lines above a body; what its first line is indented by is part of it."""
MAX_LOOKS: Final = 10
"""Times that a pack is looked at for one prompt while somebody edits it; a spawn that
gave up sooner would lose its role to a script that writes."""


@dataclass(frozen=True, slots=True)
class PackPath:
    """The first place where a role's prompt is looked for."""

    stock: Stock
    limits: Limits

    def resolve(self, wish: Wish, found: list[Finding]) -> ResolvedRolePrompt | None:
        """Return the prompt, or None; add to ``found`` what there is to tell.

        Raises:
            DuplicateSkillError: Two packs claim the name of the role; names a plug-in
                with the switch that leaves it out.
        """
        folder = self.folder(wish)
        catalog, latest = self.stock.current()
        conflict = catalog.conflict_of(wish.role)
        if conflict is not None and wish.role not in catalog:
            raise self.stock.duplicate(conflict)
        found.extend(_of_role(latest, folder, self.stock))
        if wish.role not in catalog:
            found.extend(_not_used(latest, wish.role, self.stock.source, folder))
            return None
        found.extend(_elsewhere(catalog, wish.role, self.stock.source, folder))
        if wish.primary == "hint":
            index = _render(catalog, wish, role=wish.role)
            text = _with_role_line(index.text, wish.role)
            return _prompt(text, wish, index)
        try:
            return self._with_body(catalog, wish)
        except SkillError as error:
            found.append(_unused(folder, str(error)))
            return None

    def folder(self, wish: Wish) -> str:
        """Return where the role's own pack is, or would be, as the user wrote it."""
        return f"{self.stock.skills}/{wish.role}"

    def _with_body(self, catalog: Catalog, wish: Wish) -> ResolvedRolePrompt:
        """Return index and body; the body is whole, whatever the budget is."""
        catalog, loaded = self._loaded(catalog, Request(wish.role))
        index = _render(catalog, wish, highlight=wish.role)
        body = _ABOVE.sub("", loaded.body.rstrip())
        text = f"{index.text}\n{body}\n" if body else index.text
        where = loaded.descriptor.origin.location
        doubts = (
            replace(each, path=f"{where}/{each.path}") for each in loaded.findings
        )
        return _prompt(text, wish, index, *doubts)

    def _loaded(self, catalog: Catalog, request: Request) -> tuple[Catalog, Loaded]:
        """Load; look again after an edit between the look and the load."""
        for _ in range(MAX_LOOKS - 1):
            try:
                return catalog, load(catalog, request, limits=self.limits)
            except ChangedSinceSyncError:
                catalog, _latest = self.stock.current()
        return catalog, load(catalog, request, limits=self.limits)


def _prompt(
    text: str, wish: Wish, index: Rendered, *findings: Finding
) -> ResolvedRolePrompt:
    prompt = ResolvedRolePrompt(
        text, "skill", wish.role, section=index, findings=(*findings, *index.findings)
    )
    return wish.counted(prompt)


def _render(
    catalog: Catalog,
    wish: Wish,
    *,
    role: str | None = None,
    highlight: str | None = None,
) -> Rendered:
    return render(
        catalog,
        format="markdown",
        role=role,
        highlight=highlight,
        budget_tokens=wish.budget_tokens,
        counter=wish.counter,
        find_tool=wish.find_tool,
    )


def _with_role_line(text: str, role: str) -> str:
    """Return the index below the role's line, which no budget takes away.

    Where not even the frame of the index fits, its renderer leaves one line of all.
    """
    line = f'Role: {role}. load_skill(name="{role}").\n'
    return text if text.startswith(line) else line + text


def _of_role(latest: Catalog, folder: str, stock: Stock) -> Iterator[Finding]:
    """Yield what was found in the role's own folder, and each error elsewhere.

    A pack in error is missing from the index of every role, and so are those of a
    source that does not answer.
    """
    for finding in latest.findings:
        inside = finding.path == folder or finding.path.startswith(f"{folder}/")
        if inside or finding.severity == "error":
            yield finding
    for conflict in latest.unresolved:
        error = stock.duplicate(conflict)
        yield Finding(error.code, "error", str(error), fix=error.fix)
    yield from unanswered(latest)


def _not_used(
    latest: Catalog, role: str, source: str, folder: str
) -> Iterator[Finding]:
    """Yield why the role has no pack, where something lies in its place."""
    held = latest.withheld_as(role)
    if held is not None:
        refused = held.reason == "refused"
        yield _unused(folder, f"{held.reason}: {held.detail}", held.fix, error=refused)
        return
    for entry in _all(latest):
        if entry.origin.source == source and entry.origin.key == role:
            yield _unused(
                folder,
                f"its manifest names it {entry.id!r}, and a role's pack bears the "
                "name of the role",
                f"write name: {role} in its SKILL.md, or rename the folder",
            )


def _elsewhere(
    catalog: Catalog, role: str, source: str, folder: str
) -> Iterator[Finding]:
    """Yield that the role's pack is in a folder of another name, where it is."""
    entry = catalog.get(role)
    if entry is None or entry.origin.source != source or entry.origin.key == role:
        return
    yield Finding(
        "role-pack-elsewhere",
        "warning",
        f"the role's pack is in a folder of another name, {entry.origin.key!r}",
        entry.origin.location,
        fix=f"rename the folder to {folder}, or the pack in its SKILL.md",
    )


def _all(latest: Catalog) -> Iterator[Descriptor]:
    yield from latest.entries
    yield from (held.descriptor for held in latest.withheld)


def _unused(folder: str, reason: str, fix: str = "", *, error: bool = True) -> Finding:
    return Finding(
        "role-pack-unused",
        "error" if error else "warning",
        f"the role's pack is not used: {reason}",
        folder,
        fix=fix,
    )
