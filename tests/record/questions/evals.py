# Eval files of every shape, the report in every format, advice, trials with a model, graded runs.
import json
import shutil

from satchel import Satchel
from satchel_lab.evals import (
    STYLES,
    ChatReply,
    EvalCase,
    EvalLibrary,
    ModelBusyError,
    ModelDeniedError,
    ModelEndpoint,
    ModelError,
    ToolCallText,
    TrialLimits,
    new_evals,
    read_iteration,
    run_trials,
    with_case,
    write_benchmark,
)
from tests.unit.checking.history import commit
from tests.unit.evals.endpoints import CASES, JOKE, PDF, TRAIN, endpoint, good, library, message
from tests.unit.evals.test_dialects import NO_CASES, OF_A_LIBRARY, OF_ONE_SKILL
from tests.unit.evals.test_grading import checks, creator, guide, put

ABOUT = {
    "pdf-forms": "Fill in PDF forms. Use for tax forms and other paper.",
    "sheets": "Sum columns of a spreadsheet. Use for tables of numbers.",
    "mail": "Send letters by mail. Use when a customer waits for a letter.",
    "post": "Send letters by mail today. Use for letters and for parcels.",
    "forms-too": "Fill in PDF forms. Use for tax forms and other paper, too.",
}
for name, description in ABOUT.items():
    pack(f"skills/{name}", description=description)


def evaluated(document, *options, name="trigger-evals.json", place="skills/pdf-forms/evals"):
    file = f"{place}/{name}"
    write(file, document if isinstance(document, (str, bytes)) else json.dumps(document))
    try:
        return run(["eval", "skills", *options])
    finally:
        os.remove(file)


# Every shape, in its pack and beside it.
for title, document in OF_ONE_SKILL.items():
    about(title)
    print(evaluated(document, "--json", "--fail-on", "never")[:1_500])
for title, (document, _) in OF_A_LIBRARY.items():
    about(title)
    print(evaluated(document, "evals", place="evals", name="cases.json"))
for document, _ in NO_CASES:
    print(evaluated(document, "evals", place="evals", name="cases.json"))
deep = [{"query": "a b"}]
for _ in range(20):
    deep = {"cases": deep}
each(evaluated, "[", "", "{}", "[]", "3", '"text"', b"\xff\xfe", deep, [1.5, None, [], {}], [{"query": ""}, {"query": "x" * 3_000, "should_trigger": True}], [{"query": "TODO: say it", "should_trigger": True}], [{"query": "fill in a form", "expected_skill": "pdf-from"}], [{"query": "fill in a form", "should_trigger": True}, {"query": "fill in a form", "should_trigger": False}], [{"query": ["a form", "a tax form"], "should_trigger": True}])
files = {
    "evals.jsonl": '{"query": "fill in a form", "should_trigger": true}\n\n{"query": "weather", "should_trigger": false}\n{\n',
    "evals.yaml": "- query: fill in a form\n  should_trigger: yes\n- query: weather\n  should_trigger: no\n",
    "evals.yml": "a: [\n",
    "triggers.yaml": "should_trigger:\n  - fill in a form\nshould_not_trigger: [weather]\n---\nmore: 1\n",
    "evals.csv": "query,should_trigger\nfill in a form,true\nweather,false\n,\n",
    "trigger.tsv": "query\texpected_skill\nfill in a form\tpdf-forms\nweather\t\n",
    "evals.md": "# no\n",
    "results.json": '[{"query": "x", "should_trigger": true}]',
    "queries.csv": "fill in a form\nweather\n",
    "empty.csv": "",
    "prompts.json": '{"prompts": ["fill in a form"]}',
}
for name, text in files.items():
    about(name)
    print(evaluated(text, name=name))
    print(evaluated(text, "other/" + name, name=name, place="other"))

# The report in every format, bars, baselines, what changed.
rows = [
    {"query": "fill in a tax form", "should_trigger": True},
    {"query": "fill in paper <b>&\u2028", "should_trigger": True},
    {"query": "letters by mail", "should_trigger": False},
    {"query": "parcels of letters by mail", "expected_skill": "post"},
    {"query": "nothing at all of it", "expected_skill": "sheets"},
    {"query": "tell me a joke", "expected_skill": None},
    {"query": "sum tables", "expected_skill": "no-such-skill"},
]
write("evals/cases.json", json.dumps(rows))
write("skills/pdf-forms/evals/evals.json", json.dumps(rows[:3]))
for style in ("text", "json", "junit", "markdown", "html"):
    about(style)
    print(run(f"eval skills evals --format {style}"))
    about(f"{style} -k 1")
    print(run(f"eval skills evals --format {style} -k 1 --fail-under .9 --fail-on note"))
commands = (
    "eval", "eval skills --fail-under .5", "eval skills evals --fail-under 1", "eval skills/mail", "eval evals/cases.json", "eval skills evals --suggest", "eval skills --suggest --json", "eval nowhere", "eval skills -k 0", "eval skills --baseline nowhere.json",
    "eval skills --baseline skills/mail/SKILL.md", "eval skills --baseline a --since b", "eval skills --since nowhere", "eval skills --add x", "eval skills --not", "eval skills --skill mail", "eval skills --also xml=a", "eval skills --also junit=a.xml --also html=a.html", "eval skills/mail --fail-under .5", "eval -v skills evals", "eval -q skills evals", "eval skills evals --fail-on never", "eval skills evals --also junit=gone/a.xml", "eval --skills skills",
)
runs(*commands)
write("old.json", run("eval skills evals --json").partition("\n")[2])
shutil.copytree("skills", "before")
pack("skills/pdf-forms", description="Works with files.")
pack("skills/mail", description="Fill in a tax form; mail.")
for style in ("text", "json", "junit", "markdown", "html"):
    about(style)
    print(run(f"eval skills evals --baseline old.json --format {style}"))
write("bad.json", '{"schema_version": 9}')
runs("eval skills --baseline bad.json", "eval skills --baseline evals/cases.json")
shutil.rmtree("skills")
shutil.copytree("before", "skills")
commit(Path()) and None
pack("skills/pdf-forms", description="Works with files.", body="# New\n")
pack("skills/added", description="Fill in a tax form. Use it.")
shutil.rmtree("skills/sheets")
for style in ("text", "json", "markdown"):
    about(style)
    print(run(f"eval skills evals --since HEAD --format {style}"))
for style in ("text", "concise", "json", "sarif", "github", "markdown"):
    about(style)
    print(run(f"check skills --since HEAD --format {style}"))
runs("check skills --since nowhere", "check skills --since HEAD --for codex", "check skills --since HEAD --fix", "check skills --since HEAD --strict", "check --since HEAD", "check nowhere --since HEAD", "check skills/added --since HEAD", "check . --since HEAD --statistics")
commit(Path()) and None
runs(*(f"check skills --since {rev}" for rev in ("HEAD", "HEAD~1", "main", "-x", "HEAD:skills", "0" * 40)))
write("skills/added/scripts/bad.py", "def x(:\n")
pack("skills/old-one", description="Use it. Deprecated.", head="status: deprecated\nreplaced_by: added\n")
os.rename("skills/post", "skills/post-moved")
runs(*(f"check skills --since HEAD~1 --format {style}" for style in ("text", "json", "markdown")))
shutil.rmtree(".git")
run("check skills --since HEAD")

# Cases that are added.
each(lambda more: run(["eval", "skills", "--add", *more]), ["tax form", "--skill", "pdf-forms"], ["a form", "--skill", "mail", "--not"], ["x", "--skill", "mial"], ["", "--skill", "mail"], ["tax form", "--skill", "pdf-forms"], ["a b", "--skill", "post", "--json"], ["a b"])
tree("skills/pdf-forms/evals")
tree("skills/mail/evals")
for text in ("[", "{}", '{"evals": []}', '[{"prompt": "x", "expect_activation": true}]', '{"should_trigger": ["x"]}', "- query: x\n", "", "3"):
    write("skills/mail/evals/trigger-evals.json", text)
    about(text)
    print(run(["eval", "skills", "--add", "more of it", "--skill", "mail"]), tree("skills/mail/evals"))
    print(tried(with_case, text, "q", "mail"), tried(with_case, text, "q", "mail", should=False))
new_evals({"q": True, "no": False})

# A model is asked.
limits = "--max-calls 4 --styles packs,lean --runs 1"
write("asked/cases.json", json.dumps([{"query": "fill in a tax form", "expected_skill": "pdf-forms"}, {"query": "book a train", "expected_skill": "travel"}, {"query": "tell me a joke", "expected_skill": None}]))
pack("two/pdf-forms", description="Fill in forms.")
pack("two/travel", description="Book trains.")


write("single/cases.json", json.dumps([{"query": "fill in a tax form", "expected_skill": "pdf-forms"}]))


# Queries are asked at once: which comes first, and how many are begun before a limit of tokens is seen, is chance.
def asked(behave, *lines, title="", cases="asked"):
    with endpoint(behave) as server:
        for line in lines:
            about(f"{title} {line}".strip())
            print(run(f"eval two {cases} --model m --base-url {server.url} {line}"))
        print(len(server.requests), "requests", sorted(map(repr, server.requests))[:1])


asked(lambda handler, request: handler.reply(good(request)), "", "", limits, f"{limits} --json", "--cache answers.jsonl --runs 1", "--cache answers.jsonl --runs 1 --json", "--runs 1 --fail-under .6", "--runs 1 --max-calls 0", "--styles loud", "--runs 0", "--json --runs 1")
asked(lambda handler, request: handler.reply(good(request)), "--runs 1 --styles lean --max-tokens 1 --cache other.jsonl", cases="single")
answers = {
    "wrong": message(("load_skill", {"skill_id": "travel"}), ("load_skill", {"name": "travel"})),
    "unknown": message(("load_skill", {"skill_id": "nope"}), ("other_tool", {})),
    "bad arguments": message(("load_skill", "{"), ("load_skill", "[]"), ("load_skill", {"name": 1})),
    "text": message(content="Hm."),
    "no choices": {"choices": []},
    "nothing": {},
    "list": [],
    "not json": b"oops",
    "odd usage": {**message(content="x"), "usage": {"prompt_tokens": -5, "completion_tokens": "x"}},
    "odd calls": {"choices": [{"message": {"role": "assistant", "tool_calls": [1, {"function": 2}, {"function": {"name": 1}}]}}]},
    "refusal": {"choices": [{"message": {"role": "assistant", "content": None, "refusal": "no"}}]},
}
for title, answer in answers.items():
    asked(lambda handler, _: handler.reply(answer), f"--styles lean --runs 1 --cache {len(title)}.jsonl --json", title=title)
for status, headers in ((400, {}), (401, {}), (403, {}), (404, {}), (422, {}), (429, {"Retry-After": "3600"}), (503, {"Retry-After": "3600"}), (302, {"Location": "/x"})):
    about(status)
    with endpoint(lambda handler, _: handler.reply({"error": {"message": "no\x1b[2J"}}, status, headers)) as server:
        print(run(f"eval two single --model m --base-url {server.url} --styles lean --runs 1"))
runs("eval two asked --model m", "eval two asked --model m --base-url nonsense", "eval two --model m --base-url http://127.0.0.1:9", "eval two asked --model m --base-url http://127.0.0.1:9 --runs 1 --styles lean --max-calls 1", "eval two single --model m --base-url http://169.254.169.254/ --runs 1 --styles lean", "eval two single --model m --base-url http://example.com/ --runs 1 --styles lean", "eval two asked --runs 1", "eval two asked --model m --since HEAD --base-url http://127.0.0.1:9", OPENAI_BASE_URL="")
each(lambda given: repr(ModelEndpoint(*given)), ("m", "https://example.com/v1"), ("", "https://example.com"), ("m", "ftp://x"), ("m", ""))


class Model:
    """Loads, for each query, one skill after the other; "" is no tool."""

    def __init__(self, loads):
        self.loads = {query: iter(skills) for query, skills in loads.items()}

    def complete(self, request):
        skill = next(self.loads[request.messages[-1]["content"]])
        if isinstance(skill, Exception):
            raise skill
        if not skill:
            return ChatReply(text="Done.", input_tokens=10, output_tokens=2)
        return ChatReply((ToolCallText("load_skill", json.dumps({"name": skill})),), "", 10, 2)


def trial(case, *loads, **options):
    options = {"styles": ["lean"], "runs": len(loads), "limits": TrialLimits(workers=1, attempts=1), **options}
    report = run_trials(library(), [case], Model({case.query: loads}), **options)
    return [report.to_json(), report.text() if callable(getattr(report, "text", None)) else str(report)]


trial(PDF, "pdf-forms", "pdf-forms", "travel")
trial(PDF, "pdf-forms", "travel", "")
trial(JOKE, "travel", "", "nope")
trial(EvalCase("q", (), ("travel",)), "travel", "")
trial(EvalCase("q", ("travel", "gone")), "travel")
trial(PDF, ModelError("bad"), "pdf-forms")
trial(PDF, ModelBusyError("busy"), "pdf-forms")
trial(PDF, ModelDeniedError("no"), "pdf-forms")
trial(PDF, ValueError("a bug"), "pdf-forms")
trial(PDF, "pdf-forms", limits=TrialLimits(max_calls=0))
trial(PDF, "pdf-forms", "pdf-forms", limits=TrialLimits(max_tokens=5, workers=1))
trial(PDF, "pdf-forms", styles=["loud"])
trial(PDF, "pdf-forms", styles=[])
trial(PDF, runs=0)
[STYLES, repr(TrialLimits())]

# Runs that somebody graded.
place = guide(Path("graded"))
[read_iteration(Path("graded")).text(), read_iteration(Path("graded")).summary(), read_iteration(place).runs]
[write_benchmark(read_iteration(Path("graded"))), Path("graded/iteration-10/benchmark.json").read_text()]
creator(Path("made"))
[read_iteration(Path("made")).text(), read_iteration(Path("made")).summary()]
for grading in (b"{", b"\xff", [], {}, {"expectations": "all good"}, {"expectations": [{"passed": "yes"}, 3]}, {"summary": {"pass_rate": 85}}, {"summary": {"pass_rate": 0.5}}, {**checks(True, False), "summary": {"pass_rate": 1.0}}):
    put(place / "eval-a/with_skill/grading.json", grading)
    print(read_iteration(Path("graded")).findings)
put(place / "benchmark.json", b"[1]")
tried(write_benchmark, read_iteration(Path("graded")))
tried(read_iteration, Path("nowhere"))
read_iteration(Path("skills")).findings
