"""The legacy template of a role: conditions, commands, placeholders, in this order."""

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from satchel.errors import (
    LimitExceededError,
    PackFileError,
    ReferenceNotFoundError,
    TemplateError,
    TemplateNotFoundError,
)
from satchel.files import read_confined
from satchel.model import DEFAULT_LIMITS, Finding, Limits
from satchel.text import decode, is_text
from satchel_compat._role import check_role
from satchel_lab.authoring import COMMAND, SYSTEM_PROMPT, choose_branches, fill, to_text


def render_template(
    template: str,
    values: Mapping[str, object],
    *,
    run: Callable[[str], str] | None = None,
) -> str:
    """Return the rendered template, in linear time.

    1. ``{{#IF VAR}}...{{/IF}}`` stays if ``VAR`` has a value that is not empty, and
       ``{{#IF_NOT VAR}}...{{/IF}}`` if it has none. Blocks do not nest: the first end
       closes a block. ``{{/IF_NOT}}`` ends the second kind too.
    2. Each command, an exclamation mark and text in backticks, becomes the result of
       ``run``; without ``run`` it stays.
    3. ``{{VAR}}`` becomes its value; a name without a value stays.

    Args:
        template: The text.
        values: By name; None is an empty value, and other values are converted by
            ``str``. In a condition False is empty too.
        run: Called with each command of the template, in order; never with a value.
    """
    text = resolve_conditions(template, values)
    # Commands before values: text of a user in a value never becomes a command.
    if run is not None:
        text = COMMAND.sub(lambda match: run(match[1].strip()), text)
    return fill(text, values)


def resolve_conditions(template: str, values: Mapping[str, object]) -> str:
    """Return the template without its conditions: the first step."""

    def is_true(name: str) -> bool:
        value = values.get(name)
        return value is not False and bool(to_text(value))

    return choose_branches(template, is_true)


def commands_in(text: str) -> tuple[str, ...]:
    """Return the commands that the second step would run, in order."""
    return tuple(match[1].strip() for match in COMMAND.finditer(text))


# Seconds that a command may take, as in the earlier system.
TIMEOUT_S: Final = 10.0
# A command that prints more has failed; a SKILL.md may not be larger either.
MAX_OUTPUT_BYTES: Final = 1024 * 1024


def run_command(command: str, *, timeout_s: float = TIMEOUT_S) -> str:
    """Return the output of a command, or a text that says how it failed.

    No shell is started: pipes, variables and wildcards are plain words. If it takes too
    long, it is killed with everything that it started.
    """
    try:
        words = shlex.split(command)
        process = subprocess.Popen(  # the template's own words, by the caller's leave
            words or [""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A session of its own: one killpg then reaches everything that the command
            # started.
            start_new_session=True,
        )
    except (OSError, ValueError):
        return f"[shell command error: {command}]"
    reader = _OutputReader(process.stdout)
    end = time.monotonic() + timeout_s
    try:
        reader.start()
        reader.join(timeout_s)
        with suppress(subprocess.TimeoutExpired):
            # A command may close its output and go on: it gets what is left of the
            # time.
            if not (reader.is_alive() or reader.over):
                process.wait(max(end - time.monotonic(), 0))
        late = process.returncode is None and not reader.over
    finally:
        _end_process(process)  # an interrupt does not reach it in its own session
    if late:
        return f"[shell command timed out: {command}]"
    if process.returncode or reader.over:
        return f"[shell command failed: {command}]"
    return _with_line_feeds(decode(reader.data).text).strip()


def _with_line_feeds(text: str) -> str:
    """Return a text without a byte order mark, whose lines end in a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


class _OutputReader(threading.Thread):
    """Reads a pipe, in a thread: a grandchild may keep it open for ever."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        super().__init__(name="satchel template command", daemon=True)
        self._pipe = pipe
        self.data = b""

    @property
    def over(self) -> bool:
        return len(self.data) > MAX_OUTPUT_BYTES

    def run(self) -> None:
        if self._pipe is not None:
            with self._pipe as pipe:
                # One byte more than allowed is enough to see that there was too much.
                self.data = pipe.read(MAX_OUTPUT_BYTES + 1)


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and everything that it started, unless it has ended."""
    # Before `wait` nobody else can have its process id.
    if process.returncode is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


@dataclass(frozen=True, slots=True)
class Template:
    """A template, or what was rendered of it: its text, and findings."""

    path: str
    text: str
    findings: tuple[Finding, ...] = ()


def read_template(
    roles: str, role: str, *, shown: str = "", limits: Limits = DEFAULT_LIMITS
) -> Template:
    """Read the template of a role, whose name the caller has checked.

    No link below ``roles`` is followed. ``shown`` is the start of paths in messages;
    empty is ``roles``.
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
        raise TemplateError(path, "it is not text")
    decoded = decode(data)
    findings = tuple(replace(finding, path=path) for finding in decoded.findings)
    return Template(path, _with_line_feeds(decoded.text), findings)


def render_legacy(
    template: Template, context: Mapping[str, object], *, shell: bool
) -> Template:
    """Render a template; without ``shell`` its commands stay, which is a finding."""
    run = run_command if shell else None
    text = render_template(template.text, context, run=run)
    findings = template.findings
    commands = commands_in(resolve_conditions(template.text, context))
    if commands and not shell:
        first, *others = commands
        more = f" and {len(others)} more" if others else ""
        path = template.path
        findings += (Finding.of("template-command", path, first=first, more=more),)
    return replace(template, text=text, findings=findings)


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
        context: Values of placeholders, see `satchel_compat.render_template`.
        templates_dir: The folder ``roles``.
        shell: Whether to run commands in the template; by default they stay as text.

    Raises:
        InvalidRoleError: ``role`` is not the name of a role.
        TemplateNotFoundError: It has no template.
        TemplateError: The template cannot be used.
    """
    check_role(role)
    template = read_template(str(templates_dir), role)
    return render_legacy(template, context, shell=shell).text
