"""What a model is sent for skills, in tokens: ``python -m benchmarks tokens``.

Three texts: the list of skills in the system prompt, the schemas of the tools, both
part of each model call, and what comes back when a skill is loaded. Ours in each style
and format next to the features of other frameworks, taken from their own output
(`benchmarks.sent`), all counted by one tokenizer. Equal folders give equal tables.
"""

from __future__ import annotations

import html
import json
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from benchmarks.measure import Bar, Spread, table
from benchmarks.peers._catalog import get_peer
from benchmarks.peers._process import _environment
from benchmarks.sent._packs import write_libraries
from benchmarks.sent._texts import sent
from benchmarks.sent._tokenizer import ENCODING, PACKAGE, count_all
from satchel import Satchel
from satchel.model import Style
from satchel.prompt import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.sent._packs import Library, Pack
    from benchmarks.sent._texts import Sent
    from satchel.tools import Tool

    Count = Callable[[Sequence[str]], list[int]]

FRAMEWORKS: Final = {
    "agent_framework": "agent_framework",
    "agentscope": "agentscope",
    "agentskills": "agentskills",
    "agno": "agno",
    "crewai": "crewai",
    "deepagents": "deepagents",
    "google_adk": "google_adk",
    "haystack": "haystack",
    "openai_agents": "openai_agents",
    "openhands": "openhands",
    "pydantic_ai": "pydantic_ai_harness",
    "pydantic_ai_skills": "pydantic_ai_skills",
    "skillport": "skillport",
    "skillz": "skillz",
    "strands": "strands",
}
"""Each file of `benchmarks.sent` or `benchmarks.attached`, with its environment."""
TIMEOUT_S: Final = 300.0
_ROOT: Final = Path(__file__).parents[1]
_OURS: Final = "satchel"
_SEEN_AS: Final = "/work/skills"
"""Stands for the folder in texts that name it, so that lengths are always equal."""
_HEAD: Final = ("", "lists", "list", "tools", "each call", "load", "together")


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of one feature; None where it has no such text."""

    name: str
    lists: str
    prompt: int | None
    tools: int | None
    loaded: int | None

    @property
    def is_ours(self) -> bool:
        """Whether this is Satchel."""
        return self.name.startswith(_OURS)

    @property
    def each_call(self) -> int:
        """What is sent with each call of the model."""
        return (self.prompt or 0) + (self.tools or 0)

    @property
    def together(self) -> int:
        """A call and a load."""
        return self.each_call + (self.loaded or 0)

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table."""
        together = None if self.loaded is None else self.together
        figures = (self.prompt, self.tools, self.each_call, self.loaded, together)
        shown = ("-" if figure is None else f"{figure:,}" for figure in figures)
        return (f"**{self.name}**" if self.is_ours else self.name, self.lists, *shown)


def run(public: Path | None, names: Sequence[str]) -> list[Bar]:
    """Count, print the tables, return the bars.

    Raises:
        ValueError: There is no such framework, or too few packs in ``public``.
    """
    if unknown := [name for name in names if name not in FRAMEWORKS]:
        raise ValueError(f"no framework is called {', '.join(unknown)}")
    print(f"Tokens of {ENCODING}, counted by {PACKAGE.replace('==', ' ')}.\n")
    bars: list[Bar] = []
    with tempfile.TemporaryDirectory(prefix="satchel-tokens-") as home:
        for library in write_libraries(Path(home), public):
            bars += _library(library, [name for name in FRAMEWORKS if name in names])
    if public is None:
        print("The table of 100 packs needs --libraries.\n")
    return bars


def _library(library: Library, names: Sequence[str]) -> list[Bar]:
    skill = library.loaded
    (body,) = count_all([skill.body])
    print(f"## {library.about}\n")
    print(f"Loaded is `{skill.name}`, whose body alone has {body:,} tokens.\n")
    texts = [by_hand(library.packs), *our_texts(library.folder, skill.name)]
    for name in names:
        answer = ask(name, library.folder, skill.name)
        if isinstance(answer, str):
            print(f"{name}: {answer}\n")
        else:
            texts += answer
    rows = count_rows(texts, library.packs, count_all)
    print(table(_HEAD, (row.cells() for row in rows)))
    print(formats(library.folder))
    with Satchel(library.folder) as skills:
        default = skills.style
    return [*bars(library.about, rows, default)]


def by_hand(packs: Iterable[Pack]) -> Sent:
    """Return all instructions in the prompt, as it is done without a loader."""
    parts = (f"# {pack.name}\n\n{pack.body.strip()}" for pack in packs)
    return sent("by hand, all instructions in the prompt", "\n\n".join(parts))


def ask(name: str, folder: Path, skill: str) -> list[Sent] | str:
    """Return what a framework sends, in each form of its feature; or why nothing."""
    peer = get_peer(FRAMEWORKS[name])
    if not peer.is_installed:
        return f"not installed: python -m benchmarks.peers install {peer.name}"
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [str(peer.interpreter), "-m", "benchmarks.sent", name, str(folder), skill],
            check=False,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=home,
            env={**_environment(home), "PYTHONPATH": f"{_ROOT}:{_ROOT / 'src'}"},
        )
    if done.returncode:
        return done.stderr[-400:]
    answer = json.loads(done.stdout.replace(str(folder), _SEEN_AS))
    if "error" in answer:
        return str(answer["error"])
    title = f"{name} {_pinned(peer.requires[0])}"
    found: list[Sent] = answer["sent"]
    for texts in found:
        texts["name"] = f"{title}, {texts['name']}"
    return found


def _pinned(requirement: str) -> str:
    return requirement.partition("==")[2]


def our_texts(folder: Path, skill: str) -> list[Sent]:
    """Return what Satchel sends in each style, and by default in its budget."""
    about = f"{_OURS} {version(_OURS)}"
    full = [
        _ours(
            Satchel(folder, style=style, budget_tokens=None), f"{about}, {style}", skill
        )
        for style in get_args(Style)
    ]
    with Satchel(folder) as skills:
        in_budget = _ours(skills, f"{about}, as it comes", skill)
    return [*full, in_budget]


def _ours(skills: Satchel, name: str, skill: str) -> Sent:
    with skills:
        session = skills.session()
        tools = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }
            for tool in session.tools()
        ]
        loads, argument = load_tool(session.tools())
        loaded = session.call(loads, {argument: skill})
        return sent(name, session.instructions(), tools, loaded)


def load_tool(tools: Iterable[Tool]) -> tuple[str, str]:
    """Return the name of the tool that loads a skill, and that of its argument."""
    tool = next(tool for tool in tools if tool.name.startswith("load_skill"))
    schema: Any = tool.parameters
    return tool.name, str(schema["required"][0])


def formats(folder: Path) -> str:
    """Return a table of the list alone, in each format and style."""
    texts: list[str] = []
    with Satchel(folder, budget_tokens=None) as skills:
        for form in get_args(Format):
            texts += [
                skills.prompt(format=form, style=style).text
                for style in get_args(Style)
            ]
    counts = iter(count_all(texts))
    rows = [
        (form, *(f"{next(counts):,}" for _ in get_args(Style)))
        for form in get_args(Format)
    ]
    return table(("Satchel's list as", *get_args(Style)), rows)


def count_rows(texts: Iterable[Sent], packs: Sequence[Pack], count: Count) -> list[Row]:
    """Return the rows, fewest tokens of a call and a load first; no load is last."""
    rows: list[Row] = []
    for item in texts:
        prompt, bare, tools, loaded = count(
            [
                item["prompt"],
                item["bare"],
                "\n".join(item["tools"]),
                item["loaded"] or "",
            ]
        )
        rows.append(
            Row(
                item["name"],
                how_it_lists(item, packs),
                prompt - bare or None,
                tools or None,
                None if item["loaded"] is None else loaded,
            )
        )
    return sorted(rows, key=lambda row: (row.loaded is None, row.together, row.name))


def how_it_lists(texts: Sent, packs: Sequence[Pack]) -> str:
    """Return what of the packs is in the prompt or in a tool's description."""
    described = (json.loads(tool)["description"] for tool in texts["tools"])
    shown = " ".join(html.unescape(" ".join([texts["prompt"], *described])).split())
    in_full = sum(pack.description in shown for pack in packs)
    named = sum(pack.name in shown for pack in packs)
    if in_full == len(packs):
        return "in full"
    if in_full:
        return f"{in_full} in full"
    return "names" if named == len(packs) else "nothing"


def bars(about: str, rows: Sequence[Row], default: Style) -> Iterable[Bar]:
    """Compare our default with the least of the others that list and load all."""
    ours = next(row for row in rows if row.is_ours and row.name.endswith(default))
    others = [
        row
        for row in rows
        if not row.is_ours and row.lists == "in full" and row.loaded is not None
    ]
    if not others:
        return
    figures: dict[str, Callable[[Row], int]] = {
        "each call": lambda row: row.each_call,
        "a load": lambda row: row.loaded or 0,
        "together": lambda row: row.together,
    }
    for what, figure in figures.items():
        best = min(map(figure, others))
        yield Bar(
            f"{about}: {what}, over the fewest of {len(others)} others",
            1,
            Spread.of([figure(ours) / best]),
        )
