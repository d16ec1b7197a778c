"""``docs/scripts/check-links.sh``: links and anchors of Markdown that lead nowhere."""

import os
from pathlib import Path
from typing import Final

import pytest

from tests.unit.packs.house import PACKS
from tests.unit.packs.scripts import Place, needs_bash, needs_dash

SCRIPT: Final = PACKS / "docs" / "scripts" / "check-links.sh"

pytestmark = [needs_bash, pytest.mark.row("C12", "C52")]

TARGET: Final = """\
---
title: "[not a link](of-the-frontmatter.md)"
---

# The  guide & its `code`: 2.0!

## Same
## Same ##

Set up
------

### Über _uns_ {#about-us}

#### [Linked](guide.md) heading

## `__init__` and more

## The `<div>` element, `[x](y)` too

<a id="by-hand"></a><a name='older'></a>

```sh
# no heading
```
"""

# One line, and what is told of its link: nothing where it is good.
LINES: Final = [
    ("[page](guide.md)", ""),
    ("[page](./guide.md 'with a title')", ""),
    ("[up](../a%20project/guide.md?plain=1#set-up)", ""),
    ("[blank](<with blank.md>)", ""),
    ("[brackets](with(brackets).md)", ""),
    ("![image](pic.png) and [folder](docs/)", ""),
    ("[heading](guide.md#the--guide--its-code-20)", ""),
    ("[first](guide.md#same) [second](guide.md#same-1)", ""),
    ("[underlined](guide.md#set-up)", ""),
    ("[own id](guide.md#about-us) [its words too](guide.md#über-uns)", ""),
    ("[a name in code](guide.md#__init__-and-more)", ""),
    ("[link in heading](guide.md#linked-heading)", ""),
    ("[element](guide.md#by-hand) [older](guide.md#older)", ""),
    ("[here](#page)", ""),
    ("[of a file that is no page](pic.png#L10)", ""),
    ("[site](https://example.com/x.md) [mail](mailto:a@example.com)", ""),
    ("[same scheme](//example.com/x.md)", ""),
    ("[from the root](/nowhere.md)", ""),
    ("[ref]: guide.md 'defined'", ""),
    ("[^1]: a footnote, no link", ""),
    ("`[code](no.md)` and ``[two](no.md) ` ``", ""),
    (r"\[no link\](no.md)", ""),
    ("<!-- [comment](no.md) -->", ""),
    ("[top](guide.md#top)", ""),
    ("[in code](guide.md#the-div-element-xy-too)", ""),
    (r"[escaped](with\(brackets\).md)", ""),
    (r"\[no link](no.md) a[0] = f](no.md)", ""),
    ("[WARNING]: read this first", ""),
    ("    [code](no.md)", ""),
    ("> ~~~ [code](no.md)", ""),
    ("`<!--` then [gone](gone.md)", "no such file: gone.md"),
    ("<!-- ` --> [gone](gone.md)", "no such file: gone.md"),
    (r"one \` tick [gone](gone.md) \`", "no such file: gone.md"),
    ("- item [gone](gone.md)", "no such file: gone.md"),
    ("[colon](gone.md#a:b)", "no such file: gone.md#a:b"),
    ("[deeper](docs/a:b.md)", "no such file: docs/a:b.md"),
    ("[gone](gone.md)", "no such file: gone.md"),
    ("![gone](img/gone.png)", "no such file: img/gone.png"),
    ("[ref2]: <gone too.md>", "no such file: gone too.md"),
    ("[case](guide.md#Set-Up)", "no such heading: guide.md#Set-Up"),
    ("[third](guide.md#same-2)", "no such heading: guide.md#same-2"),
    ("[code](guide.md#no-heading)", "no such heading: guide.md#no-heading"),
    ("[no letter of ours](guide.md#日本)", "no such heading: guide.md#日本"),
    ("[it is one](nihon.md#日本)", ""),
    ("[here](#nowhere)", "no such heading: #nowhere"),
    ("`code` then [gone](gone.md)", "no such file: gone.md"),
    ("[![nested](gone.png)](guide.md)", "no such file: gone.png"),
    ("[bad escape](100%.md)", "no such file: 100%.md"),
    ("[blanks](with%20blanks.md)", "no such file: with%20blanks.md"),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write(
        {
            "guide.md": TARGET,
            "with blank.md": "# Blank\n",
            "nihon.md": "# 日本\n",
            "with(brackets).md": "# Brackets\n",
            "pic.png": "",
            "docs/.keep": "",
            ".hidden/bad.md": "[gone](gone.md)\n",
            "node_modules/bad.md": "[gone](gone.md)\n",
        }
    )
    return place


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_line(line: str, expected: str, place: Place) -> None:
    place.write({"x=1.md": f"# Page\r\n\r\n{line}\r\n"})

    done = place.run(SCRIPT, "x=1.md")

    assert done.stdout == (f"x=1.md:3: {expected}\n" if expected else "")
    assert done.returncode == bool(expected)


def test_fences_and_comments_over_several_lines(place: Place) -> None:
    page = """\
        # Page
        ````text
        ```
        [code](no.md)
        ````
        ~~~
        [code](no.md)
        ```
        ~~~
        <!-- [comment](no.md)
        [comment](no.md) --> [gone](gone.md)
        ```never closed
        [code](no.md)
        """
    lines = page.replace("        ", "")
    place.write({"page.md": lines})

    assert place.run(SCRIPT, "page.md").stdout == "page.md:11: no such file: gone.md\n"


def test_code_in_lists_and_quotations_and_links_over_lines(place: Place) -> None:
    page = """\
        # Page
        1. Step:

            ```sh
            # [code](no.md)
            ```

            [gone](in-list.md)

        > ```sh
        > [code](no.md)
        > ```
        > [gone](in-quote.md)

        - ```sh
          [code](no.md)
          - ```
          ```
          [gone](in-item.md)

        Text

            [code](no.md)

            [code](no.md)
        <!--
        ```
        --> [gone](after.md) [over
        lines](two.md)
        """
    lines = page.replace("\n        ", "\n").strip(" ")
    place.write({"page.md": lines})

    assert place.run(SCRIPT, "page.md").stdout == (
        "page.md:8: no such file: in-list.md\n"
        "page.md:13: no such file: in-quote.md\n"
        "page.md:19: no such file: in-item.md\n"
        "page.md:28: no such file: after.md\n"
        "page.md:29: no such file: two.md\n"
    )


@pytest.mark.slow
def test_anchors_of_many_pages_are_not_mixed_up(place: Place) -> None:
    """More pages than the script keeps in mind, and each linked to twice."""
    for n in range(70):
        place.write({f"many/{n}.md": f"# Page {n}\n"})
    lines = [f"[{n}]({n}.md#page-{n + (n == 69)})" for n in [*range(70), *range(70)]]
    place.write({"many/all.md": "\n".join(lines)})

    assert place.run(SCRIPT, "many/all.md").stdout == (
        "many/all.md:70: no such heading: 69.md#page-70\n"
        "many/all.md:140: no such heading: 69.md#page-70\n"
    )


def test_a_byte_order_mark_hides_nothing(place: Place) -> None:
    place.write({"page.md": "\ufeff# Page\n[here](#page)\n"})

    assert place.run(SCRIPT, "page.md").returncode == 0


def test_a_folder_that_is_named_is_searched_whatever_it_is(place: Place) -> None:
    """A link to one, too, and one with a dot in front."""
    place.write({".github/a.md": "[x](x.md)\n"})
    place.folder.joinpath("linked").symlink_to(".github")

    done = place.run(SCRIPT, "linked", ".github", ".hidden")

    assert done.stdout == (
        "linked/a.md:1: no such file: x.md\n"
        ".github/a.md:1: no such file: x.md\n"
        ".hidden/bad.md:1: no such file: gone.md\n"
    )


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads"
)
def test_a_page_that_cannot_be_read_is_not_clean(place: Place) -> None:
    place.folder.joinpath("guide.md").chmod(0)

    done = place.run(SCRIPT)

    assert done.returncode == 2
    assert "cannot be read: ./guide.md" in done.stderr


def test_a_folder_that_cannot_be_read_is_not_clean(place: Place) -> None:
    place.close_a_folder()

    done = place.run(SCRIPT)

    assert (done.returncode, done.stdout) == (2, "")


@needs_dash
def test_a_plain_sh_will_do(place: Place) -> None:
    place.write({"page.md": "[gone](gone.md)\n"})

    done = place.run_by_sh(SCRIPT, "page.md")

    assert done.stdout == "page.md:1: no such file: gone.md\n"


def test_a_folder_is_searched_in_order_with_a_summary_at_the_end(place: Place) -> None:
    place.write(
        {"b/2.md": "[x](x.md)\n", "b/1.markdown": "[y](y.md)\n[g](../guide.md)"}
    )

    done = place.run(SCRIPT)

    assert done.stdout == (
        "./b/1.markdown:1: no such file: y.md\n./b/2.md:1: no such file: x.md\n"
    )
    assert done.stderr == "check-links.sh: 2 broken of 4 links in 6 pages\n"
    assert done.returncode == 1


def test_links_from_the_root_are_looked_up_in_the_given_folder(place: Place) -> None:
    place.write({"b/page.md": "[a](/guide.md#set-up)\n[b](/b/gone.md)\n"})

    done = place.run(SCRIPT, "--root", ".", "b")

    assert done.stdout == "b/page.md:2: no such file: /b/gone.md\n"


def test_our_own_packs_have_no_broken_link(place: Place) -> None:
    done = place.run(SCRIPT, str(PACKS))

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.md"], "no such file or folder: nowhere.md"),
        (["--root", "nowhere"], "no such folder: nowhere"),
        (["--root"], "--root needs a folder"),
        (["--fast"], "unknown option --fast"),
        (["docs"], "0 broken of 0 links in 0 pages"),
        (["--", "-x"], "no such file or folder: ./-x"),
    ],
    ids=["no file", "no root", "root of nothing", "an option", "no page", "behind --"],
)
def test_what_cannot_be_checked_is_reported(
    arguments: list[str], message: str, place: Place
) -> None:
    done = place.run(SCRIPT, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"check-links.sh: {message}")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_options_and_statuses(option: str, place: Place) -> None:
    done = place.run(SCRIPT, option)

    assert (done.returncode, done.stderr) == (0, "")
    for word in ("Usage: check-links.sh", "--root", "--help", "Exit status: 0"):
        assert word in done.stdout
