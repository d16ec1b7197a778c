"""Options that several commands share, and how they open a Satchel."""

import os
import re
import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing, contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from satchel.cli._paths import library_settings, line_about, line_to_type
from satchel.cli._terminal import echo_detail, echo_error, progress
from satchel.errors import (
    DuplicateSkillError,
    NoSkillsError,
    NoSources,
    SkillError,
    SourceUnavailableError,
)
from satchel.model import Finding, kinds_of
from satchel.text import plural

if TYPE_CHECKING:
    import logging

    from click.shell_completion import CompletionItem

    from satchel.config import Config
    from satchel.protocols import UsageSink
    from satchel.runtime import Satchel
    from satchel.sources import LocalSource


_Command = TypeVar("_Command", bound=Callable[..., Any])

_MISSING_SKILL_CODES: Final = frozenset(
    {NoSkillsError.code, SourceUnavailableError.code, DuplicateSkillError.code}
    | {"unreadable-folder", "error limit-exceeded"}
)

# A library with a thousand conflicts must not hide what was asked for.
_MOST_OF_A_CODE: Final = 10

# In the context of click: a note has said that all skills are untrusted.
_UNTRUSTED: Final = "satchel.cli._options.untrusted"

_NAME: Final = re.compile(r"\w+")

# What counts of a configuration file that names no skills.
_SETTINGS: Final = (
    *("disabled", "profile", "style", "budget_tokens", "on_conflict", "limits"),
    "check",
)


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


@contextmanager
def open_skills(
    paths: tuple[str, ...],
    *,
    quiet: bool = False,
    trusted: bool = True,
    **options: Any,  # noqa: ANN401 - those of Satchel
) -> Generator["Satchel"]:
    """Open skills for a command that only shows them.

    As `open_named_skills`, but where neither a path nor a configuration file names
    skills, it opens the usual folders of a project, and prints which, unless ``quiet``.
    To look at their packs needs no trust; for what loads one, or writes a prompt, they
    are not ``trusted``, since nobody has named them.
    """
    folders: tuple[str | LocalSource, ...] = paths
    if not (paths or (config := read_settings()).names_skills):
        folders = _usual_sources(trusted=trusted, quiet=quiet)
        settings = {key: getattr(config, key) for key in _SETTINGS}
        index = {} if config.index is None else {"index": config.index}
        options = {**settings, **index, **library_settings(), **options}
    with open_named_skills(folders, **options) as skills:
        yield skills


def _usual_sources(*, trusted: bool, quiet: bool) -> "tuple[LocalSource, ...]":
    """Return the usual folders of a project that have packs, and print which."""
    from satchel.sources import LocalSource, usual_folders

    folders = usual_folders()
    if not folders:
        detail = "no satchel.toml here or above names skills, and there are none in "
        others = "./skills, .claude/skills, .agents/skills or .github/skills"
        advice = f"name a folder of packs: {line_to_type('PATH')}"
        toml = 'or write skills = ["PATH"] into satchel.toml'
        raise NoSources(f"{detail}{others}; {advice}, {toml}")
    note = f"note: no folder was named: looked in {', '.join(folders)}"
    if not trusted:
        click.get_current_context().meta[_UNTRUSTED] = True
        note += "; these skills are untrusted, and so not loaded; to trust them, type: "
        note += line_to_type(*folders)
    if not quiet:
        echo_error(note)
    return tuple(
        LocalSource(folder, trusted=trusted, missing_ok=True) for folder in folders
    )


@contextmanager
def open_named_skills(
    paths: "tuple[str | LocalSource, ...]",
    **options: Any,  # noqa: ANN401 - those of Satchel
) -> Generator["Satchel"]:
    """Open the paths, or else what the nearest configuration file says.

    ``options`` are those of `satchel.Satchel` and fields of `satchel.Options`. Without
    ``sinks`` no event is made: most commands load nothing, and opening a sink takes
    time.
    """
    from satchel.runtime import Options, Satchel, without_logging

    options = {**library_settings(), **options}
    texts = [path for path in paths if isinstance(path, str)]
    if not paths:
        options = {"config": _settings(), **options}
    elif urls := [path for path in texts if path.startswith(_ADDRESSES)]:
        # A user who types an address of this machine means it; no site may lead there.
        options.setdefault("allow_private", all(map(_is_private, urls)))
    options.setdefault("sinks", ())
    # A command is a process of its own: without an index each one reads everything.
    options.setdefault("index", True)
    moved = {field.name for field in fields(Options)} & options.keys()
    rare = {name: options.pop(name) for name in moved}
    begun = time.perf_counter()
    # Each command prints its findings itself.
    with without_logging(), progress("reading skills") as count:
        skills = Satchel(*paths, options=Options(**rare, progress=count), **options)
    with skills:
        for state in skills.registry.latest.sources:
            echo_detail(f"read {state.label}: {plural(state.packs, 'pack')}")
        listed = plural(len(skills.catalog), "skill")
        echo_detail(f"{listed} listed after {time.perf_counter() - begun:.3f} s")
        yield skills


@contextmanager
def recording() -> Generator[tuple["UsageSink", ...]]:
    """Open the sinks of a command that loads: the user's database, by default.

    They get loads only: to look at skills is not to offer them.
    """
    from satchel.usage import LoadsOnly, Sinks

    sinks = tuple(LoadsOnly(sink) for sink in command_sinks())
    with closing(Sinks(sinks)):
        yield sinks


def _settings() -> str:
    path = find_settings()
    if path is None or not read_settings().names_skills:
        from pathlib import Path

        from satchel.runtime import no_input_advice
        from satchel.sources import usual_folders

        line = line_to_type(*(usual_folders() or ("PATH",)))
        raise NoSources(f"{no_input_advice(Path.cwd())}; type: {line}")
    return path


_ADDRESSES: Final = ("http://", "https://", "oci://")


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


def read_settings() -> "Config":
    """Return what the configuration file says; the defaults where there is none."""
    from pathlib import Path

    from satchel.config import Config, load_config

    path = find_settings()
    return Config() if path is None else load_config(Path(path))


def warn(skills: "Satchel") -> None:
    """Print why skills are missing; packs that cannot be used are only counted."""
    print_findings(skills, _MISSING_SKILL_CODES)
    excluded = skills.registry.latest.excluded
    refused = sum(skill.reason == "refused" for skill in excluded)
    if refused:
        count = plural(refused, "pack")
        echo_error(f"{count} cannot be used: see {line_about('doctor')}")


def _is_untrusted() -> bool:
    """Tell whether a note has said that all skills are untrusted."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and _UNTRUSTED in ctx.meta


def findings_of(skills: "Satchel") -> tuple[Finding, ...]:
    """Return the findings, but not one that a note about trust has said already."""
    if not _is_untrusted():
        return skills.findings
    return tuple(item for item in skills.findings if item.code != NoSkillsError.code)


def print_findings(skills: "Satchel", codes: Collection[str]) -> None:
    """Print the findings of these codes on standard error, at most ten of each.

    A code with a severity in front, as ``error limit-exceeded``, is for that one alone.
    """
    from satchel.runtime import findings_of_sync

    findings = findings_of_sync(skills)
    if _is_untrusted():
        codes = set(codes) - {NoSkillsError.code}
    places: dict[str, list[int]] = {}
    for at, kind in enumerate(kinds_of(findings)):
        if not {kind, code := kind.partition(" ")[2]}.isdisjoint(codes):
            places.setdefault(code, []).append(at)
    for code, alike in places.items():
        for finding in [findings[at] for at in alike[:_MOST_OF_A_CODE]]:
            echo_error(str(finding))
            if code == DuplicateSkillError.code:
                echo_error(f"    fix: {finding.fix}")
        if len(alike) > _MOST_OF_A_CODE:
            rest = len(alike) - _MOST_OF_A_CODE
            echo_error(f"and {rest:,} more {code}: see {line_about('doctor')}")


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
