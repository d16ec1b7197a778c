"""Files that the text of a pack names, and that the pack does not have."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.lint._context import LintContext, body, document, documents, rule, text_of
from satchel.lint._markdown import CodeBlock
from satchel.lint._targets import find_case, find_target, pack_paths, possible_paths
from satchel.model import SKILL_FILE, SPEC_NAME, Finding

_MENTION: Final = re.compile(
    r"(?:references|scripts|assets)/(?:[\w.-]{1,80}/){0,8}[\w-][\w.-]{0,80}"
    r"\.[A-Za-z]\w{0,7}(?![\w/*{<\[(-])",
    re.ASCII,
)
# What may precede a path: no part of a longer one, but the skill's own folder.
_BEFORE: Final = re.compile(
    r"(?:(?:\A|[^\w./~\\}$>@-])(?:\./)?|SKILL_DIR\}?/|\{baseDir\}/)\Z", re.ASCII
)
_BEFORE_CHARS: Final = 12
# What precedes a path, in its paragraph, that is only an example.
_FOR_EXAMPLE: Final = re.compile(
    r"\A[^\w\n]*(?:examples?\b|\u793a\u4f8b)[^\w\n]{1,4}"  # a label, in Chinese too
    r"|\b(?:e\.g\.|for (?:example|instance)\b|such as )|\u4f8b\u5982",
    re.IGNORECASE,
)
# What precedes a path, in its clause, that is to be made or may exist.
_MADE: Final = re.compile(
    r"\b(?:add(?:ing|s)?|check(?:s|ing)? (?:if|whether|for)|creat(?:e|es|ed|ing)"
    r"|existing|export(?:s|ed|ing)?|extract(?:s|ed|ing)?|generat(?:e|es|ed|ing)|if"
    r"|mov(?:e|es|ed|ing)|output|produc(?:e|es|ed|ing)|put(?:s|ting)?"
    r"|renam(?:e|es|ed|ing)|sav(?:e|es|ed|ing)|split(?:s|ting)?"
    r"|stor(?:e|es|ed|ing)|writ(?:e|es|ten|ing)|do not edit)\b[^.:;\n|]{0,60}\Z",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(r"\A[^\w\n]*(?:\w+[ \t]+)?examples?\b", re.IGNORECASE)
_LABEL_LINES: Final = 3
# A possessive: the path belongs to something else.
_OF_ANOTHER: Final = re.compile(r"(?:['\u2019]s|s[`*_]*['\u2019])[\s`*_\"(]*\Z")
# What follows a path that is only imagined.
_SUPPOSED: Final = re.compile(r"[`'\")\]]*[^.\n]{0,60}\b(?:would|could|might)\b")
# What precedes a path that must exist.
_USED: Final = re.compile(
    r"\b(?:begin with|consult|copy|follow|load|open|read|refer to|see"
    r"|start (?:from|with)|use)\b(?: (?:a|also|and|the|file|script|template))*[\W_]*\Z",
    re.IGNORECASE,
)
# What precedes a path of a program to run.
_RUN: Final = re.compile(
    r"\b(?:bash|node|pwsh|python3?|sh|source|uv run|run|runs|execute)\s[\W_]*\Z"
    r"|\A[\s$>]*\./\Z",
    re.IGNORECASE,
)
# What precedes a path, alone, that is the title of what follows.
_TITLE: Final = re.compile(
    r"\A\s*(?:#+|//|--|<!--)\s*\Z|\A[\s\d.)>*_`-]*\*\*[`_]*(?:\./)?\Z"
)
_AFTER_TITLE: Final = re.compile(r"[\s`*_]*(?::[\s*_]*|-->)?(?:\n|\Z)")
_CLAUSE_CHARS: Final = 100
_PARAGRAPH_CHARS: Final = 400
# Where a paragraph or an item of a list begins.
_BEGINS: Final = re.compile(r"\n[ \t]*(?:\n|[-*+][ \t]|\d+[.)][ \t])")
_EXAMPLE: Final = re.compile(
    r"(?:\A|[/_-])(?:your|my|example|foo|bar|baz|xxx|name|filename|file|topic|some\w*)"
    r"(?:[._-]|\Z)",
    re.IGNORECASE,
)
_MOST_ABOVE: Final = 8
# A code block in one of these shows the text of another file.
_SAMPLES: Final = frozenset(
    [
        *("dockerfile", "json", "json5", "jsonc", "markdown", "md", "mdx", "toml"),
        *("xml", "yaml", "yml"),
    ]
)


class _Mention(NamedTuple):
    """A named path, its line up to it, and the text on both sides."""

    path: str
    line: int
    clause: str
    paragraph: str


@rule("file-name-case", "mentioned-file-missing")
def mentioned_file_missing(pack: LintContext) -> Iterator[Finding]:
    """Yield each path below references/, scripts/ or assets/ that leads to no file."""
    # Once for each path and file. A path is relative to the root, to the folder of the
    # file or to one between; it may also mean a file of the project, or of a skill that
    # the paragraph names.
    for path, _ in documents(pack):
        text = text_of(pack, path)
        if "references/" in text or "scripts/" in text or "assets/" in text:
            yield from _missing(pack, path, text)


def _missing(pack: LintContext, file: str, text: str) -> Iterator[Finding]:
    paths = pack_paths(pack)
    reported = _linked(pack, file)
    for mention in _mentions(pack, file, text):
        path = mention.path
        if path in reported or not paths.isdisjoint(possible_paths(file, path)):
            continue
        reported.add(path)
        actual = find_case(pack, path)
        if actual:
            yield Finding.of(
                "file-name-case", file, mention.line, path=path, actual=actual
            )
        elif _is_certain(pack, file, mention) and not _is_around(pack, mention):
            yield Finding.of("mentioned-file-missing", file, mention.line, path=path)


def _linked(pack: LintContext, file: str) -> set[str]:
    """Return the targets of links: another rule checks them."""
    return {
        path
        for link in document(pack, file).links
        if (target := find_target(pack, file, link.to)) is not None
        for path in (target.path, link.to.removeprefix("./").partition("#")[0])
    }


def _mentions(pack: LintContext, file: str, text: str) -> Iterator[_Mention]:
    """Yield each path that is meant, and not an example."""
    lines = text.split("\n")
    samples = {
        number
        for block in document(pack, file).blocks
        if _is_sample(block, lines)
        for number in range(block.line, block.line + block.lines)
    }
    begin = len(text) - len(body(pack).text) if file == SKILL_FILE else 0
    line, counted = 1, 0
    made: set[str] = set()
    for match in _MENTION.finditer(text, begin):
        at = match.start()
        line += text.count("\n", counted, at)
        counted = at
        if not _BEFORE.search(text[max(0, at - _BEFORE_CHARS) : at]):
            continue
        if line in samples or _EXAMPLE.search(match[0]):
            continue
        clause = text[text.rfind("\n", 0, at) + 1 : at][-_CLAUSE_CHARS:]
        # A path that the text creates or asks for may exist from then on.
        if _is_made(clause):
            made.add(match[0])
        *_, before = _BEGINS.split(text[max(0, at - _PARAGRAPH_CHARS) : at])
        after = text[match.end() : match.end() + _PARAGRAPH_CHARS]
        if match[0] not in made and not _is_example(clause, before, after):
            paragraph = before + _BEGINS.split(after)[0]
            yield _Mention(match[0], line, clause, paragraph)


def _is_sample(block: CodeBlock, lines: list[str]) -> bool:
    """Tell whether a block shows the text of another file, or an example."""
    if block.info.strip().lower().partition(" ")[0] in _SAMPLES:
        return True
    above = lines[max(0, block.line - 1 - _LABEL_LINES) : block.line - 1]
    label = next((line for line in reversed(above) if line.strip()), "")
    return _LABEL.match(label) is not None


def _is_example(clause: str, before: str, after: str) -> bool:
    """Tell whether a path is an example, or belongs to something else."""
    if _TITLE.match(clause) and _AFTER_TITLE.match(after):
        return True
    return bool(
        _FOR_EXAMPLE.search(before)
        or _OF_ANOTHER.search(before)
        or _SUPPOSED.match(after)
    )


def _is_made(clause: str) -> bool:
    is_used = _RUN.search(clause) or _USED.search(clause)
    return not is_used and _MADE.search(clause) is not None


def _is_certain(pack: LintContext, file: str, mention: _Mention) -> bool:
    bucket = mention.path.partition("/")[0]
    if bucket == "references" or bucket in pack_paths(pack):
        return True
    if file == SKILL_FILE and _RUN.search(mention.clause):
        return True
    return bucket == "assets" and _USED.search(mention.clause) is not None


def _is_around(pack: LintContext, mention: _Mention) -> bool:
    """Tell whether the project has the file, or a skill that its paragraph names."""
    above = ("../" * steps for steps in range(1, _MOST_ABOVE + 1))
    if any(pack.around(f"{up}{mention.path}") is not None for up in above):
        return True
    names = {name for name in SPEC_NAME.findall(mention.paragraph) if "-" in name}
    quoted = set(re.findall(r"`([a-z0-9]+)`", mention.paragraph))
    return any(
        pack.around(f"{start}{name}/{mention.path}")
        for name in names | quoted
        for start in ("../", "//")
    )
