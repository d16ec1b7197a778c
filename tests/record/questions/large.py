# Libraries that are large, or opened again: budgets, parts, the index on disk, reasons, what is served of a release.
import json
import random
import shutil

from starlette.testclient import TestClient

from satchel import Limits, Options, Policy, Satchel, SkillError, Skill, deny, sources
from satchel_server import (
    GuardSettings,
    HttpSettings,
    ServedLibrary,
    ServerSettings,
    create_app,
    guarded_app,
)
from tests.fakes import LOADERS, FakeClock, FakeSource, pack as skill_md

VERBS = "Read Write Check Merge Split Convert Translate Review Publish Sign Count Draw Sort Trim Plan".split()
THINGS = "invoices forms tables letters pictures releases queries contracts calendars budgets logs slides".split()
chance = random.Random(7)


def described(number):
    verb, thing = VERBS[number % 15], THINGS[number % 12]
    extra = " ".join(chance.choice(THINGS) for _ in range(number % 9))
    return (
        f"{verb} {thing} of kind {number}, e.g. for {extra or 'anybody'}. Use when the user asks for {thing}, "
        f"mentions number {number} or a C++ file; do not use it for {THINGS[(number + 1) % 12]}. {'处理表格和报表。' if number % 11 == 0 else ''}"
    )


def library(count):
    return FakeSource("s", {f"{('team-' + str(n % 4) + '/') if n % 3 else ''}skill-{n:04}": {"SKILL.md": skill_md(f"{VERBS[n % 15].lower()}-{THINGS[n % 12]}-{n}", described(n), body=f"# Body {n}\n\nStep {n}.\n")} for n in range(count)})


def summed(section):
    text = str(section)
    return f"{section.tokens} tokens, {len(text.splitlines())} lines\n{text[:1_500]}\n...\n{text[-700:]}\n{repr(section)[:1_200]}"


for count in (3, 30, 120, 400):
    with Satchel(library(count), sinks=(), options=Options(clock=FakeClock())) as skills:
        for budget in (40, 200, 900, 4_000, None):
            for style in ("lean", "agent-skills"):
                about(f"{count} {budget} {style}")
                print(summed(skills.prompt(style=style, budget_tokens=budget))[:4_500])
        about(f"{count} message")
        print(summed(skills.prompt(budget_tokens=300, message="merge two tables and sign a contract")))
        chat = skills.session(style="lean")
        called = chat.call("load_skill", {"skill_id": "read-invoices-0"})
        print(summed(skills.prompt(budget_tokens=300)), chat.instructions("Base.", "check the logs")[-900:], called)
        print([tool.name for tool in chat.tools()], tried(chat.call, "find_skills", {"query": "sign contracts"}))
for format in ("lean", "xml-id", "markdown", "xml-spec", "json"):
    with Satchel(library(60), sinks=()) as skills:
        about(format)
        for budget in (30, 120, 600, 2_000):
            print(summed(skills.prompt(format=format, budget_tokens=budget))[:1_800])

# Long texts in parts.
LONG = "# Title\n\nIntro.\n\n" + "".join(f"## Section {n}\n\n{'Do the step and look. ' * 40}\n\n### Inner {n}\n\n```\n# no heading\n```\n\n" for n in range(12))
FILES = {"SKILL.md": skill_md("long", body=LONG), "references/long.md": LONG, "references/flat.txt": "word " * 4_000, "references/lines.md": "\n".join(f"line {n}" for n in range(3_000)), "references/one.md": "x" * 9_000, "references/short.md": "Short.\n", **{f"assets/{n:03}.txt": "a" for n in range(40)}}
for most in (50, 300, 2_000, None):
    for style in LOADERS:
        skills = tried(lambda: Satchel(FakeSource("s", {"long": FILES, "one": {"SKILL.md": skill_md("one")}}), sinks=(), options=Options(max_result_tokens=most)))
        if isinstance(skills, str):
            print(skills)
            continue
        chat = skills.session(style=style)
        name, key = LOADERS[style]
        for arguments in ({}, {"part": 2}, {"part": 99}, {"part": 0}, {"part": "2"}, {"section": "Section 3"}, {"section": "inner 4"}, {"section": "Nothing"}, {"part": 1, "section": "Title"}):
            about(f"{most} {style} {arguments}")
            print(str(tried(chat.call, name, {key: "long", **arguments}))[:1_300])
        reader, file = ("read_skill_file", "path") if style in ("lean", "agent-skills") else (name, "reference")
        for path in ("references/long.md", "references/flat.txt", "references/lines.md", "references/one.md", "references/short.md", "assets/001.txt", "nope.md"):
            about(f"{most} {style} {path}")
            print(str(tried(chat.call, reader, {key: "long", file: path}))[:700], str(tried(chat.call, reader, {key: "long", file: path, "part": 2}))[:300])
each(lambda most: Options(max_result_tokens=most), 0, -1, True, 1, None)

# The index on disk: written, read, edited, damaged, of another kind.
for number in range(40):
    pack(f"lib/group-{number % 3}/skill-{number:02}", description=described(number), body=f"# Body {number}\n", files={"references/a.md": "A"} if number % 5 == 0 else None)
pack("lib/group-0/again/skill-39", description="Another of the name.")
write("lib/group-1/broken/SKILL.md", "nothing")
write("lib/group-1/broken-2/SKILL.md", "---\nname: broken-2\n---\n")
pack("lib/group-2/hidden", head="disable-model-invocation: true\n")
pack("lib/group-2/retired", head="metadata:\n  status: deprecated\n  replaced_by: skill-01\n")


def settle(seconds=10):
    """Make every file and folder of the library older than the index trusts at once."""
    for path in sorted(Path("lib").rglob("*")):
        stat = path.stat()
        os.utime(path, ns=(stat.st_atime_ns - seconds * 10**9, stat.st_mtime_ns - seconds * 10**9))


def opened(**more):
    options = Options(index="index.db", **more)
    with Satchel("lib", sinks=(), options=options) as skills:
        print(repr(skills), [e.id for e in skills.catalog][:5], [(c.id, c.preferred) for c in skills.conflicts], [(o.id if hasattr(o, "id") else o.descriptor.id, o.reason) for o in skills.catalog.excluded])
        print(sorted((f.code, f.path) for f in skills.findings), skills.find("sign contracts", 3)[0].id, skills.prompt().tokens)
        print(skills.load("skill-01").body, skills.digest("skill-05")[:30], skills.why("skill-39").stage, skills.why("broken").stage)
        print(skills.sync())


settle()
for number in range(3):
    about(f"opened {number}")
    opened()
    settle()
for check in ("files", "folders", "trust"):
    about(check)
    opened(check=check)
pack("lib/group-1/skill-01", description="Edited now. Use it.")
opened()
pack("lib/group-1/added")
shutil.rmtree("lib/group-2/skill-02")
opened()
opened(check="trust")
os.rename("lib/group-0", "lib/group-9")
opened()
settle()

opened(on_conflict="precedence")
opened(limits=Limits(skill_md_bytes=400))
data = Path("index.db").read_bytes()
for title, damaged in (("empty", b""), ("text", b"notes of mine"), ("half", data[: len(data) // 2]), ("header", data[:100] + b"\xff" * 3_000 + data[3_100:])):
    about(title)
    Path("index.db").write_bytes(damaged)
    opened()
    opened()
Path("index.db").unlink()
Path("index.db").mkdir()
opened()
runs("list lib", "doctor lib", "find sign lib", SATCHEL_INDEX="other.db")
runs("list lib -q", "find sign lib", SATCHEL_INDEX="other.db")
runs("find sign lib", SATCHEL_INDEX="none")
with Satchel("lib", sinks=(), options=Options(index="third.db")) as skills:
    pack("lib/group-1/added-2")
    print(skills.sync())
    pack("lib/group-1/added-2", description="Changed. Use it.")
    print(skills.sync(), skills.find("changed", 1))

# Why not; and errors of a strict opening.
PLACES = ("skill-01", "skill-39", "broken", "broken-2", "hidden", "retired", "lib/group-1/skill-01", "lib/group-1/broken", "lib", "lib/group-1", "nowhere", "lib/group-1/skill-01/SKILL.md", "skill-1", "", "x" * 300, "../x")
with Satchel("lib", sinks=(), policy=Policy(deny("skill-03")), disabled=["skill-04"], budget_tokens=200) as skills:
    for place in (*PLACES, "skill-03", "skill-04", "added"):
        about(place[:40])
        print(tried(skills.why, place))
for place in PLACES:
    about(f"command {place[:40]}")
    print(run(["why", place, "lib"]), run(["why", place, "lib", "--json"]))
for given in ({"disabled": ["nope"]}, {}, {"options": Options(on_conflict="precedence")}):
    about(given)
    try:
        with Satchel("lib", sinks=(), strict=True, **given) as skills:
            print("opened")
    except SkillError as error:
        print(type(error).__name__, error, getattr(error, "__notes__", []))
each(lambda packs: Satchel(FakeSource("s", packs), sinks=(), strict=True) and "opened", {"a": {"SKILL.md": "x"}}, {"a": {"SKILL.md": skill_md("a")}}, {}, {"a": {"SKILL.md": skill_md("a", "Hidden \U000e0041 text.")}}, {"a": {"SKILL.md": skill_md("a") + "</instructions>\n"}}, {"a": {"SKILL.md": "---\nname: a\ndescription: x\nrefrences: [a.md]\n---\n"}}, {"a": {"SKILL.md": skill_md("same")}, "b": {"SKILL.md": skill_md("same", body="Other.")}})

# Releases, served.
shutil.rmtree("lib/group-1/broken")
shutil.rmtree("lib/group-1/broken-2")
runs("build dist lib --allow-findings", "publish dist public", "build dist lib --allow-findings --json")
with Satchel(sources.released("dist"), sinks=()) as skills:
    with TestClient(create_app(ServedLibrary(skills, ServerSettings()), HttpSettings(old_index=True)), raise_server_exceptions=False) as client:
        listed = client.get("/release.json")
        hex = json.loads(listed.text)["release"].rpartition(":")[2]
        for path in ("/release.json", f"/releases/{hex}/release.json", f"/releases/{hex}/skills/skill-05/SKILL.md", f"/releases/{hex}/skills/skill-05/references/a.md", f"/releases/{hex}/skills/hidden/SKILL.md", f"/releases/{hex}/nope", f"/releases/{hex}/../x", f"/releases/{'0' * 64}/release.json", f"/releases/{hex}/skills/skill-05/../../release.json", f"/releases/{hex}/archives/skill-05.tar.gz", "/.well-known/agent-skills/index.json", "/.well-known/skills/index.json", "/readyz"):
            about(path.replace(hex, "<hex>"))
            response = client.get(path)
            print(response.status_code, response.headers.get("content-type"), response.headers.get("cache-control"), response.text[:600].replace(hex, "<hex>"))
            print(client.head(path).status_code, client.get(path, headers={"satchel-purpose": "sync"}).status_code)

# Metadata that is edited: a skill is retired and brought back, however its head is written.
HEADS = ("", "metadata:\n  owner: x\n", "metadata: {}\n", "metadata: {owner: x}\n", "metadata:\n", "metadata:\n    owner: x # kept\n    status: active\n", "metadata: text\n", "metadata:\n- a\n", "status: deprecated\n", "metadata:\n  status: deprecated\n  replaced_by: other\n", "metadata:\r\n  owner: x\r\n", "metadata: # a comment\n  owner: 'x: y'\n\n  deep: {a: 1}\n", "metadata: null\nlicense: MIT\n", "references: []\nmetadata:\n  owner: x\n", "'metadata':\n  owner: x\n")
for number, head in enumerate(HEADS):
    about(head)
    for name, more in (("old", head), ("new", HEADS[number - 1])):
        pack(f"edit-{number}/{name}", head=more)
    print(run(f"retire old edit-{number} --for new --dry-run"), run(f"retire old edit-{number} --for new"), tree(f"edit-{number}"), run(f"retire old edit-{number} --undo"), tree(f"edit-{number}"))
