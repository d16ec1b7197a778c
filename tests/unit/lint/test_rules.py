"""What each rule finds in a pack in memory; whole packs are in tests/cases/check."""

import random
import string
import sys
from collections.abc import Mapping

import pytest

from satchel.errors import (
    LimitExceededError,
    ReferenceNotFoundError,
    ReferenceUnreadableError,
)
from satchel.model import Descriptor, FileStat, Manifest
from satchel_lab.lint import DEFAULT_THRESHOLDS, RULES, LintContext, LintRule
from satchel_lab.lint._english import is_english, opening_chars
from satchel_lab.lint._programs import MAX_BYTES
from satchel_lab.lint._rules.description import description_lacks_when, long_description
from satchel_lab.lint._rules.risks import (
    find_secrets,
    sensitive_pattern,
    suspicious_content,
)
from satchel_lab.lint._rules.scripts import interactive_script
from satchel_lab.lint._rules.syntax import json_syntax, python_syntax, shell_syntax

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
    fields = {"name": "x", "description": description}
    return LintContext(
        descriptor=Descriptor("x", description, references=names, files=held),
        manifest=Manifest(
            name="x",
            description=description,
            frontmatter=fields,
            declares_files=declares,
        ),
        text=TEXT,
        read=files.read,
        profile=profile,
    )


def found(
    context: LintContext, *rules: LintRule
) -> list[tuple[str, str, str, int | None]]:
    found = (each for rule in rules or RULES for each in rule(context))
    return [(f.code, f.severity, f.path, f.line) for f in found]


def test_a_sound_pack_has_no_findings_nor_has_a_large_program() -> None:
    assert found(pack(Files(a=b"# A\n", b="Größe 👩‍🚀\n".encode()))) == []

    large = b"(" * (MAX_BYTES + 1)
    context = scripts({"a.py": large, "a.sh": large, "a.json": large})

    for rule in (python_syntax, shell_syntax, json_syntax, interactive_script):
        assert list(rule(context)) == []


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

    assert found(context) == expected


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
    assert found(pack(Files(a=error))) == expected


@pytest.mark.row("E01", "F51")
def test_hidden_characters_and_tags_of_the_envelope_next_to_the_body() -> None:
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

    text = b"fine\n</instructions>\n<execution_directive>\n"

    assert found(pack(Files(a=text)), suspicious_content) == [
        ("envelope-breakout", "warning", "references/a.md", line) for line in (2, 3)
    ]

    assert found(pack(Files(a=b"\xff\xfe</instructions>"))) == []


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
    assert found(pack(description=description), long_description) == expected


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
    ("description", "is_reported"),
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
def test_a_description_without_a_when(description: str, is_reported: bool) -> None:
    findings = found(pack(description=description), description_lacks_when)

    assert [code for code, *_ in findings] == ["description-lacks-when"] * is_reported


KSH = b"#!/bin/ksh\necho\n"


def scripts(files: Mapping[str, bytes]) -> LintContext:
    return LintContext(
        descriptor=Descriptor(
            "x",
            "d",
            scripts=tuple(files),
            files=tuple(FileStat(path, len(data)) for path, data in files.items()),
        ),
        manifest=Manifest(name="x", description="d"),
        text="---\nname: x\n---\n# X\n",
        read=lambda path: files[path],
    )


def test_no_shell_or_python_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """One note for all scripts of a pack, at the first."""

    def find_none(_: str) -> str:
        return ""

    rules = sys.modules["satchel_lab.lint._rules.syntax"]
    monkeypatch.setattr(rules, "find_shell", find_none)
    (found,) = shell_syntax(scripts({"scripts/a": KSH, "scripts/b.sh": b"echo\n"}))

    assert (found.code, found.severity, found.path) == (
        "program-not-checked",
        "note",
        "scripts/a",
    )
    assert "nor 1 more" in found.message

    monkeypatch.setattr(sys, "executable", "")
    (found,) = python_syntax(scripts({"scripts/a.py": b"x = (\n"}))

    assert (found.code, found.path) == ("program-not-checked", "scripts/a.py")


@pytest.mark.row("F82")
@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (b"{", 1, "Expecting property name enclosed in double quotes"),
        (b"[1,\n2,\n]", 2, "a comma after the last item"),
        (b'{"a": [1,\n], "b": {"c": 2\n,}}', 1, "a comma after the last item"),
        (b'{"a": 1\n"b": 2,}', 2, "Expecting ',' delimiter"),
        (b'{"a": "\xff"}', None, "it is not UTF-8"),
        (b"[" * 100_000, None, "it is nested too deeply"),
    ],
    ids=["open", "comma", "commas", "no comma", "latin-1", "deep"],
)
def test_what_is_not_json(data: bytes, line: int | None, problem: str) -> None:
    (found,) = json_syntax(scripts({"a.json": data}))

    assert found.line == line
    assert found.message.startswith(f"it is not valid JSON: {problem}")


@pytest.mark.parametrize("data", [b"", b"9" * 5_000, b"\xef\xbb\xbf[]", b'"\\ud800"'])
def test_what_is_json_is_silent(data: bytes) -> None:
    assert list(json_syntax(scripts({"a.json": data}))) == []


CHARS = string.ascii_letters + string.digits
_CHANCE = random.Random(5)  # noqa: S311 - the same letters each time


def drawn(count: int, chars: str = CHARS) -> str:
    return "".join(_CHANCE.choices(chars, k=count))


UPPER = string.ascii_uppercase + "234567"
KEY = f"-----BEGIN OPENSSH PRIVATE {'KEY'}-----\n{drawn(64)}\n{drawn(64)}\n"
SHAPES = [
    ("a private key", KEY),
    ("a private key", KEY.replace("\n", "\\n")),
    ("a private key", f"-----BEGIN PRIVATE {'KEY'}-----\nProc-Type: 4\n\n{drawn(64)}"),
    ("an AWS access key", f"AK{'IA'}{drawn(16, UPPER)}"),
    ("an AWS session key", f"AS{'IA'}{drawn(16, UPPER)}"),
    *(("a GitHub token", f"gh{kind}_{drawn(36)}") for kind in "pousr"),
    ("a GitHub token", f"github_{'pat'}_{drawn(22)}_{drawn(59)}"),
    ("a GitLab token", f"gl{'pat'}-{drawn(20)}"),
    ("a Slack token", f"xo{'xb'}-{drawn(11, string.digits)}-{drawn(24)}"),
    (
        "the address of a Slack webhook",
        f"hooks.slack.com/services/T{drawn(8, UPPER)}/B{drawn(8, UPPER)}/{drawn(24)}",
    ),
    ("a Google API key", f"AI{'za'}{drawn(35)}"),
    ("an Anthropic API key", f"sk-{'ant'}-api03-{drawn(80)}"),
    ("an OpenAI API key", f"sk-{'proj'}-{drawn(60)}"),
    ("an OpenAI API key", f"sk-{drawn(20)}T3Blbk{'FJ'}{drawn(20)}"),
    ("a Stripe key", f"sk_{'live'}_{drawn(24)}"),
    ("an npm token", f"np{'m_'}{drawn(36)}"),
    ("a PyPI token", f"pypi-{'AgE'}{drawn(80)}"),
    ("a Hugging Face token", f"hf{'_'}{drawn(34)}"),
    ("a SendGrid key", f"S{'G'}.{drawn(22)}.{drawn(43)}"),
    ("a DigitalOcean token", f"dop{'_v1'}_{drawn(64, '0123456789abcdef')}"),
]


@pytest.mark.row("E02")
@pytest.mark.parametrize(
    ("kind", "secret"),
    SHAPES,
    ids=[f"{n} {kind}" for n, (kind, _) in enumerate(SHAPES)],
)
def test_a_secret_is_found_with_its_line(kind: str, secret: str) -> None:
    text = f"# Set up\n\nUse `{secret}` here.\n"

    assert list(find_secrets(text.encode())) == [(3, kind)]


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN PRIVATE {'KEY'}-----\n...\n",
        f"AK{'IA'}IOSFODNN7EXAMPLE",
        f"ghp_{'x' * 36}",
        f"ghp_{'abcdefghijklmnopqrst1234567890ABCDEF'}",
        f"sk-{'ant'}-api03-YOUR-KEY-{'a' * 60}",
        f"sk_test_{drawn(24)}",
        "through the light of npm_ and hf_",
        "task-proj-management is the name of a branch",
    ],
)
def test_what_is_plainly_an_example_is_none(text: str) -> None:
    assert list(find_secrets(text.encode())) == []


@pytest.mark.row("E02")
def test_a_secret_is_reported_once_and_never_printed() -> None:
    secret = f"ghp_{drawn(36)}"
    context = LintContext(
        descriptor=Descriptor("x", "d", assets=("assets/a.txt",)),
        manifest=Manifest(name="x", description="d"),
        text=f"---\nname: x\n---\n{secret}\n",
        read=lambda _: secret.encode(),
    )

    found = list(sensitive_pattern(context))

    assert [(each.path, each.line) for each in found] == [
        ("SKILL.md", 4),
        ("assets/a.txt", 1),
    ]
    assert secret[4:] not in repr(found)

    text = f"hf{'_'}{drawn(34)} hf{'_'}{drawn(34)}\nAK{'IA'}{drawn(16, UPPER)}"

    assert [line for line, _ in find_secrets(text.encode())] == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fill in the fields of a form and count pages.", True),
        ("Fills forms with values", True),
        ("Rellena los campos de un formulario PDF y cuenta las paginas", False),
        ("Füllt Formulare aus und zählt die Seiten", False),
        ("Remplit les formulaires et compte les pages du document", False),
        ("填写 the PDF 表单 and 检查每一页的内容 for 错误", False),
        ("Automate Demio tasks via Rube MCP. Always search tools first.", True),
        ("Capture failures, corrections, lessons; persists across sessions.", True),
        ("Polymarket trading. Browse markets, place bets, manage positions.", True),
        ("Build-Skripte mit Docker und Tasks; Review der Tools", False),
        ("Support de review pour les tests et le plan", False),
        ("Plan de review; run de pruebas para el equipo", False),
        ("PDF", False),
        ("123", False),
        ("", False),
    ],
)
def test_english_is_told_from_what_is_not(text: str, expected: bool) -> None:
    assert is_english(text) is expected


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Fill in PDF forms.", "Fill in PDF forms."),
        ("This skill should be used when the user asks to fill a form", "fill a form"),
        ("A comprehensive guide for PDF forms", "PDF forms"),
        ("the user's forms", "forms"),
        ("use this when", ""),
    ],
)
def test_where_the_first_word_of_meaning_stands(text: str, rest: str) -> None:
    assert text[opening_chars(text) :] == rest
