"""What is the Claude Agent SDK's own: options, transcripts, permissions, sub-agents."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    McpSdkServerConfig,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    SessionMessage,
    query,
    tool,
)
from mcp import Client

from satchel import Run, Satchel, ask, require
from satchel.adapters import claude_agent_sdk as adapter
from satchel.adapters.claude_agent_sdk import attach
from tests.adapters.claude_agent_sdk import DRIVER, options_of
from tests.adapters.desk import (
    ANA,
    BASE,
    REFUND,
    REFUNDS,
    TRAVEL,
    Desk,
    carried,
    load,
    open_desk,
    script,
    scripts,
    setup,
    transfer,
    write_packs,
)
from tests.adapters.driver import Call
from tests.adapters.test_contract_scripts import ARGUMENTS, FILL, RUN, Forms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.adapters.driver import Say, Seen

OTHER = Call("refund", {"order_id": "A-2", "cents": 5})
SECTION = "Use when a customer wants money back."


@pytest.fixture(autouse=True, scope="module")
def disconnected() -> Iterator[None]:
    yield
    DRIVER.close()


async def call(
    options: ClaudeAgentOptions, name: str, server: str = "satchel", **given: object
) -> Any:
    """Call a tool of a server of the options, as Claude Code would."""
    async with connected(options, server) as client:
        return await client.call_tool(name, dict(given))


async def listed(options: ClaudeAgentOptions, server: str) -> dict[str, Any]:
    async with connected(options, server) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


def connected(options: ClaudeAgentOptions, server: str) -> Client:
    servers = cast("dict[str, McpSdkServerConfig]", options.mcp_servers)
    return Client(servers[server]["instance"])


async def fire(options: ClaudeAgentOptions, event: Any, **given: Any) -> Any:
    """Fire the hook of an event that stands last, as Claude Code would."""
    hook: Any = (options.hooks or {})[event][-1].hooks[0]
    return await hook({"session_id": "s", **given}, given.get("tool_use_id"), {})


# Options


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"type": "preset", "preset": "claude_code", "append": BASE}, "append"),
        ({"type": "preset", "preset": "claude_code"}, "append"),
        ({"type": "custom", "prompt": BASE, "snapshot": True}, "prompt"),
    ],
)
def test_a_prompt_keeps_its_form(skills: Satchel, given: Any, key: str) -> None:
    attached = attach(skills, to=ClaudeAgentOptions(system_prompt=given))

    prompt = cast("dict[str, Any]", attached.system_prompt)
    text = prompt.pop(key)
    assert text.startswith(given.get(key, ""))
    assert SECTION in text
    assert prompt == {k: v for k, v in given.items() if k != key}


@pytest.mark.parametrize(
    "options",
    [
        ClaudeAgentOptions(system_prompt={"type": "file", "path": "prompt.md"}),
        ClaudeAgentOptions(mcp_servers="servers.json"),
    ],
)
def test_what_is_a_file_cannot_be_added_to(
    skills: Satchel, options: ClaudeAgentOptions
) -> None:
    with pytest.raises(TypeError, match="is a file"):
        attach(skills, to=options)


def test_a_second_attachment_is_loud(skills: Satchel) -> None:
    with pytest.raises(ValueError, match="give one Satchel all of them"):
        attach(skills, to=attach(skills, to=ClaudeAgentOptions()))


def test_what_is_given_stays_as_it_is(skills: Satchel) -> None:
    """The application's own hooks go first."""

    async def hook(*_: object) -> Any:
        return {}

    mine = HookMatcher("Bash", [hook])
    given = ClaudeAgentOptions(hooks={"PreToolUse": [mine]})
    client = ClaudeSDKClient(given)

    attached = attach(skills, to=client)

    assert given == ClaudeAgentOptions(hooks={"PreToolUse": [mine]})
    assert client.options is given
    assert attached is not client
    assert (attached.options.hooks or {})["PreToolUse"][0] is mine


def test_without_skills_options_are_equal(tmp_path: Path) -> None:
    given = ClaudeAgentOptions(system_prompt=BASE)

    assert attach(Satchel(tmp_path), to=given) == given


async def test_who_and_deps_are_told_from_the_options(tmp_path: Path) -> None:
    def pay(run: Run) -> str:
        """Pay."""
        return f"{run.who['user']} pays with {run.deps}"

    options = attach(
        carried(tmp_path, "pay", pay),
        to=ClaudeAgentOptions(user="ana", env={"CARD": "visa"}),
        who=lambda options: {"user": options.user},
        deps=lambda options: options.env["CARD"],
    )

    await call(options, "load_skill", skill_id="pay")
    result = await call(options, "pay", "satchel_skills")

    assert result.content[0].text == "ana pays with visa"


# The servers


async def test_reading_is_marked_and_a_closed_tool_says_what_opens_it(
    skills: Satchel,
) -> None:
    options = attach(skills, to=ClaudeAgentOptions())

    load_skill = (await listed(options, "satchel"))["load_skill"]
    closed = await call(options, "order_status", "satchel_skills", order_id="A-1")

    assert load_skill.annotations.read_only_hint is True
    assert load_skill.meta == {"anthropic/maxResultSizeChars": 500_000}
    assert closed.is_error is True
    assert "load the skill 'refunds' first" in closed.content[0].text


@pytest.mark.parametrize("most", [1, 2])
async def test_conversations_load_for_themselves_and_the_oldest_is_let_go(
    skills: Satchel, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(adapter, "_MAX_CONVERSATIONS", most)
    options = attach(skills, to=ClaudeAgentOptions())
    opened: list[list[str]] = []

    for session_id in ("one", "two", "one"):
        await fire(options, "UserPromptSubmit", session_id=session_id)
        if not opened:
            await call(options, "load_skill", skill_id="refunds")
        opened.append([*await listed(options, "satchel_skills")])

    tools = ["order_status", "refund"]
    assert opened == [tools, [], tools if most == 2 else []]


async def test_a_native_tool_is_the_sdks_own(tmp_path: Path) -> None:
    """Its schema and its checks are those that the SDK makes of it."""

    @tool("post", "Send a card.", {"city": str})
    async def post(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": f"a card to {given['city']}"}]}

    skills = carried(tmp_path, "cards", post, rules=[ask("cards", tool="post")])
    answers = [True, False]
    options = attach(skills, to=ClaudeAgentOptions(), approve=lambda _: answers.pop(0))

    await call(options, "load_skill", skill_id="cards")
    tools = await listed(options, "satchel_skills")
    sent = await call(options, "post", "satchel_skills", city="Bern")
    declined = await call(options, "post", "satchel_skills", city="Bern")

    assert tools["post"].input_schema["properties"] == {"city": {"type": "string"}}
    assert sent.content[0].text == "a card to Bern"
    assert "approval-declined" in declined.content[0].text


# Permissions


async def test_our_tools_need_no_permission(skills: Satchel) -> None:
    """They are the policy's, so no rule of the options has to name them."""
    options = attach(skills, to=ClaudeAgentOptions(permission_mode="dontAsk"))
    given = {"tool_input": {"skill_id": "refunds"}, "tool_use_id": "t"}

    output = await fire(
        options, "PreToolUse", tool_name="mcp__satchel__load_skill", **given
    )

    assert output["hookSpecificOutput"]["permissionDecision"] == "allow"


async def test_can_use_tool_is_asked_for_each_call(tmp_path: Path) -> None:
    """It may take its time; what it allows of others is none of ours."""
    desk = Desk()
    asked: list[str] = []

    async def can_use_tool(_: str, given: dict[str, Any], __: Any) -> Any:
        asked.append(given["order_id"])
        await asyncio.sleep(0)
        if given["order_id"] == "A-1":
            return PermissionResultAllow()
        return PermissionResultDeny(message="not this one")

    skills = open_desk(write_packs(tmp_path), desk, ask("refunds", tool="refund"))
    model = script([load("refunds")], [REFUND, OTHER], "done")
    rig = DRIVER.build(setup(skills, model))
    rig.options.can_use_tool = can_use_tool

    output = await rig.say("hi", who=ANA)

    assert output == "done"
    assert sorted(asked) == ["A-1", "A-2"]
    assert desk.done == ["refund A-1 995 by ana"]
    assert "not this one" in "".join(rig.seen[-1].results)


async def test_of_two_calls_that_wait_the_second_is_to_be_made_again(
    tmp_path: Path,
) -> None:
    """And what is next to them is done."""
    desk = Desk()
    skills = open_desk(write_packs(tmp_path), desk, ask("refunds", tool="refund"))
    model = script([load("refunds")], [REFUND, OTHER, load("travel")], [OTHER], "done")
    rig = DRIVER.build(setup(skills, model))

    first: Any = await rig.say("hi", who=ANA)
    second: Any = await rig.decide(first, approve=True)
    output = await rig.decide(second, approve=True)

    waited = [paused.arguments["order_id"] for paused in (first, second)]
    expected = "".join(rig.seen[-1].results)
    assert output == "done"
    assert waited == ["A-1", "A-2"]
    assert len(desk.done) == 2
    assert "make this one again" in expected
    assert TRAVEL in expected


@pytest.mark.row("U14")
async def test_a_yes_is_for_the_bytes_that_were_shown(tmp_path: Path) -> None:
    """Others are asked about again; the answer comes with options of its own."""
    forms = Forms(tmp_path)
    steps: list[Say] = [[load("forms")], [RUN], [RUN], "done"]
    rig = forms.rig(DRIVER, ask("forms", "script"), steps=steps)

    first: Any = await rig.say("hi", who=ANA)
    forms.rig(DRIVER, code=f"{FILL}# edited\n")
    second: Any = await rig.decide(first, approve=True)
    assert forms.runner.jobs == []
    assert "have changed since this call was decided" in rig.seen[-1].results[-1]
    output = await rig.decide(second, approve=True)

    assert output == "done"
    assert forms.filled == ["Ana Simpson\n"]


@pytest.mark.row("U14")
@pytest.mark.parametrize("edited", [None, {**ARGUMENTS, "args": ["form.txt", "2"]}])
async def test_a_callbacks_yes_is_for_the_bytes_that_were_shown(
    tmp_path: Path, edited: dict[str, Any] | None
) -> None:
    """It may take its time, and the files change meanwhile."""
    forms = Forms(tmp_path)
    rig: Any = forms.rig(DRIVER, ask("forms", "script"))

    async def can_use_tool(*_: Any) -> Any:
        await asyncio.to_thread(forms.rig, DRIVER, code=f"{FILL}# edited\n")
        return PermissionResultAllow(updated_input=edited)

    rig.options.can_use_tool = can_use_tool
    await rig.say("hi", who=ANA)

    assert forms.runner.jobs == []
    assert "have changed since this call was decided" in rig.seen[-1].results[-1]


@pytest.mark.row("U14")
@pytest.mark.parametrize("forgets", ["a restart", "the bound"])
async def test_what_is_not_known_any_more_is_no_reason_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgets: str
) -> None:
    """Else no yes that another process hears of would ever count."""
    if forgets == "the bound":
        monkeypatch.setattr(adapter, "_MAX_SHOWN", 0)
    forms = Forms(tmp_path)
    rig = forms.rig(DRIVER, ask("forms", "script"))

    paused: Any = await rig.say("hi", who=ANA)
    forms.rig(DRIVER, code=f"{FILL}# edited\n")
    if forgets == "a restart":
        adapter._SHOWN.clear()
    await rig.decide(paused, approve=True)

    assert forms.filled == ["Ana Simpson\n"]


# Transcripts


async def test_a_query_goes_on_from_its_transcript(skills: Satchel) -> None:
    """Without a client, tools open with the next run of the conversation."""
    model = scripts({"one": [[load("refunds")], "done"], "two": [[REFUND], "done"]})
    seen: list[Seen] = []
    DRIVER.build(setup(skills, model))  # which says where transcripts are
    given = options_of(setup(skills, model), seen)

    session_id = await asked("one", attach(skills, to=given, who=ANA))
    await asked("two", attach(skills, to=replace(given, resume=session_id), who=ANA))

    assert ["refund" in shown.tools for shown in seen] == [False, False, True, True]
    assert seen[-1].results[-1] == "refunded 995 of A-1 by ana"


@pytest.mark.row("U07")
async def test_a_refusal_in_a_transcript_is_the_load_that_it_carries(
    tmp_path: Path,
) -> None:
    """An act waits once for its skill, and not again when its conversation goes on."""
    done: list[int] = []

    def wire(cents: int) -> str:
        """Send money."""
        done.append(cents)
        return "sent"

    folder = write_packs(tmp_path)
    skills = open_desk(folder, None, require("refunds", tool="wire"))
    act = Call("wire", {"cents": 5})
    model = script([act], "refused", [act], "sent")
    seen: list[Seen] = []
    DRIVER.build(setup(skills, model))  # which says where transcripts are
    given = options_of(setup(skills, model, wire), seen)

    session_id = await asked("one", attach(skills, to=given, who=ANA))
    assert done == []
    await asked("two", attach(skills, to=replace(given, resume=session_id), who=ANA))

    assert done == [5]


async def asked(prompt: str, options: ClaudeAgentOptions) -> str:
    result = [message async for message in query(prompt=prompt, options=options)][-1]
    assert isinstance(result, ResultMessage)
    return result.session_id


def test_a_transcript_is_read_as_the_model_saw_it() -> None:
    """Results may be text or blocks, and a message of the user plain text."""

    def message(kind: Any, content: object) -> SessionMessage:
        return SessionMessage(kind, "u", "s", {"role": kind, "content": content})

    use = {"type": "tool_use", "id": "t", "name": "mcp__satchel__load_skill"}
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    result = {"type": "tool_result"}
    transcript = [
        message("user", "hi"),
        message("assistant", [use | {"input": {"skill_id": "x"}}]),
        message("user", [result | {"tool_use_id": "t", "content": "c"}]),
        message("user", [result | {"tool_use_id": "?", "content": blocks}]),
    ]

    read = [(s.role, s.tool, s.text) for s in adapter._seen(transcript)]

    assert read == [
        ("user", "", "hi"),
        ("assistant", "", ""),
        ("tool", "load_skill", "c"),
        ("tool", "", "a\nb"),
    ]


# Sub-agents


async def test_a_sub_agent_loads_for_itself(skills: Satchel) -> None:
    """It is shown the catalog, and its tools open in its own run."""
    is_over = threading.Event()  # Claude Code runs it in the background

    def model(seen: Seen) -> Say:
        if "Second desk." in seen.system:
            texts = "".join(seen.results)
            if TRAVEL not in texts:
                return [load("travel")]
            if "booked" not in texts:
                return [Call("book", {"city": "Basel"})]
            is_over.set()
            return "over"
        if seen.results:
            return "handed over"
        return [transfer(seen)]

    rig = DRIVER.build(setup(skills, model))
    rig.options.agents = {"second": AgentDefinition("Second.", "Second desk.")}
    rig.options.tools = ["Agent"]

    await rig.say("hi", who=ANA)
    await asyncio.to_thread(is_over.wait, 60)

    theirs = [seen for seen in rig.seen if "Second desk." in seen.system]
    assert SECTION in theirs[0].messages[0].text
    assert "book" not in theirs[0].tools
    assert "book" in theirs[1].tools
    assert "booked Basel for ana" in theirs[2].results


@pytest.mark.parametrize(
    ("tools", "is_shown"),
    [(None, True), (["Read"], False), (["Read", "mcp__satchel__*"], True)],
)
async def test_a_sub_agent_without_our_tools_is_shown_nothing(
    skills: Satchel, tools: Any, *, is_shown: bool
) -> None:
    agents = {"second": AgentDefinition("Second.", "Second desk.", tools=tools)}
    options = attach(skills, to=ClaudeAgentOptions(agents=agents))

    output = await fire(options, "SubagentStart", agent_id="a", agent_type="second")

    assert (SECTION in str(output)) == is_shown


async def test_a_compaction_with_nothing_in_use_states_nothing(
    skills: Satchel,
) -> None:
    options = attach(skills, to=ClaudeAgentOptions())

    before = await fire(options, "SessionStart", source="compact")
    await fire(options, "UserPromptSubmit")
    await call(options, "load_skill", skill_id="refunds")
    after = await fire(options, "SessionStart", source="compact")

    assert before == {}
    assert REFUNDS in after["hookSpecificOutput"]["additionalContext"]
