"""The paths that a command reads: its argument, its option, and what goes with both."""

import shlex
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])

_CONTEXT_KEY: Final = "satchel.cli._paths"


def named_paths(
    ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse an empty path: an unset variable must not mean the working folder."""
    if "" in paths:
        raise click.BadParameter("the path is empty", ctx, param)
    return paths


def alias_option(help_text: str) -> Callable[[_Command], _Command]:
    """Return the decorator for ``--skills PATH``, which `with_alias` adds to PATH."""
    return click.option(
        "--skills",
        "more",
        multiple=True,
        metavar="PATH",
        type=click.Path(),
        expose_value=False,
        is_eager=True,  # stored before the argument is looked at
        callback=_store_more,
        help=help_text,
    )


def _store_more(
    ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]
) -> None:
    ctx.meta[f"{_CONTEXT_KEY}.more"] = named_paths(ctx, param, paths)


def with_alias(
    ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what was given as arguments, and then with ``--skills``."""
    return named_paths(ctx, param, paths) + option_paths()


def option_paths() -> tuple[str, ...]:
    """Return what was given with ``--skills``."""
    paths: tuple[str, ...] = click.get_current_context().meta[f"{_CONTEXT_KEY}.more"]
    return paths


_SAME: Final = "The same as PATH; repeatable. Default: what satchel.toml says"


def skills_option(command: _Command) -> _Command:
    """Add ``[PATH]...`` and its options, for a command that only shows skills."""
    usual = "else ./skills, .claude/skills and so on"
    return _with_paths(command, f"{_SAME}, {usual}.")


def named_skills_option(command: _Command) -> _Command:
    """Add ``[PATH]...`` and its options, for a command that writes or serves."""
    return _with_paths(command, f"{_SAME}.")


def library_options(skills_help: str) -> Callable[[_Command], _Command]:
    """Return the decorator for ``--skills``, ``--prefix`` and ``--on-conflict``.

    `satchel.cli._options` finds the last two in the context of click, so that no
    command has to pass them on.
    """
    from typing import get_args

    from satchel.model import OnConflict

    def add(command: _Command) -> _Command:
        for option in (
            click.option(
                "--on-conflict",
                type=click.Choice(get_args(OnConflict)),
                metavar="HOW",
                expose_value=False,
                callback=_store_option,
                help="error lists none of several packs that claim one id, precedence "
                "the first. Default: what satchel.toml says, else error.",
            ),
            click.option(
                "--prefix",
                multiple=True,
                metavar="TEXT",
                expose_value=False,
                callback=_store_prefix,
                help="Put it in front of each id; {plugin} is the name of the plugin "
                "that a pack is of, {parent} the folder that the pack's folder is in. "
                "PATH=TEXT is for one PATH; repeatable.",
            ),
            alias_option(skills_help),
        ):
            command = option(command)
        return command

    return add


def _with_paths(command: _Command, skills_help: str) -> _Command:
    argument = click.argument(
        "paths", nargs=-1, metavar="[PATH]...", type=click.Path(), callback=with_alias
    )
    return argument(library_options(skills_help)(command))


def _store_option(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None:
        cast("dict[str, object]", ctx.meta.setdefault(_CONTEXT_KEY, {}))[param.name] = (
            value
        )


def _store_prefix(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> None:
    """Store one text for all paths, or one for each path; not both."""
    # A path may contain an equals sign, so the last one counts.
    parts = [text.rpartition("=") for text in texts]
    by_place = {place: prefix for place, _, prefix in parts}
    if "" in by_place and len(texts) > 1:
        raise click.BadParameter("give one for all, or each with its PATH=", ctx, param)
    if texts:
        _store_option(ctx, param, by_place.get("", by_place))


def store_line(ctx: click.Context, arguments: list[str]) -> None:
    """Keep the name and the arguments of a command, for `line_to_type`."""
    ctx.meta[f"{_CONTEXT_KEY}.line"] = tuple(arguments)


def line_to_type(*paths: str) -> str:
    """Return the command line that was typed, with these paths at its end."""
    ctx = click.get_current_context(silent=True)
    typed = () if ctx is None else ctx.meta.get(f"{_CONTEXT_KEY}.line", ())
    names = {"paths"} if ctx is None else {p.name for p in ctx.command.params}
    if "paths" not in names:  # its arguments are something else
        paths = tuple(part for path in paths for part in ("--skills", path))
    return shlex.join(("satchel", *typed, *paths))


def line_about(command: str) -> str:
    """Return the line of another command about the paths that were given."""
    ctx = click.get_current_context(silent=True)
    paths = () if ctx is None else ctx.params.get("paths", ())
    return shlex.join(("satchel", command, *paths))


def library_settings() -> dict[str, Any]:
    """Return ``--prefix`` and ``--on-conflict`` as options of Satchel."""
    ctx = click.get_current_context(silent=True)
    return {} if ctx is None else ctx.meta.get(_CONTEXT_KEY, {})
