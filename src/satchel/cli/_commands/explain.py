"""``satchel explain``."""

from collections.abc import Iterable

import click

from satchel.cli._terminal import echo, echo_json, json_option, layout, width


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    del ctx, param
    from satchel.lint import aliases
    from satchel.model import codes

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
    from satchel.model import codes

    if as_json:
        echo_json({"codes": _pages(code)})
    elif code is not None:
        _explain(code, _meant(code))
    else:
        _list(codes())


def _meant(code: str) -> tuple[str, ...]:
    from satchel.lint import codes_named
    from satchel.model import UnknownCodeError

    try:
        return codes_named(code)
    except UnknownCodeError as error:
        raise click.UsageError(str(error)) from error


def _pages(code: str | None) -> list[dict[str, str]]:
    """Return every code with its title; for one that is asked for, its text, too."""
    from satchel.model import codes, read_page, title_of

    if code is None:
        return [{"code": name, "title": title_of(name)} for name in codes()]
    own = (code,) if code in codes() else ()
    meant = dict.fromkeys((*own, *_meant(code)))
    return [
        {"code": name, "title": title_of(name), "text": read_page(name)}
        for name in meant
    ]


def _explain(code: str, meant: tuple[str, ...]) -> None:
    from satchel.model import codes, read_page

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
    from satchel.model import title_of

    for line in layout([(code, title_of(code)) for code in codes], width()):
        echo(line)
