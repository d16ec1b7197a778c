"""Paths that lead nowhere on the machines of others."""

import re
from collections.abc import Iterator
from typing import Final

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding
from satchel_lab.lint._context import LintContext, documents, matches_in, rule, text_of
from satchel_lab.lint._review import PAGES, block_at, is_in_use

_WITH_BACKSLASHES: Final = lazy_pattern(
    r"(?<![\w\\/.:-])(?:\.\\)?(?:references|scripts|assets)(?:\\[\w-][\w.-]*)+\.(\w+)"
)
_SHELLS: Final = frozenset(
    ["bat", "batch", "batchfile", "cmd", "dos", "powershell", "ps", "ps1", "pwsh"]
)
# What is in the line of a path for Windows, or of one that nobody is to write.
_FOR_WINDOWS: Final = lazy_pattern(
    r"(?<![\w/])[A-Za-z]:\\|%\w+%|\$env:|[\u2717\u274c]"
    r"|\b(?:avoid|bad|instead of|never|not|windows|wrong)\b",
    re.IGNORECASE,
)
_OF_WINDOWS: Final = frozenset(["bat", "cmd", "exe", "ps1", "psm1", "vbs"])


@rule("backslash-path")
def backslash_path(pack: LintContext) -> Iterator[Finding]:
    """Yield each path into the pack with backslashes, but none that is for Windows."""
    for path, page in documents(pack):
        text = text_of(pack, path)
        if not ("references\\" in text or "scripts\\" in text or "assets\\" in text):
            continue
        shells = (block for block in page.blocks if block.language in _SHELLS)
        windows = {line for block in shells for line in block.rows}
        for number, match in matches_in(text, _WITH_BACKSLASHES):
            if match[1].lower() in _OF_WINDOWS:
                continue
            if number in windows or _FOR_WINDOWS.search(_line_at(text, match)):
                continue
            yield Finding.of("backslash-path", path, number, text=match[0])


def _line_at(text: str, match: re.Match[str]) -> str:
    end = text.find("\n", match.end())
    return text[text.rfind("\n", 0, match.start()) + 1 : end if end >= 0 else len(text)]


_HOME: Final = lazy_pattern(
    r"(?<![\w./~\\-])(?:/Users/|/home/|[A-Za-z]:\\{1,2}Users\\{1,2}|[A-Za-z]:/Users/)"
    r"([A-Za-z0-9][\w.-]*)(?=[/\\])"
)
# Names that mean any user, or that a system gives.
_ANYBODY: Final = lazy_pattern(
    r".*(?:user|name|example|your|runner|sandbox|xxx).*"
    r"|.*(?:-|bot|claw|metrics|service|svc).*|a|abc|actions|admin|agent|alice|app|bar|bob|centos|circleci|claude|coder|codespaces?"
    r"|container|debian|default|deploy|dev|developer|docker|fedora|foo|git|gitpod|guest"
    r"|(?:j|john|jane)?[._-]?doe|carol|charlie|dave|eve|joe|jane|jenkins|john|jovyan|kali|linuxbrew|me|max|mike|my|node|nobody|nonroot|opam|opc|pi"
    r"|public|root|sam|service|shared|site|some(?:body|one)|suspect|test|travis|ubuntu"
    r"|vagrant|vscode|vsts|webapp|work(?:er|space)|www(?:-data)?|xyz|yo?u"
)
_MOST_CHARS: Final = 256 * 1024
# A block in one of these, or in none, shows what is typed, read or printed.
_SHOWS: Final = frozenset(
    [
        *("", "console", "csv", "diff", "json", "jsonc", "jsonl", "log", "markdown"),
        *("dockerfile", "md", "output", "plain", "plaintext", "text", "txt", "xml"),
    ]
)
_EXAMPLE: Final = lazy_pattern(
    r"(?i)\bexamples?\b|\be\.g\.|\bfor instance\b|\bsuch as\b|\bsamples?\b|\boutputs?\b"
    r"|\bpaths\b|->|\u2192|\u4f8b|\u793a|\u5982"
)
# The value of an option, a path in an image, and what needs a whole path.
_NEEDED: Final = lazy_pattern(
    r"(?i)\s--[\w-]+[ =]['\"]?\Z|\babsolute\b|\bfull path\b|\u7edd\u5bf9|\u5b8c\u6574"
)
# A command in a block without a language.
_COMMAND: Final = lazy_pattern(
    r"\s*(?:\$ )?(?:\.\s|(?:bash|bun|cat|cd|cp|export|git|ln|ls|make|mkdir|mv|node|npm"
    r"|npx|open|pip3?|pnpm|python3?|rm|rsync|sh|source|sudo|uv)\s|\w+=)"
)


@rule("machine-path", of_skills=True)
def machine_path(pack: LintContext) -> Iterator[Finding]:
    """Yield a warning on the first path of each file into a person's home folder."""
    for path in (SKILL_FILE, *pack.descriptor.resources):
        text = text_of(pack, path)
        if len(text) > _MOST_CHARS:
            continue
        # Plain searches are cheap, and spare most files the pattern.
        if "/Users/" not in text and "/home/" not in text and "Users\\" not in text:
            continue
        for line, match in matches_in(text, _HOME):
            name = match[1].lower().rstrip(".")
            # The account of what the pack is about is no person's.
            if _ANYBODY.fullmatch(name) or name in pack.manifest.name.lower():
                continue
            if path.lower().endswith(PAGES) and _is_shown(pack, path, line, match):
                continue
            yield Finding.of("machine-path", path, line, text=match[0])
            break


def _is_shown(pack: LintContext, path: str, line: int, match: re.Match[str]) -> bool:
    """Tell whether a page only shows a path: as an example, or what is printed."""
    text = match.string
    written = text.split("\n")[line - 1]
    begin = text.rfind("\n", 0, match.start()) + 1
    # Some need a whole path: the value of an option, or what a comment says of it.
    above = text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : match.start()]
    if _NEEDED.search(above):
        return True
    block = block_at(pack, path, line)
    if block is None:
        # Its paragraph, and the one above, which may begin a list.
        near = "".join(re.split(r"\n[ \t]*\n", text[: match.start()])[-2:])
        return _EXAMPLE.search(f"{near}{written}") is not None or "`" not in written
    if text.rfind("\n\\`", 0, match.start()) >= 0:  # in a page that it shows
        return True
    if block.language in _SHOWS and not _COMMAND.match(written):
        return True
    is_comment = written.lstrip().startswith(("#", "//"))
    return is_comment or not is_in_use(pack, path, begin, prose=False)
