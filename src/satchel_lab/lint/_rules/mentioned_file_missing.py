"""Files that a text sends its reader to, and that the pack does not have."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.lazy import lazy_pattern
from satchel.model import SKILL_FILE, SPEC_NAME, Finding
from satchel_lab.lint._context import (
    LintContext,
    body,
    document,
    documents,
    is_about_skills,
    matches_in,
    rule,
    text_of,
)
from satchel_lab.lint._markdown import CodeBlock
from satchel_lab.lint._targets import find_case, find_target, pack_paths, possible_paths

_MENTION: Final = lazy_pattern(
    r"(?:references|scripts|assets)/(?:[\w.-]{1,80}/){0,8}[\w-][\w.-]{0,80}"
    r"\.[A-Za-z]\w{0,7}(?![\w/*{<\[(-])",
    re.ASCII,
)
# What may precede a path: no part of a longer one, but the skill's own folder.
_BEFORE: Final = lazy_pattern(
    r"(?:(?:\A|[^\w./~\\}$>@-])(?:\./)?|SKILL_DIR\}?/|\{baseDir\}/)\Z", re.ASCII
)
_BEFORE_CHARS: Final = 12
# What precedes a path of a program to run, and of a file to read.
_RUN: Final = lazy_pattern(
    r"(?:\b(?:bash|node|pwsh|python3?|sh|source|uv run|run|execute)\s[\W_]*"
    r"|\A[\s$>]*\./)\Z",
    re.IGNORECASE,
)
_SENDS: Final = lazy_pattern(
    r"\b(?<!not )(?:begin with|check|consult|copy|follow|load|open|read|refer to|review"
    r"|see|start (?:from|with)|use|using|(?:available|defined|described|details?"
    r"|detailed|documented|explained|found|given|guidance|listed|outlined) (?:at|in))\b"
    r"(?:[^.;!?|\n]|\.(?=\w)){0,80}\Z",
    re.IGNORECASE,
)
# What says, in the clause of a path, that it is to be made, may exist, or is another's.
_MADE: Final = lazy_pattern(
    r"(?:\b(?:add|append|build|captur|compil|creat|document|draft|export|extract|fill"
    r"|generat|keep|log|maintain|mov|output|produc|put|record|renam|sav|split|stor"
    r"|track|updat|writ)(?:e|es|ed|en|ing|ting|s|ten)?\b"
    r"(?:[^.:;\n|]{0,60}\b(?:as|at|in|inside|into|to|under)\b|(?:\W+\w+){0,3})"
    r"(?:[\W_]*[\w./-]+[`*]* (?:and|or)\b)?"
    r"|\b(?:do not edit|existing|if|may|optional|their|users?|whether|your)\b"
    r"[^.:;\n|]{0,60})[\W_]*\Z",
    re.IGNORECASE,
)
# What precedes a path, in its paragraph, that is only an example.
_FOR_EXAMPLE: Final = lazy_pattern(
    r"\A[^\w\n]*(?:examples?\b|\u793a\u4f8b)[^\w\n]{1,4}"  # a label, in Chinese too
    r"|\b(?:e\.g\.|for (?:example|instance)\b|such as |instead of|rather than)"
    r"|\u4f8b\u5982|[\u2705\u274c\u2713\u2717]|\b(?:bad|good|wrong):"
    r"|[\u251c\u2514][\u2500 `]*\Z",  # a drawn tree
    re.IGNORECASE,
)
_LABEL: Final = lazy_pattern(r"\A[^\w\n]*(?:\w+[ \t]+)?examples?\b", re.IGNORECASE)
_LABEL_LINES: Final = 3
# A possessive before a path, or what follows one: it belongs to something else, or is
# only supposed.
_OF_ANOTHER: Final = lazy_pattern(r"(?:['\u2019]s|s[`*_]*['\u2019])[\s`*_\"(]*\Z")
_ELSEWHERE: Final = lazy_pattern(
    r"[`'\")\]*]*(?: (?:at|from|in|inside|of) (?:(?:an?|the|your)\b[^.\n]{0,30}"
    r"\b(?:app|codebase|package|plugin|project|repo(?:sitory)?|workspace)"
    r"|(?:another|each|that)\b)|[^.\n]{0,60}\b(?:would|could|might)\b"
    r"|[,;]? \(?(?:if|when) (?:it |one |there )?(?:exists?|is there|available))",
    re.IGNORECASE,
)
# What precedes a path, alone, that is the title of what follows.
_TITLE: Final = lazy_pattern(
    r"\A\s*(?:#+|//|--|<!--)\s*\Z|\A[\s\d.)>*_`-]*\*\*[`_]*(?:\./)?\Z"
)
_AFTER_TITLE: Final = lazy_pattern(r"[\s`*_]*(?::[\s*_]*|-->)?(?:\n|\Z)")
# The value of an option: what a user has, or gets.
_OF_OPTION: Final = lazy_pattern(r"\s--?[A-Za-z][\w-]*[ =]\Z")
_OF_PROJECT: Final = lazy_pattern(r"(?i)\b(?:codebase|monorepo|project|repo)")
_OF_SKILL: Final = lazy_pattern(r"\bskills/([a-z0-9-]+)/")
_CLAUSE_CHARS: Final = 100
_PARAGRAPH_CHARS: Final = 400
# Where a paragraph or an item of a list begins.
_BEGINS: Final = lazy_pattern(r"\n[ \t]*(?:\n|[-*+][ \t]|\d+[.)][ \t])")
_EXAMPLE: Final = lazy_pattern(
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
    """A named path, and the text around it: its line up to it, and its paragraph."""

    path: str
    line: int
    clause: str
    before: str
    after: str


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
    mentions = [*_mentions(pack, file, text)]
    # A path that the text makes, or asks for, may exist from then on.
    reported |= {one.path for one in mentions if _is_made(one)}
    for mention in mentions:
        path = mention.path
        if path in reported or not paths.isdisjoint(possible_paths(file, path)):
            continue
        actual = find_case(pack, path)
        if actual:
            yield Finding.of(
                "file-name-case", file, mention.line, path=path, actual=actual
            )
        elif _is_promise(pack, file, mention) and not _is_around(pack, mention):
            yield Finding.of("mentioned-file-missing", file, mention.line, path=path)
        else:
            continue
        reported.add(path)


def _linked(pack: LintContext, file: str) -> set[str]:
    """Return the targets of links: another rule checks them."""
    return {
        path
        for link in document(pack, file).links
        if (target := find_target(pack, file, link.to)) is not None
        for path in (target.path, link.to.removeprefix("./").partition("#")[0])
    }


def _mentions(pack: LintContext, file: str, text: str) -> Iterator[_Mention]:
    lines = text.split("\n")
    blocks = (one for one in document(pack, file).blocks if _is_sample(one, lines))
    samples = {number for block in blocks for number in block.rows}
    begin = len(text) - len(body(pack).text) if file == SKILL_FILE else 0
    for line, match in matches_in(text, _MENTION, begin):
        at = match.start()
        if not _BEFORE.search(text[max(0, at - _BEFORE_CHARS) : at]):
            continue
        if line in samples or _EXAMPLE.search(match[0]):
            continue
        clause = text[text.rfind("\n", 0, at) + 1 : at][-_CLAUSE_CHARS:]
        *_, before = _BEGINS.split(text[max(0, at - _PARAGRAPH_CHARS) : at])
        after = text[match.end() : match.end() + _PARAGRAPH_CHARS]
        yield _Mention(match[0], line, clause, before, after)


def _is_sample(block: CodeBlock, lines: list[str]) -> bool:
    """Tell whether a block shows the text of another file, or an example."""
    if block.language in _SAMPLES:
        return True
    above = lines[max(0, block.line - 1 - _LABEL_LINES) : block.line - 1]
    label = next((line for line in reversed(above) if line.strip()), "")
    return _LABEL.match(label) is not None


def _is_made(mention: _Mention) -> bool:
    sends = _SENDS.search(mention.clause)
    # Between the word that sends the reader and the path, or else anywhere.
    clause = sends[0] if sends else mention.clause
    return not _RUN.search(mention.clause) and _MADE.search(clause) is not None


def _is_promise(pack: LintContext, file: str, mention: _Mention) -> bool:
    """Tell whether the text sends its reader to the path, in this pack."""
    clause, after = mention.clause, mention.after
    if (
        _OF_OPTION.search(clause)
        or _FOR_EXAMPLE.search(mention.before)
        or _OF_ANOTHER.search(mention.before)
        or _ELSEWHERE.match(after)
        or (_TITLE.match(clause) and _AFTER_TITLE.match(after))
    ):
        return False
    bucket = mention.path.partition("/")[0]
    is_own = bucket in pack_paths(pack)
    is_sent = _RUN.search(clause) or _SENDS.search(clause)
    if is_about_skills(pack) or "SKILL.md" in f"{mention.before}{after}":
        return is_own and bool(is_sent)
    if is_own:
        return True
    # Where the pack has no such folder, another skill or the project may have it.
    if bucket == "references":
        others = set(_OF_SKILL.findall(pack.text)) - {pack.manifest.name}
        return file != SKILL_FILE or not others
    if file == SKILL_FILE and _RUN.search(clause):
        is_cloned = "git clone" in pack.text
        return not is_cloned and not _OF_PROJECT.search(pack.manifest.description)
    return bucket == "assets" and bool(is_sent)


def _is_around(pack: LintContext, mention: _Mention) -> bool:
    """Tell whether the project has the file, or a skill that its paragraph names."""
    above = ("../" * steps for steps in range(1, _MOST_ABOVE + 1))
    if any(pack.around(f"{up}{mention.path}") is not None for up in above):
        return True
    paragraph = mention.before + _BEGINS.split(mention.after)[0]
    names = {name for name in SPEC_NAME.findall(paragraph) if "-" in name}
    quoted = set(re.findall(r"`([a-z0-9]+)`", paragraph))
    return any(
        pack.around(f"{start}{name}/{mention.path}")
        for name in names | quoted
        for start in ("../", "//")
    )
