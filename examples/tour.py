"""What Satchel does, in a minute: ``python examples/tour.py [FOLDER OF PACKS]``.

Made of the public API alone, so it can be read as an example too.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
import time
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from satchel import Finding, Options, Satchel, SkillError
from satchel.skills import calc
from satchel.text import EstimateCounter, printable
from satchel.tools import result_text

HERE: Final = Path(os.path.relpath(Path(__file__).parent))
LIBRARY: Final = str(HERE / "skills")
BROKEN: Final = str(HERE / "broken")

WIDTH: Final = 80
PATIENCE_S: Final = 10
FEW: Final = 4
TASK: Final = "Fill in this tax form for me"

tokens = EstimateCounter().count


def main(arguments: list[str]) -> int:
    """Show the library in ``arguments``, or the examples; return the status."""
    folder = arguments[0] if arguments else LIBRARY
    try:
        skills = Satchel(folder, options=Options(on_conflict="precedence"))
    except SkillError as error:
        print(printable(f"satchel: {error}", keep=""), file=sys.stderr)
        return 2
    say("\nSatchel: carry every skill, unpack only what the task needs.")
    chosen = "NAME"
    if len(skills.catalog):
        section, everything = show_catalog(skills)
        chosen, loaded = show_loading(skills, own_library=folder == LIBRARY)
        show_sum(section, loaded, everything)
    else:
        say(f"\nThere is no skill that can be used in {flat(folder)}.")
    show_tools()
    show_broken(skills, folder)
    show_next(chosen, folder)
    return 0


def show_catalog(skills: Satchel) -> tuple[int, int]:
    """Level 1: the section for the system prompt; return its cost and that of all."""
    section = skills.prompt()
    head(1, f"What is in the prompt, for {many(len(skills.catalog), 'skill')}")
    excerpt(str(section), 17)
    everything = cost_of_everything(skills)
    say()
    bar("this section", section.tokens, everything)
    bar("all of it, inlined", everything, everything)
    say()
    ratio = everything / max(section.tokens, 1)
    if ratio > 1:
        say(f"{ratio:,.0f} times less, however long the skills grow.")
    say(f"Tokens: {section.counted_by}.")
    if not section.complete:
        cut = len(section.shortened) + len(section.names_only)
        say(
            f"Over {section.budget_tokens:,} tokens, so {cut:,} are listed in short, "
            f"and {len(section.left_out):,} are left to search."
        )
    return section.tokens, everything


def cost_of_everything(skills: Satchel) -> int:
    """Return the tokens of every text of every skill, as if all were in the prompt.

    Of a very large library, of as much as can be read in `PATIENCE_S` seconds.
    """
    total = 0
    end = time.monotonic() + PATIENCE_S
    for entry in skills.catalog:
        for file in (None, *entry.resources):
            if time.monotonic() > end:
                return total
            with suppress(SkillError):
                total += tokens(skills.load(entry.id, file).text)
    return total


def show_loading(skills: Satchel, *, own_library: bool) -> tuple[str, int]:
    """Levels 2 and 3: what the model asks for; return the skill and what it cost."""
    chosen, file = choose(skills, own_library=own_library)
    if own_library:
        head(2, f'The user says "{TASK}". The model loads a skill')
    else:
        head(2, "A task comes that a skill is made for. The model loads it")
    cost = show_load(skills, chosen, None, 12)
    if file:
        head(3, "The skill names a file. The model reads that one too")
        cost += show_load(skills, chosen, file, 8)
    return chosen, cost


def show_load(skills: Satchel, skill_id: str, file: str | None, lines: int) -> int:
    """Print a tool call and the head of what it gives; return its tokens."""
    said = f"{skill_id!r}, {file!r}" if file else repr(skill_id)
    tool = "read_skill_file" if file else "load_skill"
    try:
        loaded = skills.load(skill_id, file)
    except SkillError as error:  # a folder of packs may hold anything
        say(clip(f"  -> {tool}({flat(said)})"))
        wrapped(str(error), "     ")
        return 0
    cost = tokens(loaded.text)
    say(clip(f"  -> {tool}({flat(said)})   {cost:,} tokens"))
    say()
    excerpt(loaded.body or loaded.text or f"({loaded.media_type})", lines)
    return cost


def show_sum(section: int, loaded: int, everything: int) -> None:
    """Say what the task has cost."""
    say()
    bar("this task", section + loaded, everything)
    bar("all of it, inlined", everything, everything)


def choose(skills: Satchel, *, own_library: bool) -> tuple[str, str]:
    """Return a skill that shows something, and a text file of it or ``""``."""
    ids = [hit.id for hit in skills.find(TASK, k=1)] if own_library else []
    ids += [entry.id for entry in skills.catalog if entry.references]
    ids += [entry.id for entry in skills.catalog]
    entry = next(e for e in skills.catalog if e.id == ids[0])
    files = (*entry.references, *entry.scripts, *entry.assets)
    return entry.id, next(iter(files), "")


def show_tools() -> None:
    """A skill that carries a tool, and a conversation in which it opens."""
    chat = Satchel(calc()).session()
    head(4, "A skill brings a tool, closed until the skill is loaded")
    for name, arguments in (
        ("calculate", {"expression": "0.1 + 0.2"}),
        ("load_skill", {"skill_id": "calc"}),
        ("calculate", {"expression": "0.1 + 0.2"}),
    ):
        say(f"  tools: {', '.join(tool.name for tool in chat.tools())}")
        result = chat.call(name, arguments)
        say(f"  -> {name}({next(iter(arguments.values()))!r})")
        if name == "calculate":
            wrapped(result_text(result), "     ")


def show_broken(skills: Satchel, folder: str) -> None:
    """What is repaired or refused is told: where, what, and what to do."""
    findings = [each for each in skills.findings if each.severity != "note"]
    where = folder
    if not findings:
        findings = list(Satchel(BROKEN).findings)
        where = BROKEN
    head(5, f"What a broken pack is told ({where})")
    for finding in findings[:FEW]:
        show_finding(finding)
    if len(findings) > FEW:
        say(f"  ... and {many(len(findings) - FEW, 'finding')} more: satchel doctor")
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


def show_next(name: str, folder: str) -> None:
    """Say what to type next: lines that work when they are copied."""
    head(6, "Now you")
    satchel, where, name = command(), shlex.quote(folder), shlex.quote(name)
    lines = [
        (f"{satchel} list {where}", "what there is"),
        (f"{satchel} show {name} {where}", "one skill"),
        (f"{satchel} why {name} {where}", "why it is listed"),
        (f"{satchel} check {where}", "what to fix"),
    ]
    width = max(len(line) for line, _ in lines)
    for line, what in lines:
        say(f"  {flat(line):<{width}}  # {what}")
    say()
    say("In Python:")
    say("  from satchel import Satchel")
    say(f"  skills = Satchel({flat(repr(folder))})")
    say("  chat = skills.session()")
    say('  system_prompt = chat.instructions("You are a helpful agent.")')
    say("  tools = chat.tools()        # chat.call(name, arguments) runs one")
    say()
    say("On an agent of your framework: from satchel.adapters.langchain import attach")


def command() -> str:
    """Return how to call satchel from here: by its name, or by its path."""
    script = Path(sys.executable).with_name("satchel")
    found = shutil.which("satchel")
    if found and Path(found) == script:
        return "satchel"
    return os.path.relpath(script) if script.exists() else "python -m satchel"


# --- printing: nothing of a pack reaches the terminal but by way of `say` ------------


def say(text: str = "") -> None:
    """Print lines, with what a terminal would obey made visible."""
    print(printable(text))


def head(number: int, title: str) -> None:
    """Print a heading."""
    say(clip(f"\n{number}. {flat(title)}"))
    say("-" * WIDTH)


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


def run() -> int:
    """Run in any locale, and end without a word when the reader goes away."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


if __name__ == "__main__":
    raise SystemExit(run())
