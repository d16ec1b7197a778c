"""What a path in a text leads to."""

import pytest

from satchel.model import Descriptor, FileStat, Manifest
from satchel_lab.lint import LintContext
from satchel_lab.lint._targets import LinkTarget, find_case, find_target, pack_paths

FILES = (
    *("SKILL.md", "references/a.md", "references/b c.md", "references/deep/d.md"),
    *("hidden/e.md", "docs/Ä.md"),
)


def pack(*listed: str) -> LintContext:
    return LintContext(
        descriptor=Descriptor(
            "x",
            "d",
            references=tuple(each for each in listed if each != "docs/Ä.md"),
            others=("docs/Ä.md",),
            files=(
                *(FileStat(path, 1) for path in FILES),
                FileStat("x.md", 0, missing=True),
            ),
        ),
        manifest=Manifest(name="x", description="d"),
        text="",
        read=lambda _: b"",
    )


PACK = pack("references/a.md", "references/b c.md", "references/deep/d.md", "x.md")


@pytest.mark.row("R36")
@pytest.mark.parametrize(
    ("file", "to", "expected"),
    [
        ("SKILL.md", "references/a.md", LinkTarget("references/a.md", "", "found")),
        (
            "SKILL.md",
            "./references/a.md#x",
            LinkTarget("references/a.md", "x", "found"),
        ),
        (
            "SKILL.md",
            "references/b%20c.md",
            LinkTarget("references/b c.md", "", "found"),
        ),
        (
            "SKILL.md",
            "references\\a.md?v=1",
            LinkTarget("references/a.md", "", "found"),
        ),
        ("SKILL.md", "#x", LinkTarget("SKILL.md", "x", "found")),
        ("SKILL.md", "references/", LinkTarget("references", "", "found")),
        ("SKILL.md", "./", LinkTarget(".", "", "found")),
        ("SKILL.md", "docs/%C3%84.md", LinkTarget("docs/Ä.md", "", "found")),
        (
            "references/a.md",
            "references/a.md",
            LinkTarget("references/a.md", "", "found"),
        ),
        ("references/a.md", "b c.md", LinkTarget("references/b c.md", "", "relative")),
        ("references/a.md", "../SKILL.md", LinkTarget("SKILL.md", "", "relative")),
        ("references/a.md", "deep", None),
        ("references/a.md", "deep/", LinkTarget("references/deep", "", "relative")),
        ("SKILL.md", "hidden/e.md", LinkTarget("hidden/e.md", "", "unlisted")),
        ("SKILL.md", "hidden/", LinkTarget("hidden", "", "unlisted")),
        ("SKILL.md", "x.md", LinkTarget("x.md", "", "missing")),
        ("references/a.md", "../y.md", LinkTarget("y.md", "", "missing")),
        ("SKILL.md", "../y.md", LinkTarget("../y.md", "", "outside")),
        ("SKILL.md", "a/../../y.md", LinkTarget("a/../../y.md", "", "outside")),
        ("SKILL.md", "/etc/passwd", LinkTarget("/etc/passwd", "", "outside")),
        ("SKILL.md", "~/notes.md", LinkTarget("~/notes.md", "", "machine")),
        ("SKILL.md", "C:\\a.md", LinkTarget("C:\\a.md", "", "machine")),
        ("SKILL.md", "file:///srv/a.md", LinkTarget("file:///srv/a.md", "", "machine")),
    ],
)
def test_where_a_path_leads(file: str, to: str, expected: LinkTarget | None) -> None:
    assert find_target(PACK, file, to) == expected


@pytest.mark.row("U02", "F65")
@pytest.mark.parametrize(
    ("to", "path", "state"),
    [
        ("${CLAUDE_SKILL_DIR}/references/a.md", "references/a.md", "found"),
        ("{baseDir}/references/a.md#x", "references/a.md", "found"),
        ("$SKILL_DIR/references/b%20c.md", "references/b c.md", "found"),
        ("<skill_dir>/hidden/e.md", "hidden/e.md", "unlisted"),
        ("references/a.md:3", "references/a.md", "found"),
        ("references/a.md:3-9", "references/a.md", "found"),
        ("${CLAUDE_SKILL_DIR}/references/none.md", "references/none.md", "missing"),
        ("{baseDir}/none.md", "none.md", "missing"),
        ("references/none.md:3", "references/none.md", "missing"),
    ],
)
def test_a_link_is_read_as_the_tools_read_it(to: str, path: str, state: str) -> None:
    target = find_target(PACK, "SKILL.md", to)

    assert target is not None
    assert (target.path, target.state) == (path, state)


@pytest.mark.parametrize(
    "to",
    [
        *("https://x.org/a.md", "mailto:a@x.org", "//x.org/a.md"),
        *("", "#", "?x", "url", "LICENSE", "{kind}.md", "<kind>.md", "$HOME/a.md"),
        *("*.md", "path/to/a.md", "your-file.md", "...", "docs/…/a.md", "./url"),
    ],
)
def test_what_is_not_path_in_a_pack(to: str) -> None:
    assert find_target(PACK, "SKILL.md", to) is None


def test_files_are_found_in_another_case_and_with_their_folders() -> None:
    assert find_case(PACK, "References/A.md") == "references/a.md"
    assert find_case(PACK, "docs/ä.md") == "docs/Ä.md"
    assert find_case(PACK, "references/z.md") == ""

    assert {".", "references", "references/deep", "SKILL.md"} < pack_paths(PACK)
    assert "x.md" not in pack_paths(PACK)
