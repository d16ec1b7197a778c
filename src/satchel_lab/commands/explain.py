"""``satchel explain``."""

from collections.abc import Iterable
from typing import Final

import click

from satchel.cli import bold, echo, echo_json, echo_rows, json_option, width
from satchel.model import code_entry, codes
from satchel_lab._pages import UnknownCodeError, read_page, title_of


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    del ctx, param
    from satchel_lab.lint import aliases

    names = sorted({*codes(), *aliases()})
    return [code for code in names if code.startswith(incomplete)]


@click.command("explain")
@click.argument("code", required=False, shell_complete=_complete)
@json_option
def command(code: str | None, as_json: bool) -> None:
    """Explain the code of a finding or an error: what, why, and what to do.

    Without a CODE, list them all. It knows the names of other linters too.

    \b
    Examples:
      satchel explain
      satchel explain unlisted-reference
    """
    if as_json:
        echo_json({"codes": _pages(code)})
    elif code is not None:
        _explain(code, _meant(code))
    else:
        for title, group in _groups(codes()).items():
            echo(bold(f"{title} ({len(group)})"))
            _list(group)
            echo()
        echo("One of them: satchel explain CODE")


def _groups(codes: Iterable[str]) -> dict[str, list[str]]:
    """Return the codes by who reports them: rules of a check, by severity, first."""
    from satchel_lab.lint import RULES

    of_rules = {code for rule in RULES for code in rule.codes}
    groups: dict[str, list[str]] = {title: [] for title in _TITLES.values()}
    for code in codes:
        entry = code_entry(code)
        kind = entry.severities[0] if code in of_rules else bool(entry.messages)
        groups[_TITLES[kind]].append(code)
    return groups


_TITLES: Final[dict[str | bool, str]] = {
    "error": "Rules of satchel check: errors",
    "warning": "Rules of satchel check: warnings",
    "note": "Rules of satchel check: notes",
    True: "What reading, converting, serving and evaluating packs report",
    False: "Errors of commands, of Python and of tools",
}


def _meant(code: str) -> tuple[str, ...]:
    from satchel_lab.lint import codes_named

    try:
        return codes_named(code)
    except UnknownCodeError as error:
        raise click.UsageError(str(error)) from error


def _pages(code: str | None) -> list[dict[str, str]]:
    """Return every code with its title; for one that is asked for, its text, too."""
    if code is None:
        return [{"code": name, "title": title_of(name)} for name in codes()]
    own = (code,) if code in codes() else ()
    meant = dict.fromkeys((*own, *_meant(code)))
    return [
        {"code": name, "title": title_of(name), "text": read_page(name)}
        for name in meant
    ]


def _explain(code: str, meant: tuple[str, ...]) -> None:
    if code in codes():
        echo(read_page(code).rstrip())
        meant = tuple(other for other in meant if other != code)
        if meant:
            echo()
            echo("Other tools use this name for:")
    elif len(meant) == 1:
        echo(f"{code} is {meant[0]} here.")
        echo()
        echo(read_page(meant[0]).rstrip())
        return
    else:
        echo(f"{code} is reported as one of these:")
    _list(meant)


def _list(codes: Iterable[str]) -> None:
    echo_rows([(code, title_of(code)) for code in codes], width())
