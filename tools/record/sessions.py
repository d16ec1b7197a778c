"""What Python programs and sessions get, in every style."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from satchel import Options, Policy, Satchel, Skill, deny
from satchel.errors import SkillError
from tools.record.answers import Answer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from satchel.model import Style
    from satchel.runtime import Session

# The styles that there were when the record was made.
STYLES: Final[tuple[Style, ...]] = ("agent-skills", "packs", "references")
FORMATS: Final = ("xml-id", "markdown", "xml-spec", "json")
BUDGETS: Final = (None, 400, 4_000)
QUERIES: Final = (
    "fill in a tax form",
    "review a pull request",
    "a ledger does not add up",
    "sql",
    "check-invoice",
    "表格",
    "Rechnungen",
    "nothing of this kind xyzzy",
)


def ask(home: Path, libraries: Mapping[str, Path]) -> Iterator[Answer]:
    """Ask every library through Python."""
    for name, folder in libraries.items():
        with Satchel(
            folder, sinks=(), options=Options(on_conflict="precedence")
        ) as skills:
            yield from _of_library(name, skills, home)
            yield from _of_conversations(name, skills, home)
    with Satchel(libraries["made-up"], sinks=()) as skills:
        yield answer("made-up/conflicts", [c.id for c in skills.conflicts], home)
    yield from _of_tools(libraries["examples"], home)


def _of_library(name: str, skills: Satchel, home: Path) -> Iterator[Answer]:
    for format, budget, style in product(FORMATS, BUDGETS, STYLES):  # noqa: A001
        if name == "made-up" and budget is None:
            continue  # all of it is in the entries below
        section = skills.prompt(format=format, budget_tokens=budget, style=style)  # type: ignore[arg-type]
        yield answer(f"{name}/prompt/{format}/{budget}/{style}", str(section), home)
    for query in QUERIES:
        hits = [(hit.id, hit.description) for hit in skills.find(query, 5)]
        yield answer(f"{name}/find/{query}", hits, home)
    for number, finding in enumerate(skills.findings):
        seen = (finding.code, finding.severity, finding.path, finding.line)
        yield answer(f"{name}/finding/{number}", [*seen, finding.message], home)
    for entry in skills.catalog:
        described = {
            "description": entry.description,
            "digest": skills.digest(entry.id),
            "files": entry.resources,
            "tools": entry.tools,
            "status": entry.status,
        }
        yield answer(f"{name}/entry/{entry.id}", described, home)


def _of_conversations(name: str, skills: Satchel, home: Path) -> Iterator[Answer]:
    for number, entry in enumerate(skills.catalog):
        styles = (STYLES[number % len(STYLES)],) if name == "made-up" else STYLES
        for style in styles:
            chat = skills.session(agent="desk", style=style)
            for what, result in _loads(chat, entry.id, entry.resources[:2]):
                yield answer(f"{name}/{style}/{entry.id}/{what}", result, home)
    for style in STYLES:
        chat = skills.session(agent="desk", style=style)
        tools = [
            (tool.name, tool.description, tool.parameters) for tool in chat.tools()
        ]
        yield answer(f"{name}/{style}/tools", tools, home)
        for wrong in ("no-such-skill", "", "a" * 500, "../etc"):
            result = _load(chat, wrong, None)
            yield answer(f"{name}/{style}/missing/{wrong[:16]}", result, home)


def _loads(
    chat: Session, skill_id: str, files: tuple[str, ...]
) -> Iterator[tuple[str, object]]:
    yield "load", _load(chat, skill_id, None)
    for path in files:
        yield f"read {path}", _load(chat, skill_id, path)
    if files:
        yield "read missing.md", _load(chat, skill_id, "missing.md")


def _load(chat: Session, skill_id: str, path: str | None) -> object:
    """Load a skill or one of its files with the tools of the session's style."""
    match chat.style, path:
        case "packs", None:
            return chat.call("load_skill", {"name": skill_id})
        case "packs", _:
            return chat.call("load_skill", {"name": skill_id, "reference": path})
        case "references", _:
            arguments = {
                "skill_name": skill_id,
                **({"reference": path} if path else {}),
            }
            return chat.call("load_skill_instructions", arguments)
        case _, None:
            return chat.call("load_skill", {"skill_id": skill_id})
        case _:
            return chat.call("read_skill_file", {"skill_id": skill_id, "path": path})


def _of_tools(folder: Path, home: Path) -> Iterator[Answer]:
    """Ask about skills in code, policies and always-on skills."""
    greeting = Skill(
        "greeting", description="Use when a chat begins.", instructions="Say hello."
    )
    policy = Policy(deny("sql-*"))
    with Satchel(folder, greeting, policy=policy, sinks=()) as skills:
        chat = skills.session(
            agent="desk", always=["house-style"], style="agent-skills"
        )
        yield answer("tools/instructions", chat.instructions("You are the desk."), home)
        calls: tuple[tuple[str, Any], ...] = (
            ("load_skill", {"skill_id": "greeting"}),
            ("load_skill", {"skill_id": "sql-style"}),
            ("load_skill", {"id": "greeting"}),
            ("load_skill", {}),
            ("no_such_tool", {}),
        )
        for number, (tool, arguments) in enumerate(calls):
            result = chat.call(tool, arguments)
            yield answer(f"tools/call/{number}", result, home)
        for skill_id in ("sql-style", "nope", "greeting"):
            yield answer(f"tools/load/{skill_id}", _outcome(skills, skill_id), home)


def _outcome(skills: Satchel, skill_id: str) -> object:
    try:
        return skills.load(skill_id).text
    except SkillError as error:
        return [error.code, str(error)]
