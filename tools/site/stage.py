"""What Sphinx reads: the pages of docs/, with what only the site needs.

The pages are plain Markdown, to be read in the repository too. Here they get the tables
of contents, which are made from the lists of links in the index pages; links out of
docs/ lose their target, since the site has no source files; and each public module gets
a page that Sphinx fills from its docstrings.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tools.site.api import module_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"

SECTIONS: Final = {
    "tutorial": "Start",
    "how-to": None,  # each of its groups is a section of the side bar
    "reference": None,
    "explanation": "Background",
    "contributing": None,
}
"""The folders with an index page, in the order of the site; what the side bar says."""

# Pages from outside docs/ that belong to the site, too.
GUESTS: Final = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

_FENCE: Final = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*[ ]*$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_ENTRY: Final = re.compile(
    r"^- \[([^\]]+)\]\(([^)#\s]+\.md)\)(?:: (.+))?$", re.MULTILINE
)
_GROUP: Final = re.compile(r"^## (.+)$", re.MULTILINE)


class Entry(NamedTuple):
    """One line of an index page; ``page`` is a path below docs/."""

    title: str
    page: str
    says: str


class Group(NamedTuple):
    """What is below one title of the side bar."""

    title: str
    entries: list[Entry]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a page between its fenced blocks, each with its offset."""
    start = 0
    for fence in _FENCE.finditer(text):
        yield start, text[start : fence.start()]
        start = fence.end()
    yield start, text[start:]


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the target of each link to a file."""
    text = page.read_text("utf-8")
    for offset, part in prose(text):
        for match in _LINK.finditer(part):
            if not re.match(r"[a-z]+:", match[2]):
                yield text.count("\n", 0, offset + match.start()) + 1, match[2]


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as code hosts make them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for _, part in prose(page.read_text("utf-8"))
        for heading in re.findall(r"^#+ (.+)$", part, re.MULTILINE)
    }


def groups(folder: str) -> list[Group]:
    """Return what the index of a folder lists, by its headings of the second level."""
    text = (DOCS / folder / "index.md").read_text("utf-8")
    title = SECTIONS[folder]
    parts = _GROUP.split(text)
    found = [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    result = [
        Group(heading if title is None else title, entries)
        for heading, part in found
        if (entries := [_entry(folder, *each) for each in _ENTRY.findall(part)])
    ]
    if title is None:
        return result
    return [Group(title, [entry for group in result for entry in group.entries])]


def _entry(folder: str, title: str, target: str, says: str) -> Entry:
    path = Path(os.path.relpath(DOCS / folder / target, DOCS)).as_posix()
    return Entry(title, path.removeprefix("../"), says)


def listed_pages() -> list[str]:
    """Return each page of the side bar, in its order."""
    return [
        page
        for folder in SECTIONS
        for page in (
            f"{folder}/index.md",
            *(entry.page for group in groups(folder) for entry in group.entries),
        )
    ]


def stage(target: Path) -> None:
    """Write what Sphinx reads into a new folder."""
    shutil.rmtree(target, ignore_errors=True)
    for page in sorted(DOCS.rglob("*.md")):
        _write(target / page.relative_to(DOCS), _without_outside(page))
    shutil.copytree(DOCS / "images", target / "images")
    for name in GUESTS:
        _write(target / name, _without_outside(ROOT / name))
    modules = dict(module_pages())
    for module, text in modules.items():
        _write(target / "reference" / "api" / f"{module}.md", text)
    _add_toctree(
        target / "reference" / "api.md", "", [f"api/{name}" for name in modules]
    )
    decisions = sorted(page.stem for page in (DOCS / "decisions").glob("0*.md"))
    _add_toctree(target / "decisions" / "README.md", "", decisions)
    for folder in SECTIONS:
        pages = [f"{folder}/index.md"]
        for group in groups(folder):
            pages += [entry.page for entry in group.entries]
            _add_toctree(target / "index.md", group.title, pages)
            pages = []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")


def _add_toctree(page: Path, caption: str, pages: list[str]) -> None:
    title = f":caption: {caption}\n" if caption else ""
    below = "\n".join(pages)
    text = f"\n```{{toctree}}\n:hidden:\n{title}\n{below}\n```\n"
    _write(page, page.read_text("utf-8") + text)


def _without_outside(page: Path) -> str:
    """Return the text of a page with links to where the files are on the site."""

    def rewrite(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        path, hash_sign, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        leads_to = Path(os.path.normpath(page.parent / path))
        if leads_to.is_relative_to(DOCS):
            goal = leads_to.relative_to(DOCS)
        elif leads_to.name in GUESTS and leads_to.parent == ROOT:
            goal = Path(leads_to.name)
        else:
            return words
        base = page.parent.relative_to(DOCS) if page.is_relative_to(DOCS) else Path()
        there = Path(os.path.relpath(goal, base)).as_posix()
        return f"[{words}]({there}{hash_sign}{anchor})"

    text = page.read_text("utf-8")
    result: list[str] = []
    end = 0
    for start, part in prose(text):
        result += [text[end:start], _LINK.sub(rewrite, part)]
        end = start + len(part)
    return "".join(result)
