"""One run of ``satchel check``: what is checked, what is printed and written."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import join
from typing import cast

import click

from satchel.cli import (
    DEFAULT_WIDTH,
    NoAnswerError,
    code_link,
    coloured,
    echo,
    echo_error,
    on_terminal,
    progress,
    read_settings,
    width,
)
from satchel.config import Config, load_config
from satchel.model import FailOn, Limits
from satchel.products import import_product
from satchel.skill_md import Profile
from satchel.sources import count_packs, usual_folders
from satchel.text import plural, safe_in_log
from satchel_lab.checking import (
    Baseline,
    check,
    read_baseline,
    write_fixes,
)
from satchel_lab.lint import (
    CheckReport,
    Format,
    LintSettings,
    TextOptions,
    line_reader,
    render_report,
    render_statistics,
    settings_of,
)


def _no_pack(places: Iterable[str], depth: int) -> click.ClickException:
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


def _in_code(packs: Iterable[str]) -> tuple[str, ...]:
    """Return what names something in a module."""
    return tuple(filter(is_in_code, packs))


@dataclass(frozen=True, kw_only=True)
class CheckRun:
    """One run with the options of the command; `run` does it."""

    packs: tuple[str, ...]
    profile: Profile | None
    style: Format
    also: tuple[tuple[Format, str], ...]
    fail_on: FailOn | None
    strict: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    config: str | None
    baseline: str | None
    loaders: str | None
    library: bool
    windows: tuple[int, ...]
    since: str | None
    fix: bool
    diff: bool
    changed_files: bool
    statistics: bool

    def run(self) -> int:
        """Check, print, write; return the exit status."""
        self._refuse_mixed_options()
        limits = self._settings.limits
        baseline = read_baseline(self.baseline) if self.baseline else None
        packs = self.packs
        # A hook that names no changed file checks nothing, and not the whole project.
        if not packs and not self.changed_files:
            packs = _project_packs(self._file.skills, limits)
        if self.loaders is not None and self.library:
            return self._list(packs, self.loaders)
        if self.loaders is not None:
            return self._predict(packs, self.loaders, baseline)
        with progress("checking packs"):
            report = self._report(packs)
        if self.fix or self.diff:
            self._show_diff(report)
        # --diff shows what --fix would write, and writes nothing.
        if self.fix and not self.diff and report.fixes:
            report = self._write_fixes(packs, report)
        if baseline is not None:
            report = self._subtract(baseline, report)
        # A file, or the log of a CI system, has whole lines: COLUMNS is not for it.
        columns = width() if on_terminal() else None
        command = self._fix_command()
        view = TextOptions(coloured(), columns, line_reader(), code_link, command)
        echo(
            render_statistics(report, view)
            if self.statistics
            else render_report(report, self.style, view)
        )
        view = TextOptions(fix_command=command)
        for style, file in self.also:
            _save(render_report(report, style, view), file)
        return self._status(report, packs)

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

    def _refuse_mixed_options(self) -> None:
        changes = self.fix or self.diff
        if self.since is not None and changes:
            raise click.UsageError("--fix changes whole packs; run it without --since")
        if self.statistics and (self.style != "text" or self.loaders is not None):
            raise click.UsageError("--statistics goes without --format and --for")
        if self.library and (self.loaders is None or self.baseline):
            raise click.UsageError("--library goes with --for, without --baseline")
        if self.windows and not self.library:
            raise click.UsageError("--window goes with --library")
        if self.strict and self.fail_on not in (None, "warning"):
            detail = f"--strict means --fail-on warning, not {self.fail_on}"
            raise click.UsageError(detail)
        formats = (self.style, *(style for style, _ in self.also))
        if "html" in formats and self.loaders is None:
            raise click.UsageError("html is a format of --for; add --for all")
        without = "goes without --since, --fix and --diff"
        if self.since is not None or changes:
            if self.loaders is not None:
                raise click.UsageError(f"--for {without}")
            if _in_code(self.packs):
                raise click.UsageError(f"MODULE:NAME {without}")

    @cached_property
    def _file(self) -> Config:
        """What the configuration file says; the defaults where there is none."""
        if self.config is None:
            return read_settings()
        return Config() if self.config == "none" else load_config(Path(self.config))

    @cached_property
    def _settings(self) -> LintSettings:
        """What the command line says, then what the configuration file says."""
        file = self._file
        return settings_of(
            file.lint,
            file.path,
            limits=file.limits,
            profile=self.profile,
            fail_on="warning" if self.strict else self.fail_on,
            select=self.select,
            ignore=self.ignore,
        )

    def _report(self, packs: tuple[str, ...]) -> CheckReport:
        in_code, settings = _in_code(packs), self._settings
        if in_code:
            if len(in_code) < len(packs):
                detail = "check MODULE:NAME by itself, and folders by themselves"
                raise click.UsageError(detail)
            earlier = import_product("satchel_compat", "check MODULE:NAME")
            skills = (
                skill for name in in_code for skill in earlier.import_registered(name)
            )
            return cast("CheckReport", earlier.check_registered(skills, settings))
        skip = self.changed_files
        if self.since is not None:
            from satchel_lab.checking import check_since

            return check_since(packs, self.since, settings=settings, skip_others=skip)
        return check(packs, settings=settings, skip_others=skip)

    def _predict(
        self, packs: tuple[str, ...], loaders: str, baseline: Baseline | None
    ) -> int:
        """Print how other loaders will see the packs, and return the status."""
        from satchel_lab.commands._prediction import predict_packs, render_prediction

        with progress("checking packs"):
            prediction = predict_packs(
                packs, loaders, self._settings, skip_others=self.changed_files
            )
        if baseline is not None:
            report = self._subtract(baseline, prediction.report)
            prediction = replace(prediction, report=report)
        echo(render_prediction(prediction, self.style))
        for style, file in self.also:
            _save(click.unstyle(render_prediction(prediction, style)), file)
        return self._status(prediction.report, packs)

    def _list(self, packs: tuple[str, ...], loaders: str) -> int:
        """Print what clients show of the whole library, and return the status."""
        from satchel_lab.checking import predict_library_listing
        from satchel_lab.clients import WINDOWS
        from satchel_lab.commands._listing import FORMATS, is_all_listed, render_listing

        styles = (self.style, *(style for style, _ in self.also))
        if not FORMATS.issuperset(styles):
            detail = f"--library has the formats {', '.join(sorted(FORMATS))}"
            raise click.UsageError(detail)
        names = [name.strip() for name in loaders.split(",") if name.strip()]
        windows = self.windows or tuple(WINDOWS.values())
        with progress("checking packs"):
            library = predict_library_listing(
                packs, names, windows, skip_others=self.changed_files
            )
        if not (library.packs or self.changed_files):
            raise _no_pack(packs, self._settings.limits.scan_depth)
        echo(render_listing(library, self.style, width() or DEFAULT_WIDTH))
        for style, file in self.also:
            text = render_listing(library, style, DEFAULT_WIDTH)
            _save(click.unstyle(text), file)
        fail_on = self._settings.fail_on
        is_fine = is_all_listed(library, whole=fail_on != "error")
        return 0 if is_fine or fail_on == "never" else 1

    def _subtract(self, baseline: Baseline, report: CheckReport) -> CheckReport:
        """Return the report without the findings of the baseline; warn if none fits."""
        rest = baseline.subtract(report)
        count = baseline.known.total()
        if count and not rest.known:
            path = "the baseline" if self.loaders else self.baseline
            echo_error(
                f"{path}: none of its {count:,} findings is here; if it is of another "
                "folder, write it again with --format json"
            )
        return rest

    def _show_diff(self, report: CheckReport) -> None:
        """Print the fixes: before a report for people, else on standard error."""
        is_text = self.style == "text"
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

    def _write_fixes(self, packs: tuple[str, ...], report: CheckReport) -> CheckReport:
        """Write the fixes, and return the report on what is left."""
        failed = list(write_fixes(report.fixes))
        for error in failed:
            echo_error(str(error))
        after = self._report(packs)
        files = plural(len(report.fixes) - len(failed), "file")
        findings = plural(report.fixable - after.fixable, "finding")
        echo_error(f"{findings} fixed in {files}")
        return after

    def _status(self, report: CheckReport, packs: tuple[str, ...]) -> int:
        """Return 0 or 1; to have checked nothing is neither.

        A change that removes the last pack leaves none, and a hook may name no file
        of a pack.
        """
        settings = self._settings
        removed = report.change is not None and report.change.removed
        if report.fails("error") and settings.fail_on != "never":
            return 1  # the report says why a folder is no pack
        if not (report.packs or self.changed_files or removed):
            raise _no_pack(packs, settings.limits.scan_depth)
        return 1 if report.fails(settings.fail_on) else 0


def _save(text: str, file: str) -> None:
    Path(file).write_text(f"{text}\n", "utf-8", errors="backslashreplace")


def _project_packs(named: Iterable[str], limits: Limits) -> tuple[str, ...]:
    """Return the folders in which a project has its skills, and print them."""
    folders = usual_folders(named, limits=limits)
    if not folders:
        places = filter(os.path.exists, named)  # and no addresses
        raise _no_pack((*places, os.curdir), limits.scan_depth)
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
