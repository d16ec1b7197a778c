"""The site: every page is listed and every link leads somewhere, without Sphinx."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from satchel_lab.clients import VERDICTS, read_measured
from tools.api import API
from tools.site.api import adapter_outlines, module_pages, with_code_blocks
from tools.site.output import broken_links, missing_names, write_llms
from tools.site.stage import (
    DOCS,
    GUESTS,
    ROOT,
    SECTIONS,
    anchors,
    groups,
    links,
    listed_pages,
    stage,
)

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted(DOCS.rglob("*.md"))


def test_every_page_is_listed_once() -> None:
    """Decisions are listed by their own index."""
    pages = {page.relative_to(DOCS).as_posix() for page in PAGES} - {"index.md"}
    decisions = {name for name in pages if name.startswith("decisions/0")}
    listed = listed_pages()

    assert sorted(listed) == sorted((pages - decisions) | set(GUESTS))


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_every_link_to_a_file_or_heading_leads_to_one(page: Path) -> None:
    wrong = []
    for line, target in links(page):
        path, _, anchor = target.partition("#")
        goal = page.parent / path if path else page
        if not goal.exists() or (anchor and anchor not in anchors(goal)):
            wrong.append(f"{page.relative_to(ROOT)}:{line}: {target}")

    assert not wrong, "\n".join(wrong)


def test_the_pages_have_only_what_the_site_has(tmp_path: Path) -> None:
    stage(tmp_path)
    outside = [
        f"{page.relative_to(tmp_path)}:{line}: {target}"
        for page in sorted(tmp_path.rglob("*.md"))
        for line, target in links(page)
        if not target.startswith("#")
        and not (page.parent / target.partition("#")[0]).exists()
    ]

    assert not outside, "\n".join(outside)
    adapter = (tmp_path / "contributing/adapter.md").read_text("utf-8")
    assert "Start from examples/litellm_loop.py:" in adapter
    contents = (tmp_path / "index.md").read_text("utf-8")
    assert ":caption: Connect your framework\n\nhow-to/adapters/index.md" in contents


def test_a_link_in_a_code_block_is_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](b.md)\n\n```md\n[c](d.md)\n```\n[e\nf](g.md#h)\n", "utf-8")

    assert list(links(page)) == [(1, "b.md"), (6, "g.md#h")]


def test_llms_txt_names_each_page_and_has_it_as_markdown(tmp_path: Path) -> None:
    stage(tmp_path / "pages")
    write_llms(tmp_path / "pages", tmp_path / "site")
    text = (tmp_path / "site/llms.txt").read_text("utf-8")

    assert text.startswith("# Satchel\n\n> Satchel gives AI agents skills")
    entries = [
        entry
        for folder in SECTIONS
        for group in groups(folder)
        for entry in group.entries
    ]
    for entry in entries:
        assert entry.says, f"say in the index what {entry.page} is about"
        assert f"- [{entry.title}]({entry.page}): {entry.says}\n" in text
        assert (tmp_path / "site" / entry.page).is_file()


@pytest.mark.parametrize(
    ("html", "says"),
    [
        ('<a href="b.html">', ""),
        ('<a href="b.html#here">', ""),
        ('<a href="https://example.org/x">', ""),
        ('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', ""),
        ('<a href="c.html">', "a.html: c.html leads to no file"),
        ('<a href="b.html#there">', "a.html: b.html#there leads to no heading"),
        ('<a href="#there">', "a.html: #there leads to no heading"),
        ('<img src="c.png">', "a.html: c.png leads to no file"),
        (
            '<script src="https://cdn.example.org/x.js">',
            "a.html: https://cdn.example.org/x.js is fetched from another site",
        ),
    ],
)
def test_a_broken_link_is_reported(html: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(html, "utf-8")
    (tmp_path / "b.html").write_text('<h1 id="here">', "utf-8")

    assert list(broken_links(tmp_path)) == ([says] if says else [])


def test_a_name_without_a_description_is_reported(tmp_path: Path) -> None:
    """One that another page describes is linked."""
    pages = dict.fromkeys(dict(module_pages()), "")
    for line in API.read_text("utf-8").splitlines():
        module, _, name = line.rpartition(".")
        pages[module] += f'<dt id="{line}"><a href="elsewhere.html#x.{name}">'
    for module, html in pages.items():
        (tmp_path / f"{module}.html").write_text(html, "utf-8")
    assert list(missing_names(tmp_path)) == []

    page = tmp_path / "satchel.load.html"
    page.write_text('<a href="elsewhere.html#x.NotStyleOptions">', "utf-8")
    assert "satchel.load.StyleOptions is not described" in list(missing_names(tmp_path))


def test_an_outline_of_an_adapter_needs_no_framework() -> None:
    for outline in dict(adapter_outlines()).values():
        names: dict[str, object] = {}
        exec(compile(ast.parse(outline), "outline", "exec"), names)  # noqa: S102
        assert names["__doc__"]
        assert callable(names["attach"])


def test_the_page_on_clients_has_the_measured_numbers() -> None:
    text = (DOCS / "explanation/clients.md").read_text("utf-8")
    verdicts = [
        entry.verdicts
        for entry in read_measured().loaders.values()
        if entry.kind != "validator"
    ]
    rows = re.findall(r"^\| .* \(`([\w-]+)`\) \| ([\d |]+) \|$", text, re.MULTILINE)

    assert len(rows) > 10
    for name, numbers in rows:
        found = Counter(each.get(name) for each in verdicts)
        shown = [int(number) for number in numbers.split(" | ")]
        assert [
            found[each] for each in VERDICTS if each not in {"unknown", "hidden"}
        ] == shown, name


@pytest.mark.parametrize(
    ("docstring", "marked"),
    [
        ("One.\n\nTwo.", "One.\n\nTwo."),
        (
            "One.\n\n    a = 1\n\n    b\n\nTwo.",
            "One.\n\n::\n\n    a = 1\n\n    b\n\nTwo.",
        ),
        ("One::\n\n    a = 1", "One::\n\n    a = 1"),
        ("One.\n\n::\n\n    a = 1", "One.\n\n::\n\n    a = 1"),
    ],
)
def test_an_example_in_a_docstring_is_code(docstring: str, marked: str) -> None:
    assert with_code_blocks(docstring) == marked
