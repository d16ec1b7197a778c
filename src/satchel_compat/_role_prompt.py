"""The prompt that a role's pack gives, or else its legacy template."""

# ruff: noqa: PTH113, PTH118 - asked for each folder, as text

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from satchel.errors import (
    ChangedSinceSyncError,
    SkillError,
    TemplateError,
    TemplateNotFoundError,
)
from satchel.load import load
from satchel.model import Catalog, Finding, Limits, Loaded, Rendered, Request
from satchel.prompt import render
from satchel.runtime import unavailable_sources
from satchel.text import hidden_text_findings
from satchel_compat._role import (
    LegacyRenderer,
    OncePerKey,
    ResolvedRolePrompt,
    RoleRequest,
    advice,
    is_role,
    warn_legacy,
)
from satchel_compat._role_library import RoleLibrary
from satchel_compat._role_template import Template, read_template, render_legacy
from satchel_lab.authoring import SYSTEM_PROMPT, to_text

# Empty lines above a body; the indentation of its first line is part of it.
_ABOVE: Final = re.compile(r"\A(?:[^\S\n]*\n)+")
# Tries to read a pack that is being edited, for one prompt; with fewer, a script that
# writes could cost an agent its role.
MAX_LOOKS: Final = 10
# Characters of a renderer's error to show; one may quote a whole template.
MAX_ERROR_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class PackPrompt:
    """Makes the prompt of a role from its pack: the first choice."""

    library: RoleLibrary
    limits: Limits

    def resolve(
        self, request: RoleRequest, findings: list[Finding]
    ) -> ResolvedRolePrompt | None:
        """Return the prompt, or None; add to ``findings``."""
        folder, role, source = self.folder(request), request.role, self.library.source
        catalog, latest = self.library.current()
        conflict = catalog.conflict_of(role)
        if conflict is not None and role not in catalog:
            raise self.library.duplicate(conflict)
        findings += _of_role(latest, folder, self.library)
        if role not in catalog:
            findings += _not_used(latest, role, source, folder)
            return None
        entry = catalog.get(role)
        if entry and entry.origin.source == source and entry.origin.key != role:
            where, key = entry.origin.location, entry.origin.key
            elsewhere = Finding.of("role-pack-elsewhere", where, key=key, folder=folder)
            findings.append(elsewhere)
        if request.primary == "hint":
            index = _render(catalog, request, role=role)
            line = f'Role: {role}. load_skill(name="{role}").\n'
            # If not even the frame of the index fits, the renderer returns one line.
            text = index.text if index.text.startswith(line) else line + index.text
            return _prompt(text, request, index)
        try:
            return self._with_body(catalog, request)
        except SkillError as error:
            findings.append(_unused(folder, str(error)))
            return None

    def folder(self, request: RoleRequest) -> str:
        """Return the folder of the role's own pack, as the user wrote it."""
        return f"{self.library.skills}/{request.role}"

    def _with_body(self, catalog: Catalog, request: RoleRequest) -> ResolvedRolePrompt:
        """Return index and body; no budget cuts the body."""
        catalog, loaded = self._loaded(catalog, Request(request.role))
        index = _render(catalog, request, highlight=request.role)
        body = _ABOVE.sub("", loaded.body.rstrip())
        text = f"{index.text}\n{body}\n" if body else index.text
        where = loaded.descriptor.origin.location
        warnings = (
            replace(finding, path=f"{where}/{finding.path}")
            for finding in loaded.findings
        )
        return _prompt(text, request, index, *warnings)

    def _loaded(self, catalog: Catalog, request: Request) -> tuple[Catalog, Loaded]:
        """Load; look again if the pack was edited between look and load."""
        for _ in range(MAX_LOOKS - 1):
            try:
                return catalog, load(catalog, request, limits=self.limits)
            except ChangedSinceSyncError:
                catalog, _latest = self.library.current()
        return catalog, load(catalog, request, limits=self.limits)


def _prompt(
    text: str, request: RoleRequest, index: Rendered, *findings: Finding
) -> ResolvedRolePrompt:
    every = (*findings, *index.findings)
    return request.counted(
        ResolvedRolePrompt(text, "skill", request.role, section=index, findings=every)
    )


def _render(
    catalog: Catalog,
    request: RoleRequest,
    *,
    role: str | None = None,
    highlight: str | None = None,
) -> Rendered:
    return render(
        catalog,
        format="markdown",
        role=role,
        highlight=highlight,
        budget_tokens=request.budget_tokens,
        counter=request.counter,
        find_tool=request.find_tool,
    )


def _of_role(latest: Catalog, folder: str, library: RoleLibrary) -> Iterator[Finding]:
    """Yield the findings of the role's own folder, and each error elsewhere."""
    for finding in latest.findings:
        # A pack in error is missing from the index of every role.
        if f"{finding.path}/".startswith(f"{folder}/") or finding.severity == "error":
            yield finding
    for conflict in latest.unresolved:
        error = library.duplicate(conflict)
        yield Finding.of_error(error, fix=error.fix)
    yield from unavailable_sources(latest)


def _not_used(
    latest: Catalog, role: str, source: str, folder: str
) -> Iterator[Finding]:
    """Yield why the role has no pack, if there is something in its place."""
    excluded = latest.exclusion_of(role)
    if excluded is not None:
        refused = excluded.reason == "refused"
        yield _unused(
            folder, f"{excluded.reason}: {excluded.detail}", excluded.fix, error=refused
        )
        return
    for entry in (*latest.entries, *(other.descriptor for other in latest.excluded)):
        if entry.origin.source == source and entry.origin.key == role:
            yield _unused(
                folder,
                f"its manifest names it {entry.id!r}, but a role's pack must have the "
                "name of the role",
                f"write name: {role} in its SKILL.md, or rename the folder",
            )


def _unused(folder: str, reason: str, fix: str = "", *, error: bool = True) -> Finding:
    return Finding.of(
        "role-pack-unused",
        folder,
        severity="error" if error else "warning",
        reason=reason,
        fix=fix,
    )


@dataclass(frozen=True, slots=True)
class TemplatePrompt:
    """Makes the prompt of a role from its legacy template: the second choice.

    ``roles`` is the folder as the user wrote it, ``root`` its absolute path.
    """

    roles: str
    root: str
    limits: Limits
    _warned: OncePerKey = field(default_factory=OncePerKey)

    def resolve(
        self, request: RoleRequest, findings: list[Finding]
    ) -> ResolvedRolePrompt | None:
        """Return the prompt, or None; add to ``findings``, and warn once for a role."""
        if request.renderer is None:
            rendered = self._render(request, findings)
        else:
            rendered = self._let_render(request.renderer, request, findings)
        if rendered is None:
            return None
        path = os.path.join(self.roles, request.role)
        self._warned.do(request.role, lambda: warn_legacy(request.role, path))
        message, fix = advice(path)
        finding = Finding.of("legacy-template", path, message=message, fix=fix)
        own = (*rendered.findings, finding)
        prompt = ResolvedRolePrompt(rendered.text, "legacy", findings=own)
        return request.counted(prompt)

    def tokens(self, request: RoleRequest) -> int | None:
        """Return the tokens of the template, None if there is none; run no command."""
        try:
            template = self._read(request.role)
        except TemplateError:
            return None  # it is not used, so nothing is wrong with the prompt
        # Without commands: a comparison must not run anything.
        text = render_legacy(template, request.context, shell=False).text
        return request.counter.count(text)

    def names(self) -> set[str]:
        """Return the roles that have a template."""
        try:
            with os.scandir(self.root) as entries:
                return {
                    entry.name
                    for entry in entries
                    if is_role(entry.name)
                    and os.path.isfile(os.path.join(entry.path, SYSTEM_PROMPT))
                }
        except OSError:
            return set()

    def _read(self, role: str) -> Template:
        return read_template(self.root, role, shown=self.roles, limits=self.limits)

    def _render(self, request: RoleRequest, findings: list[Finding]) -> Template | None:
        try:
            template = self._read(request.role)
        except TemplateNotFoundError:
            return None
        except TemplateError as error:
            fix = "repair the template, or make a pack of it"
            problem = Finding(error.code, "error", error.detail, error.path, fix=fix)
            findings.append(problem)
            return None
        rendered = render_legacy(template, request.context, shell=request.shell)
        hidden = hidden_text_findings(template.text, template.path)
        return replace(rendered, findings=(*rendered.findings, *hidden))

    def _let_render(
        self, renderer: LegacyRenderer, request: RoleRequest, findings: list[Finding]
    ) -> Template | None:
        """Call the caller's renderer; if it fails, that is a finding."""
        context = {name: to_text(value) for name, value in request.context.items()}
        try:
            text = renderer(request.role, context, templates_dir=Path(self.root))
        except Exception as error:  # noqa: BLE001 - the caller's code may raise anything
            what = f"raised {_describe_error(error)}"
        else:
            if isinstance(text, str):
                return Template(self.roles, text)
            what = f"returned {type(text).__name__}, not text"
        findings.append(Finding.of("renderer-failed", what=what, role=request.role))
        return None


def _describe_error(error: Exception) -> str:
    """Return the kind of an error, and what it says, if it can and in so many words."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - as above
        return kind
    more = "..." if len(text) > MAX_ERROR_CHARS else ""
    return f"{kind}: {text[:MAX_ERROR_CHARS]}{more}"
