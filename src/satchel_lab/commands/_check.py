"""One run of ``satchel check``, and what one of ``satchel predict`` is made of."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import join
from typing import cast

import click

from satchel.cli import (
    NoAnswerError,
    echo,
    echo_error,
    on_terminal,
    progress,
    read_settings,
    width,
)
from satchel.config import Config, load_config
from satchel.model import DEFAULT_LINT, FailOn, Limits
from satchel.products import import_product
from satchel.skill_md import Profile
from satchel.sources import count_packs, usual_folders
from satchel.text import plural, safe_in_log
from satchel_lab.checking import Baseline, check, read_baseline, write_fixes
from satchel_lab.lint import (
    CheckReport,
    Format,
    LintSettings,
    TextOptions,
    line_reader,
    render_report,
    settings_of,
)


def no_pack(places: Iterable[str], depth: int) -> click.ClickException:
    """Return the error that says in which places, how deep, packs were looked for."""
    shown = ("this folder" if path == os.curdir else path for path in places)
    looked = ", ".join(shown) or "no place at all"
    return NoAnswerError(
        f"no pack was found: looked in {looked}, {depth} folders deep, and in "
        "folders of clients there, such as .claude/skills. A pack is a folder with "
        "a SKILL.md: name its folder, or start one with satchel new NAME"
    )


def is_in_code(what: str) -> bool:
    """Return whether a text names something in a module, as ``MODULE:NAME``."""
    module, colon, name = what.partition(":")
    parts = (*module.split("."), *name.split("."))
    plain = all(part.isidentifier() for part in parts)
    return bool(colon) and plain and not os.path.exists(what)  # noqa: PTH110


@dataclass(frozen=True, kw_only=True)
class PackRun:
    """What the runs of both commands have: packs, how they are judged and shown."""

    packs: tuple[str, ...]
    style: str
    also: tuple[tuple[str, str], ...]
    fail_on: FailOn | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    config: str | None
    baseline: str | None
    changed_files: bool
    profile: Profile | None = None

    @cached_property
    def _file(self) -> Config:
        """What the configuration file says; the defaults where there is none."""
        if self.config is None:
            return read_settings()
        return Config() if self.config == "none" else load_config(Path(self.config))

    @cached_property
    def settings(self) -> LintSettings:
        """What the command line says, then what the configuration file says."""
        file = self._file
        return settings_of(
            file.lint or DEFAULT_LINT,
            file.path,
            limits=file.limits,
            profile=self.profile,
            fail_on=self.fail_on,
            select=self.select,
            ignore=self.ignore,
        )

    @cached_property
    def known(self) -> Baseline | None:
        """What the baseline says, if there is one."""
        return read_baseline(self.baseline) if self.baseline else None

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The packs, or where the project has some if none is named."""
        # A hook that names no changed file checks nothing, and not the whole project.
        if self.packs or self.changed_files:
            return self.packs
        return _project_packs(self._file.skills, self.settings.limits)

    def without_known(self, report: CheckReport) -> CheckReport:
        """Return the report without the findings of the baseline; warn if none fits."""
        if self.known is None:
            return report
        rest = self.known.subtract(report)
        count = self.known.known.total()
        if count and not rest.known:
            echo_error(
                f"{self.baseline}: none of its {count:,} findings is here; if it is of "
                "another folder, write it again with --format json"
            )
        return rest

    def status(self, report: CheckReport) -> int:
        """Return 0 or 1; to have checked nothing is neither.

        A change that removes the last pack leaves none, and a hook may name no file
        of a pack.
        """
        settings = self.settings
        removed = report.change is not None and report.change.removed
        if report.fails("error") and settings.fail_on != "never":
            return 1  # the report says why a folder is no pack
        if not (report.packs or self.changed_files or removed):
            raise no_pack(self.paths, settings.limits.scan_depth)
        return 1 if report.fails(settings.fail_on) else 0


@dataclass(frozen=True, kw_only=True)
class CheckRun(PackRun):
    """One run with the options of ``satchel check``; `run` does it."""

    since: str | None
    fix: bool
    diff: bool

    def run(self) -> int:
        """Check, print, write; return the exit status."""
        # Read before packs are: what is wrong with a file of the user comes first.
        _ = self.settings, self.known, self.paths
        with progress("checking packs"):
            report = self._report()
        if self.fix or self.diff:
            self._show_diff(report)
        # --diff shows what --fix would write, and writes nothing.
        if self.fix and not self.diff and report.fixes:
            report = self._write_fixes(report)
        report = self.without_known(report)
        # A file, or the log of a CI system, has whole lines: COLUMNS is not for it.
        columns = width() if on_terminal() else None
        command = self._fix_command()
        view = TextOptions(_coloured(), columns, line_reader(), _code_link, command)
        echo(render_report(report, cast("Format", self.style), view))
        view = TextOptions(fix_command=command)
        for style, file in self.also:
            save(render_report(report, cast("Format", style), view), file)
        return self.status(report)

    def _fix_command(self) -> str:
        """Return the command that fixes just what this run says can be fixed."""
        options = [
            part
            for name, values in (
                ("--profile", (self.profile,)),
                ("--config", (self.config,)),
                ("--select", self.select),
                ("--ignore", self.ignore),
            )
            for value in values
            if value
            for part in (name, value)
        ]
        # After `--` no path is an option.
        if any(path.startswith("-") for path in self.packs):
            return join(["satchel", "check", *options, "--fix", "--", *self.packs])
        return join(["satchel", "check", *options, *self.packs, "--fix"])

    def _report(self) -> CheckReport:
        packs, settings, skip = self.paths, self.settings, self.changed_files
        in_code = tuple(filter(is_in_code, packs))
        if in_code:
            if len(in_code) < len(packs):
                detail = "check MODULE:NAME by itself, and folders by themselves"
                raise click.UsageError(detail)
            if self.since is not None or self.fix or self.diff:
                detail = "MODULE:NAME goes without --since, --fix and --diff"
                raise click.UsageError(detail)
            earlier = import_product("satchel_compat", "check MODULE:NAME")
            skills = (
                skill for name in in_code for skill in earlier.import_registered(name)
            )
            return cast("CheckReport", earlier.check_registered(skills, settings))
        if self.since is not None:
            from satchel_lab.checking import check_since

            return check_since(packs, self.since, settings=settings, skip_others=skip)
        return check(packs, settings=settings, skip_others=skip)

    def _show_diff(self, report: CheckReport) -> None:
        """Print the fixes: before a report for people, else on standard error."""
        is_text = self.style in ("text", "statistics")
        # After a prefix no line is a command to the CI system that reads the log.
        prefix = "| " if self.style == "github" else ""
        for fix in report.fixes:
            for line in fix.diff.removesuffix("\n").split("\n"):
                text = f"{prefix}{safe_in_log(line.replace(chr(9), '    '))}"
                if is_text:
                    colour = {"+": "green", "-": "red", "@": "cyan"}.get(text[:1])
                    echo(click.style(text, fg=colour) if colour else text)
                else:
                    echo_error(text)
        if report.fixes and is_text:
            echo()

    def _write_fixes(self, report: CheckReport) -> CheckReport:
        """Write the fixes, and return the report on what is left."""
        failed = list(write_fixes(report.fixes))
        for error in failed:
            echo_error(str(error))
        after = self._report()
        files = plural(len(report.fixes) - len(failed), "file")
        findings = plural(report.fixable - after.fixable, "finding")
        echo_error(f"{findings} fixed in {files}")
        return after


def save(text: str, file: str) -> None:
    """Write a report into a file."""
    Path(file).write_text(f"{text}\n", "utf-8", errors="backslashreplace")


def _project_packs(named: Iterable[str], limits: Limits) -> tuple[str, ...]:
    """Return the folders in which a project has its skills, and print them."""
    folders = usual_folders(named, limits=limits)
    if not folders:
        places = filter(os.path.exists, named)  # and no addresses
        raise no_pack((*places, os.curdir), limits.scan_depth)
    echo_error(f"looked in {', '.join(folders)}{_packs_elsewhere(folders, limits)}")
    return folders


def _packs_elsewhere(folders: tuple[str, ...], limits: Limits) -> str:
    """Return how many packs are in other folders of the project, as a clause."""
    if os.curdir in folders:
        return ""
    inside = [f for f in folders if not os.path.relpath(f).startswith(os.pardir)]
    inside = [folder for folder in inside if Path(folder).is_dir()]
    checked = sum(count_packs(folder, limits=limits) for folder in inside)
    more = count_packs(os.curdir, limits=limits) - checked
    if more <= 0:
        return ""
    lie = "1 more pack lies" if more == 1 else f"{more:,} more packs lie"
    return f"; {lie} elsewhere in this folder: satchel check ."


def _code_link(code: str) -> str:
    """Return a code as a link to its page on this computer; plain in a file."""
    from pathlib import Path
    from platform import node

    from satchel_lab._pages import page_file

    file = page_file(code) if on_terminal() and _coloured() else None
    if file is None or os.environ.get("TERM") in {"dumb", "linux"}:
        return code
    # A terminal opens it only where the host in the address is its own.
    address = f"file://{node()}{Path(file).as_uri().removeprefix('file://')}"
    return f"\x1b]8;;{address}\x1b\\{code}\x1b]8;;\x1b\\"


def _coloured() -> bool:
    """Tell whether output has colours: --color, else the environment, else where."""
    context = click.get_current_context(silent=True)
    if context is None or context.color is None:
        return on_terminal() and os.environ.get("TERM") != "dumb"
    return context.color
