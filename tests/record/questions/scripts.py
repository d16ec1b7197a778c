# Scripts of skills, and acts that need a skill.
import json
from pathlib import Path

from satchel import Options, Policy, Satchel, allow, ask, deny, require
from satchel.model import Job, Outcome, OutputFile, Reply, SeenMessage
from satchel.model import ScriptOutput
from satchel.tools import Run
from tests.fakes import LOADERS, FakeClock

write("lib/forms/SKILL.md", "---\nname: forms\ndescription: Fill in forms.\nmetadata: {tools: pay}\n---\nRun `python scripts/fill.py FORM`, then `sh scripts/send.sh`. " + "Read it all. " * 30)
write("lib/forms/scripts/fill.py", "import pypdf\n")
write("lib/forms/scripts/send.sh", "exit 3\n")
write("lib/forms/references/fields.md", "Fields.\n")
write("lib/plain/SKILL.md", "---\nname: plain\ndescription: Has no script.\n---\nNothing to run here.\n")
write("lib/house/SKILL.md", "---\nname: house\ndescription: How we write.\n---\n" + "Write short sentences. " * 20)
LIBRARY = "lib"
FILES = (OutputFile("a.pdf", "application/pdf", 1_234, "sha256:ab"),)
OUTCOMES = (
    Outcome(ending="exit", exit_code=0, stdout="done\n", files=FILES, runner="fake", seconds=1.0),
    Outcome(ending="exit", exit_code=3, stderr="no\n", left_out=("x: a link",), runner="fake"),
    Outcome(ending="time-out", detail="60 seconds", runner="fake"),
    Outcome(ending="limit", detail="memory", runner="fake", files=FILES * 60),
    Outcome(ending="refused", detail="no sandbox works here"),
    Outcome(ending="cancelled", stdout="x" * 200_000),
)


class Lacking:
    requirements = ("pypdf>=4",)
    install = "python -m pip install 'pypdf>=4'"


class Runner:
    kind = "fake"
    lacks = None

    def __init__(self, outcome=OUTCOMES[0]):
        self.outcome = outcome

    def run(self, job):
        print("ran:", job.skill, job.path, job.args, repr(job.stdin), job.digest, Path(job.work).is_dir())
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    def missing(self, entry, read):
        return self.lacks and self.lacks()


def pay(cents: int, run: Run) -> str:
    """Pay."""
    return f"paid {cents} by {run.who.get('user')}"


def opened(*rules, runner=None, **options):
    return Satchel(LIBRARY, tools=[pay], sinks=(), policy=Policy(*rules), runner=runner, options=Options(clock=FakeClock()), **options)


def said(result):
    return f"{type(result).__name__}: {result if isinstance(result, str) else json.dumps(result, default=str)}"[:3_000]


def load(chat, skill_id="forms"):
    name, key = LOADERS[chat.style]
    return chat.call(name, {key: skill_id})


def names(chat):
    return [tool.name for tool in chat.tools()]


CALLS = (
    {"path": "scripts/fill.py"}, {"path": "fill.py", "args": ["a b", "", "--"]}, {"path": "scripts/send.sh", "stdin": "in"}, {"path": "scripts/fill.py", "args": "a 'b c'"},
    {"path": "scripts/fill.py", "args": {"out": "f", "v": True, "n": 3, "no": False, "-x": [1, "2"], "none": None}}, {"path": "scripts/fill.py", "args": None},
    {"path": "scripts/fill.py", "args": [1, 2.5, True]}, {"path": "scripts/fill.py", "args": "'open"}, {"path": "scripts/fill.py", "args": [["x"]]}, {"path": "scripts/fill.py", "args": 3},
    {"path": "scripts/fill.py", "args": {"a": {"b": 1}}}, {"path": "scripts/fill.py", "args": ["\0"]}, {"path": "scripts/fill.py", "stdin": 3}, {"path": "references/fields.md"}, {"path": "SKILL.md"}, {"path": "../x"},
    {"path": "no.py"}, {"path": 3}, {}, {"path": "scripts/fill.py", "shell": True}, {"skill_id": "plain", "path": "a.py"}, {"skill_id": "nope", "path": "a.py"}, {"skill_id": 3, "path": "a.py"},
)
ALLOWED = allow("forms", "script")
# Offered or not, by rules and runner.
for rules in ((), (ALLOWED,), (ask("forms", "script"),), (deny("forms", "script"),), (allow("*"),), (ask("*", "script", reason="it writes"),)):
    for runner in (None, Runner()):
        about((rules, runner and runner.kind))
        chat = opened(*rules, runner=runner).session()
        print(names(chat), said(load(chat)), names(chat))
        load(chat, "plain")
        print(names(chat), said(chat.call("run_skill_script", {"skill_id": "forms", "path": "scripts/fill.py"})))
        print(chat.decide("run_skill_script", {"skill_id": "forms", "path": "scripts/fill.py"}), chat.question("run_skill_script", {"skill_id": "forms", "path": "scripts/fill.py"}, "c1"))
# Each form of a call; each outcome; each style.
chat = opened(ALLOWED, runner=Runner()).session(work="work")
load(chat)
load(chat, "plain")
for call in CALLS:
    about(call)
    print(said(chat.call("run_skill_script", {"skill_id": "forms", **call})))
for outcome in (*OUTCOMES, ValueError("/secret"), SystemExit(1)):
    about(outcome)
    chat = opened(ALLOWED, runner=Runner(outcome)).session()
    load(chat)
    result = chat.call("run_skill_script", {"skill_id": "forms", "path": "scripts/fill.py"})
    print(said(result), isinstance(result, ScriptOutput) and (result.outcome.is_ok, result.outcome.ending))
for style in LOADERS:
    about(style)
    chat = opened(ALLOWED, runner=Runner(), style=style).session(always=["house", "forms"])
    print(names(chat), said(chat.call("run_skill_script", {"skill_id": "forms", "path": "scripts/fill.py"})))
runner = Runner()
runner.lacks = Lacking
skills = opened(ALLOWED, runner=runner)
for _ in range(2):
    print(said(load(skills.session())))
print(said(load(opened(ALLOWED, runner=runner).session(style="agent-skills"))))
# A person's yes, and what it is for.
for answer in (True, False, "yes_in_session", Reply("no", words="not now"), Reply("yes_once", arguments={"skill_id": "forms", "path": "scripts/send.sh"})):
    about(answer)
    asked = []
    chat = opened(ask("forms", "script"), runner=Runner()).session(approve=lambda question: asked.append((question.arguments, question.reason)) or answer)
    load(chat)
    for call in CALLS[:3]:
        print(said(chat.call("run_skill_script", {"skill_id": "forms", **call})))
        print(said(await chat.acall("run_skill_script", {"skill_id": "forms", **call})))
    print(asked, len(chat.dump()["grants"]))
skills = opened(ask("forms", "script"), runner=Runner())
chat = skills.session()
load(chat)
call = {"skill_id": "forms", "path": "scripts/fill.py"}
print(chat.question("run_skill_script", call, "c1"))
state = chat.dump()
write("lib/forms/scripts/fill.py", "import other\n")
for attempt in range(2):
    again = skills.session(resume=state)
    print(said(again.call("run_skill_script", call, approved=True, call_id=f"c{attempt}")), again.dump().get("asked"))
for state in ({"work": "../x"}, {"work": 3}, {"ready": ["a"], "sees": True}, {"ready": 3}, {"sees": "yes"}):
    about(state)
    again = skills.session(resume=state)
    print(again.problems, sorted(again.dump()))
skills.session(work=lambda run: "x")
skills.close()
# A tool that needs a skill.
NEEDS = require("forms", tool="pay")
print(NEEDS, repr(Policy(NEEDS, allow("x"))))
require("", tool="x")
require("x", tool="")
require(3, tool="x")
Policy("x")
print([f.message for f in opened(require("frms", tool="pay")).findings])
PAY = {"cents": 5}


def step(chat, messages, *calls):
    """Make the calls of one model call."""
    chat.see(messages)
    print(len(chat.instructions()), names(chat))
    results = [chat.call(*call) for call in calls]
    messages.append(SeenMessage("assistant"))
    for (name, arguments), result in zip(calls, results, strict=True):
        print(name, said(result)[:160])
        text = result if isinstance(result, str) else json.dumps(result)
        messages.append(SeenMessage("tool", text, name, arguments))


for style in LOADERS:
    name, key = LOADERS[style]
    for options in ({}, {"reinject_tokens": 0}, {"always": ["forms"]}, {"trust_state": False}):
        about((style, options))
        chat = opened(NEEDS, require("house", tool="p*y"), style=style).session(**options)
        messages = [SeenMessage("user", "pay")]
        step(chat, messages, (name, {key: "forms"}), ("pay", PAY))
        step(chat, messages, ("pay", PAY), ("pay", PAY))
        step(chat, messages, ("pay", PAY))
        del messages[1:]
        step(chat, messages, ("pay", PAY))
        again = opened(NEEDS, style=style).session(resume=chat.dump(), **options)
        print(said(again.call("pay", PAY))[:120], said(again.required("mcp__x__pay"))[:120], again.required("other"), again.needs_skill("pay"), again.is_required)
for text in ("Skill: forms\n\nPay at once.", "Not done: pay needs the skill 'forms'. Read\n\nSkill: forms\n\nPay.", ""):
    for message in (SeenMessage("tool", text, "fetch"), SeenMessage("tool", text, "load_skill", {"skill_id": "forms"}), SeenMessage("tool", text, "pay"), SeenMessage("user", text)):
        about((text[:10], message.role, message.tool))
        chat = opened(NEEDS).session()
        step(chat, [SeenMessage("user", "pay"), message], ("pay", PAY))
for rules in ((deny("forms", action="load"),), (ask("forms", action="load"),), (ask("forms", tool="pay"),), (require("gone", tool="pay"),)):
    about(rules)
    chat = opened(NEEDS, *rules).session(approve=lambda question: True)
    messages = [SeenMessage("user", "pay")]
    for _ in range(3):
        step(chat, messages, ("pay", PAY))
    print(said(await chat.acall("pay", PAY))[:160], chat.question("pay", PAY, "c1"))
chat = opened(NEEDS, require("house", tool="wire"), require("house", tool="*_x")).session()
print(names(chat), chat.tools(["wire", "run_bash", "fetch_url"]) and "", chat.tools(["wire"]) and "")


def wire(cents):
    """Send."""
    return cents


async def awire(cents):
    return cents


awire.__name__ = "wire"
print(chat.requiring(wire)(1)[:80], (await chat.requiring(awire)(2))[:80])
load(chat, "house")
print(names(chat), chat.requiring(wire)(1), await chat.requiring(awire)(2), await chat.arequired("nothing"))
for name in (None, 3, ["pay"], ""):
    about(name)
    print(said(chat.call(name, PAY)), chat.question(name, PAY))
child = chat.derive(agent="deputy")
print(names(child), said(child.call("pay", PAY))[:80])

# Acts on the record: one event each.
from satchel.usage import ListSink


class Failing:
    def record(self, event):
        raise OSError("full")

    acted = record


def acts(*rules, sinks=None, **options):
    sink = ListSink()
    given = Options(environ={"SATCHEL_ACTS_KEY": "k", "SATCHEL_APPROVALS": "memory"}, clock=FakeClock())
    skills = Satchel(LIBRARY, tools=[pay], policy=Policy(require("forms", tool="*pay"), *rules), runner=Runner(), sinks=[sink] if sinks is None else sinks, options=given)
    return sink, skills, skills.session(**options)


FILL = {"skill_id": "forms", "path": "scripts/fill.py", "args": ["A"]}
for answer in (True, False, None, "yes_in_session"):
    for rules in ((), (ask("forms", tool="pay"), ask("forms", "script")), (deny("forms", tool="pay"),), (allow("*"),)):
        about((answer, rules))
        sink, skills, chat = acts(*rules, approve=None if answer is None else lambda question: answer)
        print(said(chat.call("pay", PAY))[:40], chat.tools() and "", said(chat.call("pay", PAY))[:80], said(await chat.acall("pay", PAY))[:80], said(chat.call("run_skill_script", FILL))[:80])
        print([(act.tool, act.outcome, act.approval, act.script, act.runner, [(skill.name, skill.read) for skill in act.skills], act.arguments[:8]) for act in sink.acts])
for sinks in ([], [Failing()]):
    about(sinks)
    _, skills, chat = acts(sinks=sinks)
    load(chat)
    print(chat.tools() and "", said(chat.call("pay", PAY))[:80], skills.sink_failures, "conversation" in chat.dump())
sink, skills, chat = acts(allow("forms", "script"), always=["forms"])
print(chat.tools() and "", said(chat.call("pay", PAY))[:80], chat.required("xpay", arguments=PAY), [(act.tool, act.skills[0].read) for act in sink.acts])
