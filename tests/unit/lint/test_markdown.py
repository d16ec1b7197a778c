"""What a Markdown text holds, and on which lines."""

import pytest

from satchel_lab.lint import read_markdown
from satchel_lab.lint._markdown import (
    CodeBlock,
    Heading,
    Link,
    UndefinedLink,
    anchors_of,
    slug_of,
)


@pytest.mark.row("R36")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A `b` *c*\n", [Heading(1, "A b c", 1)]),
        ("A\nb\n===\n", [Heading(1, "A b", 1)]),
        ("\n\n## Größe 👩‍🚀\n", [Heading(2, "Größe 👩‍🚀", 3)]),
        ("> # Q\n\n- ## L\n\n# T\n", [*(Heading(1, "Q", 1, quoted=True),)]),
        ("```\n# no\n```\n\n    # no\n", []),
        ("# A\r\n\r\n## B\r\n", [Heading(1, "A", 1), Heading(2, "B", 3)]),
        ("# a \ud800 b\n", [Heading(1, "a ? b", 1)]),
    ],
    ids=["marks", "two lines", "wide", "quoted", "code", "CR LF", "surrogate"],
)
def test_headings(text: str, expected: list[Heading]) -> None:
    found = list(read_markdown(text).headings)

    assert found[: len(expected)] == expected
    assert bool(found) == bool(expected)


def test_links_and_labels_that_are_not_defined() -> None:
    text = (
        "é [a](b.md) ![i](c.png 'title')\n\n[d][e] and [f]\n<https://x.org> x@y.org\n\n"
        "[e]: <g h.md>\n[f]: i.md\n"
    )

    assert read_markdown(text, 10).links == (
        Link("link", "b.md", 10),
        Link("image", "c.png", 10),
        Link("link", "g h.md", 12),
        Link("link", "i.md", 12),
    )

    text = "a [b][c], ü[d][] and [e].\n\n`[f][g]` [h][c2]\n\n[c2]: x.md\n"

    assert read_markdown(text).undefined == (
        UndefinedLink("[b][c]", "c", 1, " ", ","),
        UndefinedLink("[d][]", "d", 1, "ü", " "),
    )

    assert read_markdown("[b][c]").undefined == (UndefinedLink("[b][c]", "c", 1),)


@pytest.mark.row("R36")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```py\nx\n```\n", [CodeBlock("py", 1, closed=True)]),
        ("```py\nx\n```", [CodeBlock("py", 1, closed=True)]),
        ("~~~\nx\n~~~~~  \n", [CodeBlock("", 1, closed=True)]),
        ("````\n```\n````\n", [CodeBlock("", 1, closed=True)]),
        ("> ```\n> x\n> ```\n", [CodeBlock("", 1, closed=True)]),
        ("```\nx\n   ```\n", [CodeBlock("", 1, closed=True)]),
        ("```\nx\n    ```\n", [CodeBlock("", 1, closed=False)]),
        ("1.  a\n\n    ```\n    x\n    ```\n", [CodeBlock("", 3, closed=True)]),
        ("- a\n\n  ```\r\n  x\r\n  ```\r\n", [CodeBlock("", 3, closed=True)]),
        ("x\n\n```\nx\n", [CodeBlock("", 3, closed=False)]),
        ("```", [CodeBlock("", 1, closed=False)]),
        ("```\n~~~\n", [CodeBlock("", 1, closed=False)]),
        ("````\n```\n", [CodeBlock("", 1, closed=False)]),
        ("```\n``` x\n", [CodeBlock("", 1, closed=False)]),
        ("    ```\n    x\n", []),
        (
            "1. a\n   ```\n   x\n```\n",
            [CodeBlock("", 2, closed=False), CodeBlock("", 4, closed=False)],
        ),
    ],
)
def test_code_blocks(text: str, expected: list[CodeBlock]) -> None:
    assert list(read_markdown(text).blocks) == expected


def test_lines_are_found_backwards_too_and_blocks_have_their_size() -> None:
    """A link stands before the heading that ends behind it."""
    read = read_markdown("a\n\n# [b](c.md)\n\n[d](e.md)\n")

    assert [link.line for link in read.links] == [3, 5]
    assert [heading.line for heading in read.headings] == [3]

    blocks = read_markdown("```\na\nb\n```\n\n~~~\nc\n").blocks

    assert [(block.line, block.lines) for block in blocks] == [(1, 4), (6, 3)]

    read = read_markdown("> # Q\n\n1. ## L\n\n# T\n")

    assert [each.quoted for each in read.headings] == [True, True, False]


@pytest.mark.row("R36")
@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Set up & first run", "set-up--first-run"),
        ("What's new?", "whats-new"),
        ("🚀 Start", "-start"),
        ("snake_case-name", "snake_case-name"),
        ("Größe", "größe"),
        ("हिन्दी", "हिन्दी"),
        ("1. One, two", "1-one-two"),
    ],
)
def test_a_slug_is_github_s(heading: str, slug: str) -> None:
    assert slug_of(heading) == slug


def test_anchors_of_headings_and_of_html() -> None:
    assert anchors_of(["A", "B", "A", "A"]) == {"a", "a-1", "a-2", "b"}

    read = read_markdown(
        "# A {#own}\n\n<a name='one'></a> <b id=Two>\n\n<div id=\"three\">\n</div>\n"
    )

    assert read.anchors == {"a", "a-own", "own", "one", "two", "three"}

    text = '<a data-id="a"></a> <!-- <a id="b"></a> -->\n\n<p\n id="c">\n</p>\n'

    assert read_markdown(text).anchors == {"c"}

    anchors = anchors_of(["\u26a0\ufe0f Take care", "foo-1", "foo", "foo"])

    assert anchors >= {"-take-care", "\ufe0f-take-care", "foo-1", "foo-2"}


@pytest.mark.row("R36")
@pytest.mark.parametrize(
    ("text", "links"),
    [
        ('a <img src="a.png"> b\n', [("image", "a.png", 1)]),
        ("<p>\n<IMG alt=x\n  SRC='a.png'>\n</p>\n", [("image", "a.png", 2)]),
        (
            'x\n\n<div>\n<a href="a.md">a</a> <a class="b" href="b.md">b</a></div>\n',
            [("link", "a.md", 4), ("link", "b.md", 4)],
        ),
        (
            '<!-- x\n<img src="a.png">\n-->\n<img src="b.png">\n',
            [("image", "b.png", 4)],
        ),
        ('`<img src="a.png">`\n\n    <img src="b.png">\n', []),
        ('```html\n<img src="a.png">\n```\n', []),
        (
            '<img data-src="a.png"> <img :src="b"> <img src={c}> <abbr src="d.png">\n',
            [],
        ),
        ("<a name=\"x\"></a> <a href=''>\n", [("link", "", 1)]),
        ('<img src="a b.png">\n', [("image", "a b.png", 1)]),
    ],
)
def test_links_of_html(text: str, links: list[tuple[str, str, int]]) -> None:
    found = read_markdown(text).links

    assert [(link.kind, link.to, link.line) for link in found] == links
