"""Rules, prompts and agents of other programs to packs: Markdown with fields.

Each format is a row of a table: where its files are, how their names end, and which
fields say when a file applied. All other fields are kept as they are, in ``metadata``.

Source, November 2026: code.visualstudio.com/docs/copilot/customization (prompt files
and custom agents, before that chat modes), code.claude.com/docs/en/sub-agents,
docs.windsurf.com/windsurf/cascade/memories, docs.cline.bot/features/cline-rules.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from satchel.authoring._convert._builder import (
    Material,
    always_applied,
    build_pack,
    for_files,
)
from satchel.authoring._convert._markup import as_text_only
from satchel.authoring._convert._page import ForeignPage, globs, links_out, pages_at
from satchel.authoring._convert._values import Conversion, Dialect
from satchel.model import DEFAULT_LIMITS, Finding, Json, Limits

_ALWAYS_ON: Final = "always_on"


class RuleFormat(NamedTuple):
    """One kind of file of another program.

    ``kind`` is what ``--from`` calls the program. ``place`` is a folder of a project,
    or one file of its root where ``ending`` is empty. ``patterns`` is the field with
    the patterns of files that a rule is for. ``always`` tells that a file
    without a word on when it applies was in every prompt, ``agent`` that it ran in a
    context of its own.
    """

    kind: str
    place: str
    ending: str = ""
    patterns: str = ""
    always: bool = False
    agent: bool = False


FORMATS: Final = (
    RuleFormat("copilot", ".github/prompts", ".prompt.md"),
    RuleFormat("copilot", ".github/agents", ".agent.md", agent=True),
    RuleFormat("copilot", ".github/chatmodes", ".chatmode.md", agent=True),
    RuleFormat("subagents", ".claude/agents", ".md", agent=True),
    RuleFormat("windsurf", ".windsurf/rules", ".md", patterns="globs"),
    RuleFormat("windsurf", ".windsurfrules", always=True),
    RuleFormat("cline", ".clinerules", ".md", patterns="paths", always=True),
)


def format_of(kind: str, path: str) -> RuleFormat | None:
    """Return the format of a file or folder of a kind; None for another reader's."""
    mine = [each for each in FORMATS if each.kind == kind]
    for each in mine:
        inside = f"/{path.rstrip('/')}/"
        if f"/{each.place}/" in inside:
            return each
        if each.ending not in ("", ".md") and path.endswith(each.ending):
            return each
    return next((each for each in mine if each.ending in ("", ".md")), None)


def is_whole(path: str) -> bool:
    """Tell whether a path is one file of all rules: it is read as AGENTS.md is."""
    wholes = {each.place for each in FORMATS if each.always}
    return path.rpartition("/")[2] in wholes and Path(path).is_file()


def read_rules(
    path: str,
    form: RuleFormat,
    dialect: Dialect | None,
    *,
    name: str = "",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Conversion]:
    """Yield a pack for each file: of one file, or of a folder of them.

    Raises:
        ConfigError: The folder holds none.
    """
    for page in pages_at(path, form.ending, limits, name):
        if isinstance(page, Conversion):
            yield page
        else:
            yield build_pack(_material(page, form), dialect)


def _material(page: ForeignPage, form: RuleFormat) -> Material:
    tree = page.fields
    patterns = globs(tree, form.patterns) if form.patterns else []
    trigger = tree.text("trigger") or ""
    applies = bool(patterns or page.description)
    always = trigger == _ALWAYS_ON or (form.always and not applies)
    known = page.read_as_text("description") + page.generic_name_key()
    known += [form.patterns] if patterns else []
    body, left = as_text_only(page.body, page.path, page.line)
    findings = [*page.findings, *left, *links_out(body, page.path)]
    if always:
        findings.append(always_applied(page.path, page.name))
    if form.agent:
        findings.append(_of_its_own(page.path))
    fields: dict[str, Json] = {"paths": list[Json](patterns)} if patterns else {}
    return Material(
        source=page.path,
        name=page.name,
        body=body,
        description=page.description,
        when=for_files(patterns, page.description),
        fields=fields,
        metadata=page.others(known),
        findings=tuple(findings),
    )


def _of_its_own(path: str) -> Finding:
    return Finding.of("now-on-demand", path, sentence="agent")
