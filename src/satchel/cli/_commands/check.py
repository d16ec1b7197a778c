"""``satchel check``."""

import os
from typing import TYPE_CHECKING, Any

import click

from satchel.cli._errors import errors_are_status_2
from satchel.cli._options import named_paths

if TYPE_CHECKING:
    from satchel.checking import Baseline
    from satchel.lint import CheckReport, Format, LintSettings
    from satchel.model import FailOn
    from satchel.skill_md import Profile


FORMATS = ("text", "json", "sarif", "github", "markdown")
PROFILES = ("dialect", "strict", "spec", "lenient", "auto")
FAIL_ON = ("error", "warning", "note", "never")


def _reports(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    """Return each FORMAT=FILE as a pair."""
    pairs = tuple(
        (style, file) for style, _, file in (v.partition("=") for v in values)
    )
    if any(style not in FORMATS or not file for style, file in pairs):
        names = ", ".join(FORMATS)
        raise click.BadParameter(f"want FORMAT=FILE, FORMAT one of {names}", ctx, param)
    return pairs


def _listing(
    ctx: click.Context, param: click.Parameter, given: str | None
) -> str | None:
    """Print what ``--for`` knows, where it is asked for nothing else."""
    from satchel.cli._prediction import LISTING

    if given is not None and not given.strip(" ,"):
        detail = "want names with commas between them, or list"
        raise click.BadParameter(detail, ctx, param)
    if given in LISTING:
        from satchel.cli._prediction import list_loaders

        list_loaders()
        ctx.exit()
    return given


class _Check(click.Command):
    """A command that hooks give names of files to, behind its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a file that is named like an option: it would be taken for one."""
        if "--changed-files" in args:
            options = args[: args.index("--")] if "--" in args else args
            for option in options:
                if option.startswith("-") and os.path.lexists(option):
                    detail = (
                        f"{option!r} is a file here, and an option: rename the file"
                    )
                    raise click.UsageError(detail, ctx)
        return super().parse_args(ctx, args)


@click.command("check", cls=_Check)
@click.argument("packs", nargs=-1, metavar="[PATH]...", callback=named_paths)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="What is accepted: spec is agentskills.io, strict adds declared files, "
    "dialect is that of the two in which each pack is written, lenient and auto take "
    "what most clients take.  [default: dialect]",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option(
    "--also",
    metavar="FORMAT=FILE",
    multiple=True,
    callback=_reports,
    help="Write the report into a file as well; repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help="The least severity that fails.  [default: error]",
)
@click.option("--strict", is_flag=True, help="The same as --fail-on warning.")
@click.option(
    "--select",
    metavar="CODE,...",
    multiple=True,
    help="Only these codes; repeatable.",
)
@click.option(
    "--ignore",
    metavar="CODE,...",
    multiple=True,
    help="All but these codes; repeatable.",
)
@click.option(
    "--config",
    metavar="FILE|none",
    help="Whose table lint counts.  [default: the nearest satchel.toml]",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    help="Leave out the findings of this file, written by --format json.",
)
@click.option(
    "--for",
    "wanted",
    metavar="NAME,...|all|list",
    callback=_listing,
    is_eager=True,
    help="Tell instead how these clients and frameworks will see the packs.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Judge what changed since a git revision, beside the whole library.",
)
@click.option("--fix", is_flag=True, help="Mend what is safe to mend; show the diff.")
@click.option("--diff", is_flag=True, help="Show what --fix would do, and do nothing.")
@click.option(
    "--changed-files",
    is_flag=True,
    help="Pass by a PATH that is a file in no pack, as hooks name some.",
)
def command(packs: tuple[str, ...], **options: Any) -> int:  # noqa: ANN401 - by click
    """Check packs: each finding with its place, its code, and what to do.

    PATH is a pack, a file in one, a folder of packs, or a .skill archive. Folders of
    clients in it, such as .claude/skills, are searched too. Without a PATH it is where
    projects keep skills: ./skills, .agents/skills, .claude/skills, .github/skills and
    so on, and what satchel.toml names.

    As MODULE:NAME it is a registry, descriptors, or a function that gives some, for
    skills that are registered in code: the module is imported.

    Status: 0 clean, 1 findings that fail, 2 could not check, or found no pack.

    \b
    Examples:
      satchel check
      satchel check ./skills
      satchel check ./skills --profile strict --strict
      satchel check ./skills --fix
      satchel check ./skills --since main --format markdown
      satchel check ./skills --ignore long-description,missing-h1
      satchel check ./skills --format json > known.json
      satchel check ./skills --baseline known.json
      satchel check my_skills.bootstrap:REGISTRY
      satchel check ./skills --for claude-code,codex,crewai
      satchel check ./skills --format github --also sarif=satchel.sarif
    """
    with errors_are_status_2():
        return _run(packs, **options)


def _run(  # noqa: PLR0913 - the options of the command, by their names
    packs: tuple[str, ...],
    *,
    profile: "Profile | None",
    style: "Format",
    also: tuple[tuple["Format", str], ...],
    fail_on: "FailOn | None",
    strict: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    config: str | None,
    baseline: str | None,
    wanted: str | None,
    since: str | None,
    fix: bool,
    diff: bool,
    changed_files: bool,
) -> int:
    if since is not None and (fix or diff):
        detail = "--fix mends whole packs: run it without --since"
        raise click.UsageError(detail)
    if strict and fail_on not in (None, "warning"):
        raise click.UsageError(f"--strict is --fail-on warning, not {fail_on}")
    settings = _settings(
        config, profile, "warning" if strict else fail_on, select, ignore
    )
    known_findings = _read_baseline(baseline)
    if not packs and not changed_files:
        from satchel.cli._check_targets import project_places

        packs = project_places(config, settings.limits)
    if wanted is not None:
        if since is not None or fix or diff:
            raise click.UsageError("--for goes without --since, --fix and --diff")
        return _predict(
            packs,
            wanted,
            settings,
            known_findings,
            (style, also),
            skip_others=changed_files,
        )
    _in_code(packs, other_options=since is not None or fix or diff)
    report = _report(packs, since, settings, skip_others=changed_files)
    if fix or diff:
        _show_diff(report, style)
    if fix and not diff:
        report = _fixed(packs, report, settings, skip_others=changed_files)
    if known_findings is not None:
        report = _without_baseline(known_findings, report, baseline)
    _print(report, style)
    for kind, file in also:
        _write(report, kind, file)
    return _status(report, settings, packs, skip_others=changed_files)


def _status(
    report: "CheckReport",
    settings: "LintSettings",
    packs: tuple[str, ...],
    *,
    skip_others: bool = False,
) -> int:
    """Return 0 or 1; to have checked nothing is neither.

    A change that removes the last pack leaves none, and a hook may name no file of one.
    """
    removed = report.change is not None and report.change.removed
    if report.fails("error") and settings.fail_on != "never":
        return 1  # what keeps a pack from being one is said
    if not (report.packs or skip_others or removed):
        from satchel.cli._check_targets import NoPackError

        raise NoPackError(packs, settings.limits.scan_depth)
    return 1 if report.fails(settings.fail_on) else 0


def _predict(  # noqa: PLR0913 - the options of the command, one by one
    packs: tuple[str, ...],
    wanted: str,
    settings: "LintSettings",
    baseline: "Baseline | None",
    styles: tuple["Format", tuple[tuple["Format", str], ...]],
    *,
    skip_others: bool,
) -> int:
    """Print what becomes of the packs elsewhere, and return the status."""
    from dataclasses import replace

    from satchel.cli._prediction import predict_packs, render_prediction
    from satchel.cli._terminal import echo

    prediction = predict_packs(packs, wanted, settings, skip_others=skip_others)
    if baseline is not None:
        prediction = replace(
            prediction, report=_without_baseline(baseline, prediction.report)
        )
    style, also = styles
    echo(render_prediction(prediction, style))
    for kind, file in also:
        _save(render_prediction(prediction, kind), file)
    return _status(prediction.report, settings, packs, skip_others=skip_others)


def _settings(
    config: str | None,
    profile: "Profile | None",
    fail_on: "FailOn | None",
    select: tuple[str, ...],
    ignore: tuple[str, ...],
) -> "LintSettings":
    """Return what the command line says, and what the configuration file says."""
    from satchel.cli._options import find_settings
    from satchel.config import Config, load_config
    from satchel.lint import settings_of

    path = find_settings() if config is None else config
    read = Config()
    if path is not None and path != "none":
        from pathlib import Path

        read = load_config(Path(path))
    return settings_of(
        read.lint,
        read.path,
        limits=read.limits,
        profile=profile,
        fail_on=fail_on,
        select=select,
        ignore=ignore,
    )


def _without_baseline(
    baseline: "Baseline", report: "CheckReport", path: str | None = None
) -> "CheckReport":
    """Return the report without what is known; say so where that is nothing."""
    from satchel.cli._terminal import echo_error

    left = baseline.subtract(report)
    count = baseline.known.total()
    if count and not left.known:
        echo_error(
            f"{path or 'the baseline'}: none of its {count:,} findings is here; if it "
            "is of another folder, write it again with --format json"
        )
    return left


def _read_baseline(path: str | None) -> "Baseline | None":
    from satchel.checking import read_baseline

    return read_baseline(path) if path else None


def _in_code(packs: tuple[str, ...], *, other_options: bool = False) -> tuple[str, ...]:
    """Return what is named as ``MODULE:NAME``, which is all or nothing of a check.

    ``beside`` tells of options that only folders have.
    """
    from satchel.compat import is_in_code

    named = tuple(filter(is_in_code, packs))
    if named and len(named) < len(packs):
        raise click.UsageError("check MODULE:NAME by itself, and folders by themselves")
    if named and other_options:
        raise click.UsageError("MODULE:NAME goes without --since, --fix and --diff")
    return named


def _report_in_code(named: tuple[str, ...], settings: "LintSettings") -> "CheckReport":
    from satchel.compat import check_registered, import_registered

    descriptors = (
        descriptor for what in named for descriptor in import_registered(what)
    )
    return check_registered(descriptors, settings)


def _report(
    packs: tuple[str, ...],
    since: str | None,
    settings: "LintSettings",
    *,
    skip_others: bool,
) -> "CheckReport":
    if in_code := _in_code(packs):
        return _report_in_code(in_code, settings)
    if since is not None:
        from satchel.checking import check_since

        return check_since(packs, since, settings=settings, skip_others=skip_others)
    from satchel.checking import check

    return check(packs, settings=settings, skip_others=skip_others)


def _fixed(
    packs: tuple[str, ...],
    report: "CheckReport",
    settings: "LintSettings",
    *,
    skip_others: bool,
) -> "CheckReport":
    """Write what can be mended, and return what is left."""
    from satchel.checking import write_fixes
    from satchel.cli._terminal import echo_error
    from satchel.text import plural

    if not report.fixes:
        return report
    failed = list(write_fixes(report.fixes))
    for error in failed:
        echo_error(str(error))
    after = _report(packs, None, settings, skip_others=skip_others)
    files = plural(len(report.fixes) - len(failed), "file")
    findings = plural(report.fixable - after.fixable, "finding")
    echo_error(f"{findings} fixed in {files}")
    return after


def _show_diff(report: "CheckReport", style: "Format") -> None:
    """Print what is mended: before the report for people, else beside it."""
    from satchel.cli._terminal import echo, echo_error
    from satchel.lint import safe_in_log

    show = echo if style == "text" else echo_error
    # Behind a sign of ours, no line is a command to whoever reads the log.
    margin = "| " if style == "github" else ""
    for fix in report.fixes:
        for line in fix.diff.removesuffix("\n").split("\n"):
            text = f"{margin}{safe_in_log(line.replace(chr(9), '    '))}"
            show(_coloured(text) if style == "text" else text)
    if report.fixes and style == "text":
        echo()


def _coloured(line: str) -> str:
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return click.style(line, fg=colour) if colour else line


def _print(report: "CheckReport", style: "Format") -> None:
    from satchel.cli._terminal import echo, on_terminal, width
    from satchel.lint import TextOptions, line_reader, render_report

    view = TextOptions(on_terminal(), width(), line_reader())
    echo(render_report(report, style, view))


def _write(report: "CheckReport", style: "Format", file: str) -> None:
    from satchel.lint import render_report

    _save(render_report(report, style), file)


def _save(text: str, file: str) -> None:
    from pathlib import Path

    Path(file).write_text(f"{text}\n", "utf-8", errors="backslashreplace")
