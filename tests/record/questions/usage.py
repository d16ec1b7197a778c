# Events of use: stores, sinks, owners, and the report of the command, at a time that stands still.
import importlib
import json
import logging
import shutil

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from satchel import Options, Policy, Satchel, Skill, deny
from satchel.model import UsageEvent
from satchel.usage import (
    EventSink,
    ListSink,
    LoadsOnly,
    LoggingSink,
    Sinks,
    open_sink,
    usage_sinks,
)
from satchel_server.usage import (
    MetricsSink,
    TracingSink,
    UsageReport,
    read_report,
    report_to,
    verify_chain,
)
from tests.fakes import FakeClock
from tests.unit.sources.http.site import Reply
from tests.unit.usage.library import DAY, KINDS, NOON, copied, day, keep, load, miss, skill, store, sync, writer

ROOT = Path(__import__("tools.adapters.frameworks", fromlist=["ROOT"]).ROOT)
pack("skills/alpha", files={"references/one.md": "one", "references/two.md": "two", "scripts/run.sh": "echo\n"})
pack("skills/beta")
write("satchel.toml", 'skills = ["skills"]\n')
command = importlib.import_module("satchel_server.commands.usage")


def at(number):
    """Let the clock of the command stand."""
    command.now = lambda: day(number)


at(29)
for name in sorted(path.name for path in (ROOT / "tests/formats").iterdir() if path.name.startswith("usage-")):
    shutil.copyfile(ROOT / "tests/formats" / name, name)
    if name.endswith((".json", ".head")):
        continue
    about(name)
    print(run(f"usage --db {name}"), run(f"usage --db {name} --json"))
runs("usage --verify usage-1.chain", "usage --verify usage-2.chain --json", "usage --verify usage-1.jsonl", "usage --verify gone.chain", "usage --verify usage-1.chain --head usage-2.chain.head", "usage --verify usage-1.chain --head gone", "usage --head x")
HOSTILE = "a\x1b[2J\u202eb\r\nc"
events = [
    *(sync(day(n), skill("alpha", "references/one.md", "references/two.md"), "beta", owners={"beta": "@org"}) for n in range(30)),
    *(sync(day(n), f"new-{k}") for n in (28, 29) for k in range(12)),
    *(load("alpha", day(n), owner="@ana", tokens=700, agent="desk", client="Code", release="r1") for n in range(2, 30)),
    load("alpha", day(29), reference="references/one.md"),
    load("alpha", day(29), script="scripts/run.sh", via="mcp"),
    load("alpha", day(29), via="cli"),
    load("gone", day(3)),
    miss("alhpa", day(29)),
    miss("<invalid>", day(29), via="http"),
    load("beta", day(4), error="denied", code="denied-by-policy"),
    load(HOSTILE, day(29), owner=HOSTILE),
    miss(HOSTILE, day(29), code=f"code{HOSTILE}"),
    copied("alpha", day(29)),
    copied("beta", day(29), "file-error"),
]
at(30)
for kind in KINDS:
    os.makedirs(kind)
    records = keep(kind, Path(kind), events)
    about(kind)
    print(run(f"usage --db {kind}/usage.{kind} --json"))
runs("usage --db sqlite/usage.sqlite", "usage skills --db sqlite/usage.sqlite", "usage --db sqlite/usage.sqlite --days 5", "usage --db sqlite/usage.sqlite --days 3650", "usage --db jsonl/usage.jsonl --mirror Code", "usage --db sqlite/usage.sqlite --mirror none", "usage --db sqlite/usage.sqlite --suggest-evals", "usage --db sqlite/usage.sqlite --suggest-evals --json", "usage nowhere --db sqlite/usage.sqlite", "usage --db gone.db", "usage --db jsonl:gone.jsonl", "usage --db sqlite://host/x", "usage --days 0", "usage --skills", "usage --db skills/alpha/SKILL.md", "usage --db skills", "usage", "usage --json", "usage -q --db sqlite/usage.sqlite", "usage -v --db sqlite/usage.sqlite")
report = read_report("sqlite/usage.sqlite", now=day(30))
[report.core, report.dead if hasattr(report, "dead") else None, [use.as_dict() for use in report.skills][:2]]
keep("jsonl", Path(), [load("alpha", day(35))], closed=False) and None
with open("usage.jsonl", "a") as log:
    log.write('torn\n[1]\n{"event": "unknown"}\n{"event": "skill_loaded"}\n\n')
at(40)
run("usage --db usage.jsonl")
names = [f"s{number}" for number in range(6)]
keep("jsonl", Path("mirrors") if os.makedirs("mirrors") is None else None, [*(sync(day(n), *names) for n in range(30)), *(load(name, day(29), via="mcp", client="copier") for name in names)]) and None
at(29)
runs("usage --db mirrors/usage.jsonl", "usage --db mirrors/usage.jsonl --mirror copier", "usage --db mirrors/usage.jsonl --mirror copier --json")

# A chain that somebody changed.
os.makedirs("changed")
keep("chain", Path("changed"), [load("alpha"), load("beta"), miss("x")]) and None
text = Path("changed/usage.chain").read_text()
changes = {
    "name": text.replace('"name":"alpha"', '"name":"gamma"'),
    "cut": text.rpartition("\n{")[0] + "\n",
    "torn": text[:-20],
    "first": text.partition("\n")[2],
    "doubled": text + text.rpartition("\n{")[2],
    "empty": "",
    "junk": "junk\n",
    "swapped": "\n".join([*text.splitlines()[:1], *reversed(text.splitlines()[1:])]) + "\n",
}
for title, changed in changes.items():
    write("changed/usage.chain", changed)
    about(title)
    print(run("usage --verify changed/usage.chain"), run("usage --verify changed/usage.chain --json"), tried(verify_chain, "changed/usage.chain"))
os.remove("changed/usage.chain.head")
write("changed/usage.chain", text)
run("usage --verify changed/usage.chain")

# What commands leave behind; queries that are kept.
for url in ("jsonl:kept.jsonl", "chain:kept.chain", "sqlite:kept.db"):
    about(url)
    for line in ("show alpha", "show alpha --reference one.md", "show alhpa --envelope xml", "find nothing xyzzy", "list", "role backend"):
        run(line, SATCHEL_USAGE=url, SATCHEL_QUERIES="queries.jsonl")
    report = read_report(url.partition(":")[2], now=__import__("time").time())
    for use in report.skills:
        print(use.name, use.by_hand, use.edges, report.missing)
command.now = __import__("time").time
[json.loads(line)["query"] for line in Path("queries.jsonl").read_text().splitlines()]
run("usage --db kept.db --suggest-evals", SATCHEL_QUERIES="queries.jsonl")
run("usage --db kept.db --suggest-evals", SATCHEL_QUERIES="nothing.jsonl")
runs("show alpha", SATCHEL_USAGE="log:")
runs("show alpha", SATCHEL_USAGE="off")
runs("show alpha", "list", "usage", SATCHEL_USAGE="postgres://x")
each(lambda url: [repr(type(sink).__name__) for sink in usage_sinks({"SATCHEL_USAGE": url})], "", "off", "OFF:", "log:", "log:x", "jsonl:", "jsonl://x", "jsonl:///", "chain://host/x", "sqlite", "nothing:x", "sqlite:///a/b.db", "jsonl:///C:/x.jsonl")
write("file", "")
run("show alpha", SATCHEL_USAGE="sqlite:file/usage.db")

# Sinks of a library.
list_sink = ListSink()
policy = Policy(deny("beta", action="load", reason="not now"))
write(".github/CODEOWNERS", "* @all\n/skills/alpha/ @ana # who\n")
os.makedirs(".git")


class Odd:
    """Has `record` alone, and fails."""

    def record(self, event):
        raise ValueError("no")


with Satchel("skills", policy=policy, sinks=[list_sink, Odd(), LoadsOnly(list_sink), LoggingSink()], options=Options(clock=FakeClock())) as skills:
    logging.getLogger("satchel").setLevel(logging.INFO)
    for skill_id, file in (("alpha", None), ("alpha", "one.md"), ("alpha", "run.sh"), ("alpha", "none.md"), ("beta", None), ("nope\x1b", None), ("x" * 300, "../" * 9)):
        tried(skills.load, skill_id, file)
    chat = skills.session(agent="desk\x1b", who={"user": "ana"})
    chat.call("load_skill", {"skill_id": "alpha"})
    chat.call("load_skill", {"name": "nope"})
    chat.call("load_skill", 3)
    for event in list_sink.events:
        print(event)
    print(list_sink.syncs and [(s.owners, [e.id for e in s.skills]) for s in list_sink.syncs[:2]] if hasattr(list_sink.syncs[0], "skills") else list_sink.syncs[0])
    print(skills.sink_failures, skills.usage_state)
each(lambda sink: Satchel("skills", sinks=[sink]), 3, "log:", object())
metrics = MetricsSink()
for event in (load("a", duration_s=0.0002), load("a", duration_s=0.02, reference="r"), load('b"\n', source="other", duration_s=20.0), miss("made-up"), load("a", error="denied", code="denied-by-policy"), sync(NOON, "a", "b")):
    (metrics.synced if not isinstance(event, UsageEvent) and hasattr(metrics, "synced") else metrics.record)(event)
metrics.render()[0].decode()
metrics.close()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracing = TracingSink(provider)
for event in (load("a", duration_s=0.5, release="r1", agent="desk"), miss("nope"), load("a", reference="r.md", owner="@x", client="c")):
    tracing.record(event)
[(span.name, dict(span.attributes), span.status.status_code, span.status.description) for span in exporter.get_finished_spans()]
with Satchel("skills", sinks=[TracingSink(provider)]) as skills:
    with provider.get_tracer("t").start_as_current_span("agent"):
        skills.load("alpha")
        tried(skills.load, "nope")
[(span.name, span.status.status_code) for span in exporter.get_finished_spans()]
each(lambda url: repr(report_to(url).state), "https://skills.example.com", "ftp://x", "https://u:p@x", "")

# Reports to a publisher, which is a server of ours.
from tests.unit.evals.endpoints import endpoint
for answer, status in (({"taken": 1}, 200), ({"refused": ["x"]}, 200), (b"no", 200), ({}, 404), ({}, 401), ({}, 500)):
    about((answer, status))
    with endpoint(lambda handler, _: handler.reply(answer, status)) as server:
        sink = report_to(server.url, source="s", token="t", prefix="p-")
        for event in (load("p-a", source="s"), load("p-a", source="other"), miss("p-b"), load("p-a", source="s", via="cli")):
            sink.record(event)
        sink.close()
        print([r["loads"] for r in server.requests[:1]], sink.state.lost)

# Acts: what is stored, shown and checked.
from satchel.model import ActEvent, NeededSkill
from satchel_server.usage import check_acts

READ = NeededSkill("alpha", "sha256:alpha", "load")
ACTS = [
    load("alpha", NOON, conversation="c1"),
    *(
        ActEvent(at=NOON, tool="pay", outcome=outcome, skills=skills, arguments="00", approval=approval, conversation="c1", agent="desk", script=script)
        for outcome, skills, approval, script in (
            ("refused", (NeededSkill("alpha", "sha256:alpha"),), "", ""),
            ("allowed", (READ,), "yes_once", ""),
            ("exit 3", (READ, NeededSkill("beta", "sha256:b", "shown")), "rule 1", "scripts/run.sh"),
            ("failed", (NeededSkill("beta", "sha256:b", "load"),), "", ""),
        )
    ),
]
at(1)
for kind in KINDS:
    about(("acts", kind))
    os.makedirs(f"acts/{kind}")
    keep(kind, Path(f"acts/{kind}"), ACTS)
    print(run(f"usage --acts --db acts/{kind}/usage.{kind}"), run(f"usage --acts --db acts/{kind}/usage.{kind} --json"), run(f"usage --db acts/{kind}/usage.{kind}"))
runs("usage --acts", "usage --acts --json", "usage --acts skills", "usage --acts --db gone.db", "usage --acts --db acts/chain/usage.chain --days 1", "usage --verify acts/chain/usage.chain")
for arguments in (["acts/chain/usage.chain"], ["acts/chain/usage.chain", "--head", "0" * 64], ["acts/chain/usage.chain", "--head", "gone"], ["acts/jsonl/usage.jsonl"]):
    about(arguments)
    print(check_acts.main(arguments))
sink = ListSink()
for event in ACTS:
    (sink.acted if isinstance(event, ActEvent) else sink.record)(event)
len(sink.acts), sink.acts[0].as_dict()
