"""AGENTS.md, and files like it, to packs: one of the whole, or one of each section.

Source: agents.md, November 2026: plain Markdown without required fields or headings,
in the root of a project or below.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from satchel.model import MAX_NAME_CHARS, Finding, Json, portable_name
from satchel_lab.authoring._convert._builder import Material, build_pack
from satchel_lab.authoring._convert._formats import (
    ForeignPage,
    links_out,
    read_file,
    title,
    without_links_out,
)
from satchel_lab.authoring._convert._markup import as_text_only
from satchel_lab.authoring._convert._values import Conversion, Dialect
from satchel_lab.lint import read_markdown

# Titles that are the name of the file: no name for a pack.
_GENERIC_TITLES: Final = re.compile(
    r"(?:agents?|claude|gemini)(?:-md)?|(?:copilot-)?instructions"
)


def read_agents_md(
    path: str, dialect: Dialect | None, *, name: str = "", split: bool = False
) -> Iterator[Conversion]:
    """Yield a pack of the file; or of each section, with what is before them first."""
    page = read_file(path)
    if isinstance(page, Conversion):
        yield page
        return
    name = name or _name(page, path)
    whole = _Section(page.line, "", page.body)
    if not split:
        fields = page.others(page.read_as_text("description"))
        pack = build_pack(_material(page, name, whole, fields, split=False), dialect)
        yield pack.with_findings(_on_demand(path, pack))
        return
    warned = False
    names: set[str] = set()
    findings: list[Finding] = []
    not_carried = partial(Finding.of, "not-carried", page.path)
    if page.fields.root:
        keys = ", ".join(str(key) for key in page.fields.root)
        findings.append(not_carried(1, sentence="split-fields", keys=keys))
    for section in _sections(whole):
        headings = [] if section.heading else _only_headings(section.text)
        if headings:
            shown = ", ".join(map(repr, headings))
            line = page.line + 1
            findings.append(not_carried(line, sentence="heading", shown=shown))
        if headings or not (section.heading or section.text.strip()):
            continue
        own = _unique_name(portable_name(section.heading) or name, names)
        pack = build_pack(_material(page, own, section), dialect)
        if not warned:
            findings += _on_demand(path, pack, ", ...")
            warned = pack.draft is not None
        yield pack.with_findings(findings)
        findings = []
    if not names:
        yield build_pack(_material(page, name, whole), dialect).with_findings(findings)


def _raised(text: str) -> str:
    """Return a section with its headings one level up: it is a page of its own now."""
    lines = text.split("\n")
    for heading in read_markdown(text).headings:
        at = heading.line - 1
        if heading.quoted or heading.level < _SECTION:
            continue
        if lines[at].lstrip().startswith("##"):
            lines[at] = lines[at].replace("##", "#", 1)
        elif at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1].rstrip("\r")):
            lines[at + 1] = lines[at + 1].replace("-", "=")
    return "\n".join(lines)


class _Section(NamedTuple):
    """Text of a file, and how many lines of the file come before it."""

    before: int
    heading: str
    text: str


def _material(
    page: ForeignPage,
    name: str,
    section: _Section,
    fields: Mapping[str, Json] | None = None,
    *,
    split: bool = True,
) -> Material:
    body, left = as_text_only(section.text, page.path, section.before)
    findings = (*page.findings, *left, *links_out(body, page.path))
    when = ""
    body = without_links_out(_raised(body) if split and section.heading else body)
    if split:
        about = f"the task is about {section.heading}" if section.heading else ""
        when = f"Use when {about or f'working on {name}'}."
    return Material(
        source=page.path,
        name=name,
        body=body,
        description="" if section.heading else page.description,
        title=section.heading,
        when=when,
        metadata=fields or {},
        findings=findings,
        line=section.before + 1 if section.heading else None,
    )


def _name(page: ForeignPage, path: str) -> str:
    """Return the title's name, or the folder's where the title is generic."""
    name = portable_name(title(page.body))
    if name and not _GENERIC_TITLES.fullmatch(name):
        return name
    folder = Path(path).resolve().parent
    if folder.name.startswith("."):  # .github/copilot-instructions.md
        folder = folder.parent
    return portable_name(folder.name) or "project"


def _sections(whole: _Section) -> Iterator[_Section]:
    """Yield the text before all headings, then each section with its heading."""
    lines = whole.text.split("\n")  # as the parser counts them: a form feed ends none
    starts = [
        (heading.line - 1, heading.text)
        for heading in read_markdown(whole.text).headings
        if heading.level == _SECTION and not heading.quoted
    ]
    starts = [(0, ""), *starts]
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    for (start, heading), end in zip(starts, ends, strict=True):
        text = "\n".join(lines[start:end])
        if end < len(lines) and end > start:
            text += "\n"
        yield _Section(whole.before + start, heading, text)


_SECTION: Final = 2


def _only_headings(text: str) -> list[str]:
    """Return the headings of a text that has nothing else; else nothing."""
    headings = read_markdown(text).headings
    lines = text.splitlines()
    for heading in headings:
        at = heading.line - 1
        if at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1]):
            lines[at + 1] = ""
        lines[at] = ""
    return [] if "".join(lines).strip() else [heading.text for heading in headings]


_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")


def _unique_name(name: str, names: set[str]) -> str:
    """Return a name that no earlier section has: the second is `name-2`."""
    count, free = 1, name
    while free in names:
        count += 1
        suffix = f"-{count}"
        free = name[: MAX_NAME_CHARS - len(suffix)].rstrip("-") + suffix
    names.add(free)
    return free


def _on_demand(path: str, pack: Conversion, more: str = "") -> list[Finding]:
    if pack.draft is None:
        return []
    name = pack.draft.name
    return [Finding.of("now-on-demand", path, sentence="file", name=name, more=more)]
