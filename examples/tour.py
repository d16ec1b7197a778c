"""What Satchel does, in a minute: ``python examples/tour.py [FOLDER OF PACKS]``.

Made of the public API alone, so it can be read as an example too.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Final

from satchel import Finding, Loaded, Satchel, SkillError
from satchel.text import EstimateCounter, printable

HERE: Final = Path(os.path.relpath(Path(__file__).parent))
LIBRARY: Final = str(HERE / "skills")
BROKEN: Final = str(HERE / "broken")

WIDTH: Final = 80
TASK: Final = "Fill in this tax form for me"

tokens = EstimateCounter().count


def main(arguments: list[str]) -> int:
    """Show the library in ``arguments``, or the one that ships; return the status."""
    folder = arguments[0] if arguments else LIBRARY
    try:
        skills = Satchel(folder, on_conflict="precedence")
    except SkillError as error:
        print(printable(f"satchel: {error}", keep=""), file=sys.stderr)
        return 2
    say("\nSatchel: carry every skill, unpack only what the task needs.")
    if len(skills.catalog):
        show_catalog(skills, folder)
        show_loading(skills, own_library=folder == LIBRARY)
    else:
        say(f"\nThere is no skill that can be used in {folder}.")
    show_broken(skills, folder)
    show_next(skills, folder)
    return 0


def show_catalog(skills: Satchel, folder: str) -> None:
    """Level 1: the section for the system prompt, and what it saves."""
    section = skills.prompt()
    head(1, f"What stands in the prompt, for {many(len(skills.catalog), 'skill')}")
    excerpt(str(section), 17)
    carried, everything = section.tokens, cost_of_everything(skills)
    ratio = everything / max(carried, 1)
    say()
    bar("this section", carried, everything)
    bar("all of it, inlined", everything, everything)
    say()
    say(
        f"{ratio:,.0f} times less, before any skill is used; with more references "
        "and longer\nskills it stays what it is."
        if ratio >= 2
        else "These skills are so short that a catalog saves little."
    )
    say(f"(tokens by {section.counted_by})")
    if not section.complete:
        cut = len(section.shortened) + len(section.names_only)
        say(
            f"Too much for {section.budget_tokens:,} tokens: {cut:,} are listed in "
            f"short, {len(section.left_out):,} are left to search."
        )
    del folder


def cost_of_everything(skills: Satchel) -> int:
    """Return the tokens of every text of every skill, as if all were in the prompt."""
    total = 0
    for entry in skills.catalog:
        for file in (None, *entry.resources):
            try:
                total += tokens(skills.load(entry.id, file).text)
            except SkillError:
                continue
    return total


def show_loading(skills: Satchel, *, own_library: bool) -> None:
    """Levels 2 and 3: what the model asks for, and gets."""
    chosen, file = choose(skills, own_library=own_library)
    if own_library:
        head(2, f'The user says "{TASK}". The model loads the skill')
    else:
        head(2, "The model loads the skill that a task needs")
    loaded = load(skills, chosen)
    if loaded is not None:
        call(f"load_skill({chosen!r})", loaded.text)
        excerpt(loaded.body or loaded.text, 12)
    if file:
        head(3, "The skill names a file. The model reads that one too")
        loaded = load(skills, chosen, file)
        if loaded is not None:
            call(f"read_skill_file({chosen!r}, {file!r})", loaded.text)
            excerpt(loaded.text, 8)


def choose(skills: Satchel, *, own_library: bool) -> tuple[str, str]:
    """Return a skill that shows something, and a text file of it or ``""``."""
    ids = [hit.id for hit in skills.find(TASK, k=1)] if own_library else []
    ids += [entry.id for entry in skills.catalog if entry.references]
    ids += [entry.id for entry in skills.catalog]
    entry = next(e for e in skills.catalog if e.id == ids[0])
    files = (*entry.references, *entry.scripts, *entry.assets)
    return entry.id, next(iter(files), "")


def load(skills: Satchel, skill_id: str, file: str | None = None) -> Loaded | None:
    """Load, or say why it could not be done: a folder of packs may hold anything."""
    try:
        return skills.load(skill_id, file)
    except SkillError as error:
        say(f"    {error}")
        return None


def show_broken(skills: Satchel, folder: str) -> None:
    """What is repaired or refused is told: where, what, and what to do."""
    findings = [each for each in skills.findings if each.severity != "note"]
    where = folder
    if not findings:
        findings = list(Satchel(BROKEN).findings)
        where = BROKEN
    head(4, f"What a broken pack is told ({where})")
    for finding in findings[:4]:
        show_finding(finding)
    if len(findings) > 4:
        say(f"  ... and {many(len(findings) - 4, 'finding')} more: satchel doctor")
    say()
    say("A pack that can be repaired is in use; one that cannot never hides another.")


def show_finding(finding: Finding) -> None:
    """Print one finding, with what a repair changed."""
    line = f":{finding.line}" if finding.line else ""
    say(f"  {finding.path}{line}")
    wrapped(f"{finding.severity}: {finding.message}", "    ")
    for label, text in (("was", finding.before), ("is", finding.after)):
        if text:
            say(clip(f"    {label:>4}  {flat(text)}"))
    if finding.fix:
        wrapped(f"fix: {finding.fix}", "    ")


def show_next(skills: Satchel, folder: str) -> None:
    """Say what to type next: lines that work when they are copied."""
    satchel = command()
    entry = next(iter(skills.catalog), None)
    name = entry.id if entry is not None and entry.id.isprintable() else "NAME"
    lines = [
        (f"list --skills {folder}", "every skill, and what is wrong"),
        (f"show {name} --skills {folder}", "one skill"),
        (f"find 'wrong numbers' --skills {folder}", "search"),
        (f"why {name} --skills {folder}", "why it is listed, or not"),
        (f"check {folder}", "for authors, and for CI"),
    ]
    head(5, "Now you")
    for arguments, what in lines:
        say(f"  # {what}")
        say(f"  {satchel} {arguments}")
    say()
    say("In Python:")
    say("  from satchel import Satchel")
    say(f"  skills = Satchel({folder!r})")
    say("  prompt = 'You are a helpful agent.\\n\\n' + str(skills.prompt())")


def command() -> str:
    """Return how to call satchel from here: by its name, or by its path."""
    beside = Path(sys.executable).with_name("satchel")
    found = shutil.which("satchel")
    if found and Path(found) == beside:
        return "satchel"
    return os.path.relpath(beside) if beside.exists() else "python -m satchel"


# --- printing: nothing of a pack reaches the terminal but by way of `say` ------------


def say(text: str = "") -> None:
    """Print lines, with what a terminal would obey made visible."""
    print(printable(text))


def head(number: int, title: str) -> None:
    """Print a heading."""
    say(clip(f"\n{number}. {flat(title)}"))
    say("-" * WIDTH)


def call(text: str, answer: str) -> None:
    """Print a tool call of the model, and what its answer costs."""
    say(clip(f"  -> {flat(text)}   {tokens(answer):,} tokens"))
    say()


def excerpt(text: str, lines: int) -> None:
    """Print the first lines, and how many more there are."""
    every = text.strip("\n").replace("\r\n", "\n").split("\n")
    for line in every[:lines]:
        say(clip(f"  | {flat(line)}").rstrip())
    if len(every) > lines:
        say(f"  | ... {many(len(every) - lines, 'more line', 'more lines')}")


def bar(label: str, amount: int, of: int) -> None:
    """Print an amount of tokens as a number and as a length."""
    length = max(round(36 * amount / max(of, 1)), 1)
    say(f"  {label:<19} {amount:>10,} tokens  {'#' * length}")


def wrapped(text: str, indent: str) -> None:
    """Print a sentence, wrapped and indented."""
    say(
        textwrap.fill(
            flat(text), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
        )
    )


def flat(text: str) -> str:
    """Return text on one line."""
    return printable(text, keep="")


def clip(text: str) -> str:
    """Return text that fits the width."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def many(count: int, one: str, more: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
