"""Each skill of planted sessions gets the verdict that is right for it."""

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from satchel_lab.sessions import SkillVerdict, judge_skills, read_sessions
from tests.unit.sessions.planted import (
    CHATTER,
    DAY,
    NEVER,
    PASSED,
    SHORT,
    START,
    USED,
    ClaudeFile,
    CodexFile,
    Planted,
    plant,
    skill,
    write_skill,
)

CLIENTS = ("claude-code", "codex")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def judged() -> dict[str, SkillVerdict]:
    report = judge_skills(read_sessions())
    return {one.evidence.skill: one for one in report.skills}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_verdict_is_right_nine_times_of_ten(
    home: Path, client: str, seed: int
) -> None:
    """One hundred skills in thirty sessions; "never" and "dead" are never wrong."""
    truth = plant(home, client, seed)

    verdicts = judged()

    said: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for name, one in verdicts.items():
        said[one.verdict] += 1
        right[one.verdict] += one.verdict in truth[name]
    assert set(verdicts) == set(truth)
    assert len(said) == 5
    assert {v for v in said if right[v] < 0.9 * said[v]} == set()
    assert right["never had a chance"] == said["never had a chance"]
    dead = {name for name, one in verdicts.items() if one.is_dead}
    assert dead
    assert {name for name in dead if truth[name] != PASSED} == set()


@pytest.mark.parametrize("client", CLIENTS)
def test_damaged_lines_make_nothing_never_or_dead(home: Path, client: str) -> None:
    """Lines are cut, repeated, no text, or of a type that nobody has seen."""
    truth = plant(home, client, 5, skills=80)
    chance = random.Random(5)  # noqa: S311 - the same each time
    for file in sorted(home.rglob("*.jsonl")):
        lines: list[bytes] = []
        for line in file.read_bytes().splitlines():
            cut, junk = line[: chance.randrange(len(line))], b'{"type":"who-knows"}'
            some = ([line] * 300, [cut, b"\xff" + line], [line + b"\n" + line, junk])
            lines.append(chance.choice([*some[0], *some[1], *some[2] * 3]))
        file.write_bytes(b"\n".join(lines))

    wrong = {
        name: one.why
        for name, one in judged().items()
        if one.verdict not in truth[name]
        and (one.is_dead or one.verdict == "never had a chance")
    }

    assert wrong == {}


ONE = skill(1)
OTHERS = tuple(map(skill, range(30, 60)))
LONG = 30


def project(home: Path) -> str:
    return str(home / "project")


def sessions(
    home: Path,
    turns: Callable[[int], list[str]],
    *,
    text: str | None = ONE.description,
    do: Callable[[ClaudeFile, int], None] | None = None,
) -> None:
    """Write thirty sessions in which one skill is listed, and others."""
    for number in range(LONG):
        file = ClaudeFile(project(home), START + number * DAY, number)
        shown = {one.name: one.description for one in OTHERS}
        file.list({**shown, ONE.name: text} if text is not None else shown)
        for turn in turns(number):
            file.ask(turn)
        if do:
            do(file, number)
        file.write(home / ".claude")


def fitting(number: int) -> list[str]:
    return [CHATTER[number % len(CHATTER)], ONE.query]


def quiet(number: int) -> list[str]:
    return [*CHATTER[:3], OTHERS[number % 30].query]


def write_library(home: Path, fields: str = "") -> Path:
    root = Path(project(home), ".claude/skills")
    for one in OTHERS:
        write_skill(root, one)
    return write_skill(root, ONE, fields)


def once(*numbers: int) -> Callable[[int], bool]:
    return lambda number: number in numbers


def helper(home: Path) -> None:
    """A helper of session 3 loads the skill, in a file of its own."""
    file = ClaudeFile(project(home), START + 3 * DAY + 3, 3)
    file.ask("a job for a helper")
    file.load(ONE.name)
    rows = [
        {**row, "isSidechain": True, "uuid": f"h{row['uuid']}"} for row in file.rows
    ]
    path = replace(file, rows=rows).write(home / ".claude")
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    path.rename(folder / "agent-1.jsonl")
    sessions(home, fitting)


# What would make "never" or "dead" wrong, and what it is instead.
def loads_by(command: str) -> Callable[[ClaudeFile, int], None]:
    def do(file: ClaudeFile, number: int) -> None:
        if number == 7:
            file.call("Bash", command=command)

    return do


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("cat .claude/skills/{name}/SKILL.md", USED),
        ("cd x && head -50 {root}/{name}/SKILL.md | less", USED),
        ("git add .claude/skills/{name}/SKILL.md", PASSED),
        ("cat > .claude/skills/{name}/SKILL.md <<EOF", PASSED),
        ("python .claude/skills/{name}/scripts/run.py", PASSED),
    ],
)
def test_a_command_that_reads_it_is_a_load(
    home: Path, command: str, verdict: tuple[str, ...]
) -> None:
    """And what only names its files is none."""
    write_library(home)
    root = f"{project(home)}/.claude/skills"
    line = command.format(name=ONE.name, root=root)
    sessions(home, fitting, do=loads_by(line))

    one = judged()[ONE.name]

    assert one.verdict in verdict
    assert one.is_dead == ("git" in command or ">" in command)


def test_a_skill_that_only_a_helper_loads_is_used(home: Path) -> None:
    """Nobody typed the turns of a helper, and its load counts for its session."""
    write_library(home)
    helper(home)

    one = judged()[ONE.name]

    assert (
        one.verdict,
        one.evidence.counts["loads"],
        one.evidence.counts["served"],
    ) == ("used", 1, 1)


def test_a_call_that_failed_is_no_load(home: Path) -> None:
    """The user refused it, or there is no such skill."""
    write_library(home)
    sessions(
        home, fitting, do=lambda file, _: file.call("Skill", fails=True, skill=ONE.name)
    )

    assert judged()[ONE.name].verdict in PASSED


def test_who_edits_a_skill_does_not_use_it(home: Path) -> None:
    """It is not dead, either: somebody works at it."""
    write_library(home)

    def edit(file: ClaudeFile, number: int) -> None:
        path = f"{project(home)}/.claude/skills/{ONE.name}/SKILL.md"
        if number == 2:
            file.call("Read", file_path=path)
            file.call("Edit", file_path=path, old_string="a", new_string="b")

    sessions(home, fitting, do=edit)

    one = judged()[ONE.name]

    assert (one.verdict, one.is_dead) == ("listed and passed over", False)


@pytest.mark.parametrize(
    "turn",
    [
        f"Kannst du bitte das {ONE.name.split('-')[0]} prüfen und reparieren?",
        f"something about a {ONE.name.split('-')[0]}, and much else that I have to do",
        f"ask about {ONE.description.split()[5].strip(':')} for the meeting with them",
    ],
)
def test_a_turn_that_may_fit_keeps_never_away(home: Path, turn: str) -> None:
    """One rare word of the skill in a single turn of thirty sessions is enough."""
    write_library(home)
    sessions(home, lambda number: quiet(number) + [turn] * (number == 9))

    assert judged()[ONE.name].verdict not in NEVER


def test_turns_in_another_language_say_nothing(home: Path) -> None:
    """An English description has no word of them, whatever they ask for."""
    write_library(home)
    german = ("Bitte das Blatt von gestern noch einmal lesen", "Und jetzt alle anderen")
    sessions(home, lambda _: [*german] * 3)

    assert judged()[ONE.name].verdict in SHORT


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ("", NEVER),  # no turn has a word of it
        ("short", SHORT),
        ("later", SHORT),
        ("absent", NEVER),
        ("hidden", NEVER),
        ("broken line", NEVER),  # of one session, which does not count
        ("broken load", SHORT),
        ("broken often", SHORT),
        ("broken list", SHORT),  # the sessions with it in the list do not count
        ("compressed", SHORT),
    ],
)
def test_never_is_said_only_where_it_is_sure(
    home: Path, change: str, verdict: tuple[str, ...]
) -> None:
    """A skill that no turn fits: what is missing may have held a load of it."""
    folder = write_library(
        home, "disable-model-invocation: true\n" * (change == "hidden")
    )
    if change == "later":
        os.utime(folder / "SKILL.md", (START + 99 * DAY, START + 99 * DAY))
    is_absent = change in ("absent", "hidden", "later", "broken list")
    listed = None if is_absent else ONE.description
    sessions(home, quiet, text=listed)
    files = sorted((home / ".claude/projects").rglob("*.jsonl"))
    if change == "broken list":
        late = ClaudeFile(project(home), START + 40 * DAY, 40)
        late.list({ONE.name: ONE.description})
        late.ask(CHATTER[0])
        files = [late.write(home / ".claude")]
    if change == "short":
        for file in files[4:]:
            file.unlink()
    for path in files if change == "broken often" else files[: "broken" in change]:
        name = ONE.name if change == "broken load" else ""
        line = f'{{"type":"assistant","message":{{"content":[{{"name":"{name}'
        with path.open("a", encoding="utf-8") as lines:
            lines.write(line)
    if change == "compressed":
        files[0].with_name("rollout-1.jsonl.zst").write_bytes(b"(")

    assert judged()[ONE.name].verdict in verdict


def test_a_skill_in_a_folder_that_no_client_reads(home: Path) -> None:
    """The list of a session counts, where it has the skill all the same."""
    write_library(home)
    lost = skill(2)
    write_skill(Path(project(home), ".agents/skills"), lost)
    sessions(home, lambda _: [lost.query])

    one = judged()[lost.name]

    assert one.verdict in NEVER
    assert (one.evidence.counts["missed"], one.why) == (
        30,
        "no client here reads its folder",
    )


def test_what_is_left_out_of_the_list_of_codex(home: Path) -> None:
    """Where names have no room, all descriptions are gone and the last skills."""
    root = Path(project(home), ".agents/skills")
    for planted in (*OTHERS, ONE):
        write_skill(root, planted)
    for number in range(6):
        file = CodexFile(project(home), START + number * DAY, number)
        file.list({planted.name: "" for planted in OTHERS})
        file.ask(ONE.query)
        file.write(home / ".codex")

    one = judged()[ONE.name]

    assert (one.verdict, one.evidence.counts["cut"]) == ("cut from the list", 6)
    assert "left out of the list" in one.why


@pytest.mark.parametrize(
    ("fill", "verdict"), [(0, "listed and passed over"), (450, "cut from the list")]
)
def test_without_a_list_on_file_the_measured_rule_counts(
    home: Path, fill: int, verdict: str
) -> None:
    """Codex gives its list a share of the window, which its files record."""
    root = Path(project(home), ".agents/skills")
    long = "of every kind and in each language that there is. " * 15
    fillers = [Planted(f"a-{n}", f"Topic {n} {long}", "") for n in range(fill)]
    for one in (ONE, *fillers):
        write_skill(root, one)
    for number in range(6):
        file = CodexFile(project(home), START + number * DAY, number)
        file.ask(ONE.query)
        file.write(home / ".codex")

    assert judged()[ONE.name].verdict == verdict


def test_claude_code_without_a_list_on_file(home: Path) -> None:
    """It lists all names, whatever the window is; a file that is newer says nothing."""
    folder = write_library(home)
    late = write_skill(folder.parent, skill(2))
    os.utime(late / "SKILL.md", (START + 99 * DAY, START + 99 * DAY))
    for number in range(6):
        file = ClaudeFile(project(home), START + number * DAY, number, "2.0.20")
        file.ask(ONE.query)
        file.ask(skill(2).query)
        file.write(home / ".claude")

    verdicts = judged()

    assert verdicts[ONE.name].verdict in PASSED
    assert verdicts[skill(2).name].verdict in SHORT


def test_a_resumed_session_counts_once(home: Path) -> None:
    """Its file repeats what was there before, and a load of then still serves."""
    write_library(home)
    first = ClaudeFile(project(home), START, 1)
    first.list({ONE.name: ONE.description})
    first.ask(ONE.query)
    first.load(ONE.name)
    first.write(home / ".claude")
    second = ClaudeFile(project(home), START + DAY, 2, rows=[*first.rows])
    second.count = 50
    second.ask(ONE.query)
    second.write(home / ".claude")

    seen = judged()[ONE.name].evidence

    assert (seen.counts["loads"], seen.counts["served"], seen.fits) == (1, 2, [])
