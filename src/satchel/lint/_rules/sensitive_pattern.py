"""Secrets that a pack would give to everyone who loads it."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, decoded_bytes, rule
from satchel.model import SKILL_FILE, Finding

# What must be in the text, the name of the secret, and the pattern. The shapes are
# those that their issuers publish for secret scanning, or document; what has no prefix
# of its own (a plain password, a bare hexadecimal key) is not listed.
_SHAPES: Final = (
    (
        b"PRIVATE KEY",
        "a private key",
        (
            rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
            # Bounded, so that many beginnings of keys take no longer than others.
            rb"(?:\\[rn]|\s){1,40}(?:[\w-]{1,30}: [^\n]{0,120}\n\s{0,40}){0,4}"
            rb"(?P<secret>[A-Za-z0-9+/=]{40,})"
        ),
    ),
    (b"AKIA", "an AWS access key", rb"\b(?P<secret>AKIA[A-Z2-7]{16})\b"),
    (b"ASIA", "an AWS session key", rb"\b(?P<secret>ASIA[A-Z2-7]{16})\b"),
    *(
        (
            b"gh%c_" % kind,
            "a GitHub token",
            rb"\b(?P<secret>gh%c_[A-Za-z0-9]{36,255})\b" % kind,
        )
        for kind in b"pousr"
    ),
    (
        b"github_pat_",
        "a GitHub token",
        rb"\b(?P<secret>github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b",
    ),
    (b"glpat-", "a GitLab token", rb"\b(?P<secret>glpat-[\w-]{20,})"),
    (b"xox", "a Slack token", rb"\b(?P<secret>xox[abprs]-\d{6,}-[\w-]{20,})"),
    (
        b"hooks.slack.com/services/T",
        "the address of a Slack webhook",
        (
            rb"hooks\.slack\.com/services/"
            rb"(?P<secret>T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,})"
        ),
    ),
    (b"AIza", "a Google API key", rb"\b(?P<secret>AIza[\w-]{35})(?![\w-])"),
    (b"sk-ant-", "an Anthropic API key", rb"\b(?P<secret>sk-ant-[\w-]{60,})"),
    (
        b"T3BlbkFJ",
        "an OpenAI API key",
        rb"\b(?P<secret>sk-[\w-]{10,100}T3BlbkFJ[\w-]{10,})",
    ),
    (b"sk-proj-", "an OpenAI API key", rb"\b(?P<secret>sk-proj-[\w-]{40,})"),
    (b"_live_", "a Stripe key", rb"\b(?P<secret>[sr]k_live_[A-Za-z0-9]{20,})"),
    (b"npm_", "an npm token", rb"\b(?P<secret>npm_[A-Za-z0-9]{36})\b"),
    (b"pypi-AgE", "a PyPI token", rb"\b(?P<secret>pypi-AgE[\w-]{50,})"),
    (b"hf_", "a Hugging Face token", rb"\b(?P<secret>hf_[A-Za-z0-9]{34})\b"),
    (b"SG.", "a SendGrid key", rb"\b(?P<secret>SG\.[\w-]{22}\.[\w-]{43})(?![\w-])"),
    (b"dop_v1_", "a DigitalOcean token", rb"\b(?P<secret>dop_v1_[a-f0-9]{64})\b"),
)
_EXAMPLE: Final = re.compile(
    rb"example|placeholder|your|xxxx|0000|1234|abcd|redacted|dummy|fake|sample|test_?key"
    rb"|\.\.\.|\*\*\*",
    re.IGNORECASE,
)
# Different characters of a real secret: twenty random letters have some fourteen.
_MIN_DIFFERENT: Final = 10


def find_secrets(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the line, from 1, and the kind of each secret; never its text."""
    secrets: list[tuple[int, str]] = []
    for mark, kind, pattern in _SHAPES:
        # A search for bytes is cheap, and spares most files the pattern, which is
        # compiled (once) only for those that need it.
        if mark not in data:
            continue
        for match in re.finditer(pattern, data):
            secret = match["secret"]
            # An obvious example is left out: EXAMPLE, a run such as 1234, few
            # characters.
            if len(Counter(secret)) < _MIN_DIFFERENT or _EXAMPLE.search(secret):
                continue
            line = data.count(b"\n", 0, match.start()) + 1
            if (line, kind) not in secrets:
                secrets.append((line, kind))
    yield from sorted(secrets)


@rule("sensitive-pattern")
def sensitive_pattern(pack: LintContext) -> Iterator[Finding]:
    """Yield an error on what has the shape of a secret; never the secret itself."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        for line, kind in find_secrets(decoded_bytes(pack, path)):
            yield Finding.of("sensitive-pattern", path, line, kind=kind)
