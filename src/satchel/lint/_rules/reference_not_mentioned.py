"""References that no text says to read, and scripts that none says to run."""

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from satchel.lint._context import LintContext, body, rule, text_of
from satchel.lint._targets import pack_paths
from satchel.model import SKILL_FILE, Finding, Severity

_NEVER_READ: Final = ("license", "licence", "notice", "copying", "__init__.py")
# Endings of programs; other files in `scripts` are read by a program.
_PROGRAMS: Final = frozenset(
    [
        *("awk", "bash", "bat", "cjs", "cmd", "fish", "jl", "js", "lua", "mjs", "mts"),
        *("php", "pl", "ps1", "py", "pyw", "r", "rb", "sh", "ts", "zsh"),
    ]
)
_TEST: Final = re.compile(
    r"(?:\A|/)(?:tests?|__tests__)/|(?:\A|/)(?:test_|conftest\.)[^/]*\Z"
    r"|[_.-](?:test|spec)\.\w+\Z",
    re.IGNORECASE,
)
_PATTERN: Final = re.compile(
    r"(?<![\w./{}<>*-])(?=[\w./-]{0,80}[*{<])[\w./{}<>*-]{1,120}(?:\.\w+|\*)"
)
# What matches any text in a pattern: `references/module-N-*.md`.
_OPEN: Final = re.compile(r"\{\w+\}|<\w+>|\*+|\b[NX]\b")
_LEAST_FIXED: Final = 4
_MOST_PATTERNS: Final = 200


@rule("reference-not-mentioned", "script-not-mentioned")
def reference_not_mentioned(pack: LintContext) -> Iterator[Finding]:
    """Yield each reference and script that no reachable text names."""
    # Texts are the description, the body, the files that these name, and what is
    # neither reference nor script. A file is named by its path, its name, a pattern or
    # its folder; a program also by its stem, or by its counterpart for another system.
    references, scripts = pack.descriptor.references, pack.descriptor.scripts
    if not references and not scripts:
        return
    strict = pack.profile == "strict"
    paths: tuple[str, ...] = (*references, *scripts)
    unnamed: list[str] = [path for path in paths if _needs_name(pack, path)]
    texts = [f"{pack.manifest.description}\n{body(pack).text}"]
    others = (*pack.descriptor.assets, *pack.descriptor.others)
    texts += [text_of(pack, path) for path in others]
    # A file that is named is read in turn, as the model would.
    while texts and unnamed:
        text = texts.pop()
        named: list[str] = [
            path for path in unnamed if _names(text, path, strict=strict)
        ]
        stems = {posixpath.splitext(path)[0] for path in named}
        named += [
            path
            for path in unnamed
            if path in scripts
            and path not in named
            and posixpath.splitext(path)[0] in stems
        ]
        unnamed = [path for path in unnamed if path not in named]
        texts += [text_of(pack, path) for path in named]
    for path in unnamed:
        if path in references:
            severity: Severity = "error" if strict else "warning"
            yield Finding.of(
                "reference-not-mentioned", SKILL_FILE, severity=severity, path=path
            )
        elif posixpath.splitext(path)[1][1:].lower() in _PROGRAMS:
            yield Finding.of("script-not-mentioned", SKILL_FILE, path=path)


def _needs_name(pack: LintContext, path: str) -> bool:
    name = posixpath.basename(path).lower()
    return (
        path in pack_paths(pack)
        and not name.startswith(_NEVER_READ)
        and not _TEST.search(path)
    )


def _names(text: str, path: str, *, strict: bool) -> bool:
    name = posixpath.basename(path)
    lowered = _lowered(text)
    for form in (name.lower(), quote(name).lower()):
        # After another letter it is the end of another name: a.md in data.md.
        if form in lowered and re.search(rf"(?<![\w-]){re.escape(form)}", lowered):
            return True
    is_script = path.startswith("scripts/")
    if strict and not is_script:
        return False
    if _names_folder(text, posixpath.dirname(path)):
        return True
    if any(p.fullmatch(path) or p.fullmatch(name) for p in _patterns(text)):
        return True
    stem, dot, ending = name.rpartition(".")
    if not dot or ending.lower() not in _PROGRAMS or stem not in text:
        return False
    folder = posixpath.basename(posixpath.dirname(path))
    module = rf"\b{re.escape(folder)}\.{re.escape(stem)}\b"
    imported = rf"\b(?:import|from|require|source)\b[^\n]{{0,200}}\b{re.escape(stem)}\b"
    return re.search(f"{module}|{imported}", text) is not None


@lru_cache(maxsize=4)
def _lowered(text: str) -> str:
    return text.lower()


@lru_cache(maxsize=256)
def _names_folder(text: str, folder: str) -> bool:
    """Tell whether the folder, or one around it, is named without a file."""
    while folder:
        if folder in text and re.search(
            rf"(?<![\w/-]){re.escape(folder)}(?:/?\**[`'\")\]|:]|/(?![\w.{{<*-]))", text
        ):
            return True
        folder = posixpath.dirname(folder)
    return False


@lru_cache(maxsize=256)
def _patterns(text: str) -> tuple[re.Pattern[str], ...]:
    globs = {
        _OPEN.sub("*", match[0].removeprefix("./")) for match in _PATTERN.finditer(text)
    }
    return tuple(
        re.compile(fnmatch.translate(glob))
        for glob in sorted(globs)[:_MOST_PATTERNS]
        if len(glob.replace("*", "")) >= _LEAST_FIXED
    )
