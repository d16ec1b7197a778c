"""The legacy template of a role: ``roles/<role>/system_prompt.md``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from satchel.errors import (
    LimitExceededError,
    PackFileError,
    ReferenceNotFoundError,
    TemplateError,
    TemplateNotFoundError,
)
from satchel.files import read_confined
from satchel.model import DEFAULT_LIMITS, Finding, Limits
from satchel.roles.naming import check_role
from satchel.roles.shell import run_command
from satchel.roles.template import commands_in, render_template, resolve_conditions
from satchel.text.decoding import decode, is_text

__all__ = [
    "SYSTEM_PROMPT",
    "LegacyRenderer",
    "LegacyText",
    "Template",
    "read_template",
    "render_legacy",
    "render_role_prompt",
]

SYSTEM_PROMPT: Final = "system_prompt.md"


class LegacyRenderer(Protocol):
    """What may stand in for `render_role_prompt`; that of the earlier system may.

    ``templates_dir`` is the absolute path of the folder ``roles``. Anything but text
    that it returns, and anything that it raises, is told as a finding.
    """

    def __call__(
        self, role: str, context: dict[str, str], /, *, templates_dir: Path
    ) -> object:
        """Return the prompt of a role."""
        ...


@dataclass(frozen=True, slots=True)
class Template:
    """The text of one template, and what was repaired to read it."""

    path: str
    text: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class LegacyText:
    """A rendered template, and what there is to tell of it."""

    text: str
    findings: tuple[Finding, ...] = ()


def read_template(
    roles: str, role: str, *, shown: str = "", limits: Limits = DEFAULT_LIMITS
) -> Template:
    """Read the template of a role, following no link below ``roles``.

    A byte order mark is dropped, and every line ends in a line feed. The name of the
    role is taken to be checked.

    Args:
        roles: The folder with a folder for each role; a link to it is followed.
        role: Its name.
        shown: What stands in front of paths that are told; empty is ``roles``.
        limits: ``skill_md_bytes`` is how much is read at most.

    Raises:
        TemplateNotFoundError: There is none.
        TemplateError: It is too large, no text, or no plain file.
    """
    name = f"{role}/{SYSTEM_PROMPT}"
    path = f"{shown or roles}/{name}"
    limit = limits.skill_md_bytes
    try:
        data = read_confined(roles, name, limit, owner=role)
    except ReferenceNotFoundError as error:
        raise TemplateNotFoundError(path) from error
    except LimitExceededError as error:
        detail = f"{error.actual:,} bytes exceed the limit skill_md_bytes = {limit:,}"
        raise TemplateError(path, detail) from error
    except PackFileError as error:
        raise TemplateError(path, error.detail) from error
    if not is_text(data):
        raise TemplateError(path, "it is no text")
    decoded = decode(data)
    text = decoded.text.removeprefix("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Template(
        path, text, tuple(replace(each, path=path) for each in decoded.findings)
    )


def render_legacy(
    template: Template, context: Mapping[str, object], *, shell: bool
) -> LegacyText:
    """Render a template; commands that are not asked for stay, and are told."""
    run: Callable[[str], str] | None = run_command if shell else None
    text = render_template(template.text, context, run=run)
    findings = template.findings
    if not shell:
        findings += _left(template, commands_in(_unconditional(template, context)))
    return LegacyText(text, findings)


def _unconditional(template: Template, context: Mapping[str, object]) -> str:
    return resolve_conditions(template.text, context)


def _left(template: Template, commands: tuple[str, ...]) -> tuple[Finding, ...]:
    if not commands:
        return ()
    first, *others = commands
    more = f" and {len(others)} more" if others else ""
    message = f"a command of the template is left as text: {first!r}{more}"
    fix = "shell=True (--shell) runs them; or write down what they would print"
    return (Finding("template-command", "warning", message, template.path, fix=fix),)


def render_role_prompt(
    role: str,
    context: Mapping[str, object],
    *,
    templates_dir: str | Path,
    shell: bool = False,
) -> str:
    """Return the rendered legacy template of a role.

    Args:
        role: Its name.
        context: Values of placeholders, see `satchel.roles.render_template`.
        templates_dir: The folder ``roles``.
        shell: Whether commands in the template are run; by default they stay as text.

    Raises:
        InvalidRoleError: ``role`` is no name of a role.
        TemplateNotFoundError: It has no template.
        TemplateError: The template cannot be used.
    """
    check_role(role)
    template = read_template(str(templates_dir), role)
    return render_legacy(template, context, shell=shell).text
