"""``satchel role``."""

from typing import TYPE_CHECKING, Any, Final

import click

from satchel.cli._findings import show_finding
from satchel.cli._options import budget_option, name_values
from satchel.cli._terminal import echo_error, write_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from satchel.compat import Primary, ResolvedRolePrompt, RoleResolver


TEMPLATES: Final = "templates"
PRIMARY: Final = ("hint", "body")


def _complete(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    del param
    from click.shell_completion import CompletionItem

    from satchel.compat import RoleResolver
    from satchel.errors import SkillError

    folder: Any = ctx.params.get("templates") or TEMPLATES
    plugins = not ctx.params.get("no_plugins")
    try:
        roles = RoleResolver(folder, include_plugins=plugins).roles()
    except (SkillError, OSError):
        return []
    return [CompletionItem(role) for role in roles if role.startswith(incomplete)]


@click.command("role")
@click.argument("role", shell_complete=_complete)
@click.option(
    "--templates",
    metavar="DIR",
    default=TEMPLATES,
    show_default=True,
    type=click.Path(),
    help="The folder that holds skills/ROLE/SKILL.md, or roles/ROLE/system_prompt.md.",
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
@click.option(
    "--shell", is_flag=True, help="Run the commands in a legacy template. Trust it."
)
@click.option(
    "--no-plugins", is_flag=True, help="Leave out the skills of installed packages."
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    role: str,
    templates: str,
    primary: "Primary",
    budget: int | str | None,
    values: dict[str, str],
    shell: bool,
    no_plugins: bool,
) -> int:
    """Print the prompt of a role: its pack, else its legacy template, else a sentence.

    Standard error says where it came from, and what could not be used.

    Status: 0, or 1 if the role has neither pack nor template, or one that cannot be
    used; a prompt is printed in any case.

    \b
    Examples:
      satchel role backend
      satchel role backend --primary body --budget 1000
      satchel role qa --templates ./templates --set PROJECT=shop
    """
    import logging
    import os
    import warnings

    from satchel.compat import RoleResolver, check_role
    from satchel.errors import MissingPathError

    check_role(role)
    if not os.path.isdir(templates):  # noqa: PTH112 - pathlib costs start-up time
        if os.path.exists(templates):  # noqa: PTH110 - as above
            message = "give the folder that holds skills or roles, not a file"
            raise click.BadParameter(message, param_hint="--templates")
        raise MissingPathError(templates)
    resolver = RoleResolver(templates, include_plugins=not no_plugins)
    # What is logged is among the findings too, which are printed below.
    logging.getLogger("satchel").addHandler(logging.NullHandler())
    options: dict[str, Any] = {} if budget == "default" else {"budget_tokens": budget}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it is a finding too
        resolved = resolver.resolve(
            role, primary=primary, context=values, shell=shell, **options
        )
    text = resolved.body
    write_text(text if text.endswith("\n") else f"{text}\n")
    _report(resolved, role, resolver)
    unusable = any(
        finding.code in _UNUSABLE and finding.severity == "error"
        for finding in resolved.findings
    )
    return 1 if unusable or resolved.source == "fallback" else 0


_UNUSABLE: Final = frozenset({"role-pack-unused", "template-unusable"})


def _report(
    resolved: "ResolvedRolePrompt", role: str, resolver: "RoleResolver"
) -> None:
    for finding in resolved.findings:
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
    from satchel.text import nearest

    close = nearest(role, roles, 3)
    if close:
        return f"did you mean {', '.join(close)}?"
    if not roles:
        return "there is no role here"
    more = f" and {len(roles) - 20} more" if len(roles) > 20 else ""  # noqa: PLR2004
    return f"roles here: {', '.join(roles[:20])}{more}"
