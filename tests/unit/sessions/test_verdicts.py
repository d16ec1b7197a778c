"""Each skill of planted sessions gets the verdict that is right for it."""

import json
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
OTHERS = tuple(map(skill, range(30, 42)))
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
    return [*CHATTER[:3], OTHERS[number % len(OTHERS)].query]


def write_library(home: Path, fields: str = "") -> Path:
    root = Path(project(home), ".claude/skills")
    for one in OTHERS:
        write_skill(root, one)
    return write_skill(root, ONE, fields)


def once(*numbers: int) -> Callable[[int], bool]:
    return lambda number: number in numbers


def helper(home: Path, *, is_preloaded: bool = False) -> None:
    """A helper of session 3 loads the skill, in a file of its own."""
    file = ClaudeFile(project(home), START + 3 * DAY + 3, 3)
    if is_preloaded:
        named = f"<command-name>{ONE.name}</command-name>\n"
        where = f"Base directory for this skill: /x/{ONE.name}\n\n# Steps"
        blocks = [{"type": "text", "text": text} for text in (named, where)]
        message = {"role": "user", "content": blocks}
        file.row("user", isMeta=True, message=message)
    file.ask("a job for a helper")
    if not is_preloaded:
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
        ("cd {root}/{name} && cat SKILL.md", USED),
        ("cd .claude/skills; cat ./{name}/SKILL.md", USED),
        ("git add .claude/skills/{name}/SKILL.md", PASSED),
        ("cat > .claude/skills/{name}/SKILL.md <<EOF", PASSED),
        ("echo x >> '{root}/{name}/SKILL.md'", PASSED),
        ("sed -i s/a/b/ .claude/skills/{name}/SKILL.md", PASSED),
        ("grep -n '' .claude/skills/{name}/SKILL.md", PASSED),
        ("find {root}/{name} -name SKILL.md -exec cat {{}} +", PASSED),
        ("python -c \"print(open('{root}/{name}/SKILL.md').read())\"", PASSED),
        ("python .claude/skills/{name}/scripts/run.py", PASSED),
    ],
)
def test_a_command_that_reads_it_is_a_load(
    home: Path, command: str, verdict: tuple[str, ...]
) -> None:
    """And what only names its files is none; it may have read them, so none is dead."""
    write_library(home)
    root = f"{project(home)}/.claude/skills"
    line = command.format(name=ONE.name, root=root)
    sessions(home, fitting, do=loads_by(line))

    one = judged()[ONE.name]

    assert (one.verdict in verdict, one.is_dead) == (True, False)


def search(file: ClaudeFile) -> None:
    path = f"{file.cwd}/.claude/skills/{ONE.name}/SKILL.md"
    file.call("Grep", pattern=".", path=path, output_mode="content")


def of_a_server(file: ClaudeFile) -> None:
    path = f"{file.cwd}/.claude/skills/{ONE.name}/SKILL.md"
    file.call("mcp__files__read_text_file", path=path)


def mention(file: ClaudeFile) -> None:
    path = f"{file.cwd}/.claude/skills/{ONE.name}/SKILL.md"
    content = {"type": "text", "file": {"filePath": path, "content": "# Steps"}}
    attached = {"type": "file", "filename": path, "content": content}
    file.row("attachment", attachment=attached)


def from_its_folder(file: ClaudeFile) -> None:
    file.cwd += f"/.claude/skills/{ONE.name}"
    file.call("Bash", command="cat SKILL.md")


@pytest.mark.parametrize(
    ("act", "verdict"),
    [
        *((search, PASSED), (of_a_server, PASSED)),
        *((mention, USED), (from_its_folder, USED)),
    ],
)
def test_other_ways_to_a_skill(
    home: Path, act: Callable[[ClaudeFile], None], verdict: tuple[str, ...]
) -> None:
    """A search, a tool of a server, an ``@`` of a user, a shell in its folder."""
    write_library(home)

    def do(file: ClaudeFile, number: int) -> None:
        if number == 7:
            act(file)

    sessions(home, fitting, do=do)

    one = judged()[ONE.name]

    assert (one.verdict in verdict, one.is_dead) == (True, False)


def test_a_skill_that_is_read_where_its_link_leads(home: Path) -> None:
    """Codex lists, and so reads, the place that a link in its folder leads to."""
    folder = write_library(home)
    place = folder.rename(home / "dotfiles-of-mine")
    folder.symlink_to(place)
    sessions(
        home,
        fitting,
        do=lambda file, _: file.call("Read", file_path=f"{place}/SKILL.md"),
    )

    assert judged()[ONE.name].verdict in USED


def test_a_damaged_line_with_a_long_beginning(home: Path) -> None:
    """Its session is no evidence: what is missing may be a load of any skill."""
    write_library(home)
    sessions(home, fitting)
    for path in (home / ".claude/projects").rglob("*.jsonl"):
        with path.open("a", encoding="utf-8") as lines:
            lines.write(f'{{"type":"assistant","x":"{"long " * 2_000}{ONE.name}')

    one = judged()[ONE.name]

    assert (one.verdict in SHORT, one.evidence.fits) == (True, [])


@pytest.mark.parametrize("far", ["a link", "not to be read"])
def test_a_folder_of_sessions_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, far: str
) -> None:
    """A link is followed, once; a folder that cannot be read may have a load."""
    write_library(home)
    sessions(home, fitting)
    projects = home / ".claude/projects"
    file = ClaudeFile(project(home), START + 50 * DAY, 50)
    file.list({ONE.name: ONE.description})
    file.ask(ONE.query)
    file.load(ONE.name)
    other = file.write(home / "far").parent
    if far == "a link":
        (projects / "-far").symlink_to(other)
        (other / "back").symlink_to(projects)
    else:
        scandir = os.scandir

        def refuse(path: str) -> object:
            if path.endswith("-far"):
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

        (projects / "-far").mkdir()
        monkeypatch.setattr(os, "scandir", refuse)

    one, read = judged()[ONE.name], read_sessions()

    if far == "a link":
        assert (one.verdict, len(read.sessions)) == ("used", LONG + 1)
    else:
        assert (one.verdict in PASSED, one.is_dead) == (True, False)
        assert read.unread == [(str(projects / "-far"), "Permission denied")]


@pytest.mark.parametrize("is_preloaded", [False, True])
def test_a_skill_that_only_a_helper_loads_is_used(
    home: Path, *, is_preloaded: bool
) -> None:
    """Nobody typed the turns of a helper, and its load counts for its session.

    The definition of an agent may name skills that it has from its start.
    """
    write_library(home)
    helper(home, is_preloaded=is_preloaded)

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


@pytest.mark.parametrize(
    "turn",
    [
        "here is what the log of the build says, and it is the same as before. " * 15,
        "what is this, and why is it here?\n[Image #2]",
    ],
)
def test_a_turn_that_is_not_all_there_says_nothing(home: Path, turn: str) -> None:
    """What was cut off, and what is in an image, may ask for any skill."""
    write_library(home)
    sessions(home, lambda _: [turn, turn])

    one = judged()[ONE.name]

    assert (one.verdict in SHORT, one.evidence.counts["turns"]) == (True, 0)


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


def codex(home: Path, *, session: int, query: str = ONE.query) -> CodexFile:
    """Return a session of Codex in which a skill is listed and asked for, twice."""
    file = CodexFile(project(home), START + session * DAY, session)
    file.list({ONE.name: ONE.description})
    for _ in range(2):
        file.ask(query)
    return file


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("Process exited with code 0\nOutput:\nIt exited with code 1.", USED),
        ('Exit code: 0\nWall time: 0.1\nOutput:\n{"exit_code": 2}', USED),
        ('{"output":"x","metadata":{"exit_code":0}}', USED),
        ("Chunk ID: a\nProcess exited with code 1\nOutput:\nx", PASSED),
        ("Exit code: 127\nWall time: 0.1 seconds\nOutput:\nx", PASSED),
        ('{"output":"x","metadata":{"exit_code":1}}', PASSED),
        ("unsupported call: exec_command", PASSED),
    ],
)
def test_what_an_answer_of_codex_has_before_the_output(
    home: Path, output: str, verdict: tuple[str, ...]
) -> None:
    """It says whether a call failed; the text of a skill does not."""
    for planted in (*OTHERS, ONE):
        write_skill(Path(project(home), ".agents/skills"), planted)
    for number in range(6):
        file = codex(home, session=number)
        file.load(ONE.name)
        file.rows[-1]["payload"]["output"] = output
        file.write(home / ".codex")

    one = judged()[ONE.name]

    assert (one.verdict in verdict, one.is_dead) == (True, False)


@pytest.mark.parametrize(
    ("key", "verdict"), [("file_path", USED), ("path", PASSED), ("dir_path", PASSED)]
)
def test_a_tool_of_codex_with_a_path(
    home: Path, key: str, verdict: tuple[str, ...]
) -> None:
    """Its own ``read_file`` reads; of others it is not known."""
    root = Path(project(home), ".agents/skills")
    for planted in (*OTHERS, ONE):
        write_skill(root, planted)
    for number in range(6):
        file = codex(home, session=number)
        file.call("x")
        arguments = json.dumps({key: f"{root}/{ONE.name}/SKILL.md"})
        file.rows[-2]["payload"]["arguments"] = arguments
        file.write(home / ".codex")

    one = judged()[ONE.name]

    assert (one.verdict in verdict, one.is_dead) == (True, False)


def test_forks_of_codex_count_once(home: Path) -> None:
    """Earlier versions copied all messages, without ids and at the time of the fork."""
    write_skill(Path(project(home), ".agents/skills"), ONE)
    first = codex(home, session=0)
    for row in first.rows:
        row["payload"].pop("type" if row["type"] == "session_meta" else "id", "")
    first.write(home / ".codex")
    for number in range(1, 9):
        fork = CodexFile(project(home), START + number * DAY, number)
        fork.rows[0]["payload"]["forked_from_id"] = "01a2-0"
        for row in first.rows:
            fork.row(row["type"], **row["payload"])
        fork.ask("and now the next one of them")
        fork.write(home / ".codex")

    assert len(judged()[ONE.name].evidence.fits) == 2


def test_a_helper_of_codex_that_knows_the_session_before_it(home: Path) -> None:
    """Its file has the first line of that session, too, and nobody typed its turns."""
    write_skill(Path(project(home), ".agents/skills"), ONE)
    for number in range(0, 12, 2):
        first = codex(home, session=number, query="do what I have told you")
        first.write(home / ".codex")
        file = codex(home, session=number + 1)
        started = {"subagent": {"thread_spawn": {"parent_thread_id": "x"}}}
        file.rows[0]["payload"]["source"] = started
        file.rows.insert(1, first.rows[0])
        file.write(home / ".codex")

    assert judged()[ONE.name].evidence.fits == []


def test_what_an_editor_shows_to_codex_is_none_of_the_words(home: Path) -> None:
    """They come after a line that says so."""
    for one in (ONE, *OTHERS):
        write_skill(Path(project(home), ".agents/skills"), one)
    shown = f"# Context from my IDE setup:\n\n## Open tabs:\n- {ONE.query}\n\n"
    text = f"{shown}## My request for Codex:\nrename the variable\n"
    for number in range(6):
        codex(home, session=number, query=text).write(home / ".codex")

    assert judged()[ONE.name].evidence.fits == []
