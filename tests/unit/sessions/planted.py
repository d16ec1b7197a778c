"""Sessions of which it is known why each skill was used or not.

They have the form of real files, which the clients wrote while a program played the
model; no text of anybody is in them.
"""

import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

START: Final = datetime(2031, 1, 1, tzinfo=UTC).timestamp()
"""After any file of a test was written: what sessions could list was there."""
DAY: Final = 86_400.0
CLAUDE: Final = "2.1.332"
CODEX: Final = "0.171.0"

CHATTER: Final = (
    "why does this fail on the second run?",
    "rename it and run them all again",
    "that is not what I want, go back",
    "continue with the next one",
    "what is the status of this branch?",
    "please fix the bug in the parser",
    "explain what this function does",
    "the linter has a complaint about an import",
    "can you make this a little faster?",
    "add a flag for it, and say so in the help",
    "it is slow when the list is long",
    "where is that constant defined?",
)
NOUNS: Final = tuple(
    """
    invoice glacier orchard lantern violin compass harbour saddle thermostat passport
    warehouse pension mortgage greenhouse turbine aquarium telescope railway bakery
    vineyard parachute submarine bicycle pharmacy hospital museum cathedral elevator
    generator microscope carpet curtain chimney fireplace bathtub refrigerator
    dishwasher toaster blanket pillow mattress wardrobe staircase balcony garage
    driveway fence gate mailbox sidewalk crosswalk tunnel bridge canal dam reservoir
    pipeline refinery quarry mine smelter foundry sawmill brewery distillery cannery
    tannery shipyard airport runway hangar helicopter glider balloon rocket satellite
    antenna radar sonar lighthouse buoy anchor rudder keel mast sail paddle canoe kayak
    raft ferry barge tanker trawler whale dolphin octopus lobster oyster salmon trout
    eagle falcon pelican penguin ostrich peacock pigeon sparrow leopard cheetah giraffe
    elephant rhinoceros hippopotamus crocodile tortoise chameleon iguana scorpion
    beetle butterfly dragonfly mosquito cricket spider earthworm snail mushroom lichen
    fern bamboo cactus orchid tulip daffodil sunflower lavender rosemary thyme basil
    parsley cinnamon ginger turmeric saffron vanilla cocoa coffee barley oats lentil
    chickpea spinach broccoli cabbage cauliflower carrot parsnip turnip radish onion
    garlic leek celery cucumber pumpkin zucchini eggplant tomato avocado mango papaya
    pineapple banana coconut apricot peach cherry blueberry raspberry cranberry walnut
    almond cashew pistachio chestnut hazelnut peanut marble granite limestone sandstone
    basalt obsidian emerald sapphire amethyst turquoise
    """.split()  # noqa: SIM905
)
assert len(set(NOUNS)) == len(NOUNS)


@dataclass(frozen=True)
class Planted:
    """A skill, and the truth about it."""

    name: str
    description: str
    query: str


def skill(number: int) -> Planted:
    """Return a skill; it shares one of its three words with another one."""
    first, second = NOUNS[number % len(NOUNS)], NOUNS[(number * 7 + 3) % len(NOUNS)]
    verb = ("Inspect", "Repair", "Catalogue", "Compare")[number % 4]
    return Planted(
        f"{first}-{verb.lower()}-{number}",
        f"{verb} a {first} with its {second}: parts, defects, dates.",
        f"I need to {verb.lower()} the {first} and the {second} that came today",
    )


def write_skill(root: Path, one: Planted, fields: str = "") -> Path:
    """Write the pack of a skill into a folder of skills."""
    folder = root / one.name
    folder.mkdir(parents=True)
    head = f'name: {one.name}\ndescription: "{one.description}"\n{fields}'
    (folder / "SKILL.md").write_text(f"---\n{head}---\n# Steps\n\nGo on.\n", "utf-8")
    return folder


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


@dataclass
class ClaudeFile:
    """A session file of Claude Code, while it is written."""

    cwd: str
    at: float = START
    number: int = 0
    version: str = CLAUDE
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    count: int = 0

    def row(self, kind: str, **more: object) -> None:
        self.count += 1
        self.at += 1
        same = {
            "uuid": f"{self.number:08d}-0000-4000-8000-{self.count:012d}",
            "timestamp": stamp(self.at),
            "cwd": self.cwd,
            "sessionId": f"{self.number:08d}-1111-4000-8000-000000000000",
            "version": self.version,
        }
        self.rows.append(
            {"parentUuid": None, "isSidechain": False, "type": kind, **more, **same}
        )

    def list(self, shown: Mapping[str, str]) -> None:
        lines = (f"- {n}: {text}" if text else f"- {n}" for n, text in shown.items())
        attached = {
            "type": "skill_listing",
            "content": "\n".join(lines),
            "names": list(shown),
            "isInitial": True,
        }
        self.row("attachment", attachment=attached)

    def ask(self, text: str) -> None:
        self.row("user", message={"role": "user", "content": text})
        self.answer()

    def answer(self) -> None:
        block = {"type": "text", "text": "ok"}
        self.row("assistant", message={"role": "assistant", "content": [block]})

    def call(self, name: str, *, fails: bool = False, **given: object) -> None:
        call = f"toolu_{self.number}_{self.count}"
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        self.row("assistant", message={"role": "assistant", "content": [block]})
        result = {"type": "tool_result", "tool_use_id": call, "is_error": fails}
        result["content"] = "done"
        self.row("user", message={"role": "user", "content": [result]})

    def load(self, name: str, how: int = 0) -> None:
        if how % 3 == 0:
            self.call("Skill", skill=name)
        elif how % 3 == 1:
            text = (
                f"<command-name>/{name}</command-name>\n<command-args>x</command-args>"
            )
            self.row("user", message={"role": "user", "content": text})
        else:
            path = f"{self.cwd}/.claude/skills/{name}/SKILL.md"
            self.call("Read", file_path=path)

    def write(self, config: Path) -> Path:
        folder = config / "projects" / self.cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.number:08d}-1111-4000-8000-000000000000.jsonl"
        lines = (json.dumps(row, separators=(",", ":")) for row in self.rows)
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path


@dataclass
class CodexFile:
    """A session file of Codex, while it is written."""

    cwd: str
    at: float = START
    number: int = 0
    version: str = CODEX
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    count: int = 0

    def __post_init__(self) -> None:
        self.row(
            "session_meta",
            id=f"01a2-{self.number}",
            cwd=self.cwd,
            cli_version=self.version,
            source="exec",
        )
        self.row("event_msg", type="task_started", model_context_window=190_000)

    def row(self, kind: str, **payload: object) -> None:
        self.at += 1
        self.count += 1
        row = {"timestamp": stamp(self.at), "type": kind, "payload": payload}
        self.rows.append(row)

    def message(self, role: str, text: str) -> None:
        content = [{"type": "input_text", "text": text}]
        one = f"msg_{self.number}_{self.count}"
        self.row("response_item", type="message", id=one, role=role, content=content)

    def list(self, shown: Mapping[str, str]) -> None:
        lines = "".join(
            f"- {n}:{f' {text}' if text else ''} (file: r0/{n}/SKILL.md)\n"
            for n, text in shown.items()
        )
        head = "<skills_instructions>\n## Skills\n### Available skills\n"
        self.message("developer", f"{head}{lines}### How to use skills\n- Read it.\n")

    def ask(self, text: str) -> None:
        self.message("user", text)
        self.message("assistant", "ok")

    def call(self, command: str, code: int = 0) -> None:
        one = f"call_{self.number}_{self.count}"
        given = json.dumps({"cmd": command})
        self.row(
            "response_item",
            type="function_call",
            name="exec_command",
            arguments=given,
            call_id=one,
        )
        self.row(
            "response_item",
            type="function_call_output",
            call_id=one,
            output=f"Process exited with code {code}\nOutput:\n",
        )

    def load(self, name: str, how: int = 0) -> None:
        if how % 2:
            path = f"{self.cwd}/.agents/skills/{name}/SKILL.md"
            text = f"<skill>\n<name>{name}</name>\n<path>{path}</path>\nx\n</skill>"
            self.message("user", text)
        else:
            self.call(f"sed -n 1,200p .agents/skills/{name}/SKILL.md")

    def write(self, config: Path) -> Path:
        folder = config / "sessions" / "2031" / "01" / "01"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2031-01-01T00-00-00-{self.number}.jsonl"
        lines = (json.dumps(row, separators=(",", ":")) for row in self.rows)
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path


Truth = Mapping[str, tuple[str, ...]]
USED: Final = ("used",)
PASSED: Final = ("listed and passed over",)
CUT: Final = ("cut from the list",)
NEVER: Final = ("never had a chance",)
SHORT: Final = ("not seen long enough",)


def plant(
    home: Path, client: str, seed: int, skills: int = 100, sessions: int = 30
) -> Truth:
    """Write skills and sessions of one client; return the verdicts that are right.

    Some skills have two: what cannot be told from the outside may be left open.
    """
    chance = random.Random(seed)  # noqa: S311 - the same each time
    project = home / f"{client}-{seed}"
    is_claude = client == "claude-code"
    mine = project / (".claude/skills" if is_claude else ".agents/skills")
    other = project / (".agents/skills" if is_claude else ".claude/skills")
    kinds = ("used", "dead", "passed", "cut", "hidden", "elsewhere", "quiet", "short")
    planted = [skill(seed * 37 + number) for number in range(skills)]
    of = {one.name: kinds[at % len(kinds)] for at, one in enumerate(planted)}
    truth: dict[str, tuple[str, ...]] = {}
    for one in planted:
        kind = of[one.name]
        fields = "disable-model-invocation: true\n" if kind == "hidden" else ""
        write_skill(other if kind == "elsewhere" else mine, one, fields)
        truth[one.name] = {
            "used": USED,
            "dead": PASSED,
            "passed": PASSED,
            "cut": CUT,
            # Codex does not read the field: there the skill is like one that is quiet.
            "hidden": NEVER if is_claude else (*NEVER, *SHORT),
            "elsewhere": NEVER,
            "quiet": (*NEVER, *SHORT),
            "short": SHORT,
        }[kind]
    for number in range(sessions):
        file: ClaudeFile | CodexFile
        at = START + number * DAY
        file = (
            ClaudeFile(str(project), at, seed * 1000 + number)
            if is_claude
            else CodexFile(str(project), at, seed * 1000 + number)
        )
        late = number >= sessions - 2
        file.list(dict(_shown(planted, of, is_claude=is_claude, late=late)))
        _talk(file, planted, of, number, chance)
        file.write(home / (".claude" if is_claude else ".codex"))
    return truth


def _shown(
    planted: Sequence[Planted], of: Mapping[str, str], *, is_claude: bool, late: bool
) -> Iterator[tuple[str, str]]:
    for one in planted:
        kind = of[one.name]
        if kind == "elsewhere" or (kind == "hidden" and is_claude):
            continue
        if kind == "cut":
            yield one.name, "" if is_claude else one.description[:9]
        elif kind != "short" or late:
            yield one.name, one.description


def _talk(
    file: ClaudeFile | CodexFile,
    planted: Sequence[Planted],
    of: Mapping[str, str],
    number: int,
    chance: random.Random,
) -> None:
    # In every so many sessions it is asked for.
    every = {"dead": 2, "passed": 6, "cut": 4, "used": 10}
    turns: list[tuple[str, str]] = [(chance.choice(CHATTER), "") for _ in range(4)]
    for at, one in enumerate(planted):
        if of[one.name] in every and (number + at) % every[of[one.name]] == 0:
            turns.append((one.query, one.name if of[one.name] == "used" else ""))
    chance.shuffle(turns)
    for text, loads in turns:
        file.ask(text)
        if loads:
            file.load(loads, number)


def touch(paths: Iterable[Path], at: float) -> None:
    """Set when files were written."""
    for path in paths:
        os.utime(path, (at, at))
