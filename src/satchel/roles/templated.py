"""The prompt that a role's legacy template gives."""

# ruff: noqa: PTH113, PTH118 - asked for each folder, as text
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from satchel.errors import TemplateError, TemplateNotFoundError
from satchel.model import Finding, Limits
from satchel.roles.deprecation import Once, advice, warn_legacy
from satchel.roles.legacy import (
    SYSTEM_PROMPT,
    LegacyRenderer,
    LegacyText,
    Template,
    read_template,
    render_legacy,
)
from satchel.roles.naming import is_role
from satchel.roles.resolved import ResolvedRolePrompt
from satchel.roles.template import written
from satchel.roles.wish import Wish
from satchel.text import tell_hidden

__all__ = ["TemplatePath"]

MAX_SAID: Final = 500
"""Characters of a renderer's error that are told; one may quote a whole template."""


@dataclass(frozen=True, slots=True)
class TemplatePath:
    """The second place where a role's prompt is looked for.

    ``roles`` is the folder as the user wrote it, ``root`` where that was at the time,
    wherever the working folder is now.
    """

    roles: str
    root: str
    limits: Limits
    _warned: Once = field(default_factory=Once)

    def resolve(self, wish: Wish, found: list[Finding]) -> ResolvedRolePrompt | None:
        """Return the prompt, or None; add to ``found`` what was passed over.

        Gives the `DeprecationWarning` of this role the first time.
        """
        if wish.renderer is None:
            rendered = self._render(wish, found)
        else:
            rendered = self._let_render(wish.renderer, wish, found)
        if rendered is None:
            return None
        path = os.path.join(self.roles, wish.role)
        self._warned.do(wish.role, lambda: warn_legacy(wish.role, path))
        message, fix = advice(path)
        finding = Finding("legacy-template", "warning", message, path, fix=fix)
        return wish.counted(
            ResolvedRolePrompt(
                rendered.text, "legacy", findings=(*rendered.findings, finding)
            )
        )

    def tokens(self, wish: Wish) -> int | None:
        """Return what the template would cost, no command run; None without one."""
        try:
            template = self._read(wish.role)
        except TemplateError:
            return None  # it is not used, so that nothing is wrong with the prompt
        text = render_legacy(template, wish.context, shell=False).text
        return wish.counter.count(text)

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

    def _render(self, wish: Wish, found: list[Finding]) -> LegacyText | None:
        try:
            template = self._read(wish.role)
        except TemplateNotFoundError:
            return None
        except TemplateError as error:
            fix = "mend the template, or make a pack of it"
            found.append(
                Finding(error.code, "error", error.detail, error.path, fix=fix)
            )
            return None
        rendered = render_legacy(template, wish.context, shell=wish.shell)
        hidden = tell_hidden(template.text, template.path)
        return replace(rendered, findings=(*rendered.findings, *hidden))

    def _let_render(
        self, renderer: LegacyRenderer, wish: Wish, found: list[Finding]
    ) -> LegacyText | None:
        """Ask the renderer that was given; whatever it does, the spawn goes on."""
        context = {name: written(value) for name, value in wish.context.items()}
        try:
            text = renderer(wish.role, context, templates_dir=Path(self.root))
        except Exception as error:  # noqa: BLE001 - somebody else's code, as a plug-in's
            found.append(_failed(wish.role, f"raised {_said(error)}"))
            return None
        if not isinstance(text, str):
            found.append(_failed(wish.role, f"gave {type(text).__name__}, want text"))
            return None
        return LegacyText(text)


def _said(error: Exception) -> str:
    """Return the kind of an error, and what it says, if it can and in so many words."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - as above
        return kind
    return f"{kind}: {text if len(text) <= MAX_SAID else text[:MAX_SAID] + '...'}"


def _failed(role: str, what: str) -> Finding:
    message = f"the legacy renderer {what}; it was passed over for role {role!r}"
    return Finding(
        "renderer-failed", "warning", message, fix="let it return the prompt as text"
    )
