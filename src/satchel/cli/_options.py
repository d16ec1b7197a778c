"""Options that several commands share, and how they open a Satchel."""

import os
import re
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

import click

from satchel.cli._terminal import echo_error
from satchel.errors import (
    DuplicateSkillError,
    NoSkillsError,
    NoSources,
    SkillError,
    SourceUnavailableError,
)
from satchel.model import OnConflict
from satchel.text import plural

if TYPE_CHECKING:
    import logging

    from click.shell_completion import CompletionItem

    from satchel.protocols import UsageSink
    from satchel.runtime import Satchel
    from satchel.sources import LocalSource


_Command = TypeVar("_Command", bound=Callable[..., Any])

_MISSING_SKILL_CODES: Final = frozenset(
    {NoSkillsError.code, SourceUnavailableError.code, DuplicateSkillError.code}
)


def named_paths(
    ctx: click.Context, param: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse an empty path: an unset variable must not mean the working folder."""
    if "" in paths:
        raise click.BadParameter("the path is empty", ctx, param)
    return paths


_NAME: Final = re.compile(r"\w+")


def name_values(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, str]:
    """Return the values of ``--set NAME=VALUE``; the last value of a name counts."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not _NAME.fullmatch(name):
            message = f"expected NAME=VALUE; got {text!r}"
            raise click.BadParameter(message, ctx, param)
        values[name] = value
    return values


def skills_option(command: _Command) -> _Command:
    """Add ``--skills PATH``, ``--prefix`` and ``--on-conflict``.

    `open_skills` finds the last two in the context of click, so that no command has to
    pass them on.
    """
    for option in (
        click.option(
            "--on-conflict",
            type=click.Choice(get_args(OnConflict)),
            metavar="HOW",
            expose_value=False,
            callback=_store_option,
            help="error lists none of several packs that claim one id, precedence the "
            "first. Default: what satchel.toml says, else error.",
        ),
        click.option(
            "--prefix",
            multiple=True,
            metavar="TEXT",
            expose_value=False,
            callback=_store_prefix,
            help="Put it in front of each id; {parent} is the folder that the pack's "
            "folder is in. PATH=TEXT is for one --skills PATH; repeatable.",
        ),
        click.option(
            "--skills",
            "paths",
            multiple=True,
            metavar="PATH",
            type=click.Path(),
            callback=named_paths,
            help="A folder of packs, or one pack; repeatable. "
            "Default: what satchel.toml says.",
        ),
    ):
        command = option(command)
    return command


_CONTEXT_KEY: Final = "satchel.cli._options"


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


def options_again() -> list[str]:
    """Return ``--prefix`` and ``--on-conflict`` as arguments for another process."""
    options: dict[str, Any] = click.get_current_context().meta.get(_CONTEXT_KEY, {})
    prefix = options.get("prefix", {})
    by_place = {"": prefix} if isinstance(prefix, str) else prefix
    arguments: list[str] = []
    for place, text in by_place.items():
        # The other process may start in another folder.
        where = f"{os.path.abspath(place)}=" if place else ""  # noqa: PTH100
        arguments += ["--prefix", f"{where}{text}"]
    if "on_conflict" in options:
        arguments += ["--on-conflict", options["on_conflict"]]
    return arguments


@contextmanager
def open_skills(
    paths: tuple[str, ...],
    *,
    quiet: bool = False,
    **options: Any,  # noqa: ANN401 - those of Satchel
) -> Generator["Satchel"]:
    """Open skills for a command that only shows them.

    As `open_named_skills`, but folders of clients below a folder are searched too.
    Without a path and without a configuration file it opens the usual folders of a
    project, and prints which, unless ``quiet``.
    """
    if not paths and find_settings() is None:
        from satchel.checking import usual_folders

        paths = usual_folders()
        if not (quiet or paths in ((), (os.curdir,))):
            echo_error(f"looked in {', '.join(paths)}: there is no satchel.toml")
    with open_named_skills(paths, client_folders=True, **options) as skills:
        yield skills


@contextmanager
def open_named_skills(
    paths: tuple[str, ...],
    *,
    client_folders: bool = False,
    **options: Any,  # noqa: ANN401 - those of Satchel
) -> Generator["Satchel"]:
    """Open the paths, or else what the nearest configuration file says.

    ``client_folders`` also searches those below a path. ``options`` are
    those of `satchel.Satchel` and fields of `satchel.Options`. Without ``sinks`` no
    event is made: most commands load nothing, and opening a sink takes time.
    """
    from satchel.runtime import Options, Satchel, without_logging

    ctx = click.get_current_context(silent=True)
    if ctx is not None:
        options = {**ctx.meta.get(_CONTEXT_KEY, {}), **options}
    folders: list[Any] = list(paths)
    if client_folders:
        # A folder that is named twice is opened once.
        folders = [_with_client_folders(path) for path in dict.fromkeys(paths)]
    if not folders:
        options = {"config": _settings(), **options}
    elif urls := [path for path in paths if path.startswith(("http://", "https://"))]:
        # A user who types an address of this machine means it; no site may lead there.
        options.setdefault("allow_private", all(map(_is_private, urls)))
    options.setdefault("sinks", ())
    moved = {field.name for field in fields(Options)} & options.keys()
    rare = Options(**{name: options.pop(name) for name in moved})
    with without_logging():  # each command prints its findings
        skills = Satchel(*folders, options=rare, **options)
    try:
        yield skills
    finally:
        skills.close()


@contextmanager
def recording() -> Generator[tuple["UsageSink", ...]]:
    """Open the sinks of a command that loads: the user's database, by default.

    They get loads only: to look at skills is not to offer them.
    """
    from satchel.usage import LoadsOnly, Sinks

    sinks = tuple(LoadsOnly(sink) for sink in command_sinks())
    try:
        yield sinks
    finally:
        Sinks(sinks).close()


def _settings() -> str:
    from pathlib import Path

    from satchel.runtime import no_input_advice

    path = find_settings()
    if path is None:
        raise NoSources(no_input_advice(Path.cwd()))
    return path


def _with_client_folders(path: str) -> "str | LocalSource":
    """Return a folder of packs as a source that also searches those of clients."""
    from satchel.model import RELEASE_FILE
    from satchel.sources import LocalSource

    is_folder = os.path.isdir(path)  # noqa: PTH112 - as above
    if is_folder and not os.path.exists(f"{path}/{RELEASE_FILE}"):  # noqa: PTH110
        return LocalSource(path, client_folders=True)
    return path


def _is_private(url: str) -> bool:
    """Return whether a URL names this machine or its network, by the text alone.

    Names are not resolved: the answer would come from others.
    """
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ip_address(host).is_private
    except ValueError:
        return False


def find_settings() -> str | None:
    """Return the configuration file, relative to the working folder; None for none.

    So the paths in it are printed as its author wrote them.
    """
    from pathlib import Path

    from satchel.config import find_config

    path = find_config(Path.cwd())
    return None if path is None else os.path.relpath(path)


def warn(skills: "Satchel") -> None:
    """Print why skills are missing; packs that cannot be used are only counted."""
    print_findings(skills, _MISSING_SKILL_CODES)
    excluded = skills.registry.latest.excluded
    refused = sum(skill.reason == "refused" for skill in excluded)
    if refused:
        echo_error(f"{plural(refused, 'pack')} cannot be used: see satchel doctor")


def print_findings(skills: "Satchel", codes: Collection[str]) -> None:
    """Print the findings of these codes on standard error."""
    for finding in skills.findings:
        if finding.code in codes:
            echo_error(str(finding))
            if finding.code == DuplicateSkillError.code:
                echo_error(f"    fix: {finding.fix}")


def complete_skill(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list["CompletionItem"]:
    """Return the ids that begin with what was typed, for the shell's completion."""
    del param
    from click.shell_completion import CompletionItem

    paths: Any = ctx.params.get("paths") or ()
    try:
        with open_skills(tuple(paths), quiet=True) as skills:
            return [
                CompletionItem(entry.id, help=entry.description)
                for entry in skills.catalog
                if entry.id.startswith(incomplete)
            ]
    # Completion is silent: a message would appear in the line that the user types.
    except (SkillError, OSError):
        return []


def budget_option(
    default: str = "4000, or what satchel.toml says",
) -> Callable[[_Command], _Command]:
    """Return the decorator for ``--budget N|none``; ``default`` is for the help."""
    return click.option(
        "--budget",
        metavar="N|none",
        callback=_budget,
        help=f"Tokens at most; 'none' lists everything in full. Default: {default}.",
    )


def _budget(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> int | str | None:
    if text is None:
        return "default"
    if text.lower() == "none":
        return None
    # `isdecimal` alone also accepts the digits of other scripts.
    if not (text.isascii() and text.isdecimal() and int(text)):
        message = f"{text!r} is neither a count from 1 nor 'none'"
        raise click.BadParameter(message, ctx, param)
    return int(text)


def command_sinks() -> "tuple[UsageSink, ...]":
    """Return the sinks of a command; the caller closes them.

    With ``log:`` the lines go to standard error: a command sets up no other log.
    """
    from satchel.usage import LoggingSink, usage_sinks

    sinks = usage_sinks(default="sqlite")
    if any(isinstance(sink, LoggingSink) for sink in sinks):
        return (LoggingSink(_to_stderr()),)
    return sinks


def _to_stderr() -> "logging.Logger":
    import logging

    class ToStderr(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            echo_error(self.format(record))

    logger = logging.getLogger("satchel.cli.usage")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    # Replaced, not added: a second command in this process would print each line twice.
    logger.handlers[:] = [ToStderr()]
    return logger
