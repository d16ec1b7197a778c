# Skills of sites: indexes of both versions, artifacts that are wrong, releases, caches.
import gzip
import json
from contextlib import contextmanager

from satchel import Limits, Satchel, Skill, sources
from satchel_store.archives import tar_gz
from satchel_store.release import build_folder, publish
from tests.unit.files.archive_makers import plain_zip
from tests.unit.sources.http.site import INDEX, OLD_INDEX, SCHEMA, Reply, Site, entry, serving, skill_md

ONE = {"SKILL.md": skill_md("one")}
TWO = {"SKILL.md": skill_md("two"), "references/a.md": b"A\r\n", ".env": b"KEY=1"}
HOME = "/.well-known/agent-skills"
served = contextmanager(serving)


def fill(site, **replies):
    for path, reply in replies.items():
        site.put(path, reply)


def scan(site, path="", **more):
    """What the source of a site finds, and what it asked for on the way."""
    more = {"allow_private": True, "timeout_s": 20, "label": "lab", **more}
    before = len(site.asked)
    source = tried(sources.http, site.url + path, **more)
    if isinstance(source, str):
        print(source)
        return
    found = tried(lambda: list(source.scan()))
    if isinstance(found, str):
        print(found)
    else:
        for item in found:
            key = getattr(item, "key", None)
            print(key or (item.severity, item.code, item.path, item.message), getattr(item, "location", ""))
            if key:
                print("  ", [(f.path, f.size) for f in source.files(key)], tried(source.read, key, "references/a.md", 99), tried(source.read, key, "x.md", 99), tried(source.read, key, "SKILL.md", 3))
    print("asked", sorted(site.paths()[before:]))
    source.close()
    print("closed", tried(source.scan))


async def asked(make, *paths, **more):
    """Serve what `make` puts on a site, and scan it by each path."""
    with served(Site()) as site:
        make(site)
        for path in paths or ("",):
            scan(site, path, **more)


def at(path, *more):
    def make(site):
        site.put("/s/SKILL.md", ONE["SKILL.md"])
        site.put_index(entry("one", "/s/SKILL.md", ONE["SKILL.md"]), *more, path=path)

    return make


await asked(lambda site: site.put_skills({"one": ONE, "two": TWO}))
await asked(lambda site: site.put_old({"one": ONE, "two": TWO}))
await asked(at(f"/team{INDEX}"), "/team", "/team/", "")
await asked(at("/skills.json"), "/skills.json", "/other.json")
await asked(at("/deep/index.json?key=s3cret"), "/deep/index.json?key=s3cret")
await asked(at(OLD_INDEX), "", "/team")
await asked(lambda site: None)
await asked(lambda site: site.put(INDEX, b"<!doctype html>"))
await asked(lambda site: site.put(INDEX, Reply(b"{}", headers=(("Content-Encoding", "br"),))))
await asked(lambda site: site.put(INDEX, Reply(gzip.compress(b"{}"), headers=(("Content-Encoding", "gzip"),))))
await asked(lambda site: site.put(INDEX, json.dumps({"$schema": "https://x.com/9.json", "skills": [{}]}).encode()))
await asked(lambda site: site.put_skills({"one": ONE}), limits=Limits(index_bytes=10))
await asked(lambda site: site.put_skills({n: {"SKILL.md": skill_md(n)} for n in "abcde"}), limits=Limits(scan_entries=3))
for document in (b"", b"[]", b"{", b"[" * 5_000, b'{"skills": 1}', b'{"skills": null}', b'{"skills": [1, null, {}, "x"]}', b'{"$schema": 7, "skills": []}', b'\xff{"skills": []}'):
    about(document[:40])
    await asked(lambda site: site.put(INDEX, document))
    await asked(lambda site: site.put(OLD_INDEX, document))
odd_entries = [
    entry("one", "http://169.254.169.254/latest", b""),
    entry("one", "file:///etc/passwd", b""),
    entry("one", "https://u:pw@x.com/", b""),
    entry("one", "/a b", b""),
    entry("one", "//", b""),
    entry("one", "/s/SKILL.md#x", ONE["SKILL.md"]),
    entry("one", "/s/SKILL.md", b"other"),
    entry("one", "/missing.md", b""),
    entry("one", "/s/SKILL.md", ONE["SKILL.md"], archive=True),
    entry("../one", "/s/SKILL.md", ONE["SKILL.md"]),
    entry("", "/s/SKILL.md", ONE["SKILL.md"]),
    entry("Other_Name", "/s/SKILL.md", ONE["SKILL.md"]),
    {**entry("one", "/s/SKILL.md", b""), "digest": "md5:1"},
    {**entry("one", "/s/SKILL.md", b""), "digest": None},
    {**entry("one", "/s/SKILL.md", b""), "type": "program"},
    {**entry("one", "/s/SKILL.md", b""), "type": 1},
    {**entry("one", "/s/SKILL.md", b""), "url": 1},
    {**entry("one", "/s/SKILL.md", ONE["SKILL.md"]), "description": None},
    {"name": "one"},
]
for odd in odd_entries:
    about(odd)
    await asked(at(INDEX, odd))
bomb = plain_zip(("SKILL.md", ONE["SKILL.md"]), ("0", bytes(1_000_000)))
artifacts = {
    "/zip": plain_zip(("one/SKILL.md", ONE["SKILL.md"]), ("one/references/a.md", b"A")),
    "/bomb": bomb,
    "/large": b"x" * 2_000_000,
    "/two": tar_gz(TWO.items()),
    "/junk": b"junk",
}


def artifact(path, archive=True):
    def make(site):
        for name, data in artifacts.items():
            site.put(name, data)
        site.put_index(entry("one", path, artifacts[path], archive=archive))

    return make


for path in artifacts:
    about(path)
    await asked(artifact(path))
    await asked(artifact(path, archive=False))
for old in (
    {"name": "one", "description": "x", "files": ["SKILL.md", "../x"]},
    {"name": "one", "description": "x", "files": ["references/a.md"]},
    {"name": "one", "description": "x", "files": "SKILL.md"},
    {"name": "one", "description": "x", "files": []},
    {"name": "one", "files": ["SKILL.md", 1]},
    {"name": "../one", "description": "x", "files": ["SKILL.md"]},
    {"description": "x", "files": ["SKILL.md"]},
    {"name": "one", "description": "x", "files": ["SKILL.md", "missing.md"]},
    {"name": "one", "description": "x", "files": ["SKILL.md", "SKILL.md", "A.md", "a.md"]},
):
    about(old)

    def make_old(site):
        site.put_old({"two": TWO})
        site.put(OLD_INDEX, json.dumps({"skills": [old]}).encode())
        site.put("/.well-known/skills/one/SKILL.md", ONE["SKILL.md"])

    await asked(make_old)


def redirecting(location, status=302, times=1):
    def make(site):
        site.put(INDEX, *([Reply(status=status, headers=(("Location", location.format(site.url)),))] * times))
        site.put_index(entry("one", "one.md", ONE["SKILL.md"]), path="/cdn/index.json")
        site.put("/cdn/one.md", ONE["SKILL.md"])

    return make


for location in ("/cdn/index.json", "{}/cdn/index.json", INDEX, "http://169.254.169.254/", "ftp://x/y", "https://localhost:1/x", "", "//x y/"):
    about(location)
    await asked(redirecting(location))
await asked(redirecting("/cdn/index.json", 307))
await asked(redirecting("/cdn/index.json", 304))
for status in (400, 401, 403, 404, 410, 418, 429, 500, 503):
    about(status)
    await asked(lambda site: site.put(INDEX, Reply(b"x" * 100, status, (("Retry-After", "99"),))), "/")
await asked(lambda site: site.put(INDEX, Reply(b"short", length=500)))
await asked(lambda site: site.put(INDEX, Reply(b'{"skills": []}', headers=(("X", "y" * 70_000),))))
await asked(lambda site: site.put_skills({"one": ONE}), headers={"Authorization": "Bearer x"}, hosts=["localhost:1"])
await asked(lambda site: site.put_skills({"one": ONE}), allow_private=False)
each(
    lambda given: repr(sources.http(given[0], **given[1])),
    ("https://example.com", {}),
    ("https://example.com/team/", {"label": "team", "pin": None}),
    ("example.com", {}),
    ("ftp://example.com", {}),
    ("http://example.com", {}),
    ("https://", {}),
    ("https://u:p@example.com", {}),
    ("https://example.com/a b", {}),
    ("https://example.com/" + "x" * 3_000, {}),
    ("https://example.com:99999", {}),
    ("https://exa_mple.com:0/", {}),
    ("https://[::1]/", {}),
    ("https://[::zz]/", {}),
    ("https://\u00fc.example.com/", {}),
    ("", {}),
    ("https://example.com", {"hosts": ["a b"]}),
    ("https://example.com", {"hosts": ["https://x.com"]}),
    ("https://example.com", {"hosts": "x.com"}),
    ("https://example.com", {"headers": {"Host": "x"}}),
    ("https://example.com", {"headers": {"A b": "x"}}),
    ("https://example.com", {"headers": {"A": "x\ny"}}),
    ("https://example.com", {"headers": {"Accept-Encoding": "gzip"}}),
    ("https://example.com", {"pin": "abc"}),
    ("https://example.com", {"pin": "sha256-tree-v1:" + "0" * 64}),
    ("https://example.com", {"timeout_s": 0}),
)
# A port where nobody listens; a name that does not exist.
each(lambda url: tried(lambda: list(sources.http(url, allow_private=True, timeout_s=20, label="lab").scan())), "http://127.0.0.1:9/", "https://127.0.0.1:9/", "http://0.0.0.0/", "http://224.0.0.1/")
each(lambda url: tried(lambda: list(sources.http(url, timeout_s=20, label="lab").scan())), "https://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://169.254.169.254/", "https://[64:ff9b::7f00:1]/", "https://[2002:a00:1::]/", "https://[fd00:ec2::254]/")


def library(skills):
    print([entry.id for entry in skills.catalog], [(f.code, f.message) for f in skills.findings], skills.health().problems)
    print([(s.label, s.stale, s.packs) for s in skills.catalog.sources], tried(lambda: skills.load("two", "a.md").text))


# A library over time: what changes, fails, heals.
for etags in (False, True):
    for put in (Site.put_skills, Site.put_old):
        about(f"{etags} {put.__name__}")
        with served(Site(etags=etags)) as site:
            put(site, {"one": ONE, "two": TWO})
            with Satchel(sources.http(site.url, allow_private=True, timeout_s=20, label="lab"), sinks=()) as skills:
                library(skills)
                print(skills.sync(), sorted(site.paths()))
                put(site, {"one": {"SKILL.md": skill_md("one", "Better.")}, "two": TWO})
                print(skills.sync(), skills.load("one").text)
                bad = {path: list(reply) for path, reply in site.replies.items()}
                site.put(f"{HOME}/one/SKILL.md", b"tampered")
                site.put("/.well-known/skills/one/SKILL.md", Reply(status=404))
                print(skills.sync())
                library(skills)
                site.put(INDEX, Reply(status=500, headers=(("Retry-After", "99"),)))
                site.put(OLD_INDEX, Reply(status=500, headers=(("Retry-After", "99"),)))
                print(skills.sync())
                library(skills)
                site.replies = bad
                print(skills.sync())
                library(skills)
                put(site, {"one": ONE})
                print(skills.sync())
                print(tried(lambda: skills.load("two").text))
# A cache on disk.
with served(Site()) as site:
    site.put_skills({"one": ONE, "two": TWO})
    scan(site, cache="cache")
    scan(site, cache="cache")
    print(len(list(Path("cache").iterdir())))
    for name in Path("cache").iterdir():
        name.write_bytes(b"changed")
    scan(site, cache="cache")
    scan(site, cache="/dev/null/x")
    site.put_old({"one": ONE, "two": TWO})
    scan(site, OLD_INDEX, cache="cache")
    scan(site, OLD_INDEX, cache="cache")

# Releases: built, published, pinned, wrong.
pack("lib/alpha", files={"references/a.md": "A", "scripts/x.sh": "#!/bin/sh\n"})
pack("lib/beta")
with Satchel("lib", sinks=()) as skills:
    first = build_folder(skills, Path("dist"))
    print(first.release.id)
publish(Path("dist"), Path("public"))
pack("lib/gamma")
runs("build dist2 lib", "build dist2 lib --json", "publish dist2 public", "publish dist2 public --json", "publish public2 --skills lib --v1", "publish nothing public", "publish lib public", "build dist2", "publish dist2")
second = json.loads(Path("dist2/release.json").read_text())["id"] if "id" in json.loads(Path("dist2/release.json").read_text()) else None
json.loads(Path("public/release.json").read_text())
sorted(path.name for path in Path("public/releases").iterdir())
nobody = "sha256-tree-v1:" + "0" * 64


def released(place, **more):
    source = tried(sources.released, place, **more)
    if isinstance(source, str):
        return source
    return tried(lambda: [getattr(item, "location", item) for item in source.scan()])


each(released, "dist", "dist2", "public", "lib", "nowhere")
each(lambda pin: released("public", pin=pin), first.release.id, nobody, "", "abc")
with served(Site(root=Path("public"))) as site:
    scan(site, pin=first.release.id)
    scan(site, pin=nobody)
    scan(site, pin=first.release.id, cache="pinned")
    scan(site, pin=first.release.id, cache="pinned")
    scan(site, "/elsewhere", pin=first.release.id)
    scan(site)
    with Satchel(sources.http(site.url, pin=first.release.id, allow_private=True, timeout_s=20, label="lab"), sinks=()) as skills:
        library(skills)
        print(skills.load("alpha", "a.md").text, skills.sync(), skills.catalog.release)
        site.root = Path("nowhere")
        print(skills.sync(), tried(lambda: skills.load("alpha", "x.sh").text))
    site.root = Path("public")
    [print(run(f"list {site.url}"), run(f"doctor {site.url}/x")) for _ in range(1)]
for path, change in (("release.json", b"{"), ("release.json", b"[]"), ("skills/alpha/SKILL.md", b"tampered"), ("release.json", None)):
    about((path, change))
    run("build dist3 lib")
    file = Path("dist3") / path
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change)
    print(released("dist3"))
    print(run("list dist3"), run("publish dist3 public3"), run("show alpha dist3"))
runs("list dist", "list dist --json", "show alpha dist", "doctor dist", "check dist", "why alpha public", f"serve dist --pin {nobody} --stdio", "serve dist --pin abc --stdio", "build dist4 lib --prefix x-", "build dist4 dist")
