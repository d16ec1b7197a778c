"""``satchel eval``."""

from typing import Any, get_args

import click

from satchel.cli import alias_option, errors_are_status_2, flag, with_alias
from satchel.model import SEVERITIES, Style
from satchel_lab.commands._report_options import report_options

_STYLES = get_args(Style)
_FORMATS = ("text", "json", "junit", "markdown", "html")


def _split_styles(
    ctx: click.Context, param: click.Parameter, value: str
) -> tuple[str, ...]:
    styles = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
    if not set(styles) <= set(_STYLES):
        detail = f"expected some of {', '.join(_STYLES)}, with commas between them"
        raise click.BadParameter(detail, ctx, param)
    return styles


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
@report_options(_FORMATS, "How the report is printed.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Fail where fewer queries find their skill first, as .8 of them.",
)
@click.option(
    "--fail-on",
    type=click.Choice((*SEVERITIES, "never")),
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
    "--max-queries",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Most different queries of one run; more are refused.",
)
@flag("--suggest", "Propose descriptions for skills that are hidden.")
@click.option(
    "--add", "query", metavar="QUERY", help="Write a case for --skill, and run none."
)
@click.option("--skill", metavar="NAME", help="The skill that --add is about.")
@flag("--not", "With --add: it should not get the query.", "should_not")
@click.option(
    "--model",
    metavar="NAME",
    help="Ask this model which skill it loads, instead of ranking words.",
)
@click.option(
    "--base-url",
    metavar="URL",
    default="",
    help="With --model: where it is, above /chat/completions. Default: "
    "OPENAI_BASE_URL. The key is that of OPENAI_API_KEY.",
)
@click.option(
    "--runs",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="With --model: how often each query is asked.",
)
@click.option(
    "--styles",
    default=",".join(_STYLES),
    show_default=True,
    callback=_split_styles,
    help="With --model: the styles of the tools.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(0),
    metavar="N",
    help="With --model: requests at most, those of answers in the cache included.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(0),
    metavar="N",
    help="With --model: after so many tokens no more is asked.",
)
@click.option(
    "--cache",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="With --model: the file of answers. Default: one in your state folder.",
)
def command(paths: tuple[str, ...], as_json: bool, **options: Any) -> int:  # noqa: ANN401 - by click
    """Test which skill each query of the eval files finds, without a model.

    Eval files are read from the packs (evals/evals.json, trigger-evals.json and what
    else authors write, in JSON, JSON lines, YAML or CSV), and from every folder and
    file that is named, whatever its name. A PATH is a pack, a folder of packs, or an
    eval file or a folder of them. Without a PATH it is what satchel.toml names, else
    where projects keep skills, and the folders evals and tests. The report says which
    files were passed over, and why. Skills that another one hides are found without any
    eval file, too.

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
    from satchel_lab.commands._eval import EvalCommand

    if as_json:
        options["style"] = "json"
    with errors_are_status_2():
        return EvalCommand(paths=paths, **options).run()
