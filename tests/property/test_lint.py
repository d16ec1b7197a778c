"""Whatever a pack holds, rules say it with a line of the file, and raise nothing."""

from functools import cache

import pytest
from hypothesis import given, strategies as st

from satchel.model import Descriptor, FileStat
from satchel.skill_md import parse
from satchel_lab.lint import RULES, LintContext, read_markdown
from satchel_lab.lint._targets import find_target

pytestmark = pytest.mark.property

# Pieces of which Markdown, frontmatter and paths are made, so that they meet often.
PIECES = st.sampled_from(
    [
        *("---\n", "name: a\n", "description: x #y <z>\n", "\n", "\r\n", "# ", "## "),
        *("```", "~~~", "[", "](", "][", "]", ")", "a", " ", "#a", "references/b.md"),
        *("scripts\\b.py", "../", "/Users/kim/", "$ARGUMENTS", "!`b`", "> ", "- ", "|"),
        *(
            *(
                "<a id=b>",
                "<h1>",
                "\ufeff",
                "é",
                "👩‍🚀",
                "\0",
                "\ud800",
                "$",
                "{",
                "\t",
            ),
            "`",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)
OUTSIDE = {"python_syntax", "shell_syntax", "interactive_script"}
"""Rules that start a process: they have tests of their own."""


def pack(text: str, profile: str, neighbour: str) -> LintContext:
    data = text.encode("utf-8", "surrogatepass")
    other = neighbour.encode("utf-8", "surrogatepass")
    manifest = parse(data, profile="lenient", directory="a").manifest
    files = {"references/b.md": other, "scripts/b.json": other, "c.txt": other}
    every = {"SKILL.md": data, **files}
    return LintContext(
        descriptor=Descriptor(
            "a",
            "d",
            references=("references/b.md",),
            scripts=("scripts/b.json",),
            others=("c.txt",),
            files=tuple(FileStat(path, len(other)) for path in ("SKILL.md", *files)),
        ),
        manifest=manifest or parse(b"---\nname: a\ndescription: d\n---\n").manifest,  # type: ignore[arg-type]
        text=data.decode("utf-8", "replace"),
        read=cache(every.__getitem__),
        profile=profile,
    )


@given(TEXTS, st.sampled_from(["strict", "spec", "auto"]), TEXTS)
def test_every_finding_has_a_line_of_its_file(
    text: str, profile: str, neighbour: str
) -> None:
    context = pack(text, profile, neighbour)
    lines = {"SKILL.md": context.text.count("\n") + 1}
    other = neighbour.count("\n") + 1

    for rule in RULES:
        if rule.name in OUTSIDE:
            continue
        for finding in rule(context):
            assert finding.line is None or (
                1 <= finding.line <= lines.get(finding.path, other)
            ), finding


@given(TEXTS, st.integers(1, 99))
def test_lines_count_from_the_first(text: str, first: int) -> None:
    read = read_markdown(text, first)
    every = [
        *(heading.line for heading in read.headings),
        *(link.line for link in read.links),
        *(block.line for block in read.blocks),
        *(undefined.line for undefined in read.undefined),
    ]

    assert all(first <= line <= first + text.count("\n") for line in every)
    assert read.anchors == read_markdown(text).anchors


@given(TEXTS, st.sampled_from(["SKILL.md", "references/b.md"]))
def test_a_path_never_leads_out_unnoticed(to: str, file: str) -> None:
    """What is found is listed, and what is listed lies in the pack."""
    context = pack("", "spec", "")
    target = find_target(context, file, to)

    if target is not None and target.state in {"found", "relative"}:
        assert not target.path.startswith(("/", "../", "~"))
