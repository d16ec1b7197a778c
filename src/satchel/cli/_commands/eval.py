"""``satchel eval``."""

from dataclasses import fields
from typing import Any

import click

from satchel.cli._errors import errors_are_status_2
from satchel.cli._paths import alias_option, with_alias
from satchel.cli._trials import TrialCommand, trial_options

FORMATS = ("text", "json", "junit", "markdown", "html")
FAIL_ON = ("error", "warning", "note", "never")


def _format_files(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    pairs = tuple(
        (style, file) for style, _, file in (v.partition("=") for v in values)
    )
    if any(style not in FORMATS or not file for style, file in pairs):
        names = ", ".join(FORMATS)
        detail = f"expected FORMAT=FILE, where FORMAT is one of {names}"
        raise click.BadParameter(detail, ctx, param)
    return pairs


@click.command("eval")
@click.argument("paths", nargs=-1, metavar="[PATH]...", callback=with_alias)
@alias_option("The same as PATH; repeatable.")
@click.option(
    "-k",
    "k",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="Up to which rank a skill counts as found.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the report is printed.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--also",
    metavar="FORMAT=FILE",
    multiple=True,
    callback=_format_files,
    help="Write the report into a file as well; repeatable.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Fail where fewer queries find their skill first, as .8 of them.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="error",
    show_default=True,
    help="The least severity of a finding that fails.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    type=click.Path(),
    help="Compare with this report of --format json; what broke fails.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Compare with the packs of a git revision; what broke fails.",
)
@click.option(
    "--suggest", is_flag=True, help="Propose descriptions for skills that are hidden."
)
@click.option(
    "--add", "query", metavar="QUERY", help="Write a case for --skill, and run none."
)
@click.option("--skill", metavar="NAME", help="The skill that --add is about.")
@click.option(
    "--not", "should_not", is_flag=True, help="With --add: it should not get the query."
)
@trial_options
def command(paths: tuple[str, ...], as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
    """Test which skill each query of the eval files finds, without a model.

    Eval files are read from the packs (evals/evals.json, trigger-evals.json and what
    else authors write, in JSON, JSON lines, YAML or CSV), and from folders and files
    that are named. A PATH is a pack, a folder of packs, or an eval file or a folder of
    them. Without a PATH it is where projects keep skills, and the folders evals and
    tests. Skills that another one hides are found without any eval file, too.

    It ranks words: the same files give the same report. See docs/explanation/evals.md
    for how far a model agrees. With --model, a model is asked, and only --json and
    --fail-under (the share of queries that pass; default: all) count of the rest.

    Status: 0 clean, 1 failed, 2 could not evaluate.

    \b
    Examples:
      satchel eval
      satchel eval ./skills ./evals --fail-under .8
      satchel eval ./skills --since main --format markdown
      satchel eval ./skills --format json > evals.json
      satchel eval ./skills --baseline evals.json --also junit=evals.xml
      satchel eval ./skills --suggest
      satchel eval ./skills --model gpt-5-mini --styles lean --max-calls 200
      satchel eval --add "rotate my key" --skill api-keys ./skills
    """
    from satchel.cli._eval import EvalCommand

    if as_json:
        options["style"] = "json"
    names = [field.name for field in fields(TrialCommand)]
    trials = TrialCommand(**{name: options.pop(name) for name in names})
    with errors_are_status_2():
        return EvalCommand(paths=paths, trials=trials, **options).run()
