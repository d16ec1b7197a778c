"""``satchel new``."""

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from satchel.cli import echo, echo_error, one_line, show_finding
from satchel.model import portable_name

if TYPE_CHECKING:
    from satchel_lab.authoring import Dialect


ROLE: Final = "role:"
TEMPLATES: Final = ("minimal", "references", "scripts")


def _template(_: click.Context, param: click.Parameter, value: str) -> str:
    if value in TEMPLATES or (value.startswith(ROLE) and value != ROLE):
        return value
    choice = ", ".join((*TEMPLATES, f"{ROLE}NAME"))
    raise click.BadParameter(f"expected one of {choice}", param=param)


@click.command("new")
@click.argument("name", required=False, default="")
@click.option(
    "--description",
    metavar="TEXT",
    help='What it does, and when to use it: "Fill in PDF forms. Use when ...".',
)
@click.option(
    "--in",
    "--skills",
    "place",
    metavar="FOLDER",
    default="skills",
    show_default=True,
    type=click.Path(),
    help="The folder of packs to put it into; it is made if it does not exist.",
)
@click.option(
    "--template",
    default="minimal",
    show_default=True,
    callback=_template,
    metavar="TEMPLATE",
    help="minimal, references, scripts, or role:NAME, a pack that ships with Satchel.",
)
@click.option(
    "--references",
    multiple=True,
    metavar="FILE",
    help="A reference to start, such as fields.md; repeatable.",
)
@click.option(
    "--scripts",
    multiple=True,
    metavar="FILE",
    help="A script to start, such as fill.py or check.sh; repeatable.",
)
@click.option("--license", "terms", default="", metavar="TEXT", help="A licence id.")
@click.option("--author", default="", metavar="TEXT", help="Who is responsible for it.")
@click.option(
    "--dialect",
    type=click.Choice(("spec", "strict")),
    default="spec",
    show_default=True,
    help="spec is agentskills.io, which clients take; strict declares its files.",
)
@click.option(
    "--evals/--no-evals",
    default=True,
    help="Whether it gets a file of queries, for satchel eval.  [default: --evals]",
)
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    name: str,
    description: str | None,
    place: str,
    template: str,
    references: tuple[str, ...],
    scripts: tuple[str, ...],
    terms: str,
    author: str,
    dialect: "Dialect",
    *,
    evals: bool,
) -> int:
    """Make a skill: a folder NAME with a SKILL.md to write.

    What is left to write begins with TODO: satchel check reports it, and satchel pack
    refuses it. On a terminal you are asked for what is missing. Nothing is overwritten.

    Status: 0, or 1 if the folder exists already; 2 if there is no valid name.

    \b
    Examples:
      satchel new pdf-forms
      satchel new pdf-forms --description "Fill in PDF forms. Use for tax forms."
      satchel new pdf-forms --references fields.md --scripts fill.py
      satchel new our-reviewer --template role:reviewer
    """
    from satchel_lab.authoring import NewPackRequest, make_pack, new_folder

    if not place:
        raise click.UsageError("the path is empty")
    role = template.removeprefix(ROLE) if template.startswith(ROLE) else ""
    if role:
        _check_role(role)
        if references or scripts:
            raise click.UsageError("a role has its own files; add yours later")
    if terms and (role or dialect == "strict"):
        raise click.UsageError("--license is for a new pack in the spec dialect")
    if template == "references" and not references:
        references = ("guide.md",)
    if template == "scripts" and not scripts:
        scripts = ("run.py",)
    if description is not None and not description.strip():
        raise click.UsageError("--description is empty; leave it out to write it later")
    request = NewPackRequest(
        name=_named(name),
        # A pack that ships has a description of its own.
        description=description or ("" if role else _described()),
        dialect=dialect,
        references=references,
        scripts=scripts,
        license=terms.strip(),
        author=author.strip(),
        role=role,
        # A strict pack declares its files, and evals are none that an agent reads.
        evals=evals and dialect == "spec" and not role,
    )
    try:
        pack = make_pack(request)
    except ValueError as error:
        raise click.UsageError(one_line(str(error))) from error
    folder = Path(place) / pack.name
    new_folder(folder, pack.files, pack.programs)
    for path in pack.files:
        echo(one_line(str(folder / path)))
    marked = _check(str(folder), dialect)
    # Its lines are typed as they are, so a space may not end the path.
    _print_next(one_line(quote(str(folder))), pack.name, dialect, marked=marked)
    return 0


def _check_role(role: str) -> None:
    from satchel_lab.authoring import role_names

    names = role_names()
    if role not in names:
        message = f"there is no role {one_line(role)!r}; there are {', '.join(names)}"
        raise click.UsageError(message)


def _named(name: str) -> str:
    """Return a valid name; ask for one on a terminal."""
    from satchel_lab.authoring import name_problem

    problem = name_problem(name) if name else "a skill needs a name: satchel new NAME"
    while problem:
        if not _may_ask():
            raise click.UsageError(one_line(problem))
        if name:
            echo_error(problem)
        near = portable_name(name)
        name = click.prompt("Name", default=near or None, err=True).strip()
        problem = name_problem(name)
    return name


def _described() -> str:
    """Ask for a description on a terminal; without an answer there will be a mark."""
    if not _may_ask():
        return ""
    question = "What it does, and when to use it (Enter: later)"
    return str(click.prompt(question, default="", show_default=False, err=True)).strip()


def _may_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _check(folder: str, dialect: "Dialect") -> bool:
    """Print what a check reports; return whether there is text left to write."""
    from satchel_lab.checking import check

    findings = check([folder], profile=dialect).findings
    # What is left to fill in, nobody had a chance to write yet.
    written = [one for one in findings if one.code != "left-to-fill-in"]
    for finding in written:
        show_finding(finding)
    return len(written) < len(findings)


def _print_next(folder: str, name: str, dialect: "Dialect", *, marked: bool) -> None:
    spec = dialect == "spec"
    where = ": write what each TODO asks for" if marked else ""
    echo_error("next:")
    echo_error(f"  edit   {folder}/SKILL.md{where}")
    profile = "" if spec else " --profile strict"
    echo_error(f"  check  satchel check {folder}{profile}")
    if spec:
        echo_error(f"  pack   satchel pack {folder}")
    echo_error(f"  serve  satchel serve {f'{name}.skill' if spec else folder}")
