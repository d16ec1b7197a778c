"""Files of other programs: Markdown with fields, each format a row of a table.

A row says where its files are, how their names end, and which fields say when a file
applied. All other fields are kept as they are, in ``metadata``.

Source, November 2026: cursor.com/docs/context/rules, docs.github.com ("Adding
repository custom instructions for GitHub Copilot"),
code.visualstudio.com/docs/copilot/customization (instructions, prompt files and custom
agents, before that chat modes), code.claude.com/docs/en/skills and .../sub-agents,
docs.windsurf.com/windsurf/cascade/memories, docs.cline.bot/features/cline-rules.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from satchel.authoring._convert._builder import (
    Material,
    build_pack,
    for_files,
)
from satchel.authoring._convert._markup import as_text_only
from satchel.authoring._convert._page import (
    ForeignPage,
    globs,
    links_out,
    pages_at,
    without_links_out,
)
from satchel.authoring._convert._values import Conversion, Dialect
from satchel.model import Finding, Json, Limits, portable_name
from satchel.skill_md import boolean

_EVERY_FILE: Final = frozenset(["**", "**/*", "*"])
_ALWAYS_ON: Final = "always_on"


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


# In the order in which a folder is searched for them.
AGENTS_MD: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "AGENT.md")

_WINDSURF: Final = ".windsurf/rules"
FORMATS: Final = (
    ForeignFormat(
        "cursor", ".cursor/rules", ".mdc", patterns="globs", flag="alwaysApply"
    ),
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
    ForeignFormat("windsurf", _WINDSURF, ".md", patterns="globs", trigger="trigger"),
    ForeignFormat("windsurf", ".windsurfrules", whole=True),
    ForeignFormat("cline", ".clinerules", ".md", patterns="paths", always=True),
    ForeignFormat("cline", ".clinerules", whole=True),
)


def read_format(
    path: str, form: ForeignFormat, dialect: Dialect | None, name: str, limits: Limits
) -> Iterator[Conversion]:
    """Yield a pack for each file: of one file, or of a folder of them."""
    for page in pages_at(path, form.suffix, limits, name):
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
    triggered = form.trigger and tree.text(form.trigger) == _ALWAYS_ON
    silent = not (patterns or page.description)
    read = page.read_as_text("description") + page.generic_name_key()
    read += [form.patterns] if patterns else page.read_as_text(form.patterns)
    read += [form.flag] if flag is not None else []
    body, findings = _as_text(page)
    if flag or every_file or triggered or (form.always and silent):
        always_on = Finding.of(
            "now-on-demand",
            page.path,
            sentence="rule",
            name=portable_name(page.name),
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
        body=body,
        description=page.description,
        when="" if every_file else for_files(patterns, page.description),
        fields={"paths": list[Json](patterns)} if scoped else {},
        metadata=metadata,
        findings=tuple(findings),
    )


def _as_text(page: ForeignPage) -> tuple[str, list[Finding]]:
    """Return a body in which no client runs a command, and what there is to know."""
    body, left = as_text_only(page.body, page.path, page.line)
    findings = [*page.findings, *left, *links_out(body, page.path)]
    return without_links_out(body), findings


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
