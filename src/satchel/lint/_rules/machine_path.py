"""Paths into the home folder of one person."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lint._context import LintContext, rule, text_of
from satchel.model import SKILL_FILE, Finding

_HOME: Final = re.compile(
    r"(?<![\w./~\\-])(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2}|[A-Za-z]:/Users/)"
    r"([A-Za-z0-9][\w.-]*)(?=[/\\])"
)
# Names that mean any user, or that a system gives.
_ANYBODY: Final = re.compile(
    r".*(?:user|name|example|your|runner|sandbox|xxx).*"
    r"|a|actions|admin|agent|alice|app|bar|bob|centos|circleci|claude|coder|codespaces?"
    r"|container|debian|default|deploy|dev|developer|docker|fedora|foo|git|gitpod|guest"
    r"|(?:j|john|jane)?[._-]?doe|carol|charlie|dave|eve|joe|jane|jenkins|john|jovyan|kali|linuxbrew|me|my|node|nobody|nonroot|opam|opc|pi"
    r"|public|root|service|shared|site|some(?:body|one)|suspect|test|travis|ubuntu"
    r"|vagrant|vscode|vsts|webapp|work(?:er|space)|www(?:-data)?|xyz|yo?u"
)
_MOST_CHARS: Final = 256 * 1024


@rule("machine-path")
def machine_path(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first path of each file into a person's home folder."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        text = text_of(pack, path)
        if len(text) > _MOST_CHARS:
            continue
        # Plain searches are cheap, and spare most files the pattern.
        if "/Users/" not in text and "/home/" not in text and "Users\\" not in text:
            continue
        for match in _HOME.finditer(text):
            if _ANYBODY.fullmatch(match[1].lower().rstrip(".")):
                continue
            yield Finding.of(
                "machine-path",
                path,
                text.count("\n", 0, match.start()) + 1,
                text=match[0],
            )
            break
