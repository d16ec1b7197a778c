"""What a command prints when something goes wrong, and its exit status."""

import os
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from typing import Final

import click

from satchel import errors
from satchel.cli._terminal import echo_always, echo_problem, one_line
from satchel.text import plural

# Errors of how the command was called; any other `SkillError` is status 1.
_STATUS_2: Final = (
    errors.ConfigError,
    errors.ExtraMissingError,
    errors.InvalidRoleError,
    errors.MissingPathError,
    errors.NoSources,
    errors.NotWrittenError,
    OSError,
    errors.ProductMissingError,
)


def report_error(error: BaseException) -> int:
    """Print what went wrong, and return the exit status; the only place for both."""
    # Subclasses come before OSError and SkillError: the first match wins.
    match error:
        case click.ClickException():
            echo_problem(_lower(error.format_message()))
            if isinstance(error, click.UsageError) and error.ctx is not None:
                click.echo(error.ctx.get_usage(), err=True)
                echo_always(f"Try: {error.ctx.command_path} --help")
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            # 128 and SIGINT (2), as shells report it.
            return 130
        case BrokenPipeError():
            _discard_output()
            return 1
        case errors.RefusedPackError() | errors.RefusedReleaseError():
            for reason in error.reasons:
                echo_always(reason)
            echo_problem(_refusal(error))
            return 1
        case errors.SkillError() | OSError():
            echo_problem(one_line(_sentence(error)))
            return 2 if isinstance(error, _STATUS_2) else 1
        case Exception():
            echo_problem(one_line(_bug(error)))
            return 2
        case _:
            raise error


@contextmanager
def errors_are_status_2() -> Generator[None]:
    """Let every error end the command with status 2: its status 1 is an answer."""
    try:
        yield
    except BrokenPipeError:  # the reader of the answer has gone: that is no error
        raise
    except FileNotFoundError as error:
        raise NoAnswerError(f"{error.filename}: no such file or folder") from error
    except (errors.SkillError, OSError) as error:
        raise NoAnswerError(_sentence(error)) from error


class NoAnswerError(click.ClickException):
    """Ends a command with status 2, where its status 1 is an answer."""

    exit_code = 2

    def format_message(self) -> str:
        """Return one line that gives no command to a CI system that reads its log."""
        from satchel.text import safe_in_log

        return safe_in_log(self.message)


def _lower(text: str) -> str:
    """Return a message as what follows a colon; names such as PATH stay as they are."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _sentence(error: errors.SkillError | OSError) -> str:
    """Return the message; for an error of the system, the file it is about first."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        is_full = error.errno in {ENOSPC, EDQUOT}
        advice = "; make room there, and type it again" * is_full
        place = errors.echo(os.fsdecode(error.filename), errors.MAX_SHOWN)
        return f"{place}: {error.strerror}{advice}"
    return str(error)


def _refusal(error: errors.RefusedPackError | errors.RefusedReleaseError) -> str:
    if isinstance(error, errors.RefusedPackError):
        # In the profile that refused it, which need not be that of the pack.
        check = shlex.join(("satchel", "check", "--profile", "spec", error.path))
        return f"{error.path} was not packed; {check} shows what to do"
    count = plural(len(error.reasons), "reason")
    return f"nothing was released, for {count}; see satchel explain release-refused"


def _bug(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "?")
        where = f" at {module}:{trace.tb_lineno}"
    return (
        f"a fault of satchel's own{where}: {type(error).__name__}: {error}; "
        "please report it with this line"
    )


def _discard_output() -> None:
    """Let what is not flushed yet go nowhere: the reader of our output is gone."""
    # Python flushes standard output again at exit, which would fail with a traceback.
    with suppress(OSError, ValueError):  # a test that captures output has no file
        out = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), out)
