"""What has the shape of a secret. None here is one: letters are drawn, then joined."""

from __future__ import annotations

import random
import string

import pytest

from satchel.lint import LintContext
from satchel.lint._rules.sensitive_pattern import find_secrets, sensitive_pattern
from satchel.model import Descriptor, Manifest

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


def test_two_of_a_kind_on_a_line_are_one_finding() -> None:
    text = f"hf{'_'}{drawn(34)} hf{'_'}{drawn(34)}\nAK{'IA'}{drawn(16, UPPER)}"

    assert [line for line, _ in find_secrets(text.encode())] == [1, 2]


@pytest.mark.row("E02")
def test_a_secret_is_never_printed() -> None:
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
