"""Events of every surface that loads: one each, whole, and free of content."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from satchel import (
    Options,
    Policy,
    Satchel,
    Skill,
    SkillDiscoverySkill,
    SkillError,
    deny,
    load_skill,
)
from satchel.errors import SkillNotFoundError
from satchel.load import LoadAttempt
from satchel.model import Catalog, Descriptor, Loaded, Request, Style, UsageEvent
from satchel.runtime import View
from satchel.usage import (
    ListSink,
    OwnerLookup,
    Sinks,
    _events as events_module,
    open_sink,
)
from satchel_server._library import record_failed_load
from satchel_server.usage._file_store import LineStore
from tests.fakes import FakeClock, FakeSource, pack

HIDDEN = pack("secret", "d\ndisable-model-invocation: true")
ODD = "references/my odd file.md"
PACKS: dict[str, dict[str, str | bytes]] = {
    "a": {
        "SKILL.md": pack("a", body="# Do this\n" * 20),
        "references/r.md": "refer",
        "scripts/s.py": "pass",
        ODD: "odd",
        "assets/x.bin": b"\x00\xff",
    },
    "secret": {"SKILL.md": HIDDEN},
}


class Words:
    """Counts words, and how often it was asked."""

    name = "words"

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text.split())


def open_satchel(sink: object, **more: object) -> Satchel:
    source = FakeSource("team", {key: dict(files) for key, files in PACKS.items()})
    return Satchel(source, sinks=[sink], **more)  # type: ignore[arg-type, list-item]


def events_of(act: Callable[[Satchel], object], **more: object) -> list[UsageEvent]:
    sink = ListSink()
    act(open_satchel(sink, **more))
    return sink.events


def refused(call: Callable[[], object]) -> None:
    with pytest.raises(SkillError):
        call()


@pytest.mark.row("C33")
def test_an_event_has_all_that_is_known() -> None:
    sink, clock, counter = ListSink(), FakeClock(), Words()
    skills = open_satchel(sink, options=Options(clock=clock, counter=counter))
    counter.asked = 0
    view = skills.view(via="mcp", client="Client")
    view.load("a")
    clock.time += 5
    view.load("a", "r.md")
    view.load("a")

    first, second, third = sink.events
    assert first.as_dict() == {
        "event": "skill_loaded",
        "name": "a",
        "reference": None,
        "script": None,
        "source": "team",
        "duration_s": 0.0,
        "error": None,
        "file": "SKILL.md",
        "via": "mcp",
        "digest": skills.catalog.entries[0].digest,
        "size_bytes": len(PACKS["a"]["SKILL.md"]),
        "code": None,
        "tokens": 3 * 20 + 8,
        "release": "",
        "owner": "",
        "agent": "",
        "client": "Client",
        "at": 1000.0,
    }
    assert (second.reference, second.tokens, second.at) == ("references/r.md", 1, 1005)
    assert second.digest == view.load("a", "r.md").digest
    assert third.tokens == first.tokens
    assert counter.asked == 2


def call_tool(tool: str, arguments: Any, *, is_async: bool = False) -> Any:  # noqa: ANN401
    """Return what calls a tool of a session for an agent called desk."""

    def act(skills: Satchel) -> object:
        session = skills.session(agent="desk")
        if is_async:
            return asyncio.run(session.acall(tool, arguments))
        return session.call(tool, arguments)

    return act


def discover(name: str) -> Any:  # noqa: ANN401
    return lambda skills: SkillDiscoverySkill(skills).tools.call(
        "load_skill_instructions", {"skill_name": name}
    )


def by_mcp(act: Callable[[View], object]) -> Any:  # noqa: ANN401
    return lambda skills: act(skills.view(via="mcp"))


A, SECRET = {"skill_id": "a"}, {"skill_id": "secret"}
READ = {"skill_id": "a", "path": "r.md"}


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        (lambda s: s.load("a"), ("a", None, "python", "")),
        (lambda s: asyncio.run(s.aload("a")), ("a", None, "python", "")),
        (lambda s: s.load("a", via="cli"), ("a", None, "cli", "")),
        (
            lambda s: asyncio.run(load_skill("a", "r.md", "s.py", skills=s)),
            ("a", "references/r.md", "tool", ""),
        ),
        (
            lambda s: asyncio.run(load_skill("nope", skills=s)),
            ("nope", None, "tool", ""),
        ),
        (call_tool("load_skill", A), ("a", None, "tool", "desk")),
        (call_tool("load_skill", {"skill_id": "no"}), ("no", None, "tool", "desk")),
        (call_tool("load_skill", SECRET), ("secret", None, "tool", "desk")),
        (
            call_tool("read_skill_file", READ, is_async=True),
            ("a", "references/r.md", "tool", "desk"),
        ),
        (lambda s: s.session(agent="desk").load("a"), ("a", None, "python", "desk")),
        (lambda s: s.session().invoke("secret"), ("secret", None, "user", "")),
        (lambda s: s.session(always=["a"]).instructions(), ()),
        (lambda s: s.view(via="http").load("a"), ("a", None, "http", "")),
        (
            by_mcp(lambda view: view.tools().call("load_skill", A)),
            ("a", None, "mcp", ""),
        ),
        (
            by_mcp(lambda view: view.tools().call("load_skill", SECRET)),
            ("secret", None, "mcp", ""),
        ),
        (by_mcp(lambda view: view.invoke("secret")), ("secret", None, "mcp", "")),
        (by_mcp(lambda view: view.load("a", as_="look")), ()),
        (by_mcp(lambda view: record_failed_load(view, "no")), ("no", None, "mcp", "")),
        (
            by_mcp(lambda view: record_failed_load(view, "a", "x")),
            ("a", "x", "mcp", ""),
        ),
        (discover("a"), ("a", None, "tool", "")),
        (discover("secret"), ("secret", None, "tool", "")),
        (lambda s: (s.manifest("a"), s.resources("a"), s.digest("a")), ()),
        (lambda s: (s.find("do"), s.prompt(), s.why("a")), ()),
    ],
)
@pytest.mark.row("X03", "G09")
def test_every_surface_that_loads_says_of_it_once(
    load: Callable[[Satchel], object], expected: tuple[str, ...]
) -> None:
    events = events_of(load)

    assert [(e.name, e.reference or e.script, e.via, e.agent) for e in events] == (
        [expected] if expected else []
    )


@pytest.mark.row("X03", "G09", "R31")
@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("nope", None, ("nope", None, "skill-not-found")),
        ("tell me the salary of Ana", None, ("<invalid>", None, "skill-not-found")),
        ("請告訴我安娜的薪水", None, ("<invalid>", None, "skill-not-found")),
        ("n" * 129, None, ("<invalid>", None, "skill-not-found")),
        ("nope", "the salary of Ana", ("nope", "<invalid>", "skill-not-found")),
        ("a", "gone.md", ("a", "gone.md", "reference-not-allowed")),
        ("a", "the salary of Ana", ("a", "<invalid>", "reference-not-allowed")),
        ("a", "../../etc/passwd", ("a", "<invalid>", "reference-escapes")),
        ("a", "x/../y", ("a", "<invalid>", "reference-not-allowed")),
        ("a", "y" * 257, ("a", "<invalid>", "reference-escapes")),
        ("a", ODD, ("a", ODD, "reference-not-found")),
    ],
)
def test_what_was_asked_for_in_vain_is_reported_without_free_text(
    name: str, file: str | None, expected: tuple[str, str | None, str]
) -> None:
    sink = ListSink()
    source = FakeSource("team", {"a": dict(PACKS["a"])})
    skills = Satchel(source, sinks=[sink])
    del source.packs["a"][ODD]
    refused(lambda: skills.load(name, file))

    (event,) = sink.events
    assert (event.name, event.file, event.code) == expected
    assert event.error
    for word in ("salary", "薪水", "passwd", "nnn", "yyy"):
        assert word not in json.dumps(event.as_dict(), ensure_ascii=False)


def test_a_fault_in_a_policy_or_load_is_reported_and_goes_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> Loaded:
        raise RuntimeError("CANARY")

    monkeypatch.setattr("satchel.runtime._access.load", fail)
    sink = ListSink()
    with pytest.raises(RuntimeError):
        open_satchel(sink).load("a")

    (event,) = sink.events
    assert (event.error, event.code) == ("RuntimeError", "internal-error")


def test_the_advice_on_a_refused_pack_quotes_it_and_is_not_reported() -> None:
    """It tells its author what to write, in words of the pack."""
    sink = ListSink()
    source = FakeSource("team", {"bare": {"SKILL.md": "CANARY of a text\n"}})
    skills = Satchel(source, sinks=[sink])
    with pytest.raises(SkillError, match="CANARY"):
        skills.load("bare")

    (event,) = sink.events
    assert event.code == "skill-withheld"
    assert event.error == "skill 'bare' is refused and cannot be loaded"


@pytest.mark.parametrize("name", [None, 5, b"a", ["a"]])
@pytest.mark.parametrize("file", [None, 5, b"a", ["a"]])
def test_what_is_no_text_is_reported_as_such(name: object, file: object) -> None:
    asked: Any = "a" if name is None else name, file or 7
    (event,) = events_of(lambda skills: refused(lambda: skills.load(*asked)))

    assert event.name == ("a" if name is None else "<invalid>")
    assert event.file == "<invalid>"
    assert event.code in ("skill-not-found", "reference-not-allowed")


class Odd(Words):
    """Counts, and what it says is no count."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result

    def count(self, text: str) -> Any:  # noqa: ANN401
        super().count(text)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def usage_events(sink: ListSink, counter: Words) -> events_module.UsageEvents:
    catalog = open_satchel(ListSink()).catalog
    return events_module.UsageEvents(
        Sinks([sink]), FakeClock(), counter, OwnerLookup(dict), lambda: catalog
    )


@pytest.mark.parametrize(
    ("message", "tokens"),
    [(None, 0), ("x", 0), (7.9, 7), (1 << 70, 0), (-3, 0), (OSError(), 0), (True, 1)],
    ids=str,
)
def test_a_counter_that_is_no_good_costs_no_event(message: object, tokens: int) -> None:
    sink = ListSink()
    tell = usage_events(sink, Odd(message))
    for _ in range(2):
        loaded = Loaded(Descriptor("x", "d"), "SKILL.md", b"t", "t", "d")
        tell.record_load(LoadAttempt(Catalog(), Request("x"), loaded, 0.0, 0.0))

    assert [event.tokens for event in sink.events] == [tokens, tokens]


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("Claude Code", "Claude Code"),
        ("a\nb\x1b[31m\u202ec", "a b[31mc"),
        ("x" * 200, "x" * 64),
        ("  ", ""),
    ],
)
def test_a_client_is_one_short_line(client: str, expected: str) -> None:
    def act(skills: Satchel) -> None:
        skills.view(via="mcp", client=client).load("a")
        refused(lambda: skills.view(via="mcp", client=client).load("no"))

    assert [event.client for event in events_of(act)] == [expected, expected]


def test_no_text_of_anybody_reaches_an_event(tmp_path: Path) -> None:
    """Not a skill's, a user's, a query's, an argument's or a dependency's."""
    canary = "CANARY"
    of = FakeSource(
        "team",
        {
            "a": {
                "SKILL.md": pack("a", f"{canary} description", f"{canary} body\n"),
                "references/r.md": f"{canary} reference",
            },
            "b": {"SKILL.md": pack("b", f"{canary} b", f"$ARGUMENTS {canary}")},
        },
    )
    kinds = ("jsonl", "chain", "sqlite")
    urls = [f"{kind}://{tmp_path}/usage.{kind}" for kind in kinds]
    sinks = [*map(open_sink, urls), listed := ListSink()]
    rule = deny("b", unless=lambda who: who.get("user") == canary)
    skills = Satchel(
        of,
        Skill("c", instructions=canary, description=f"{canary} c"),
        sinks=sinks,
        policy=Policy(rule),
    )
    chat = skills.session(agent="desk", who={"user": canary}, deps={"key": canary})
    chat.instructions(canary)
    chat.call("load_skill", {"skill_id": "a"})
    chat.call("read_skill_file", {"skill_id": "a", "path": "r.md"})
    chat.call("load_skill", {"skill_id": f"please load the {canary} skill"})
    chat.call("read_skill_file", {"skill_id": "a", "path": f"the {canary} file"})
    chat.call("find_skills", {"query": canary})
    chat.invoke("b", canary)
    refused(lambda: skills.load("b", who={"user": f"not {canary}"}))
    skills.find(canary)
    skills.load("c")
    skills.close()
    for sink in sinks:
        if close := getattr(sink, "close", None):
            close()

    assert len(listed.events) == 7
    assert canary not in repr([event.as_dict() for event in listed.events])
    for file in tmp_path.iterdir():
        assert canary.encode() not in file.read_bytes(), file


def test_a_catalog_is_reported_at_each_sync_and_day() -> None:
    sink, clock = ListSink(), FakeClock()
    skills = open_satchel(sink, options=Options(clock=clock))
    skills.load("a")
    skills.sync()
    skills.observe()
    clock.time += 86_400
    skills.load("a")
    skills.load("a")

    assert [(s.at, len(s.entries), s.added) for s in sink.syncs] == [
        (1000.0, 1, ("a",)),
        (1000.0, 1, ()),
        (1000.0, 1, ()),
        (87_400.0, 1, ()),
    ]


def test_without_sinks_nothing_is_reported_or_made() -> None:
    source = FakeSource("team", {"a": {"SKILL.md": pack("a")}})
    skills = Satchel(source, sinks=())
    skills.observe()
    skills.sync()

    assert "usage_events" not in skills._components.__dict__
    assert skills.sink_failures == {}
    skills.close()


def test_a_miss_of_an_address_says_why() -> None:
    def act(skills: Satchel) -> None:
        for missed in (("no",), ("secret",), ("a", "r.md")):
            record_failed_load(skills.view(via="mcp"), *missed)

    codes = [event.code for event in events_of(act, policy=Policy(deny("secret")))]
    assert codes == ["skill-not-found", "denied-by-policy", "reference-not-allowed"]


def test_what_texts_cost_is_remembered_of_so_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events_module, "MAX_COUNTS", 2)
    sink, counter = ListSink(), Words()
    tell = usage_events(sink, counter)
    tell.record_catalog()
    counter.asked = 0
    for number in (1, 2, 1, 3, 1):
        text = f"{number} t"
        loaded = Loaded(Descriptor("x", "d"), "SKILL.md", b"t", text, f"d{number}")
        tell.record_load(LoadAttempt(Catalog(), Request("x"), loaded, 0.0, 0.0))

    digests = [(event.digest, event.tokens) for event in sink.events]
    assert digests == [("d1", 2), ("d2", 2), ("d1", 2), ("d3", 2), ("d1", 2)]
    assert counter.asked == 4


def test_a_copy_is_recorded_without_free_text() -> None:
    sink = ListSink()
    catalog = open_satchel(ListSink()).catalog
    tell = usage_events(sink, Words())
    tell.record_copy(catalog, Request("a", "references/r.md", via="http", client="c\n"))
    tell.record_copy(catalog, Request("the salary"), SkillNotFoundError("the salary"))

    assert [(c.name, c.file, c.source, c.code, c.client) for c in sink.skill_syncs] == [
        ("a", "references/r.md", "team", None, "c"),
        ("<invalid>", None, "", "skill-not-found", ""),
    ]


def test_a_release_and_an_owner_come_from_the_source() -> None:
    class Released(FakeSource):
        release = "sha256-tree-v1:1234"

        def owner_of(self, key: str) -> str:
            return f"@{key}"

    sink = ListSink()
    skills = Satchel(Released("team", {"a": {"SKILL.md": pack("a")}}), sinks=[sink])
    skills.load("a")

    assert sink.events[0].owner == "@a"
    assert sink.events[0].release == skills.catalog.release_of("team")


def test_the_line_store_is_what_jsonl_means(tmp_path: Path) -> None:
    from satchel_server.usage import parse_location
    from satchel_server.usage._location import store_at

    stored = store_at(parse_location(f"jsonl://{tmp_path}/x"))()

    assert type(stored) is LineStore


def call_in_style(
    style: Style, tool: str, arguments: object
) -> tuple[Any, list[UsageEvent]]:
    results: list[object] = []

    def act(skills: Satchel) -> None:
        session = skills.session(style=style, agent="desk")
        results.append(session.call(tool, cast("Any", arguments)))
        assert skills.usage_state.lost == 0

    events = events_of(act)
    return results[0], events


BOTH = {"name": "a", "reference": "r.md", "script": "s.py"}


@pytest.mark.row("C33", "T10", "F31")
def test_one_call_with_reference_and_script_is_one_event_with_both() -> None:
    result, (event,) = call_in_style("packs", "load_skill", BOTH)

    assert result["error"] is None
    assert (event.name, event.error) == ("a", None)
    assert (event.reference, event.script) == ("references/r.md", "scripts/s.py")
    files = ("references/r.md", "scripts/s.py")
    assert event.size_bytes == sum(len(PACKS["a"][file]) for file in files)
    assert event.duration_s >= 0
    assert (event.via, event.agent, event.source) == ("tool", "desk", "team")
    assert event.tokens > 0


@pytest.mark.row("C33", "T10", "F31")
@pytest.mark.parametrize(
    ("asked", "name", "code"),
    [
        ({"reference": "gone.md"}, "a", "reference-not-allowed"),
        ({"script": "gone.py"}, "a", "reference-not-allowed"),
        ({"name": "no"}, "no", "skill-not-found"),
        ({"name": "what is this?"}, "<invalid>", "skill-not-found"),
    ],
)
def test_one_call_of_which_a_part_fails_is_one_event(
    asked: dict[str, str], name: str, code: str
) -> None:
    _, (event,) = call_in_style("packs", "load_skill", BOTH | asked)

    assert (event.name, event.code) == (name, code)
    assert event.reference == f"references/{asked.get('reference', 'r.md')}"
    assert event.script == f"scripts/{asked.get('script', 's.py')}"


@pytest.mark.row("C33", "T10", "F31")
@pytest.mark.parametrize(
    ("style", "tool", "arguments", "expected"),
    [
        ("packs", "load_skill", {}, ("<invalid>", None)),
        ("packs", "load_skill", {"name": 3}, ("<invalid>", None)),
        ("packs", "load_skill", {"name": "a", "file": "r.md"}, ("a", None)),
        ("packs", "load_skill", {"name": "a", "reference": ["r.md"]}, ("a", None)),
        (
            "packs",
            "load_skill",
            {"name": "my secret words", "x": 1},
            ("<invalid>", None),
        ),
        ("packs", "load_skill", [], ("<invalid>", None)),
        ("packs", "load_skill", "a", ("<invalid>", None)),
        ("packs", "load_skill", '{"name": "a", "x": 1}', ("a", None)),
        ("packs", "read_skill_file", {"name": "a", "path": "r.md"}, ("a", "r.md")),
        ("agent-skills", "load_skill", {"name": "a"}, ("a", None)),
        ("agent-skills", "load_skill", {"skill_id": None}, ("<invalid>", None)),
        ("agent-skills", "read_skill_file", {"path": "r.md"}, ("<invalid>", "r.md")),
        (
            "references",
            "load_skill_instructions",
            {"skill_name": []},
            ("<invalid>", None),
        ),
    ],
)
def test_a_call_that_is_refused_for_its_form_is_an_event(
    style: Style, tool: str, arguments: object, expected: tuple[str, str | None]
) -> None:
    result, (event,) = call_in_style(style, tool, arguments)

    assert (event.name, event.file and event.file.rpartition("/")[2]) == expected
    assert event.code == "bad-tool-call"
    assert event.error == f"{tool}: refused for its form"
    assert "refused for its form" not in str(result)


@pytest.mark.row("C33", "T10")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list_skills", {"x": 1}), ("search_skills", {}), ("no_such_tool", {"name": "a"})],
)
def test_a_call_that_asks_for_no_skill_is_no_event(
    tool: str, arguments: dict[str, object]
) -> None:
    assert call_in_style("references", tool, arguments)[1] == []


@pytest.mark.parametrize(
    ("who", "caller"),
    [({"client": "pay.ana"}, "pay.ana"), ({"user": "ana"}, ""), ({"client": 7}, "7")],
)
def test_a_caller_is_the_client_of_who(who: dict[str, object], caller: str) -> None:
    """As a server names it; nobody else is recorded."""
    sink = ListSink()
    skills = Satchel(Skill("a", instructions="Do.", description="d"), sinks=[sink])
    view = skills.view(who=who)

    view.load("a")
    with pytest.raises(SkillError):
        view.load("b")

    assert [event.caller for event in sink.events] == [caller, caller]
    assert ("caller" in sink.events[0].as_dict()) == bool(caller)
