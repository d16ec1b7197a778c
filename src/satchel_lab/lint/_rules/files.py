"""The files of a pack: declared, listed, readable, and named in a text."""

import fnmatch
import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from satchel.errors import LimitExceededError, ReferenceNotFoundError, SkillError
from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, Finding, Severity
from satchel_lab.lint._context import LintContext, body, rule, text_of
from satchel_lab.lint._targets import pack_paths


@rule()
def declared_files(pack: LintContext) -> Iterator[Finding]:
    """Yield the findings on declared files, with the line that declares each."""
    for finding in pack.file_findings:
        # Each message begins with the field that it is about.
        field = finding.message.partition(" ")[0]
        line = pack.line_of(field) or pack.line_of(f"metadata.{field}")
        yield replace(finding, path=SKILL_FILE, line=line)


@rule()
def readable(pack: LintContext) -> Iterator[Finding]:
    """Yield each listed file that a load would refuse, with the code of the load."""
    for path in pack.descriptor.resources:
        try:
            pack.read(path)
        except ReferenceNotFoundError:
            # Making the list has reported it already.
            continue
        except SkillError as error:
            fix = (
                "make the file smaller, or split it"
                if isinstance(error, LimitExceededError)
                else "give the user of the agent the right to read it, or remove it"
            )
            yield Finding.of_error(error, path, fix=fix)


@rule("unlisted-reference")
def unlisted_reference(pack: LintContext) -> Iterator[Finding]:
    """Yield each file below ``references/`` that a closed pack does not list."""
    if not (pack.manifest.declares_files or pack.profile == "strict"):
        return
    listed = frozenset(pack.descriptor.resources)
    line = pack.line_of("references") or pack.line_of("metadata.references")
    severity: Severity = "error" if pack.profile == "strict" else "warning"
    for file in pack.descriptor.files:
        if file.path.startswith("references/") and file.path not in listed:
            name = file.path.removeprefix("references/")
            at = "unlisted-reference", SKILL_FILE, line
            yield Finding.of(*at, severity=severity, path=file.path, name=name)


_NEVER_READ: Final = ("license", "licence", "notice", "copying", "__init__.py")
# Endings of programs; other files in `scripts` are read by a program.
_PROGRAMS: Final = frozenset(
    [
        *("awk", "bash", "bat", "cjs", "cmd", "fish", "jl", "js", "lua", "mjs", "mts"),
        *("php", "pl", "ps1", "py", "pyw", "r", "rb", "sh", "ts", "zsh"),
    ]
)
_TEST: Final = lazy_pattern(
    r"(?:\A|/)(?:tests?|__tests__)/|(?:\A|/)(?:test_|conftest\.)[^/]*\Z"
    r"|[_.-](?:test|spec)\.\w+\Z",
    re.IGNORECASE,
)
_PATTERN: Final = lazy_pattern(
    r"(?<![\w./{}<>*-])(?=[\w./-]{0,80}[*{<])[\w./{}<>*-]{1,120}(?:\.\w+|\*)"
)
# What matches any text in a pattern: `references/module-N-*.md`.
_OPEN: Final = lazy_pattern(r"\{\w+\}|<\w+>|\*+|\b[NX]\b")
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
        # A module of a package is for the programs that import it.
        and f"{posixpath.dirname(path)}/__init__.py" not in pack_paths(pack)
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
    if any(_fits(glob, path) or _fits(glob, name) for glob in _globs(text)):
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


def _fits(glob: str, path: str) -> bool:
    # Its beginning first: a pattern is compiled for the few that may fit.
    return path.startswith(glob.partition("*")[0]) and fnmatch.fnmatchcase(path, glob)


@lru_cache(maxsize=256)
def _globs(text: str) -> tuple[str, ...]:
    globs = {
        _OPEN.sub("*", match[0].removeprefix("./")) for match in _PATTERN.finditer(text)
    }
    return tuple(
        glob
        for glob in sorted(globs)[:_MOST_PATTERNS]
        if len(glob.replace("*", "")) >= _LEAST_FIXED
    )
