"""What each rule says of a pack in memory; whole packs stand in tests/cases/check."""

from __future__ import annotations

import pytest

from satchel.errors import (
    LimitExceededError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
)
from satchel.lint import RULES, LintContext, LintRule
from satchel.lint._rules.description_lacks_when import description_lacks_when
from satchel.lint._rules.long_description import long_description
from satchel.lint._rules.suspicious_content import suspicious_content
from satchel.model import DEFAULT_THRESHOLDS, Descriptor, FileStat, Manifest

MAX_CHARS = DEFAULT_THRESHOLDS.description_chars
TEXT = "---\nname: x\ndescription: d\nreferences: [a.md]\n---\n# a.md, b.md\n"


class Files:
    """The files of one pack; an exception in place of bytes is raised."""

    def __init__(self, **files: bytes | Exception) -> None:
        self.files = {f"references/{name}.md": data for name, data in files.items()}

    def read(self, path: str) -> bytes:
        data = TEXT.encode() if path == "SKILL.md" else self.files[path]
        if isinstance(data, Exception):
            raise data
        return data


def pack(
    files: Files | None = None,
    *,
    listed: tuple[str, ...] | None = None,
    description: str = "Do what a.md says when it is asked for.",
    declares: bool = False,
    profile: str = "spec",
) -> LintContext:
    files = files or Files()
    held = tuple(FileStat(path, 1) for path in ("SKILL.md", *files.files))
    names = tuple(files.files) if listed is None else listed
    return LintContext(
        descriptor=Descriptor("x", description, references=names, files=held),
        manifest=Manifest(name="x", description=description, declares_files=declares),
        text=TEXT,
        read=files.read,
        profile=profile,
    )


def said(
    context: LintContext, *rules: LintRule
) -> list[tuple[str, str, str, int | None]]:
    found = (each for rule in rules or RULES for each in rule(context))
    return [(f.code, f.severity, f.path, f.line) for f in found]


def test_a_sound_pack_hears_nothing() -> None:
    assert said(pack(Files(a=b"# A\n", b="Größe 👩‍🚀\n".encode()))) == []


@pytest.mark.row("A29")
@pytest.mark.parametrize(
    ("declares", "profile", "expected"),
    [
        (True, "strict", [("unlisted-reference", "error", "SKILL.md", 4)]),
        (False, "strict", [("unlisted-reference", "error", "SKILL.md", 4)]),
        (True, "spec", [("unlisted-reference", "warning", "SKILL.md", 4)]),
        (False, "spec", []),
    ],
)
def test_a_reference_that_a_closed_pack_does_not_list(
    declares: bool, profile: str, expected: list[object]
) -> None:
    files = Files(a=b"", b=b"")
    context = pack(
        files, listed=("references/a.md",), declares=declares, profile=profile
    )

    assert said(context) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            ReferenceUnreadableError("x", "references/a.md", detail="no"),
            [("reference-unreadable", "error", "references/a.md", None)],
        ),
        (
            LimitExceededError("file_bytes", 1, 2, "bytes", "references/a.md"),
            [("limit-exceeded", "error", "references/a.md", None)],
        ),
        (ReferenceNotFoundError("x", "references/a.md"), []),
    ],
)
def test_a_listed_file_that_would_not_load(
    error: Exception, expected: list[object]
) -> None:
    assert said(pack(Files(a=error))) == expected


@pytest.mark.row("E01", "F51")
def test_hidden_characters_beside_the_body() -> None:
    text = "one\ntwo\u200b\n\U000e0041\U000e0042\n".encode()

    assert [
        (each.severity, each.message, each.line)
        for each in suspicious_content(pack(Files(a=text)))
    ] == [
        (severity, f"the text holds {what}, the first in this line", line)
        for severity, what, line in (
            ("error", "2 tag characters", 3),
            ("warning", "1 zero-width character", 2),
        )
    ]


def test_a_binary_file_is_not_read_as_text() -> None:
    assert said(pack(Files(a=b"\xff\xfe</instructions>"))) == []


def test_tags_of_the_envelope_beside_the_body() -> None:
    text = b"fine\n</instructions>\n<execution_directive>\n"

    assert said(pack(Files(a=text)), suspicious_content) == [
        ("envelope-breakout", "warning", "references/a.md", line) for line in (2, 3)
    ]


@pytest.mark.row("A02")
@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("d" * MAX_CHARS, []),
        ("d " * 100 + " " * 700, []),
        ("d" * (MAX_CHARS + 1), [("long-description", "note", "SKILL.md", 3)]),
    ],
    ids=["at the bound", "folded", "over it"],
)
def test_a_description_is_a_paragraph(description: str, expected: list[object]) -> None:
    assert said(pack(description=description), long_description) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\nname: x\nreferences:\n - a\n---\n", 3),
        ("---\r\n'references': [a]\r\n---\r\n", 2),
        ("---\nname: x\n---\nreferences: in the body\n", None),
        ("---\nname: x\n", None),
    ],
)
def test_the_line_of_a_field(text: str, line: int | None) -> None:
    context = LintContext(
        descriptor=Descriptor("x", "d"),
        manifest=Manifest(name="x", description="d"),
        text=text,
        read=Files().read,
    )

    assert context.line_of("references") == line


@pytest.mark.parametrize(
    ("description", "said_so"),
    [
        ("Manage GitLab merge requests and pipelines with a Python CLI.", True),
        ("Split large changes into stacked pull requests with the gh CLI.", True),
        ("Automate Demio tasks via Rube MCP. Always search tools first.", True),
        ("A tool that provides a view of the files and of their sizes.", True),
        ("Fill in forms of any kind on request.", False),
        ("Fill in the fields of forms for a user's request.", False),
        ("Make the slides; the user requests a deck or an outline.", False),
        ("Fill in the form that the user provides.", False),
    ],
)
def test_a_description_without_a_when(description: str, said_so: bool) -> None:
    found = said(pack(description=description), description_lacks_when)

    assert [code for code, *_ in found] == ["description-lacks-when"] * said_so
