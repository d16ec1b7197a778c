"""What is looked at, and added, once Sphinx has written the pages: links, llms.txt."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from tools.api import API
from tools.site.stage import SECTIONS, groups, listed_pages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEEDS: Final = {"img", "link", "script", "source"}


class _Page(HTMLParser):
    """The anchors of a page, its links, and what a browser fetches to show it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                (self.fetched if tag in _NEEDS else self.links).append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere, and each file of others.

    Links to other sites are not followed; a page that fetches from one is reported,
    since the site has to be readable without a network.
    """
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in (*page.links, *page.fetched):
            parts = urlsplit(link)
            where = f"{path.relative_to(site)}: {link}"
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    yield f"{where} is fetched from another site"
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.is_file():
                yield f"{where} leads to no file"
            elif goal in pages and parts.fragment not in {"", *pages[goal].anchors}:
                yield f"{where} leads to no heading"


def missing_names(folder: Path) -> Iterator[str]:
    """Yield a sentence for each public name that no page of the API describes."""
    pages: dict[str, _Page] = {}
    for line in API.read_text("utf-8").splitlines():
        module, _, name = line.rpartition(".")
        if module not in pages:
            pages[module] = _Page(folder / f"{module}.html")
        page = pages[module]
        # What several modules offer is described in one, and linked in the others.
        linked = any(link.endswith(f".{name}") for link in page.links)
        module_itself = (folder / f"{line}.html").exists()
        if line not in page.anchors and not linked and not module_itself:
            yield f"{line} is not described"


def write_llms(staged: Path, site: Path) -> None:
    """Write llms.txt, and each page that it names as Markdown next to its HTML.

    Source: llmstxt.org, read November 2026.
    """
    text = (staged / "index.md").read_text("utf-8")
    lines = [f"# {text.splitlines()[0].removeprefix('# ')}", ""]
    lines += [f"> {' '.join(text.split(chr(10) * 2)[1].split())}"]
    for page in listed_pages():
        target = site / page
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(staged / page, target)
    for folder in SECTIONS:
        for group in groups(folder):
            lines += ["", f"## {group.title}", ""]
            lines += [
                f"- [{entry.title}]({entry.page}){': ' * bool(entry.says)}{entry.says}"
                for entry in group.entries
            ]
    (site / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8", newline="\n")
