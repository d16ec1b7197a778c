# Servers: who may call, what is limited, every route, in memory and in processes of their own.
import asyncio
import hashlib
import json
import sys

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from starlette.testclient import TestClient

from satchel import Limits, Options, Policy, Satchel, Skill, ask as asking, deny
from satchel_server import (
    Caller,
    GuardSettings,
    HttpSettings,
    OAuthSettings,
    ServedLibrary,
    ServerSettings,
    build_server,
    create_app,
    excluded_from_mcp,
    guard,
    guarded_app,
    open_tokens,
    streamable_http,
)
from satchel.usage import ListSink
from tests.fakes import FakeSource, away
from tests.functional.serving import serving
from tests.unit.server.guard.asking import Application, Request, asked
from tests.unit.server.guard.issuer import RESOURCE, Issuer
from tests.unit.server.mcp.clients import ask, connected, library, write_skills
from tests.unit.server.mcp.test_short_way import call, listed, load, meta, read

write_skills(Path("skills"))
pack("skills/Beta_2", description="Use for beta.")
pack("skills/refunds", body="# Refunds\n\nSee `references/a.md`.\n", files={"references/a.md": "# A\n", "references/b.md": "x" * 3_000})
TOKEN, SOME = "a-token-that-only-ci-knows", "a-token-for-some-skills"
write("token", TOKEN + "\n")
write("tokens.toml", f'[[token]]\nname = "ci"\ntoken = "{TOKEN}"\n[[token]]\nname = "desk"\nsha256 = "sha256:{hashlib.sha256(SOME.encode()).hexdigest()}"\nonly = ["pdf-*", "al*"]\n')

# --- tokens
each(lambda text: (write("t.toml", text), tried(lambda: type(open_tokens(tokens_file=Path("t.toml"))).__name__))[1], "", "[[token]]", '[[token]]\nname = "a"\ntoken = "short"', '[[token]]\nname = "a"\ntoken = "long-enough-to-be-one-x"', '[[token]]\nname = ""\ntoken = "long-enough-to-be-one-x"', '[[token]]\nname = "a"\nsha256 = "x"', '[[token]]\nname = "a"\ntoken = "long-enough-to-be-one-x"\nsha256 = "sha256:y"', '[[token]]\nname = "a"\ntoken = "long-enough-to-be-one-x"\nonly = "x"', '[[token]]\nname = "a"\ntoken = 3', "token = 3", "nonsense = 1", "[", '[[token]]\nname = "a"\ntoken = "long-enough-to-be-one-x"\n[[token]]\nname = "a"\ntoken = "long-enough-to-be-one-y"\nonly = ["x"]')
runs("serve skills --host 0.0.0.0 --port 0", "serve skills --token-file gone", "serve skills --tokens gone.toml", "serve skills --token-file skills", "serve skills --tokens t.toml --port 0", "serve skills --oauth-issuer https://x.example --port 0", "serve skills --oauth-issuer http://x.example --oauth-resource https://y.example/mcp --oauth-jwks https://x.example/k --port 0", "serve skills --allow-host", "serve skills --allow-origin nonsense --host 0.0.0.0 --port 0", "serve nowhere", "serve skills --stdio --port 1", "serve skills --style loud", "serve skills --port 99999", "serve skills --refresh -1", "serve skills --pin x", "serve skills --host nonsense.invalid --port 0 --token-file token", "serve skills --stdio --tokens tokens.toml", "serve skills --budget 0")
each(lambda more: repr(OAuthSettings(**{"issuer": "https://i.example", "resource": RESOURCE, **more})), {}, {"jwks_url": "https://i.example/k"}, {"jwks_url": "http://i.example/k"}, {"jwks_url": "https://i.example/k?x"}, {"jwks_url": "http://127.0.0.1:1/k"}, {"jwks_url": "https://i.example/k", "verifier": object()}, {"jwks_url": "https://i.example/k", "issuer": "ftp://x"}, {"jwks_url": "https://i.example/k", "resource": "https://"})
each(lambda more: repr(GuardSettings(**more)), {}, {"max_body_bytes": 0}, {"rate_per_s": -1}, {"host": "192.0.2.1"}, {"allowed_hosts": ("a",)}, {"nonsense": 1})

# --- the guard
stores = open_tokens(tokens_file=Path("tokens.toml"))
CLOSED = {"host": "192.0.2.1", "tokens": stores}


def with_headers(**headers):
    return Request(headers={"host": "127.0.0.1:8000", **{key.replace("_", "-"): value for key, value in headers.items()}})


def guards():
    yield "open", Request(), {}
    yield "no tokens", Request(), {"host": "192.0.2.1"}
    yield "no token", Request(), CLOSED
    for value in (f"Bearer {TOKEN}", f"bearer {SOME}", "Bearer", "Basic x", f"Bearer {TOKEN}x", TOKEN, "Bearer " + "x" * 9_000, "Bearer \xff"):
        yield value[:30], with_headers(authorization=value), CLOSED
    for host in ("evil.example", "localhost:8000", "127.0.0.1", "[::1]:8000", "", "a.b.test", "LOCALHOST", "127.0.0.1:99999", "x" * 300, "user@localhost", "localhost, evil"):
        yield f"host {host[:30]}", Request(headers={"host": host}), {"allowed_hosts": ("*.b.test",)}
        yield f"host {host[:30]} public", Request(headers={"host": host, "authorization": f"Bearer {TOKEN}"}), {**CLOSED, "allowed_hosts": ("evil.example",)}
    for origin in ("https://app.example.com", "https://evil.example", "null", "http://localhost:8000", "nonsense"):
        for method in ("GET", "OPTIONS", "POST"):
            yield f"{method} {origin}", Request(method=method, headers={"host": "127.0.0.1:8000", "origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization, x"}), {"allowed_origins": ("https://app.example.com",)}
    for method in ("HEAD", "PUT", "DELETE", "TRACE"):
        yield method, Request(method=method), {}
    for path in ("/healthz", "/readyz", "/metrics", "/mcp", "/../x", "/%2e%2e/", "/.well-known/oauth-protected-resource"):
        yield f"path {path}", Request(path=path), CLOSED
    yield "body", Request(method="POST", chunks=(b"x" * 10, b"y" * 10)), {}
    yield "long body", Request(method="POST", chunks=(b"x" * 10, b"y" * 10)), {"max_body_bytes": 15}
    yield "declared", Request(method="POST", headers={"host": "127.0.0.1:8000", "content-length": "99"}), {"max_body_bytes": 15}
    yield "bad length", Request(method="POST", headers={"host": "127.0.0.1:8000", "content-length": "x"}), {}
    yield "goes", Request(method="POST", chunks=(b"x",), goes=True), {}
    yield "slow", Request(method="POST", chunks=(b"x", None)), {"body_timeout_s": 0.05}
    yield "elsewhere", Request(client=("198.51.100.7", 1)), {}
    yield "no client", Request(client=None), {}


async def all_guards():
    for title, request, settings in guards():
        about(title)
        app = Application()
        made = tried(guard, app, GuardSettings(**settings))
        if isinstance(made, str):
            print(made)
            continue
        answer = await asyncio.wait_for(asked(made, request), 30)
        print(answer.status, sorted((name.decode(), value.decode()) for name, value in answer.headers), answer.body[:400])
        print(app.state if app.scopes else "not asked")


await all_guards()


async def limited():
    app = Application()
    made = guard(app, GuardSettings(**{**CLOSED, "burst": 2, "rate_per_s": 0.001}))
    for number in range(4):
        answer = await asked(made, with_headers(authorization=f"Bearer {TOKEN}"))
        print(number, answer.status, answer.header("retry-after") != "", answer.body[:120])


await limited()


async def with_oauth():
    with Issuer() as issuer:
        oauth = OAuthSettings(issuer=issuer.url, resource=RESOURCE, jwks_url=f"{issuer.url}/keys", only_claim="skills")
        app = Application()
        made = guard(app, GuardSettings(oauth=oauth))
        tokens = {
            "good": issuer.sign(skills=["pdf-*"]),
            "text": issuer.sign(skills="pdf-* x"),
            "none": issuer.sign(),
            "number": issuer.sign(skills=7),
            "expired": issuer.sign(exp=1),
            "other audience": issuer.sign(aud="https://other"),
            "other issuer": issuer.sign(iss="https://other"),
            "no scope": issuer.sign(scope="openid"),
            "no client": issuer.sign(client_id=None),
            "nobody": issuer.sign(client_id=None, sub=None),
            "junk": "a.b.c",
            "text token": "nonsense",
        }
        for title, token in tokens.items():
            answer = await asked(made, with_headers(authorization=f"Bearer {token}"))
            print(title, answer.status, answer.header("www-authenticate"), answer.body[:150] if answer.status != 200 else app.state["caller"])
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource", "/v1/catalog"):
            answer = await asked(made, Request(path=path))
            print(path, answer.status, answer.header("www-authenticate"), answer.body[:400])


await with_oauth()

# --- every route, for several callers
policy = Policy(deny("refunds", unless=lambda who: who.get("caller") != "desk"), asking("beta", action="load"))
sink = ListSink()
settings = ServerSettings(name="shop\x1b", compat=True, page_size=2)
served = ServedLibrary(Satchel("skills", sinks=[sink], policy=policy), settings)
app = guarded_app(served, GuardSettings(tokens=stores), old_index=True)
PATHS = (
    "/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/openapi.json", "/v1/catalog", "/v1/catalog?limit=2", "/v1/catalog?limit=2&after=alpha", "/v1/catalog?after=zzz", "/v1/catalog?limit=x", "/v1/catalog?nonsense=1", "/v1/prompt", "/v1/prompt?budget=40", "/v1/prompt?format=loud", "/v1/prompt?style=loud", "/v1/prompt?message=forms", "/v1/find?q=alpha", "/v1/find?q=alpha&k=0", "/v1/find?q=", "/v1/skills", "/v1/skills/alpha", "/v1/skills/alpha/", "/v1/skills/beta", "/v1/skills/handshake", "/v1/skills/refunds", "/v1/skills/Beta_2", "/v1/skills/alpha/files", "/v1/skills/alpha/files/references/guide.md", "/v1/skills/alpha/files/guide.md", "/v1/skills/alpha/files/assets/dot.png", "/v1/skills/alpha/files/assets/latin.txt", "/v1/skills/alpha/files/SKILL.md", "/v1/skills/alpha/files/nope.md", "/v1/skills/alpha/files/..%2f..%2fx", "/v1/skills/alpha/files/%2e%2e/x", "/v1/skills/alpha/nothing", "/v1/skills/%ff", "/v1/skills/" + "x" * 300, "/v1/loads", "/.well-known/agent-skills/index.json", "/.well-known/skills/index.json", "/.well-known/agent-skills/alpha/SKILL.md", "/.well-known/agent-skills/alpha.tar.gz", "/.well-known/agent-skills/nope.tar.gz", "/.well-known/skills/alpha/SKILL.md", "/.well-known/skills/alpha/references/guide.md", "/release.json", "/releases/x", "/favicon.ico", "/mcp", "/v2/x",
)
HEADERS = ("content-type", "etag", "cache-control", "x-content-type-options", "vary", "www-authenticate", "allow", "location", "content-disposition", "content-security-policy")


def answered(response):
    head = "".join(f"{key}: {response.headers[key]}\n" for key in HEADERS if key in response.headers)
    body = response.text if "gzip" not in response.headers.get("content-type", "") else f"{len(response.content) > 0} bytes"
    return f"{response.status_code}\n{head}\n{body[:6_000]}"


with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
    for path in PATHS:
        for title, headers in (("nobody", {}), ("ci", {"authorization": f"Bearer {TOKEN}"}), ("desk", {"authorization": f"Bearer {SOME}"})):
            about(f"{title} GET {path[:60]}")
            if path == "/metrics":
                continue
            response = client.get(path, headers=headers)
            print(answered(response))
            if "etag" in response.headers and title == "ci":
                print("again:", client.get(path, headers={**headers, "if-none-match": response.headers["etag"]}).status_code, client.head(path, headers=headers).status_code, client.post(path, headers=headers).status_code, client.get(path, headers={**headers, "range": "bytes=0-3"}).status_code)
    about("metrics")
    print(sorted({line.partition("{")[0].partition(" ")[0] for line in client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text.splitlines() if not line.startswith("#")}))
    for body in (b"{", b"[]", b"{}", {"writer": "w", "loads": []}, {"writer": "w", "loads": [{"seq": 1, "id": "alpha", "file": "SKILL.md", "digest": "sha256:x", "size_bytes": 1, "tokens": 1, "duration_s": 0.1, "agent": ""}]}, {"writer": "w", "loads": [{"seq": 1, "id": "alpha", "file": "SKILL.md", "digest": "sha256:x", "size_bytes": 1, "tokens": 1, "duration_s": 0.1, "agent": ""}]}, {"writer": "w", "loads": [{"seq": -1}, 3, {"seq": 2, "id": "nope", "file": "../x"}]}, {"writer": 3, "loads": 3}, {"writer": "w" * 500, "loads": [{}] * 2_000}):
        about(str(body)[:60])
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        print(answered(client.post("/v1/loads", content=data, headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"})))
    prepared = {"accept": "application/json, text/event-stream", "content-type": "application/json", "mcp-protocol-version": "2026-07-28", "authorization": f"Bearer {TOKEN}"}
    for body in (load("alpha"), load("nope"), load(3), call({"skill_id": "alpha"}, "nothing"), call(None), call({"name": "alpha"}), read("skill://alpha/SKILL.md"), read("skill://alpha/references/guide.md"), read("skill://nope/SKILL.md"), read(3), listed(), listed(cursor="x"), {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}}, {"jsonrpc": "2.0", "id": 1, "method": "nothing", "params": {"_meta": meta()}}, {"jsonrpc": "2.0", "method": "tools/list"}, [], {}, 3, load("refunds"), load("beta"), {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta()}}, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}):
        about(json.dumps(body)[:90])
        response = client.post("/mcp", content=json.dumps(body), headers={**prepared, "mcp-method": body.get("method", "") if isinstance(body, dict) else ""})
        print(response.status_code, response.headers.get("content-type"), response.text[:3_000])
    for headers in ({}, {"accept": "text/html"}, {"content-type": "text/plain"}, {"mcp-protocol-version": "1999-01-01"}, {"mcp-session-id": "nope"}):
        about(headers)
        response = client.post("/mcp", content=json.dumps(load("alpha")), headers={**prepared, **headers})
        print(response.status_code, response.text[:500])
    print(client.get("/mcp", headers=prepared).status_code, client.delete("/mcp", headers=prepared).status_code)
[(e.name, e.file, e.via, e.code, e.client) for e in sink.events][:80]
[excluded_from_mcp(served)]
[ServedLibrary(Satchel(sinks=())).refresh()]
for kind, made in (("empty", lambda: Satchel(sinks=())), ("away", lambda: Satchel(FakeSource("far", {}), sinks=()))):
    about(kind)
    skills = made()
    with TestClient(create_app(ServedLibrary(skills, ServerSettings(style="lean"))), raise_server_exceptions=False) as client:
        for path in ("/", "/readyz", "/v1/catalog", "/v1/prompt", "/v1/find?q=x", "/v1/skills/x", "/.well-known/agent-skills/index.json"):
            print(path, answered(client.get(path)))
far = FakeSource("/srv/secret", {"a": {"SKILL.md": "---\nname: a\ndescription: Use it.\n---\n# A\n", "b.md": "x" * 99}})
served = ServedLibrary(Satchel(far, sinks=(), options=Options(limits=Limits(file_bytes=80))))
with TestClient(create_app(served), raise_server_exceptions=False) as client:
    print(answered(client.get("/v1/skills/a")), answered(client.get("/v1/skills/a/files/b.md")))
    far.failure = away("/srv/secret")
    served.refresh()
    for path in ("/readyz", "/v1/catalog", "/v1/skills/a", "/v1/skills/b"):
        print(path, answered(client.get(path)))
    far.failure = ValueError("a bug")
    served.refresh()
    print(answered(client.get("/readyz")), answered(client.get("/v1/skills/a")))


# --- MCP with the official client
async def through(served, era):
    async with connected(served, era) as client:
        for method, params in (("skills/list", {}), ("skills/list", {"cursor": "x"}), ("skills/get", {"uri": "skill://alpha/SKILL.md"}), ("skills/get", {"uri": "skill://nope/SKILL.md"}), ("skills/get", {}), ("resources/list", {}), ("resources/list", {"cursor": "nonsense"}), ("resources/templates/list", {}), ("resources/directory/read", {"uri": "skill://alpha/"}), ("resources/directory/read", {"uri": "skill://alpha/references"}), ("resources/directory/read", {"uri": "skill://"}), ("prompts/list", {}), ("prompts/get", {"name": "beta", "arguments": {"file": "a", "kind": "b"}}), ("prompts/get", {"name": "beta"}), ("prompts/get", {"name": "handshake", "arguments": {"arguments": "x"}}), ("prompts/get", {"name": "nope"}), ("tools/list", {}), ("tools/call", {"name": "load_skill", "arguments": {"name": "alpha"}}), ("tools/call", {"name": "load_skill", "arguments": {"name": "alpha", "reference": "guide.md"}}), ("tools/call", {"name": "load_skill", "arguments": {"name": "beta"}}), ("tools/call", {"name": "load_skill", "arguments": {}}), ("tools/call", {"name": "find_skills", "arguments": {"query": "alpha"}}), ("tools/call", {"name": "nope", "arguments": {}}), ("resources/read", {"uri": "skill://alpha/references/guide.md"}), ("resources/read", {"uri": "skill://alpha/assets/dot.png"}), ("resources/read", {"uri": "skill://index.json"}), ("resources/read", {"uri": "skill://alpha/../x"}), ("resources/read", {"uri": "file:///etc/passwd"}), ("completion/complete", {"ref": {"type": "ref/prompt", "name": "beta"}, "argument": {"name": "file", "value": "a"}}), ("resources/subscribe", {"uri": "skill://alpha/SKILL.md"}), ("resources/unsubscribe", {"uri": "skill://alpha/SKILL.md"}), ("ping", {}), ("nothing/here", {})):
            try:
                result = await ask(client, method, **params)
            except Exception as error:
                result = f"{type(error).__name__}: {error}"
            about(f"{era} {served.settings.style if hasattr(served, 'settings') else ''} {method} {params}"[:150])
            print(json.dumps(result, sort_keys=True, default=str)[:5_000])


for era in ("auto", "legacy"):
    await through(library("skills", compat=era == "legacy", page_size=3), era)
await through(library("skills", style="lean", policy=policy), "auto")


async def changing():
    """What a connected client is told."""
    served = library("skills")
    async with connected(served) as client, client.listen(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True, resource_subscriptions=["skill://alpha/SKILL.md"]) as stream:
        pack("skills/gamma")
        await asyncio.to_thread(served.refresh)
        told = []
        async for event in stream:
            told.append(event)
            if len(told) == 3:
                break
        print(told)
        pack("skills/alpha", description="Use for alpha, again.")
        await asyncio.to_thread(served.refresh)
        async for event in stream:
            told.append(event)
            if "Updated" in type(event).__name__:
                break
        print(sorted({str(event) for event in told}))


await changing()

# --- processes of their own
def process(*arguments, paths=("/healthz", "/v1/catalog"), **env):
    with serving(*arguments, cwd=Path(), env=env) as server:
        for path in paths:
            with httpx2.Client(timeout=30) as http:
                response = http.get(f"{server.url}{path}", headers={"authorization": f"Bearer {TOKEN}"})
                print(path, response.status_code, response.text[:200])
        print("stopped", server.stop())
    print("\n".join(line for line in server.said if "ms" not in line))


process("skills", "--v1-index", SATCHEL_USAGE="off")
process("skills", "--tokens", "tokens.toml", "--no-access-log", "--style", "packs", "--compat", "--name", "shop", "--allow-host", "shop.example", "--allow-origin", "https://app.example.com", SATCHEL_USAGE="off")
process("skills", SATCHEL_TOKEN=TOKEN, SATCHEL_USAGE="jsonl:events.jsonl")
process("nothing-here" if os.makedirs("nothing-here") is None else "", "--allow-empty", paths=("/v1/catalog",), SATCHEL_USAGE="off")
runs("serve nothing-here --strict --port 0", "serve skills/alpha --strict --port 0 --pin x")


async def over_stdio(*more):
    server = StdioServerParameters(command=sys.executable, args=["-m", "satchel", "serve", "skills", "--stdio", "-q", *more], env={**os.environ, "SATCHEL_USAGE": "off"}, cwd=os.getcwd())
    async with Client(server) as client:
        tools = await client.list_tools()
        print([tool.name for tool in tools.tools])
        result = await client.call_tool(tools.tools[0].name, {"skill_id": "alpha"} if "--style" not in more else {"name": "alpha"})
        print(result.content[0].text)


await over_stdio()
await over_stdio("--style", "packs")
