"""``satchel predict``."""

import re
from typing import Any, Final

import click

from satchel.cli import echo_error, errors_are_status_2, flag
from satchel_lab.commands.check import HookCommand, pack_options

_FORMATS: Final = ("text", "concise", "json", "sarif", "github", "markdown", "html")
# Python makes no number of more than 4,300 digits.
_SIZE: Final = re.compile(r"[0-9]{1,12}[km]?")
_UNITS: Final = {"k": 1_000, "m": 1_000_000}


def _loader_names(ctx: click.Context, param: click.Parameter, names: str) -> str:
    """Return the names; print which there are if ``list`` is asked for."""
    if not names.strip(" ,"):
        detail = "expected names with commas between them, or list"
        raise click.BadParameter(detail, ctx, param)
    if names in ("list", "?"):
        from satchel_lab.commands._prediction import list_loaders

        list_loaders()
        ctx.exit()
    return names


def _window_sizes(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> tuple[int, ...]:
    """Return the tokens of sizes such as ``200k`` or ``1m``; none without a text."""
    sizes: list[int] = []
    for word in (text or "").lower().replace(" ", "").split(","):
        digits = word.rstrip("km")
        if _SIZE.fullmatch(word):
            sizes.append(int(digits) * _UNITS.get(word[-1], 1))
        elif text is not None:
            detail = "expected sizes such as 128k,200k,1m"
            raise click.BadParameter(detail, ctx, param)
    return tuple(sizes)


@click.command("predict", cls=HookCommand)
@click.option(
    "--for",
    "loaders",
    metavar="NAME,...|all|list",
    default="all",
    callback=_loader_names,
    is_eager=True,
    help="Which clients and frameworks; list prints their names.  [default: all]",
)
@flag("--library", "Predict what each client shows of all packs together.")
@click.option(
    "--window",
    "windows",
    metavar="SIZE,...",
    callback=_window_sizes,
    help="Context windows for --library, which it implies.  [default: 128k,200k,1m]",
)
@pack_options(_FORMATS, "How it is printed; concise, sarif and github have findings.")
# Accepted from callers of `check --for`, where it never changed a prediction.
@click.option("--profile", hidden=True, expose_value=False)
def command(as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
    """Predict what clients and frameworks will make of packs, and why.

    It shows who lists a skill whole, cuts, misreads or drops it, on which line the
    cause is, and what to change. With --library it shows what each client lists of all
    packs together, in a context window. Nothing is run: it is by tables of what the
    clients were measured to do, or document.

    PATH is what satchel check takes. Without a PATH it is where projects keep skills.

    Status: 0 clean, 1 findings that fail, or with --library a skill that is left out
    or not loaded; 2 could not predict, or found no pack.

    \b
    Examples:
      satchel predict
      satchel predict ./skills --for claude-code,codex,crewai
      satchel predict ./skills --format html > skills.html
      satchel predict ./skills --library --for codex,claude-code --window 200k
      satchel predict --for list
    """
    from satchel_lab.commands._prediction import PredictRun

    name = click.get_current_context().info_name
    if name != "predict":  # see `satchel_lab.commands.check`
        echo_error("note: satchel check --for is now satchel predict --for")
        name = "check"
    if as_json:
        options["style"] = "json"
    with errors_are_status_2():
        return PredictRun(command=f"satchel {name}", **options).run()
