"""Files of other programs: Markdown with fields, each format a row of a table.

A row says where its files are, how their names end, and which fields say when a file
applied. All other fields are kept as they are, in ``metadata``.

Source, November 2026: cursor.com/docs/context/rules, docs.github.com ("Adding
repository custom instructions for GitHub Copilot"),
code.visualstudio.com/docs/copilot/customization (instructions, prompt files and custom
agents, before that chat modes), code.claude.com/docs/en/skills and .../sub-agents,
docs.windsurf.com/windsurf/cascade/memories, docs.cline.bot/features/cline-rules.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, cast

from satchel.errors import ConfigError, SkillError
from satchel.files import locate_findings, read_confined, walk_pack
from satchel.model import DEFAULT_LIMITS, Finding, Json, portable_name
from satchel.skill_md import (
    YamlProblem,
    YamlTree,
    boolean,
    find_span,
    quoted,
    read_tree,
    text_list,
)
from satchel.text import first_names
from satchel_lab.authoring._convert._builder import (
    Material,
    body_text,
    build_pack,
    for_files,
)
from satchel_lab.authoring._convert._markup import as_text_only
from satchel_lab.authoring._convert._values import Conversion, Dialect
from satchel_lab.lint import read_markdown

_NOTHING: Final = YamlTree({}, {}, {}, [])
# `globs: **/*.ts, src/**` and `argument-hint: [a] [b]` are what these programs take,
# and are not YAML.
_PLAIN: Final = re.compile(
    r"^((?:globs|applyTo):[ \t]+(?!\[)|(?:description|argument-hint):[ \t]+)"
    r"(?![\"'|>\s#])([^\n]*)$(?!\n[ \t]+\S)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """A file, its fields, and its body.

    ``path`` is where it is, as the user wrote it, and ``name`` its name without the
    suffix of its kind. ``line`` is how many lines come before the body.
    """

    path: str
    name: str
    fields: YamlTree
    body: str
    findings: tuple[Finding, ...] = ()
    line: int = 0

    @property
    def description(self) -> str:
        """The description, empty where there is none."""
        return self.fields.text("description") or ""

    def read_as_text(self, key: str) -> list[str]:
        """Return the key where its value is a text, for `others`; else nothing."""
        return [key] if self.fields.text(key) is not None else []

    def generic_name_key(self) -> list[str]:
        """Return the key of a name that is the file's own, for `others`."""
        name = portable_name(self.fields.text("name") or "")
        return ["name"] if name == portable_name(self.name) else []

    def others(self, read: Collection[str]) -> dict[str, Json]:
        """Return the fields but those that were read; numbers as they were written."""
        root = cast("dict[str, Json]", self.fields.root)
        return {
            key: value if (text := self.fields.text(key)) is None else text
            for key, value in root.items()
            if key not in read and value is not None
        }


def read_file(path: str) -> ForeignPage | Conversion:
    """Read the file that the user named, by its folder: it must not be a link."""
    name = path.rpartition("/")[2]
    return read_page(path.removesuffix(name), name, path)


def read_page(root: str, name: str, shown: str) -> ForeignPage | Conversion:
    """Read a file, following no link below ``root``; else return why not."""
    try:
        data = read_confined(root or os.curdir, name, DEFAULT_LIMITS.skill_md_bytes)
    except SkillError as error:
        fix = "name the file where it really is; one that is too large, part before"
        link = Path(root, name).is_symlink()
        what = "it is a link, and a link is not followed" if link else str(error)
        unread = replace(Finding.of_error(error, shown, fix=fix), message=what)
        return Conversion(shown, None, (unread,))
    text, findings = body_text(data, shown)
    span = find_span(text)
    stem = name.rpartition("/")[2]
    if span is None:
        return ForeignPage(shown, stem, _NOTHING, text, tuple(findings))
    head = text[span.head : span.end].replace("\r\n", "\n")
    tree = _read_fields(head)
    if isinstance(tree, YamlProblem):
        if tree.code != "empty-frontmatter":
            at = "not-carried", shown, None if tree.line is None else tree.line + 1
            broken = partial(Finding.of, *at, sentence="fields", before=head[:300])
            findings.append(broken(message=tree.message))
        tree = _NOTHING
    line = text.count("\n", 0, span.body)
    return ForeignPage(shown, stem, tree, text[span.body :], tuple(findings), line)


def _read_fields(head: str) -> YamlTree | YamlProblem:
    """Read the fields; where they are not YAML, plain values are read as text."""
    tree = read_tree(head.encode("utf-8", "replace"), DEFAULT_LIMITS)
    if isinstance(tree, YamlTree):
        return tree
    plain = _PLAIN.sub(lambda field: f"{field[1]}{quoted(field[2].rstrip())}", head)
    lenient = read_tree(plain.encode("utf-8", "replace"), DEFAULT_LIMITS)
    return lenient if isinstance(lenient, YamlTree) else tree


def pages_at(
    path: str, suffix: str, name: str = ""
) -> Iterator[ForeignPage | Conversion]:
    """Yield each file whose name ends so, in the order of their paths.

    What is there and cannot be read, a link for instance, comes last, without a draft.
    """
    if not Path(path).is_dir():
        yield _named(read_file(path), suffix, name)
        return
    folder = path.rstrip("/") or "/"
    walked = walk_pack(path)
    pages = [file.path for file in walked.files if file.path.endswith(suffix)]
    others = [file.path for file in walked.files if file.path not in pages]
    if not pages and not walked.findings:
        raise ConfigError(path, f"expected files *{suffix}")
    left = [
        Finding.of("not-carried", f"{folder}/{file}", sentence="other-kind", end=suffix)
        for file in others
    ]
    stems = Counter(file.rpartition("/")[2] for file in pages)
    for file in pages:
        page = _named(read_page(path, file, f"{folder}/{file}"), suffix)
        if isinstance(page, ForeignPage):
            above, _, stem = file.rpartition("/")
            # `git/fix.md` and `docs/fix.md` are two commands.
            if above and stems[stem] > 1:
                page = replace(page, name=f"{above.replace('/', '-')}-{page.name}")
            page, left = replace(page, findings=(*page.findings, *left)), []
        yield page
    for finding in locate_findings(walked.findings, folder):
        yield Conversion(finding.path, None, (finding,))


def _named(
    page: ForeignPage | Conversion, suffix: str, name: str = ""
) -> ForeignPage | Conversion:
    if isinstance(page, Conversion):
        return page
    return replace(page, name=name or page.name.removesuffix(suffix))


def globs(tree: YamlTree, key: str) -> list[str]:
    """Return patterns: a list, or a text with commas outside of braces."""
    if isinstance(tree.root.get(key), list):
        return list(text_list(tree, key) or ())
    text = _COMMENT.sub("", tree.text(key) or "")
    # A comma in braces is part of one pattern, as in `*.{ts,tsx}`.
    items = "".join(
        piece if len(piece) == 1 else piece.replace(",", "\0")
        for piece in re.findall(r"\{[^{}]*\}|.", text, re.DOTALL)
    ).split(",")
    return [item.replace("\0", ",").strip() for item in items if item.strip()]


_COMMENT: Final = re.compile(r"\s+#.*")


def title(body: str) -> str:
    """Return the text of the first heading of level 1; empty where there is none."""
    headings = read_markdown(body).headings
    return next((heading.text for heading in headings if heading.level == 1), "")


def links_out(body: str, path: str) -> list[Finding]:
    """Return a note where the text links to files next to it, which stay behind."""
    targets = sorted(
        {
            link.to.partition("#")[0]
            for link in read_markdown(body).links
            if not _ELSEWHERE.match(link.to)
        }
    )
    if not targets:
        return []
    return [Finding.of("link-to-project", path, shown=first_names(targets))]


def without_links_out(text: str) -> str:
    """Return a text in which links and images that lead nowhere in it are words.

    A file of the project is named after the text of the link; of a heading that is not
    in this text only the words are left.
    """
    page = read_markdown(text)
    anchors = {f"#{anchor}" for anchor in page.anchors}
    for to in {link.to for link in page.links}:
        if to.startswith("#") and to not in anchors:
            named = ""
        elif not _ELSEWHERE.match(to):
            named = f" (`{to.partition('#')[0]}`)".replace("\\", r"\\")
        else:
            continue
        target = rf"\({re.escape(to)}(?:[ \t]+[\"'][^)\n]*)?\)"
        text = re.sub(rf"!?\[([^\]\n]*)\]{target}", rf"\g<1>{named}", text)
    return text


_ELSEWHERE: Final = re.compile(r"[a-zA-Z][\w+.-]*:|#|/|\Z")


_EVERY_FILE: Final = frozenset(["**", "**/*", "*"])


class ForeignFormat(NamedTuple):
    """One kind of file of another program.

    ``kind`` is what ``--from`` calls the program. ``place`` is a folder of a project,
    or one file of its root where ``suffix`` is empty; ``whole`` is a file without
    fields of its own, which is read as AGENTS.md is. A file was in every prompt where
    the field ``flag`` is true, where a pattern in the field ``patterns`` is every file
    (with ``every_file``), where the field ``trigger`` says so, or, with ``always``,
    where nothing says when it applies. ``agent`` ran in a context of its own.
    ``command`` is what a user types: its fields are those of a skill.
    """

    kind: str
    place: str
    suffix: str = ""
    whole: bool = False
    patterns: str = ""
    flag: str = ""
    trigger: str = ""
    every_file: bool = False
    always: bool = False
    agent: bool = False
    command: bool = False


# Folders of commands and agents that no format reads: they are named, not converted.
UNREAD_FOLDERS: Final = (
    *(".augment/commands", ".codex/prompts", ".continue/prompts", ".factory/commands"),
    *(".gemini/commands", ".kilocode/workflows", ".opencode/agent", ".opencode/agents"),
    *(".opencode/command", ".opencode/commands", ".qwen/agents", ".qwen/commands"),
)
# In the order in which a folder is searched for them.
AGENTS_MD: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "AGENT.md")

_WINDSURF: Final = ".windsurf/rules"
FORMATS: Final = (
    ForeignFormat(
        "cursor", ".cursor/rules", ".mdc", patterns="globs", flag="alwaysApply"
    ),
    ForeignFormat("cursor", ".cursor/commands", ".md"),
    ForeignFormat("cursor", ".cursorrules", whole=True),
    ForeignFormat("copilot", ".github/copilot-instructions.md", whole=True),
    ForeignFormat(
        "copilot",
        ".github/instructions",
        ".instructions.md",
        patterns="applyTo",
        every_file=True,
    ),
    ForeignFormat("commands", ".claude/commands", ".md", command=True),
    *(ForeignFormat("agents-md", name, whole=True) for name in AGENTS_MD),
    ForeignFormat("copilot", ".github/prompts", ".prompt.md"),
    ForeignFormat("copilot", ".github/agents", ".agent.md", agent=True),
    ForeignFormat("copilot", ".github/chatmodes", ".chatmode.md", agent=True),
    ForeignFormat("subagents", ".claude/agents", ".md", agent=True),
    ForeignFormat("subagents", ".cursor/agents", ".md", agent=True),
    ForeignFormat("windsurf", _WINDSURF, ".md", patterns="globs", trigger="trigger"),
    ForeignFormat("windsurf", ".windsurf/workflows", ".md"),
    ForeignFormat("windsurf", ".windsurfrules", whole=True),
    ForeignFormat("cline", ".clinerules", ".md", patterns="paths", always=True),
    ForeignFormat("cline", ".clinerules", whole=True),
)


def read_format(
    path: str, form: ForeignFormat, dialect: Dialect | None, name: str
) -> Iterator[Conversion]:
    """Yield a pack for each file: of one file, or of a folder of them."""
    for page in pages_at(path, form.suffix, name):
        if isinstance(page, Conversion):
            yield page
        else:
            material = _of_command(page) if form.command else _of_rule(page, form)
            yield build_pack(material, dialect)


def _of_rule(page: ForeignPage, form: ForeignFormat) -> Material:
    tree = page.fields
    patterns = globs(tree, form.patterns) if form.patterns else []
    every_file = form.every_file and not _EVERY_FILE.isdisjoint(patterns)
    flag = boolean(tree, form.flag) if form.flag else None
    triggered = form.trigger and tree.text(form.trigger) == "always_on"
    silent = not (patterns or page.description)
    read = page.read_as_text("description") + page.generic_name_key()
    read += [form.patterns] if patterns else page.read_as_text(form.patterns)
    read += [form.flag] if flag is not None else []
    body, left = as_text_only(page.body, page.path, page.line)
    findings = [*page.findings, *left, *links_out(body, page.path)]
    if flag or every_file or triggered or (form.always and silent):
        always_on = Finding.of(
            "now-on-demand", page.path, sentence="rule", name=portable_name(page.name)
        )
        findings.append(always_on)
    if form.agent:
        findings.append(Finding.of("now-on-demand", page.path, sentence="agent"))
    metadata = page.others(read)
    if flag:
        metadata = {form.flag: "true", **metadata}
    if every_file:
        metadata = {form.patterns: ", ".join(patterns), **metadata}
    scoped = bool(patterns) and not every_file
    return Material(
        source=page.path,
        name=page.name,
        body=without_links_out(body),
        description=page.description,
        when="" if every_file else for_files(patterns, page.description),
        fields={"paths": list[Json](patterns)} if scoped else {},
        metadata=metadata,
        findings=tuple(findings),
    )


def _of_command(page: ForeignPage) -> Material:
    """Return what a command of Claude Code is made of: commands have become skills."""
    fields = page.others([*page.read_as_text("description"), "name"])
    read = fields.keys() | {"description"}
    name = page.others([*read, *page.generic_name_key()])
    # A list is not a description, and the pack has one of its own at that place.
    odd = {key: fields.pop(key) for key in ["description"] if key in fields}
    return Material(
        source=page.path,
        name=page.name,
        body=without_links_out(page.body),
        description=page.description,
        fields=fields,
        metadata={**name, **odd},
        findings=(*page.findings, *links_out(page.body, page.path)),
    )
