"""``satchel retire``."""

import click

from satchel.cli import (
    complete_skill,
    echo,
    echo_error,
    echo_json,
    flag,
    json_option,
    named_skills_option,
    one_line,
    open_named_skills,
    write_text,
)


@click.command("retire")
@click.argument("name", shell_complete=complete_skill)
@click.option(
    "--for", "replacement", metavar="SKILL", help="The skill that takes its place."
)
@flag("--undo", "Bring it back.")
@flag("--dry-run", "Show what would change; write nothing.")
@json_option
@named_skills_option
def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    name: str,
    replacement: str | None,
    undo: bool,
    dry_run: bool,
    as_json: bool,
    paths: tuple[str, ...],
) -> int:
    """Mark a skill as deprecated in its SKILL.md, and show what changes.

    The catalog no longer lists it. It still loads, with a note that names SKILL. SKILL
    is marked too: once the old skill is deleted, anyone who asks for it is sent to
    SKILL. Nothing else in the two files changes, not one byte.

    Status: 0, or 1 if one of the skills does not exist or cannot be changed.

    \b
    Examples:
      satchel retire old-forms ./skills --for pdf-forms
      satchel retire old-forms ./skills --undo
    """
    # An unset variable must not retire a skill without its replacement.
    if replacement == "" or (undo and replacement):
        raise click.UsageError("give --for SKILL or --undo, not both")
    from satchel_lab.authoring import retire

    with open_named_skills(paths) as skills:
        plan = retire(skills, name, replacement or "", undo=undo)
    if not as_json:
        write_text("".join(edit.diff for edit in plan.edits))
    for note in plan.notes:
        echo_error(f"note: {note}")
    if not dry_run:
        plan.write()
    if as_json:
        edits = [{"path": edit.shown, "diff": edit.diff} for edit in plan.edits]
        echo_json({"name": name, "written": not dry_run, "edits": edits})
    else:
        would = "would be " if dry_run else ""
        outcome = f"{would}{'back in use' if undo else 'retired'}"
        echo(f"{one_line(name)}: {outcome if plan.edits else 'nothing to change'}")
    return 0
