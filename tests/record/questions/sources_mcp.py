# Skills of MCP servers: in memory, over HTTP, a command; honest and otherwise.
import json
import sys
from itertools import count

from mcp.shared.exceptions import MCPError

from satchel import Limits, Options, Satchel, sources
from satchel_server import ServedLibrary, ServerSettings, build_server
from tests.unit.sources.mcp.packs import REFUNDS, skill_md
from tests.unit.sources.mcp.serving import FakeServer, digest, older
from tests.unit.sources.mcp.test_connection import SCRIPT, over_http
from tests.unit.sources.mcp.test_older_index import indexed, item
from tests.unit.sources.mcp.test_shapes import BAD_ENTRIES, BAD_URIS

KEY = "skill://refunds"
MD = f"{KEY}/SKILL.md"


def seen(server, *reads, **options):
    """What the source of a server finds, reads, and asked for."""
    target = server.server() if isinstance(server, FakeServer) else server
    source = tried(sources.mcp, target, **{"label": "docs", "timeout_s": 30.0, **options})
    if isinstance(source, str):
        print(source)
        return
    found = tried(lambda: list(source.scan()))
    for thing in [found] if isinstance(found, str) else found:
        key = getattr(thing, "key", None)
        print(key or (thing if isinstance(thing, str) else (thing.severity, thing.code, thing.path, thing.message, thing.fix)))
        if key:
            print("  ", [(f.path, f.size) for f in source.files(key)])
    for key, path in reads:
        print("read", key, path, tried(source.read, key, path, 1_000))
    source.close()
    if isinstance(server, FakeServer):
        print("asked", server.asked)


honest = [(KEY, path) for path in (*REFUNDS, "new.md", "../x", "SKILL.md")]
seen(FakeServer({"refunds": REFUNDS}), *honest, ("skill://other", "SKILL.md"))
seen(FakeServer({"refunds": REFUNDS}).legacy(), *honest)
seen(FakeServer({"refunds": REFUNDS}, extension=False))
seen(older(FakeServer({"refunds": REFUNDS}).server(), ("server/discover", "initialize")))
with over_http(FakeServer({"refunds": REFUNDS})) as url:
    seen(url, *honest, headers={"Authorization": "Bearer x"})
seen("http://127.0.0.1:9/mcp", timeout_s=30)
each(
    lambda given: repr(sources.mcp(given[0], **given[1])),
    ("https://example.com/mcp", {}),
    ("ftp://example.com/mcp", {}),
    ("example.com", {}),
    ("http:///mcp", {}),
    ([], {}),
    (["server", "a"], {}),
    (["server"], {"headers": {"A": "b"}}),
    ("https://u:s3cret@example.com/mcp", {}),
    ("https://example.com/mcp", {"headers": {"A": "s3cret\nB: c"}}),
    ("https://example.com/mcp", {"headers": {"Accept-Encoding": "gzip"}}),
)
write("server.py", SCRIPT)
seen([sys.executable, "server.py"], ("skill://x", "nothing.md"), timeout_s=20)
seen(["/no/such/command"])

# Bad entries.
for uri, _ in BAD_URIS:
    server = FakeServer({"refunds": REFUNDS})
    server.entries.append({"uri": uri, "frontmatter": {"name": "x", "description": "x"}, "resources": "dynamic"})
    about(repr(uri)[:60])
    seen(server)
for change, why in BAD_ENTRIES:
    about(why)
    server = FakeServer({"bad": {"SKILL.md": skill_md("bad")}, "good": {"SKILL.md": skill_md("good")}})
    change(server.entries[0])
    seen(server)
server = FakeServer({"refunds": REFUNDS})
server.entries += [7, None, [], {}, {"uri": "\x1b[2Jskill://x"}, *({"uri": str(n)} for n in range(60)), server.entries[0]]
seen(server)
seen(FakeServer({"Odd_Name": {"SKILL.md": skill_md("Odd_Name", "x " * 600)}}), limits=Limits(name_chars=7))


def refuse(params):
    raise MCPError(-32602, "this cursor\x1b[2J is no more")


def answering(method, answer):
    server = FakeServer({"refunds": REFUNDS})
    server.answers[method] = answer if callable(answer) else lambda _: answer
    return server


for answer in ({}, {"skills": {}}, {"skills": [], "nextCursor": 7}, {"skills": [], "nextCursor": "x" * 5_000}, {"skills": [], "resultType": "input_required"}, refuse):
    about(answer)
    seen(answering("skills/list", answer))
for answer in ({}, {"contents": []}, {"contents": [{"uri": 7}]}, {"contents": [{"uri": MD, "blob": "no base64!"}]}, {"contents": [{"uri": MD, "blob": "YQ=="}]}, {"contents": [{"uri": "skill://a", "text": "a"}]}, {"contents": [{"uri": MD, "text": "a"}, {"uri": MD, "text": "b"}]}, {"contents": [{"uri": MD, "text": REFUNDS["SKILL.md"].decode()}]}, refuse):
    about(answer)
    seen(answering("resources/read", answer), (KEY, "SKILL.md"), (KEY, "references/rules.md"), (KEY, "SKILL.md"))
for field, value in (("license", "BSD"), ("license", None), ("description", "Other."), ("tags", ["a", 1]), ("metadata", {"a": {"b": "y"}})):
    about((field, value))
    server = FakeServer()
    server.add("skill://x", {"SKILL.md": skill_md("x", more="tags: [a, true]\nmetadata: {a: {b: x}}\n")})["frontmatter"][field] = value
    seen(server, ("skill://x", "SKILL.md"))
numbers = count()
pages = {f"s{n}": {"SKILL.md": skill_md(f"s{n}")} for n in range(5)}


def paged(following):
    server = FakeServer(pages)

    def page(params):
        number = int(params["cursor"] or "0")
        more = {"nextCursor": following(number + 1)} if number + 1 < 5 else {}
        return {"skills": [server.entries[number]], **more}

    server.answers["skills/list"] = page
    return server


seen(paged(str))
seen(paged(lambda n: str(n % 3)))
seen(paged(str), limits=Limits(scan_entries=6))
seen(answering("skills/list", lambda _: {"skills": [], "nextCursor": str(next(numbers))}))
seen(FakeServer({"refunds": REFUNDS}), limits=Limits(pack_files=1))
seen(FakeServer({"refunds": REFUNDS}), *honest, limits=Limits(file_bytes=3))
seen(FakeServer({"refunds": REFUNDS}), limits=Limits(path_depth=1) if hasattr(Limits(), "path_depth") else Limits(pack_bytes=10))

# The older index.
seen(indexed(item()), (KEY, "SKILL.md"), (KEY, "references/rules.md"))
seen(indexed(item(digest="")), (KEY, "SKILL.md"))
for bad in ("x", item(type="task"), item(type=None), item(url="https://x/../SKILL.md"), item(url="skill://refunds/README.md"), item(digest="sha1:x"), item(description=None), item(type="archive", url=5), item(type="archive", url="skill://a.zip", name="a/b"), item(type="archive", url="skill://a.zip", name="refunds")):
    about(bad)
    seen(indexed(bad, item()))
for text in ("{", "[]", '{"skills": null}', '{"skills": 7}', "[" * 5_000):
    about(text[:40])
    server = indexed()
    server.files["skill://index.json"] = text
    seen(server)

# In a library.
with Satchel(sources.mcp(FakeServer({"refunds": REFUNDS}).server(), label="docs"), sinks=()) as skills:
    print(skills.prompt(), [(f.code, f.message) for f in skills.findings], skills.health())
    print(tried(lambda: skills.load("refunds").text), tried(lambda: skills.load("refunds", "rules.md").text), tried(lambda: skills.load("refunds", "x.md").text))
    for style in ("lean", "agent-skills", "packs", "references"):
        chat = skills.session(agent="desk", style=style)
        name, key = {"agent-skills": ("load_skill", "skill_id"), "references": ("load_skill_instructions", "skill_name")}.get(style, ("load_skill", "name"))
        print(style, chat.call(name, {key: "refunds"}))
    print(skills.find("refunds", 3), skills.conflicts)
pack("here/refunds")
with Satchel("here", sources.mcp(FakeServer({"refunds": REFUNDS}).server(), label="docs"), sinks=()) as skills:
    print([(e.id, e.origin) for e in skills.catalog], [(f.code, f.message) for f in skills.findings])
    print([(c.id, c) for c in skills.conflicts])
with Satchel(sources.mcp(FakeServer({"refunds": REFUNDS}).server(), label="a"), sources.mcp(FakeServer({"refunds": REFUNDS}).server(), label="b"), sinks=()) as skills:
    print([e.id for e in skills.catalog], [(f.code, f.message) for f in skills.findings])
tools = FakeServer({"t": {"SKILL.md": skill_md("t", more="allowed-tools: Read Bash(ls *)\n")}, "u": {"SKILL.md": skill_md("u")}})
tools.entries[1]["resources"] = "dynamic"
with Satchel(sources.mcp(tools.server(), label="docs", also=["skill://hidden/SKILL.md", "nonsense"]), sinks=()) as skills:
    print([(e.id, e.allowed_tools, e.resources) for e in skills.catalog], [(f.code, f.message, f.fix) for f in skills.findings])
    print(tried(lambda: skills.load("t").text), tried(lambda: skills.load("u").text))
with Satchel(sources.mcp(tools.server(), label="docs", allowed_tools={"skill://t/SKILL.md": "sha256:" + "0" * 64}), sinks=()) as skills:
    print([(e.id, e.allowed_tools) for e in skills.catalog], [(f.code, f.message) for f in skills.findings])
# What we serve is read back.
for settings in (ServerSettings(), ServerSettings(page_size=1), ServerSettings(compat=True)):
    about(f"{settings.page_size} {settings.compat}")
    with Satchel(libraries["examples"], sinks=()) as mine:
        for around in (lambda server: server, older):
            with Satchel(sources.mcp(around(build_server(ServedLibrary(mine, settings))), label="relay"), sinks=()) as skills:
                print([(e.id, e.resources) for e in skills.catalog], [(f.code, f.message) for f in skills.findings])
                print([skills.digest(e.id) == mine.digest(e.id) for e in skills.catalog if e.id in {m.id for m in mine.catalog}])
