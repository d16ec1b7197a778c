"""``satchel role``."""

import logging
import os
import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from satchel.cli import (
    budget_option,
    echo_error,
    echo_json,
    finding_fields,
    flag,
    json_option,
    name_values,
    show_finding,
    write_text,
)
from satchel.errors import MissingPathError, SkillError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from satchel_compat import Primary, ResolvedRolePrompt, RoleResolver


TEMPLATES: Final = "templates"
PRIMARY: Final = ("hint", "body")


def _complete(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    del param
    from click.shell_completion import CompletionItem

    folder = _folder(ctx.params.get("templates"))
    try:
        roles = _resolver(folder, plugins=not ctx.params.get("no_plugins")).roles()
    except (SkillError, OSError):
        return []
    return [CompletionItem(role) for role in roles if role.startswith(incomplete)]


@click.command("role")
@click.argument("role", shell_complete=_complete)
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--templates",
    "--skills",
    "templates",
    metavar="PATH",
    type=click.Path(),
    help="The same as PATH. Default: ./templates; if there is none, the packs that "
    "ship with Satchel.",
)
@click.option(
    "--primary",
    type=click.Choice(PRIMARY),
    default="hint",
    show_default=True,
    help="What goes with the index of skills: a line that names the role's own, or "
    "its whole body.",
)
@budget_option("4000; of the index only")
@click.option(
    "--set",
    "values",
    metavar="NAME=VALUE",
    multiple=True,
    callback=name_values,
    help="A value for a legacy template; repeatable.",
)
@flag("--shell", "Run the commands in a legacy template. Trust it.")
@flag("--no-plugins", "Leave out the skills of installed packages.")
@json_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    role: str,
    path: str | None,
    templates: str | None,
    primary: "Primary",
    budget: int | str | None,
    values: dict[str, str],
    shell: bool,
    no_plugins: bool,
    as_json: bool,
) -> int:
    """Print the prompt of a role: its pack, else its legacy template, else a sentence.

    PATH is a folder with ROLE/SKILL.md, skills/ROLE/SKILL.md or
    roles/ROLE/system_prompt.md. Standard error says where the prompt came from, and
    what could not be used.

    Status: 0, or 1 if the role has neither pack nor template, or one that cannot be
    used; a prompt is printed in any case.

    \b
    Examples:
      satchel role backend
      satchel role backend --primary body --budget 1000
      satchel role qa ./templates --set PROJECT=shop
    """
    from satchel_compat import check_role

    check_role(role)
    if path is not None and templates is not None:
        raise click.UsageError("give one folder: PATH or --templates")
    named = templates if path is None else path
    folder = _folder(named)
    if not os.path.isdir(folder):  # noqa: PTH112 - to pathlib an empty path is a folder
        if os.path.exists(folder):  # noqa: PTH110 - as above
            message = "give the folder that holds skills or roles, not a file"
            raise click.BadParameter(message, param_hint="PATH")
        raise MissingPathError(folder)
    shipped = named is None and folder != TEMPLATES
    if shipped:
        echo_error(f"note: there is no ./{TEMPLATES}: these packs ship with Satchel")
    resolver = _resolver(folder, plugins=not no_plugins)
    # What is logged is among the findings too, which are printed below.
    logging.getLogger("satchel").addHandler(logging.NullHandler())
    options: dict[str, Any] = {} if budget == "default" else {"budget_tokens": budget}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it is a finding too
        resolved = resolver.resolve(
            role, primary=primary, context=values, shell=shell, **options
        )
    if as_json:
        echo_json(_fields(resolved, role))
    else:
        text = resolved.body
        write_text(text if text.endswith("\n") else f"{text}\n")
    _report(resolved, role, resolver, shipped=shipped)
    unusable = any(
        finding.code in _UNUSABLE and finding.severity == "error"
        for finding in resolved.findings
    )
    return 1 if unusable or resolved.source == "fallback" else 0


def _resolver(folder: str, *, plugins: bool) -> "RoleResolver":
    """Return the resolver for a folder of templates, or one of packs."""
    from satchel_compat import RoleResolver

    home = Path(folder)
    inside = (home / "skills", home / "roles")
    direct = not any(path.exists() for path in inside) and any(home.glob("*/SKILL.md"))
    return RoleResolver(
        folder, packs="" if direct else "skills", include_plugins=plugins
    )


def _folder(named: str | None) -> str:
    """Return the folder that was named, else ``templates``, else what ships."""
    if named is not None or os.path.isdir(TEMPLATES):  # noqa: PTH112 - as above
        return TEMPLATES if named is None else named
    return str(files("satchel").joinpath("packs"))


def _fields(resolved: "ResolvedRolePrompt", role: str) -> dict[str, object]:
    keys = ("source", "skill_name", "tokens", "counted_by", "legacy_tokens")
    return {
        "role": role,
        "text": resolved.body,
        **{key: getattr(resolved, key) for key in keys},
        "findings": finding_fields(resolved.findings),
    }


_UNUSABLE: Final = frozenset({"role-pack-unused", "template-unusable"})


def _report(
    resolved: "ResolvedRolePrompt",
    role: str,
    resolver: "RoleResolver",
    *,
    shipped: bool,
) -> None:
    for finding in resolved.findings:
        # Installers put caches into the packs that ship, which is nobody's business.
        if finding.severity != "note" or not shipped:
            show_finding(finding)
    source = {
        "skill": f"pack {resolved.skill_name}",
        "legacy": "legacy template",
        "fallback": "neither pack nor template",
    }[resolved.source]
    cost = f"{resolved.tokens:,} tokens by {resolved.counted_by}"
    if resolved.legacy_tokens is not None:
        cost += f"; its legacy template: {resolved.legacy_tokens:,}"
    echo_error(f"{role}: {source}, {cost}")
    if resolved.source == "fallback":
        echo_error(_others(role, resolver.roles()))


def _others(role: str, roles: tuple[str, ...]) -> str:
    from satchel.text import first_names, nearest

    close = nearest(role, roles, 3)
    if close:
        return f"did you mean {', '.join(close)}?"
    if not roles:
        return "there is no role here"
    return f"roles here: {first_names(roles, 20)}"
