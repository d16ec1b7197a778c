"""Scripts over MCP: to whom they are offered, and what has to be loaded before."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from satchel import Policy, Satchel, allow, ask, deny, require
from satchel.errors import ConfigError
from satchel.files import digest_bytes
from satchel.model import Job, Outcome, OutputFile, Style
from satchel.policy import OPEN_POLICY
from satchel.testing import write_pack
from satchel.usage import ListSink
from satchel_scripts import Sandbox, Subprocess
from satchel_server import (
    Caller,
    GuardSettings,
    ServedLibrary,
    ServerSettings,
    build_server,
    create_app,
    guarded_app,
    streamable_http,
)
from satchel_server._guard._tokens import JoinedTokens, Token, digest_of, read_several
from satchel_server._mcp._scripts import ScriptHandlers, folder_name
from satchel_server.usage.check_acts import with_skills
from tests.unit.server.mcp.clients import connected, context

pytestmark = pytest.mark.row("U14")

LOADERS: Final[Mapping[Style, tuple[str, str]]] = {
    "lean": ("load_skill", "skill_id"),
    "packs": ("load_skill", "name"),
    "agent-skills": ("load_skill", "skill_id"),
    "references": ("load_skill_instructions", "skill_name"),
}
FILL: Final = {"skill_id": "forms", "path": "scripts/fill.py"}


@dataclass
class FakeRunner:
    """Notes what it is asked to run."""

    kind: str = "fake"
    isolated: bool = True
    jobs: list[Job] = field(default_factory=list[Job])
    before: Callable[[Job], object] = lambda _: None
    files: int = 1

    def run(self, job: Job) -> Outcome:
        self.jobs.append(job)
        self.before(job)
        files = [
            OutputFile(f"{number} ü.pdf", "application/pdf", 1_234, "sha256:ab")
            for number in range(self.files)
        ]
        ending: Any = "cancelled" if job.cancelled.is_set() else "exit"
        return Outcome(ending=ending, exit_code=0, stdout="done\n", files=tuple(files))


def library(
    folder: Path,
    runner: object = None,
    *,
    policy: Policy = OPEN_POLICY,
    sinks: Sequence[Any] = (),
    **settings: Any,  # noqa: ANN401
) -> ServedLibrary:
    """Return a library with a skill that has scripts, and one that has none."""
    settings = {"work": str(folder / "work"), "scripts": ("forms",), **settings}
    files = {"scripts/fill.py": "print(1)\n", "references/SKILL.md": "Other.\n"}
    write_pack(folder / "skills", "forms", "Use for forms.", files=files)
    write_pack(folder / "skills", "house", "Use for the house.")
    runner = FakeRunner() if runner is None else runner
    skills = Satchel(
        folder / "skills",
        sinks=sinks,
        policy=policy,
        runner=runner,  # type: ignore[arg-type]
    )
    return ServedLibrary(skills, ServerSettings(**settings))


async def load(client: Client, skill: str = "forms", style: Style = "lean") -> None:
    tool, parameter = LOADERS[style]
    assert not (await client.call_tool(tool, {parameter: skill})).is_error


async def fill(client: Client, **more: object) -> Any:  # noqa: ANN401
    return await client.call_tool("run_skill_script", {**FILL, **more})


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("style", LOADERS)
async def test_a_load_in_any_style_lets_its_scripts_run(
    tmp_path: Path, style: Style
) -> None:
    runner = FakeRunner()
    async with connected(library(tmp_path, runner, style=style)) as client:
        assert (await names(client))[-1] == "run_skill_script"
        assert (await fill(client)).is_error
        await load(client, "house", style)
        assert (await fill(client)).is_error

        await load(client, style=style)
        result = await fill(client, args="--name 'Ana Simpson'", stdin="in")

    text, link = result.content
    assert (result.is_error, result.structured_content) == (False, None)
    assert "  0 ü.pdf (application/pdf, 1,234 bytes, sha256:ab)" in text.text
    assert (link.type, link.uri) == ("resource_link", "satchel-work:///0%20%C3%BC.pdf")
    (job,) = runner.jobs
    assert job.args == ("--name", "Ana Simpson")
    assert job.work == str(tmp_path / "work")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_skill_file", {"skill_id": "forms", "path": "references/SKILL.md"}),
        ("read_skill_file", {"skill_id": "forms", "path": "scripts/fill.py"}),
        ("load_skill", {"skill_id": "Forms"}),
        ("load_skill", {"skill_id": ["forms"]}),
        ("load_skill", {"nam": "forms"}),
    ],
)
async def test_what_is_no_load_lets_no_script_run(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    runner = FakeRunner()
    async with connected(library(tmp_path, runner)) as client:
        await client.call_tool(tool, arguments)
        result = await fill(client)

    assert "load the skill 'forms' first" in result.content[0].text
    assert not runner.jobs


@pytest.mark.parametrize(
    "more",
    [
        {"path": "SKILL.md"},
        {"path": "../house/SKILL.md"},
        {"path": 3},
        {"skill_id": None},
        {"skill_id": "house"},
        {"args": {"a": {"b": 1}}},
        {"args": ["a\0b"]},
        {"cwd": "/"},
    ],
    ids=str,
)
async def test_what_the_heart_refuses_is_an_error(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    runner = FakeRunner()
    async with connected(library(tmp_path, runner)) as client:
        await load(client)
        result = await fill(client, **more)

    assert result.is_error
    assert str(tmp_path) not in result.content[0].text
    assert not runner.jobs


@pytest.mark.parametrize(
    ("policy", "scripts", "code", "is_offered"),
    [
        (Policy(deny("forms", "script")), ("*",), "denied-by-policy", False),
        (Policy(ask("forms", "script")), ("*",), "approval-required", False),
        (Policy(allow("*", "script")), ("house",), "denied-by-policy", False),
        (Policy(), ("FORMS",), "denied-by-policy", False),
        (Policy(allow("*", "script")), ("f*",), "", True),
        (Policy(deny("house")), ("f*",), "", True),
        (Policy(require("house", tool="run-skill*")), ("*",), "bad-tool-call", True),
    ],
)
async def test_rules_come_before_what_is_named_for_a_caller(
    tmp_path: Path,
    policy: Policy,
    scripts: tuple[str, ...],
    code: str,
    is_offered: bool,
) -> None:
    runner = FakeRunner()
    served = library(tmp_path, runner, policy=policy, scripts=scripts)
    async with connected(served) as client:
        assert ("run_skill_script" in await names(client)) is is_offered
        await load(client)
        result = await fill(client)

    assert bool(code) is result.is_error
    assert code in result.content[0].text
    assert bool(code) is not bool(runner.jobs)


async def test_a_skill_that_the_policy_needs_is_loaded_first(tmp_path: Path) -> None:
    policy = Policy(require("house", tool="run_skill_script"))
    async with connected(library(tmp_path, policy=policy)) as client:
        await load(client)
        early = await fill(client)
        await load(client, "house")

        assert "load the skill 'house' first" in early.content[0].text
        assert not (await fill(client)).is_error


async def test_a_skill_that_the_policy_needs_is_loaded_again_after_an_edit(
    tmp_path: Path,
) -> None:
    served = library(tmp_path, policy=Policy(require("house", tool="run_skill_script")))
    async with connected(served) as client:
        await load(client)
        await load(client, "house")
        with (tmp_path / "skills" / "house" / "SKILL.md").open("a") as file:
            file.write("\nAnd close the door.\n")
        served.refresh()
        early = await fill(client)
        await load(client, "house")

        assert "load the skill 'house' first" in early.content[0].text
        assert not (await fill(client)).is_error


async def test_a_skill_that_was_edited_is_loaded_again_first(tmp_path: Path) -> None:
    """Also where the server has not read the folder again since."""
    runner = FakeRunner()
    async with connected(library(tmp_path, runner)) as client:
        await load(client)
        with (tmp_path / "skills" / "forms" / "SKILL.md").open("a") as file:
            file.write("\nSTOP: never run it.\n")

        for _ in range(2):
            assert "load" in (await fill(client)).content[0].text
        assert not runner.jobs
        await load(client)
        assert not (await fill(client)).is_error


@pytest.mark.row("U17")
async def test_each_script_is_on_the_record(tmp_path: Path) -> None:
    """With the load that it rests on, where this caller has made it, and the rule."""
    log = ListSink()
    policy = Policy(require("house", tool="run_skill_script"))
    served = library(tmp_path, policy=policy, sinks=[log], scripts=("f*",))
    async with connected(served) as client:
        await load(client)
        await fill(client)  # too early
        await load(client, "house")
        await fill(client, args=["Ana Simpson"])
        await fill(client, skill_id="house")  # not named for this caller

    events = [*map(asdict, log.events), *map(asdict, log.acts)]
    acts = [*with_skills(events)]
    assert [(act["outcome"], act["approval"], read) for act, read in acts] == [
        ("refused", "", "no"),
        ("exit 0", "named for this caller", "yes"),
        ("refused", "denied-by-policy", "yes"),
    ]
    _, (ran, _), _ = acts
    assert [skill["name"] for skill in ran["skills"]] == ["forms", "house"]
    assert (ran["script"], ran["runner"]) == ("scripts/fill.py", "")
    assert ran["script_digest"] == digest_bytes(b"print(1)\n")
    assert "Simpson" not in str(ran)


@pytest.mark.parametrize(
    "settings", [{"work": ""}, {"scripts": ()}, {"scripts": ("house",)}], ids=str
)
async def test_without_folder_patterns_or_scripts_it_is_not_offered(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with connected(library(tmp_path, **settings)) as client:
        await load(client)
        assert "run_skill_script" not in await names(client)
        if settings != {"scripts": ("house",)}:
            with pytest.raises(MCPError, match="no such tool"):
                await fill(client)
            with pytest.raises(MCPError, match="not served here"):
                await client.read_resource("satchel-work:///x.txt")


@pytest.mark.parametrize(
    ("caller", "may"),
    [
        (Caller("ana", scripts=("*",)), True),
        (Caller("ana"), False),
        # As of an OAuth issuer, or of one who checks callers by other means.
        (Caller("", scripts=("*",)), False),
        (None, False),
    ],
)
def test_over_http_a_caller_has_a_name_and_scripts_of_its_own(
    tmp_path: Path, caller: Caller | None, may: bool
) -> None:
    handlers = ScriptHandlers(library(tmp_path))
    request = SimpleNamespace(scope={"state": {"caller": caller}})

    assert bool(handlers.named(context(request=request))) is may


def test_no_two_callers_have_one_folder() -> None:
    plain = ["ana", "a-b_c", "0", "a" * 64]
    forged = [
        *("Ana", "ANA", "..", ".", "../ana", "/etc", "a/b", "a\\b", "a:b", "con"),
        *("nul", "com1", "a.", "a b", "ana.", "a" * 65, "\0", "é", "e\u0301", "\ud800"),
        *("ana+x", "~", "-ana", "_", "a.b", "lpt\u00b9", folder_name("Ana")),
    ]

    folders = [folder_name(name) for name in (*plain, *forged)]

    assert folders[: len(plain)] == plain
    assert len({folder.casefold() for folder in folders}) == len(folders)
    for folder in folders[len(plain) :]:
        assert folder.isascii()
        assert not set(folder) & set('./\\:*?"<>|\0 '), folder
        assert "+" in folder
        assert len(folder) <= 100


async def test_a_folder_that_is_a_link_is_not_used(tmp_path: Path) -> None:
    runner = FakeRunner()
    handlers = ScriptHandlers(library(tmp_path, runner))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "ana").symlink_to(tmp_path / "elsewhere")
    scope = {"state": {"caller": Caller("ana", scripts=("*",))}}
    session = SimpleNamespace(client_params=None)
    request = context(request=SimpleNamespace(scope=scope), session=session)

    result = await handlers.call(request, SimpleNamespace(arguments=FILL))  # type: ignore[arg-type]

    assert "the work folder is a link" in str(result.content)
    assert not runner.jobs


@pytest.mark.skipif(
    Sandbox().kind == "none", reason="no sandbox works here: run `make engines`"
)
async def test_a_script_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    served = library(tmp_path, Sandbox(timeout_s=1))
    script = tmp_path / "skills" / "forms" / "scripts" / "fill.py"
    script.write_text(
        "import time\nopen('half.txt', 'w').write('half')\ntime.sleep(60)\n"
    )
    async with connected(served) as client:
        await load(client)
        result = await fill(client)

    assert "scripts/fill.py was ended, time-out" in result.content[0].text
    assert [link.name for link in result.content[1:]] == ["half.txt"]


async def test_a_result_links_to_so_many_files(tmp_path: Path) -> None:
    async with connected(library(tmp_path, FakeRunner(files=80))) as client:
        await load(client)
        result = await fill(client)

    assert len(result.content) == 51
    assert "and 30 more" in result.content[0].text


async def test_a_cancelled_call_ends_its_script_and_frees_its_place(
    tmp_path: Path,
) -> None:
    started, ended = threading.Event(), threading.Event()

    def wait(job: Job) -> None:
        started.set()
        assert job.cancelled.wait(10)
        ended.set()

    runner = FakeRunner(before=wait)
    async with connected(library(tmp_path, runner)) as client:
        await load(client)
        for _ in range(6):  # more than may wait
            started.clear()
            ended.clear()
            async with anyio.create_task_group() as group:
                group.start_soon(fill, client)
                await anyio.to_thread.run_sync(started.wait, 10)
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(ended.wait, 10)
            await anyio.sleep(0.05)
        runner.before = lambda _: None
        assert not (await fill(client)).is_error


async def test_the_end_of_a_server_ends_scripts_and_begins_none(tmp_path: Path) -> None:
    runner = FakeRunner(before=lambda job: job.cancelled.wait(10))
    served = library(tmp_path, runner)
    async with connected(served) as client:
        await load(client)
        async with anyio.create_task_group() as group:
            group.start_soon(fill, client)
            while not runner.jobs:  # noqa: ASYNC110 - another thread
                await anyio.sleep(0.01)
            await anyio.to_thread.run_sync(served.running.close)
        late = await fill(client)

    assert "was ended, cancelled" in late.content[0].text


def test_a_runner_that_keeps_nobody_apart_serves_one_user_alone(
    tmp_path: Path,
) -> None:
    bare = library(tmp_path, Subprocess(), scripts=())
    named = library(tmp_path)

    def guarded(served: ServedLibrary) -> object:
        return guarded_app(served, GuardSettings())

    for serve in (streamable_http, create_app, guarded):
        with pytest.raises(ConfigError, match="isolated = True"):
            serve(bare)
        with pytest.raises(ConfigError, match="for stdio"):
            serve(named)
    build_server(bare)  # to be run over streams


def test_tokens_say_whose_scripts_may_run() -> None:
    text = '[[token]]\nname = "{0}"\ntoken = "a-token-for-{0}-here"\n'
    few = read_several(text.format("ana") + 'scripts = ["pdf", "report-*"]', "there")
    none = read_several(text.format("bo") + "scripts = []\n", "there")

    assert few[0].caller == Caller("ana", None, ("pdf", "report-*"))
    assert JoinedTokens(few).name_scripts
    assert not JoinedTokens(none).name_scripts
    assert not JoinedTokens([Token(Caller("cy"), digest_of("x"))]).name_scripts
    with pytest.raises(ConfigError, match="scripts: expected a list of patterns"):
        read_several(text.format("bo") + 'scripts = "*"\n', "there")
