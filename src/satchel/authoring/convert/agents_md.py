"""AGENTS.md, and files like it, to packs: one of the whole, or one of each section.

Source: agents.md, November 2026: plain Markdown without required fields or headings,
in the root of a project or below.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from satchel.authoring.convert.draft import Conversion, Dialect
from satchel.authoring.convert.making import Material, make
from satchel.authoring.convert.reading import Page, links_out, read_file, title
from satchel.lint.markdown import read_markdown
from satchel.model import DEFAULT_LIMITS, Finding, Limits
from satchel.spec import portable_name

__all__ = ["FILES", "read_agents_md"]

FILES: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "AGENT.md")
"""In the order in which a folder is searched for them."""

_SAYS_NOTHING: Final = re.compile(
    r"(?:agents?|claude|gemini)(?:-md)?|(?:copilot-)?instructions"
)
"""Titles that are the name of the file, and no name for a pack."""


def read_agents_md(
    path: str,
    dialect: Dialect | None,
    *,
    name: str = "",
    split: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Conversion]:
    """Yield a pack of the whole file; or one of each section, what is before it first.

    Args:
        path: The file.
        dialect: The dialect of the packs; None is for clients.
        name: What to call the pack; empty is its title, or the folder's name.
        split: Whether each heading of level 2 begins a pack of its own.
        limits: Bounds on what is read.
    """
    page = read_file(path, limits)
    if isinstance(page, Conversion):
        yield page
        return
    name = name or _name(page, path)
    always = [_on_demand(path, name)]
    if not split:
        material = _material(page, name, page.body)
        yield make(material, dialect).telling(always)
        return
    taken: set[str] = set()
    for heading, text in _sections(page.body):
        if not heading and not _says_something(text):
            continue
        called = _once(portable_name(heading) or name, taken)
        yield make(_material(page, called, text), dialect).telling(always)
        always = []


def _material(page: Page, name: str, body: str) -> Material:
    findings = (*page.findings, *links_out(body, page.path))
    return Material(source=page.path, name=name, body=body, findings=findings)


def _name(page: Page, path: str) -> str:
    """Return the title's name, unless it says nothing; then that of the folder."""
    found = portable_name(title(page.body))
    if found and not _SAYS_NOTHING.fullmatch(found):
        return found
    folder = Path(path).resolve().parent
    if folder.name.startswith("."):  # .github/copilot-instructions.md
        folder = folder.parent
    return portable_name(folder.name) or "project"


def _sections(body: str) -> Iterator[tuple[str, str]]:
    """Yield each section with its heading; first what stands before all, without."""
    lines = body.split("\n")  # as the parser counts them: a form feed ends none
    starts = [
        (heading.line - 1, heading.text)
        for heading in read_markdown(body).headings
        if heading.level == _SECTION and not heading.quoted
    ]
    ends = [start for start, _ in starts] + [len(lines)]
    yield "", "\n".join([*lines[: ends[0]], ""])
    for (start, heading), end in zip(starts, ends[1:], strict=True):
        last = end == len(lines)
        yield heading, "\n".join(lines[start:end] if last else [*lines[start:end], ""])


_SECTION: Final = 2


def _says_something(text: str) -> bool:
    return any(
        line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()
    )


def _once(name: str, taken: set[str]) -> str:
    """Return a name that no earlier section has: the second is `name-2`."""
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    taken.add(free)
    return free


def _on_demand(path: str, name: str) -> Finding:
    return Finding(
        "now-on-demand",
        "warning",
        "the file was in every prompt; a pack is loaded when its description fits",
        path,
        fix=f"leave in it what is always needed; or wear the pack, always=[{name!r}]",
    )
