# A conversation: asking, approvals, what is in use, what is dumped and taken up again.
import json

from satchel import Options, Policy, Satchel, Skill, allow, ask, deny
from satchel.errors import SkillError
from satchel.model import Question, Reply, SeenMessage
from satchel.policy import PolicyRule
from satchel.runtime import LocalStager, UploadStager, UsedApprovalsInFolder, UsedApprovalsInMemory, question_text
from satchel.tools import Run, Tool
from tests.fakes import LOADERS, FakeClock, FakeSource
from tests.unit.runtime.test_conversation import LONG, TOOLS, carrying, source, tool

STYLES = tuple(LOADERS)
RULES = Policy(ask("refunds", tool="refund", reason="money moves"), ask("wages"), ask("travel", action="load"))


def opened(of=None, **options):
    options.setdefault("style", "agent-skills")
    return Satchel(of or source(), tools=TOOLS, sinks=(), options=Options(clock=FakeClock()), **options)


def load(chat, skill_id, file=None):
    name, key = LOADERS[chat.style]
    arguments = {key: skill_id}
    if file and chat.style in ("lean", "agent-skills"):
        return chat.call("read_skill_file", {**arguments, "path": file})
    return chat.call(name, {**arguments, "reference": file} if file else arguments)


def told(result):
    return result if isinstance(result, str) else json.dumps(result, default=str)


def message(chat, skill_id):
    name, key = LOADERS[chat.style]
    return SeenMessage("tool", told(load(chat, skill_id)), name, {key: skill_id})


class Asked:
    def __init__(self, *answers):
        self.answers = list(answers)

    def __call__(self, question):
        print("asked:", question)
        print(question_text(question))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def later(self, question):
        return self(question)


# Answers, plain and asynchronous.
ANSWERS = (True, False, "yes_once", "yes_in_session", "no", None, 1, "yes", [], ValueError("x"), Reply("no", words="Not \x1b today"), Reply("yes_once", arguments={"cents": 1}), Reply("yes_in_session"))
Reply("maybe")
for answer in ANSWERS:
    about(repr(answer))
    approver = Asked(answer)
    chat = opened(policy=RULES).session(approve=approver, agent="desk", who={"user": "ana"})
    load(chat, "refunds")
    for name, arguments in (("refund", {}), ("refund", {}), ("status", {}), ("load_skill", {"skill_id": "wages"}), ("read_skill_file", {"skill_id": "wages", "path": "SKILL.md"})):
        print(name, told(chat.call(name, arguments)))
    print(chat.dump()["grants"], tried(chat.load, "travel") and 1)


async def later(answer, sync):
    approver = Asked(answer)
    chat = opened(policy=RULES).session(approve=approver if sync else approver.later)
    await chat.acall("load_skill", {"skill_id": "refunds"})
    for name, arguments in (("refund", {}), ("refund", {}), ("load_skill", {"skill_id": "wages"})):
        print(name, told(await chat.acall(name, arguments)))
        print(await chat.apermit(name, arguments), await chat.arefusal(name, arguments))


for answer in ANSWERS:
    about(repr(answer))
    await later(answer, True)
    await later(answer, False)
# Nobody to ask; what a framework hands over.
chat = opened(policy=RULES).session()
load(chat, "refunds")
CALLS = (("refund", {}), ("status", {}), ("load_skill", {"skill_id": "wages"}), ("load_skill", {"skill_id": "nope"}), ("nothing", {}), ("load_skill", {}), ("load_skill", "x"), ("read_skill_file", {"skill_id": "refunds", "path": "references/limits.md"}), ("book", {}))
for name, arguments in CALLS:
    about((name, arguments))
    print(chat.decide(name, arguments), chat.question(name, arguments))
    print(tried(chat.permit, name, arguments), tried(chat.refusal, name, arguments))
    for approved in (None, True, False, "yes_once", Reply("no", words="no"), Reply("yes_once", arguments={"a": 1}), "odd", 3):
        print(approved, told(chat.call(name, arguments, approved=approved)))
each(lambda question: question_text(question), Question("tool", "refunds", "refund", {"cents": 5}), Question("load", "x\x1b"), Question("tool", "s", "t", {"a": "x" * 5_000, "b": {"c": [1]}}), Question("script", "s", "run.sh"), Question("read", "s", arguments={"path": "a.md"}, who={"user": "u"}, agent="a", reason="why"), Question("tool", "s", "t", {f"k{n}": n for n in range(50)}))
for used in (UsedApprovalsInMemory(), UsedApprovalsInMemory(1), UsedApprovalsInFolder("used"), UsedApprovalsInFolder("used")):
    about(repr(used).partition(" at ")[0])
    print([used.use(key) for key in ("a", "b", "a", "x" * 500, "../y")])
sorted(path.name for path in Path("used").iterdir())
write("closed", "")
UsedApprovalsInFolder("closed").use("a")

# The same yes, handed over twice; resumed.
for where in ("", "approvals"):
    about(where)
    skills = Satchel(source(), tools=TOOLS, sinks=(), style="agent-skills", policy=RULES, options=Options(clock=FakeClock(), environ={"SATCHEL_APPROVALS": where} if where else {}))
    first = skills.session(agent="desk")
    load(first, "refunds")
    state = json.loads(json.dumps(first.dump()))
    for attempt in range(2):
        again = skills.session(agent="desk", resume=state)
        for call_id in ("c1", "c1", "c2"):
            print(attempt, call_id, told(tried(again.call, "refund", {}, approved=True, call_id=call_id)))
        print(again.problems, again.dump() == first.dump())
    print(told(skills.session(resume=state).call("refund", {})))

# Dumps: of another time, of others, forged, broken.
chat = opened(policy=RULES).session(approve=Asked("yes_in_session"), who={"user": "ana"})
load(chat, "refunds")
load(chat, "travel")
chat.call("refund", {})
chat.instructions("You are the desk.")
dumped = chat.dump()
json.dumps({key: value for key, value in dumped.items() if key != "seals"}, indent=1, sort_keys=True)
STATES = ("[]", "{", "", 5, [], None, {}, {"active": 5}, {"schema_version": 99}, {**dumped, "active": [{"id": 5}]}, {**dumped, "active": [{"id": "gone"}]}, {**dumped, "grants": [["tool"]]}, {**dumped, "grants": "x"}, {**dumped, "seals": None}, {**dumped, "style": "packs"}, {key: value for key, value in dumped.items() if key != "active"}, {**dumped, "more": 1}, dumped, json.dumps(dumped), json.dumps(dumped).encode(), Path("tests"), "\u0000")
for number, state in enumerate(STATES):
    for trusted in (True, False):
        about((number, trusted))
        taken = tried(opened(policy=RULES).session, resume=state, trust_state=trusted, who={"user": "ana"})
        if isinstance(taken, str):
            print(taken)
            continue
        print([(p.code, p.message) for p in taken.problems], [each.id for each in taken.activations], [t.name for t in taken.tools()], taken.dump()["grants"])
        print(told(taken.call("refund", {})), taken.decide("load_skill", {"skill_id": "travel"}))
shutil = __import__("shutil")
files = Path(__import__("tools.adapters.frameworks", fromlist=["ROOT"]).ROOT) / "tests/formats"
opened().session(resume=(files / "session-1.json").read_text()).dump()
for agent, who in (("desk", {"user": "ana"}), ("b", {"user": "ana"}), ("desk", {"user": "bo"}), ("desk", None)):
    about((agent, who))
    skills = opened(policy=RULES)
    mine = skills.session(agent="desk", who={"user": "ana"}, approve=Asked("yes_in_session"), trust_state=False)
    load(mine, "refunds")
    mine.call("refund", {})
    other = skills.session(agent=agent, who=who, resume=mine.dump(), trust_state=False)
    print(other.decide("refund", {}), [t.name for t in other.tools()])
    mine.revoke()
    print(mine.dump()["grants"], mine.decide("refund", {}))

# What is above, what is gone, what is said again; in every style.
for style in STYLES:
    about(style)
    of = source()
    skills = opened(of)
    chat = skills.session(style=style, agent="desk")
    history = [SeenMessage("user", "Pay it back."), message(chat, "refunds"), message(chat, "travel")]
    chat.see(history)
    print("above:", told(load(chat, "refunds")))
    print("file:", told(load(chat, "refunds", "references/limits.md")))
    print("file:", told(load(chat, "refunds", "limits.md")))
    chat.see([SeenMessage("user", "In short.")])
    print("reinjected:", chat.reinjected())
    print("again:", told(load(chat, "refunds"))[:80])
    chat.see([history[0], SeenMessage("tool", history[1].text[:50], history[1].tool, history[1].arguments)])
    print("cut:", told(load(chat, "refunds"))[:80], [each.id for each in chat.activations])
    of.packs["refunds"]["SKILL.md"] = carrying("refunds", "refund", body="New. " + LONG)
    of.packs["added"] = {"SKILL.md": carrying("added", "book", body="Added.")}
    del of.packs["wages"]
    print(skills.sync())
    chat.see(history)
    print("changed:", told(load(chat, "refunds"))[:200])
    print("moved:", told(load(chat, "added")), told(load(chat, "wages")))
    print(chat.instructions("Base.", "pay it back"))
    chat.unload("refunds")
    print([t.name for t in chat.tools()], chat.savings, chat.reads_files, chat.is_unguarded, chat.mark is chat.mark)
    for wrong in ("nope", "nope", "nope", "refund", "nope2"):
        print(told(load(chat, wrong)))
    with chat.turn() as turn:
        print(told(load(chat, "travel"))[:60], told(load(chat, "travel"))[:60])
        chat.join(turn)
        chat.leave(turn)
    print(chat.find("trains", 2), tried(chat.find, "x", 0), chat.suggested("book a train"))
    print(tried(chat.load, "travel").text[:40], tried(chat.load, "nope"))
small = opened().session(reinject_tokens=60)
small.see([message(small, "refunds"), message(small, "travel")])
small.see([SeenMessage("user", "Hm.")])
small.reinjected()
opened().session(reinject_tokens=0).reinjected()
# Options of a session.
skills = opened(policy=Policy(deny("wages", unless=lambda who: (who or {}).get("boss"))))
each(lambda more: (lambda chat: (chat.agent, chat.style, [e.id for e in chat.catalog], chat.instructions("B."), [t.name for t in chat.tools()]))(skills.session(**more)), {}, {"only": "t*"}, {"only": ["refunds", "nope"]}, {"only": ["x*"]}, {"only": []}, {"always": "refunds"}, {"always": ["refunds", "refunds", Skill("own", instructions="Own.", tools=[tool("mine")])]}, {"always": ["nope"]}, {"always": [object()]}, {"always": "wages"}, {"who": {"boss": 1}}, {"who": 3}, {"style": "loud"}, {"approve": 3}, {"agent": "x" * 99}, {"suggest": True}, {"suggest": False}, {"stage": True}, {"trust_state": False}, {"nonsense": 1}, {"reinject_tokens": -1}, {"resume": 3})
derived = skills.session(only="t*", agent="a")
tried(lambda: [e.id for e in derived.derive(agent="b").catalog]) if hasattr(derived, "derive") else "no derive"
each(lambda own: [t.name for t in skills.session().tools(own)], [], ["refund"], ["load_skill"], "x")
each(lambda tools: Satchel(source(), tools=tools, sinks=()), [tool("a"), tool("a")], [3], [print], 3)
offering = Satchel(source(), sinks=(), options=Options(clock=FakeClock()))
offering.offer(*TOOLS)
[(f.code, f.message) for f in offering.findings]
each(lambda tools: offering.offer(*tools), [tool("refund")], [3], []) and None
[(f.code, f.message) for f in Satchel(source(), sinks=()).findings]


class Foreign:
    name = "refund"
    description = "A framework's own."

    def invoke(self, x):
        return x


with_foreign = Satchel(source(), tools=[Foreign(), tool("status"), tool("book")], sinks=(), style="lean")
chat = with_foreign.session()
[told(load(chat, "refunds"))[:50], [(t.name, type(t).__name__) for t in chat.tools()], tried(chat.call, "refund", {"x": 1})]
waiting = Tool("refund", "Later.", {"type": "object", "properties": {}}, (lambda f: f)(__import__("asyncio").sleep))
raw = Satchel(Skill("raw", description="Use it.", instructions="R.", tools=[tool("danger")], category="raw"), sinks=(), style="lean")
chat = raw.session()
[told(load(chat, "raw")), [t.name for t in chat.tools()], told(chat.call("danger", {})), [(f.code, f.message) for f in raw.findings]]
chat = Satchel(Skill("raw", description="Use it.", instructions="R.", tools=[tool("danger")], category="raw"), sinks=(), style="lean", policy=Policy(allow("raw"))).session()
[told(load(chat, "raw")), told(chat.call("danger", {}))]

# Rules.
each(lambda make: str(make()), lambda: deny("a*"), lambda: ask("a", tool="t*", reason="r"), lambda: allow(), lambda: deny("a", action="load"), lambda: deny("a", action=["load", "read"]), lambda: deny(3), lambda: deny("a", action="fly"), lambda: ask("a", action="list"), lambda: deny("a", tool="t", action="load"), lambda: deny("a", reason=3), lambda: Policy("x"), lambda: Policy(deny("a"), deny("b")), lambda: PolicyRule("deny"), lambda: deny("a", when=3))
rules = Policy(deny("pay-*", unless=lambda who: "pay" in who["groups"]), ask("refunds", tool="refund"), allow("x", action="script"), deny("odd", when=lambda who: 1 / 0))
for action in ("list", "find", "load", "read", "tool", "script"):
    for skill_id in ("pay-a", "refunds", "x", "odd", "other"):
        about(f"{action} {skill_id}")
        print([tried(rules.decide, action, skill_id, who, tool="refund") for who in ({"groups": ["pay"]}, {"groups": []}, {}, None)])
denied = opened(policy=Policy(deny("refunds", reason="closed"), deny("travel", action="load"), ask("wages", action="read")))
[repr(denied), [e.id for e in denied.catalog], denied.prompt()]
each(lambda skill_id: denied.load(skill_id).text, "refunds", "travel", "wages")
each(lambda skill_id: denied.why(skill_id), "refunds", "travel", "wages", "nope")
each(lambda given: denied.load(*given).text, ("refunds", "limits.md"), ("wages", "SKILL.md"))

# Copies for tools that need a path.
FILES = {"s": {"SKILL.md": carrying("s", "refund", body="Run scripts/x.sh."), "scripts/x.sh": "#!/bin/sh\n", "references/a.md": "A", "assets/b.bin": b"\x00"}}
with LocalStager("copies") as stager:
    skills = Satchel(FakeSource("s", FILES), sinks=(), style="lean", tools=TOOLS)
    chat = skills.session(stage=stager)
    print(told(load(chat, "s")).replace(os.getcwd(), "<here>"))
    folder = tried(chat.stage, "s")
    print(str(folder).rpartition("/")[2], sorted(p.relative_to(folder).as_posix() for p in Path(folder).rglob("*")), tried(chat.stage, "nope"))
    print(oct(Path(folder, "scripts/x.sh").stat().st_mode))
Path("copies").exists() and sorted(p.name for p in Path("copies").rglob("*"))
uploads = []
upload = UploadStager(lambda name, files: uploads.append((name, sorted(files))) or f"/box/{name}")
chat = Satchel(FakeSource("s", FILES), sinks=(), style="lean").session(stage=upload)
[told(load(chat, "s")), told(load(chat, "s")), uploads]
failing = Satchel(FakeSource("s", FILES), sinks=(), style="lean").session(stage=UploadStager(lambda name, files: 1 / 0))
told(load(failing, "s"))
write("blocked", "")
told(load(Satchel(FakeSource("s", FILES), sinks=(), style="lean").session(stage=LocalStager("blocked")), "s"))
Satchel(FakeSource("s", FILES), sinks=()).session(stage=3) and None

# Sources that fail, come back, and change under a load.
from tests.fakes import away
of = FakeSource("far", {"a": {"SKILL.md": carrying("a", "refund"), "references/x.md": "X"}, "b": {"SKILL.md": carrying("b", "book")}})
skills = Satchel(of, FakeSource("near", {"c": {"SKILL.md": carrying("c", "status")}}), sinks=(), options=Options(clock=FakeClock()))
[repr(skills), skills.health().problems]
of.failure = away("far")
[skills.sync(), skills.health().problems, [e.id for e in skills.catalog], [(f.code, f.message, f.fix) for f in skills.findings]]
each(lambda given: skills.load(*given).text[:40], ("a",), ("a", "x.md"), ("c",), ("nope",))
of.failure = ValueError("a bug")
[skills.sync(), skills.health().problems]
of.failure = None
del of.packs["b"]
of.packs["a"]["SKILL.md"] = carrying("a", "refund", body="Changed.")
[skills.load("a").text[-20:], skills.sync() and 1]
of.packs["a"]["SKILL.md"] = "broken"
[skills.sync() and 1, tried(skills.load, "a"), skills.why("a"), skills.why("b")]
Satchel(FakeSource("x", {}), sinks=()).prompt()
gone = FakeSource("gone", {})
gone.failure = away("gone")
broken = Satchel(gone, sinks=())
[repr(broken), broken.health().problems, broken.prompt(), tried(broken.load, "a"), broken.session().instructions("B.")]
two = [FakeSource(name, {"a": {"SKILL.md": carrying("a", "refund", body=name)}}) for name in ("one", "two")]
clash = Satchel(*two, sinks=())
[repr(clash), clash.conflicts, tried(clash.prompt), tried(clash.session), tried(clash.load, "a"), clash.why("a"), clash.check().findings if hasattr(clash.check(), "findings") else None]
chosen = Satchel(*two, sinks=(), options=Options(on_conflict="precedence"))
[chosen.load("a").text[-4:], chosen.conflicts, chosen.why("a"), [(f.code, f.message) for f in chosen.findings]]
each(lambda given: Satchel(source(), sinks=(), **given), {"disabled": ["refunds"]}, {"disabled": ["nope"]}, {"disabled": "w*"}, {"profile": "loud"}, {"style": "loud"}, {"nonsense": 1}, {"on_conflict": "error"}, {"policy": 3}, {"budget_tokens": 0}, {"options": 3})
each(lambda given: Options(**given), {"on_conflict": "x"}, {"check": "y"}, {"deadline_s": 0}, {"deadline_s": float("nan")}, {"nonsense": 1})
each(lambda given: skills.prompt(**given), {}, {"format": "loud"}, {"budget_tokens": 0}, {"budget_tokens": True}, {"budget_tokens": "many"}, {"budget_tokens": 20}, {"style": "loud"}, {"message": "refund"}, {"who": {"a": 1}}, {"who": 3})
each(lambda given: skills.find(*given[0], **given[1]), (("refund",), {}), (("",), {}), (("x" * 5_000,), {}), (("refund", 0), {}), (("refund", 101), {}), (("refund", 1), {"source": "far"}) , (("refund",), {"nonsense": 1}))
skills.check().findings if hasattr(skills.check(), "findings") else skills.check()
each(skills.why, "a", "c", "nope", "")
each(skills.resources, "a", "c", "nope")
each(skills.digest, "c", "nope")
each(skills.manifest, "c", "nope")
[skills.limits, skills.usage_state, skills.sink_failures, skills.observe()]
changes = []
stop = skills.listen(changes.append)
[skills.sync(), changes, stop()]
skills.close()
