"""What is Microsoft Agent Framework's own: its state, middleware and approvals."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddleware,
    ChatResponse,
    Content,
    ContextProvider,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionMiddleware,
    FunctionTool,
    InMemoryHistoryProvider,
    Message,
    SlidingWindowStrategy,
    tool,
)

from satchel import Run, Satchel, ask
from satchel.adapters.agent_framework import attach
from satchel.errors import DuplicateToolError
from tests.adapters.agent_framework import ScriptedClient
from tests.adapters.desk import (
    ANA,
    BASE,
    NEEDS,
    PAID,
    PAYS,
    REFUND,
    REFUNDED,
    REFUNDS,
    TRAVEL,
    WIRE,
    Desk,
    carried,
    load,
    open_desk,
    script,
    scripts,
    weather,
    wiring,
)
from tests.adapters.driver import Call, Model, Say, Seen

LOADS: list[Say] = [[load("refunds")], "done"]
JOT = Call("note", {"text": "it"})


@tool
def note(text: str) -> str:
    """Note something."""
    return f"noted {text}"


class Talk:
    """An agent, one conversation with it, and what its model saw."""

    def __init__(
        self,
        model: Model,
        *providers: ContextProvider,
        client: Callable[..., Any] = ScriptedClient,
        **options: Any,
    ) -> None:
        self.seen: list[Seen] = []
        given = {"name": "desk", "instructions": BASE} | options
        self.agent = Agent(
            client(model, self.seen), context_providers=providers, **given
        )
        self.session = AgentSession()

    async def say(
        self, output: str | Sequence[Content], *, stream: bool = False, **options: Any
    ) -> Any:
        message = Message("user", [output] if isinstance(output, str) else output)
        if stream:
            run = self.agent.run(message, session=self.session, stream=True, **options)
            return await run.get_final_response()
        return await self.agent.run(message, session=self.session, **options)

    async def answer(self, response: Any, *answers: bool, stream: bool = False) -> Any:
        """Answer what the run waits for, in order."""
        requests = response.user_input_requests
        given = zip(requests, answers, strict=True)
        answered = [
            request.to_function_approval_response(yes) for request, yes in given
        ]
        return await self.say(answered, stream=stream)

    @property
    def systems(self) -> list[str]:
        return [seen.system for seen in self.seen]


def in_turn(*steps: Say) -> Model:
    """Return a model that says these one after the other, whatever it sees."""
    remaining = iter(steps)
    return lambda _: next(remaining)


async def test_agents_that_share_a_session_load_for_themselves(skills: Satchel) -> None:
    """They are told apart by their names; messages of one show what it loaded."""
    provider = attach(skills)
    talk = Talk(script(*LOADS), provider)
    other = Talk(script("hi"), provider, name="second")

    await talk.say("hi")
    talk.session.state["in_memory"].clear()
    await other.agent.run("hi", session=talk.session)
    await talk.say("hi")

    assert "refund" not in other.seen[0].tools
    assert "refund" in talk.seen[-1].tools


async def test_no_session_is_needed(skills: Satchel) -> None:
    talk = Talk(script(*PAYS), attach(skills, who=ANA))

    response = await talk.agent.run("hi")

    assert response.text == "done"
    assert talk.seen[2].results[1] == REFUNDED


async def test_a_run_that_fails_leaves_the_conversation_as_it_was_left(
    skills: Satchel,
) -> None:
    def model(seen: Seen) -> Say:
        if seen.results and seen.last_user == "one":
            raise ConnectionError
        return "done" if seen.results or seen.last_user == "two" else [load("refunds")]

    talk = Talk(model, attach(skills))

    with pytest.raises(ConnectionError):
        await talk.say("one")
    await talk.say("two")

    assert "refund" in talk.seen[-1].tools
    assert REFUNDS in talk.systems[-1]  # the framework kept nothing of the first run


async def test_tools_are_given_what_the_run_gives_to_functions(tmp_path: Path) -> None:
    """It is `function_invocation_kwargs`, or what `deps` makes of the call."""

    def pay(run: Run) -> str:
        """Pay."""
        return f"{run.who['user']} pays with {run.deps['card']}"

    skills = carried(tmp_path, "cards", pay)
    model = script([load("cards")], [Call("pay")], "done")
    given = {"card": "visa", "b": "amex"}
    deps: Any
    for deps, card in ((None, "visa"), (lambda ctx: {"card": ctx.kwargs["b"]}, "amex")):
        talk = Talk(model, attach(skills, who=ANA, deps=deps))
        await talk.say("hi", function_invocation_kwargs=given)
        assert talk.seen[2].results[1] == f"ana pays with {card}"


async def test_a_blank_line_comes_before_the_catalog(skills: Satchel) -> None:
    with_base = Talk(script("hi"), attach(skills))
    without = Talk(script("hi"), attach(skills), instructions=None)

    await with_base.say("hi")
    await without.say("hi")

    [text], [alone] = with_base.systems, without.systems
    assert text == f"{BASE}\n\n{alone}"
    assert alone == alone.strip()


async def test_instructions_in_blocks_stay_blocks(skills: Satchel) -> None:
    """Some clients take blocks, which hold cache points; ours come after them."""
    blocks = [{"type": "text", "text": BASE, "cache_control": {"type": "ephemeral"}}]
    talk = Talk(
        script(*LOADS),
        attach(skills),
        InMemoryHistoryProvider(),
        instructions=None,
        default_options={"instructions": blocks},
    )

    await talk.say("one")
    talk.session.state["in_memory"].clear()
    await talk.say("two")

    shown: list[Any] = [list(system) for system in talk.systems]
    first, _, last, *_ = shown
    assert first[0] == blocks[0]
    assert last[: len(first)] == first
    assert REFUNDS in last[-1]
    assert len(last) == len(first) + 1


async def test_tools_of_a_run_come_before_those_of_skills(skills: Satchel) -> None:
    """So what opens during a run is after them in the next one, too."""
    model = scripts({"one": LOADS, "two": ["done"]})
    talk = Talk(model, attach(skills))

    await talk.say("one", tools=[note])
    await talk.say("two", tools=[note])

    first, opened, again = (seen.tools for seen in talk.seen)
    assert first[0] == "note"
    assert opened == again == (*first, "order_status", "refund")


async def test_a_tool_of_a_run_that_has_a_skills_name_is_loud(skills: Satchel) -> None:
    @tool
    def refund(order_id: str) -> str:
        """Pay back in a way of our own."""
        return order_id

    with pytest.raises(DuplicateToolError, match="refund"):
        await Talk(script("hi"), attach(skills)).say("hi", tools=[refund])
    hosted = {"type": "function", "function": {"name": "refund"}}
    with pytest.raises(DuplicateToolError, match="refund"):
        await Talk(script("hi"), attach(skills), tools=[hosted]).say("hi")


class NoMiddleware(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A client of somebody who left out the layer that carries chat middleware."""

    def __init__(self, model: Model, seen: list[Seen]) -> None:
        super().__init__()
        self._scripted = ScriptedClient(model, seen)

    def _inner_get_response(self, **given: Any) -> Any:
        given.pop("middleware", None)
        return self._scripted._inner_get_response(**given)


async def test_tools_open_where_a_client_takes_no_chat_middleware(
    skills: Satchel,
) -> None:
    model = script(*PAYS)
    talk = Talk(model, attach(skills, who=ANA), client=NoMiddleware)

    await talk.say("hi")

    assert "wants money back" in talk.systems[0]
    assert talk.seen[2].results[1] == REFUNDED


@pytest.mark.parametrize("stream", [False, True])
async def test_what_is_compacted_within_a_run_is_stated_again_at_once(
    skills: Satchel, *, stream: bool
) -> None:
    """And a load after it gives the text, for no message shows it any more."""
    keep_one = SlidingWindowStrategy(keep_last_groups=1)
    model = in_turn([load("refunds")], [load("travel")], [load("refunds")], "done")
    talk = Talk(model, attach(skills), compaction_strategy=keep_one)

    await talk.say("hi", stream=stream)

    assert [REFUNDS in system for system in talk.systems] == [False, False, True, False]
    assert [TRAVEL in system for system in talk.systems] == [False, False, False, True]
    assert REFUNDS in talk.seen[3].results[-1]


class Remote(ScriptedClient):
    """A client whose service keeps the conversation, and is sent what is new."""

    def _inner_get_response(self, **given: Any) -> Any:
        async def respond() -> ChatResponse[Any]:
            response = await super(Remote, self)._inner_get_response(**given)
            response.conversation_id = "c-1"
            return response

        return respond()


async def test_a_conversation_that_the_service_keeps_is_not_stated_again(
    skills: Satchel,
) -> None:
    """Nobody here can see what the service has; so a load gives the text again."""
    model = in_turn([load("refunds")], "one", [load("refunds")], "two")
    talk = Talk(model, attach(skills), client=Remote)

    await talk.say("one")
    await talk.say("two")

    assert len({*talk.systems}) == 1
    assert "refund" in talk.seen[2].tools
    assert [REFUNDS in "".join(seen.results) for seen in talk.seen[1::2]] == [True] * 2
    assert "unchanged" not in talk.seen[3].results[-1]


async def test_a_history_that_is_loaded_for_each_call_is_not_stated_again(
    skills: Satchel,
) -> None:
    model = scripts({"one": LOADS, "two": ["done"]})
    talk = Talk(
        model,
        attach(skills),
        InMemoryHistoryProvider(),
        require_per_service_call_history_persistence=True,
    )

    await talk.say("one")
    await talk.say("two")

    assert REFUNDS in "".join(talk.seen[2].results)
    assert len({*talk.systems}) == 1


async def test_a_load_next_to_one_that_is_asked_for_waits_with_it(packs: Path) -> None:
    """The framework asks by tool, so it asks for both."""
    skills = open_desk(packs, None, ask("refunds", action="load"))
    talk = Talk(script([load("refunds"), load("travel")], "done"), attach(skills))

    response = await talk.say("hi")
    await talk.answer(response, False, True)

    declined, loaded = talk.seen[-1].results
    assert REFUNDS not in declined
    assert TRAVEL in loaded


async def test_what_is_next_to_a_call_that_waits_is_done_with_it(packs: Path) -> None:
    skills = open_desk(packs, None, ask("refunds", tool="refund"))
    status = Call("order_status", {"order_id": "A-1"})
    model = script([load("refunds")], [status, REFUND], "done")
    talk = Talk(model, attach(skills, who=ANA))

    response = await talk.say("hi")
    await talk.answer(response, True)

    [request] = response.user_input_requests
    assert request.function_call.name == "refund"
    assert talk.seen[-1].results[1:] == ["A-1 is on its way", REFUNDED]


@pytest.fixture
def post() -> FunctionTool:
    @tool
    def post(city: str, ctx: FunctionInvocationContext) -> str:
        """Send a card."""
        return f"a card to {city} by {ctx.kwargs['by']}"

    return post


async def test_a_native_tool_is_handed_on_as_it_is(
    tmp_path: Path, post: FunctionTool
) -> None:
    model = script([load("cards")], [Call("post", {"city": "Bern"})], "done")
    talk = Talk(model, attach(carried(tmp_path, "cards", post)))

    await talk.say("hi", function_invocation_kwargs={"by": "air"})

    assert talk.seen[2].results[1] == "a card to Bern by air"
    assert post.invocation_count == 1


class Spoils(FunctionMiddleware):
    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()
        if context.function.name == "refund":
            raise TypeError


class Spoiler(ContextProvider):
    async def before_run(self, *, context: Any, **_: Any) -> None:
        context.extend_middleware(self.source_id, [Spoils()])


async def test_a_call_that_was_made_is_not_made_again(packs: Path) -> None:
    """Whatever middleware below ours raises after it."""
    desk = Desk()
    provider = attach(open_desk(packs, desk), who=ANA)
    talk = Talk(script(*PAYS), provider, Spoiler("spoiler"))

    await talk.say("hi")

    assert desk.done == [PAID]
    assert "Error" in talk.seen[2].results[1]


LOOKS_WRONG = Call("refund", {"order_id": "A-1", "cents": "995"})


async def test_an_agents_own_tools_are_none_of_ours(skills: Satchel) -> None:
    own = tool(weather, approval_mode="always_require")
    call = Call("weather", {"city": "Bern"})
    talk = Talk(script([call], "done"), attach(skills), tools=[own])

    response = await talk.say("hi")
    await talk.answer(response, True)

    assert talk.seen[-1].results == ["sun in Bern"]


class Forgets(ChatMiddleware):
    """Shows a model call nothing but what the user said last."""

    async def process(self, context: Any, call_next: Any) -> None:
        if len(talked := context.messages) > 3:
            context.messages = [Message("user", ["go on"]), *talked[3:]]
        await call_next()


async def test_what_other_middleware_takes_away_is_stated_again(
    skills: Satchel,
) -> None:
    talk = Talk(
        in_turn([load("refunds")], [JOT], [JOT], "done"),
        attach(skills),
        tools=[note],
        middleware=[Forgets()],
    )

    await talk.say("hi")

    assert [REFUNDS in system for system in talk.systems] == [False, False, True, True]


class Behind(ContextProvider):
    """Adds a middleware behind ours that clears what is loaded first."""

    def __init__(self, *, in_place: bool) -> None:
        super().__init__("behind")
        self._in_place = in_place

    async def before_run(self, *, context: Any, **_: Any) -> None:
        context.extend_middleware(self.source_id, Clears(in_place=self._in_place))


class Clears(ChatMiddleware):
    def __init__(self, *, in_place: bool) -> None:
        self._in_place = in_place
        self._first: str | None = None

    async def process(self, context: Any, call_next: Any) -> None:
        for at, message in enumerate(context.messages):
            for result in message.contents:
                if result.type != "function_result":
                    continue
                self._first = self._first or result.call_id
                if result.call_id == self._first:
                    blank = Content.from_function_result(result.call_id, result="[-]")
                    context.messages = [*context.messages]
                    context.messages[at] = Message("tool", [blank])
                    if self._in_place:
                        result.result = "[-]"
        await call_next()


@pytest.mark.row("U07", "F71")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("in_place", [True, False])
async def test_what_is_cleared_behind_ours_is_not_above(
    skills: Satchel, *, in_place: bool, stream: bool
) -> None:
    model = in_turn([load("refunds")], [load("refunds")], "done")
    talk = Talk(model, attach(skills), Behind(in_place=in_place))

    await talk.say("hi", stream=stream)

    assert talk.seen[1].results == ["[-]"]
    cleared, again = talk.seen[2].results
    assert cleared == "[-]"
    assert "unchanged" not in again
    assert REFUNDS in again


async def test_a_native_tool_that_is_offered_in_a_run_waits_for_the_next(
    tmp_path: Path, post: FunctionTool
) -> None:
    """Nothing goes around the calls of a run that began without such tools."""
    carried(tmp_path, "cards", post)
    skills = Satchel(tmp_path)

    @tool
    def offer() -> str:
        """Offer a tool."""
        skills.offer(post)
        return "offered"

    steps: list[Say] = [[Call("offer", {})], [load("cards")], "done"]
    model = scripts({"one": steps, "two": ["done"]})
    talk = Talk(model, attach(skills), tools=[offer])

    await talk.say("one")
    await talk.say("two")

    assert "post" not in talk.seen[2].tools
    assert "post" in talk.seen[3].tools


class Raw(FunctionMiddleware):
    """A sandbox, which calls the tool and takes the result itself."""

    async def process(self, context: Any, call_next: Any) -> None:
        if context.function.name != "refund":
            await call_next()
            return
        given = await context.function.invoke(context=context, skip_parsing=True)
        assert isinstance(given, str)
        context.result = given


@pytest.mark.parametrize("middleware", [[], [Raw()]])
async def test_arguments_that_only_look_wrong_are_taken(
    skills: Satchel, middleware: list[Any]
) -> None:
    """The framework refuses "995" for a number; what the hint says takes it."""
    model = script([load("refunds")], [LOOKS_WRONG], "done")
    talk = Talk(model, attach(skills, who=ANA), middleware=middleware)

    await talk.say("hi")

    assert talk.seen[2].results[1] == REFUNDED


@pytest.mark.row("U07")
async def test_an_act_waits_where_nobody_sees_the_history(packs: Path) -> None:
    """What a step loads counts in the next one, also when that step opens its tools."""
    done: list[int] = []
    wire = tool(wiring(done))
    talk = Talk(
        script([load("refunds"), WIRE], [WIRE], "done"),
        attach(open_desk(packs, None, NEEDS)),
        InMemoryHistoryProvider(),
        tools=[wire],
        require_per_service_call_history_persistence=True,
    )

    await talk.say("hi")

    assert done == [5]


class Slow(FunctionMiddleware):
    """Lets the other calls of a step be made first."""

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Any]
    ) -> None:
        if context.function.name == "wire":
            await asyncio.sleep(0.1)
        await call_next()


@pytest.mark.row("U07")
async def test_a_load_that_ends_before_the_act_is_of_its_step(packs: Path) -> None:
    done: list[int] = []
    talk = Talk(
        script([load("refunds"), WIRE], "done"),
        attach(open_desk(packs, None, NEEDS)),
        InMemoryHistoryProvider(),
        tools=[tool(wiring(done))],
        middleware=[Slow()],
        require_per_service_call_history_persistence=True,
    )

    await talk.say("hi")

    assert done == []
