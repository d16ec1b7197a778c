# Places that packs come from: folders, archives, packages, layers, wrappers.
import sys
import zipfile

from satchel import Limits, Options, Satchel, sources
from satchel.errors import SkillError
from satchel_store.archives import tar_gz
from tests.unit.files.archive_makers import SKILL, one_zipped, plain_tar, plain_zip, raw_tar, tar_block, zipped, Zipped
from tests.unit.sources.test_packages import install, write_info


def listed(*given, read=(), options=None, limits=None):
    """What a library of these holds, finds wrong, and answers when it is read."""
    more = {"limits": limits} if limits else {}
    with Satchel(*given, sinks=(), options=options or Options(**more)) as skills:
        print(repr(skills))
        for entry in skills.catalog:
            print("skill", entry.id, "|", entry.description, "|", skills.digest(entry.id)[:20], "|", entry.resources)
        for out in skills.catalog.excluded:
            print("out", out)
        for finding in skills.findings:
            print(finding.severity, finding.code, finding.path, finding.line, finding.message, "->", finding.fix)
        for one in skills.health().problems:
            print("problem", one)
        for skill, path in read:
            print("read", skill, path, "->", tried(lambda: skills.load(skill, path).text))
        print("sync", skills.sync())


def scanned(source):
    """What a source itself says."""
    print(repr(source), source.label)
    for item in source.scan():
        key = getattr(item, "key", None)
        if key is None:
            print(item.code, item.path, item.message)
            continue
        print(key, item.location, [(f.path, f.size) for f in source.files(key)])
        for path in ("SKILL.md", "nothing.md", "../x", "references/a.md"):
            print("  ", path, tried(source.read, key, path, 10_000))
        print("  ", tried(source.read, key, "SKILL.md", 3))
    print(tried(source.read, "no-such-key", "SKILL.md", 10))
    print(tried(source.files, "no-such-key"), tried(source.manifest, "no-such-key"))
    source.close()


# --- folders
pack("lib/alpha", files={"references/a.md": "A\r\n", "scripts/run.sh": "#!/bin/sh\n", ".env": "KEY=1", "notes~": "", "deep/er/x.bin": b"\x00\xff"})
pack("lib/group/beta", files={"inner/SKILL.md": "---\nname: inner\ndescription: x\n---\n"})
pack("lib/.hidden/gamma")
pack("lib/.claude/skills/delta")
pack("lib/node_modules/epsilon")
pack("lib/skills/.curated/zeta")
write("lib/wrong/skill.md", "---\nname: wrong\n---\n")
write("lib/folder/SKILL.md/x", "")
write("lib/bad/SKILL.md", "no frontmatter")
os.symlink("alpha", "lib/link-in")
os.symlink("nowhere", "lib/link-broken")
pack("outside/eta")
os.symlink(os.path.abspath("outside/eta"), "lib/link-pack")
os.symlink(os.path.abspath("outside"), "lib/link-out")
os.symlink("SKILL.md", "lib/alpha/link.md")
os.symlink("../group/beta/SKILL.md", "lib/alpha/out.md")
os.mkfifo("lib/alpha/pipe")
pack("lib/a/b/c/d/e/f/g/h/deep")
write("lib/odd\nname/SKILL.md", "---\nname: odd\ndescription: x\n---\n")
listed("lib", read=[("alpha", "a.md"), ("alpha", "x.bin"), ("alpha", ".env"), ("alpha", "pipe"), ("alpha", "../x"), ("alpha", "run.sh"), ("beta", "inner/SKILL.md"), ("nope", None)])
scanned(sources.folder("lib"))
scanned(sources.folder("lib/alpha", label="one"))
listed("lib/alpha", "lib/group")
listed("nowhere")
listed("lib/alpha/SKILL.md")
write("plain.txt", "x")
listed("plain.txt")
listed(sources.folder("lib"), limits=Limits(scan_entries=3))
listed(sources.folder("lib", limits=Limits(scan_entries=6)))
listed(sources.folder("lib", limits=Limits(pack_files=1)), sources.folder("outside"))
listed("lib/alpha", limits=Limits(skill_md_bytes=10))
listed("lib/alpha", limits=Limits(file_bytes=2), read=[("alpha", "a.md"), ("alpha", "x.bin")])
each(lambda value: Limits(**value), {"pack_files": 1}, {"nonsense": 1}, {"pack_files": -1})
with Satchel("lib", sinks=()) as library:
    pack("lib/alpha", description="Another one. Use it.")
    print(library.sync())
    pack("lib/new-one")
    os.remove("lib/group/beta/SKILL.md")
    print(library.sync(), [entry.id for entry in library.catalog])
    print(tried(lambda: library.load("beta").text))
    # A load that sees an edit begins a sync in the background: nothing is asked after.
    write("lib/alpha/references/a.md", "B")
    print(tried(lambda: library.load("alpha", "a.md").text))

# --- archives
write("one.skill", plain_zip(("one/SKILL.md", SKILL.replace(b"name: a", b"name: one")), ("one/references/a.md", b"A")))
write("a.zip", plain_zip(("SKILL.md", SKILL)))
write("a.tar.gz", tar_gz([("SKILL.md", SKILL), ("references/a.md", b"A")]))
write("a.tgz", plain_tar(("SKILL.md", SKILL)))
write("two.zip", plain_zip(("x/SKILL.md", SKILL), ("y/SKILL.md", SKILL)))
listed("one.skill", read=[("one", "a.md"), ("one", "b.md")])
for name in ("one.skill", "a.zip", "a.tar.gz", "a.tgz", "two.zip"):
    about(name)
    scanned(sources.archive(name))
listed("a.zip", "a.tar.gz")
listed(sources.archive("gone.zip"))
listed(sources.archive("plain.txt"))
listed(sources.archive("a.zip", limits=Limits(archive_bytes=10)))
big = b"x" * 5000


def archived(data, name="odd.zip", **limits):
    write(name, data)
    with Satchel(sources.archive(name, limits=Limits(**limits)), sinks=()) as skills:
        return [[entry.id for entry in skills.catalog], [(f.code, f.message) for f in skills.findings], skills.health().problems]


each(
    lambda data: archived(data),
    b"",
    b"PK\x05\x06",
    plain_zip(),
    plain_zip(("a.txt", b"x")),
    plain_zip(("../SKILL.md", SKILL)),
    plain_zip(("/SKILL.md", SKILL)),
    plain_zip(("SKILL.md", SKILL), ("a\\b", b"x")),
    plain_zip(("SKILL.md", SKILL), ("C:/x", b"x")),
    plain_zip(("SKILL.md", SKILL), ("x/", b""), ("x/a.md", b"1")),
    plain_zip(("SKILL.md", SKILL), ("A.md", b"1"), ("a.md", b"2")),
    plain_zip(("SKILL.md", SKILL), ("a", b"1"), ("a/b", b"2")),
    plain_zip(("SKILL.md", SKILL), ("con", b"1"), (".git/config", b"2"), ("__MACOSX/x", b"3"), (".DS_Store", b"4")),
    plain_zip(("SKILL.md", SKILL), method=zipfile.ZIP_STORED),
    plain_zip(("SKILL.md", SKILL), method=zipfile.ZIP_BZIP2),
    one_zipped(method=8),
    one_zipped(flags=1),
    one_zipped(method=99),
    one_zipped(attributes=0o120777 << 16),
    one_zipped(attributes=0o010644 << 16),
    one_zipped(both={"crc": 1}),
    one_zipped(both={"size": 3}),
    one_zipped(local={"name": b"other.md"}),
    one_zipped(central={"offset": 9_999}),
    one_zipped(central={"sign": b"XXXX"}),
    one_zipped(name=b"\xff.md"),
    one_zipped(name=b"a\x00b"),
    one_zipped(name="\u00fc.md".encode(), flags=0x800),
    one_zipped(extra=b"\x01\x00\x08\x00" + bytes(8)),
    one_zipped(behind=b"junk"),
    zipped(Zipped(), front=b"junk"),
    zipped(Zipped(), gap=b"junk"),
    zipped(Zipped(), before_end=b"junk"),
    zipped(Zipped(), end=b"junk"),
    zipped(Zipped(), comment=b"hello"),
    zipped(Zipped(), Zipped()),
    zipped(Zipped(), count=5),
    zipped(Zipped(), disk=3),
    zipped(Zipped(), start=9_999),
    zipped(Zipped(), size=0xFFFFFFFF),
    zipped(Zipped(), comment_size=40),
    plain_zip(("SKILL.md", SKILL))[:-5],
)
each(
    lambda data: archived(data, "odd.tar.gz"),
    b"",
    b"\x1f\x8b",
    raw_tar(),
    raw_tar(tar_block()),
    raw_tar(tar_block(), end=b""),
    raw_tar(tar_block(), tar_block(b"../a.md")),
    raw_tar(tar_block(), tar_block(b"/a.md")),
    raw_tar(tar_block(), tar_block(b"link", b"", b"2", link=b"/etc/passwd")),
    raw_tar(tar_block(), tar_block(b"link", b"", b"1", link=b"SKILL.md")),
    raw_tar(tar_block(), tar_block(b"fifo", b"", b"6")),
    raw_tar(tar_block(), tar_block(b"device", b"", b"3")),
    raw_tar(tar_block(), tar_block(b"folder/", b"", b"5"), tar_block(b"folder/a.md", b"x")),
    raw_tar(tar_block(), tar_block(b"odd", b"", b"Z")),
    raw_tar(tar_block(), tar_block()),
    raw_tar(tar_block(checksum=b"000000\0 ")),
    raw_tar(tar_block(magic=b"nothing!")),
    raw_tar(tar_block(size=b"x" * 12)),
    raw_tar(tar_block(size=b"\x80" + bytes(10) + b"\x33")),
    raw_tar(tar_block(size=b"77777777777\0")),
    raw_tar(tar_block(b"a.md", b"x", prefix=b"deep/er"), tar_block()),
    raw_tar(tar_block(b"x", b"11 path=b\n", b"x"), tar_block()),
    raw_tar(tar_block(b"x", b"19 path=references/\n", b"x"), tar_block()),
    raw_tar(tar_block(b"g", b"13 comment=a\n", b"g"), tar_block()),
    raw_tar(tar_block(b"x", b"nonsense", b"x"), tar_block()),
    raw_tar(tar_block(b"x", b"12 size=5 0\n", b"x"), tar_block()),
    raw_tar(tar_block(b"././@LongLink", b"references/" + b"x" * 120 + b".md\0", b"L"), tar_block(b"short", b"x"), tar_block()),
    raw_tar(tar_block(b"././@LongLink", b"x", b"K"), tar_block()),
    raw_tar(tar_block(b"\xff\xfe"), tar_block()),
    raw_tar(tar_block())[:-20],
    raw_tar(tar_block()) + b"junk",
    raw_tar(tar_block()) + raw_tar(tar_block()),
)
archived(plain_zip(("SKILL.md", SKILL), ("big.bin", big)), file_bytes=1_000)
archived(plain_zip(("SKILL.md", SKILL), ("big.bin", big)), pack_bytes=1_000)
archived(plain_zip(("SKILL.md", SKILL), *((f"{n}.md", b"x") for n in range(20))), pack_files=10)
archived(plain_tar(("SKILL.md", SKILL), ("big.bin", big)), "odd.tgz", file_bytes=1_000)
archived(plain_tar(("SKILL.md", SKILL), ("big.bin", big)), "odd.tgz", pack_bytes=1_000)
archived(plain_tar(("SKILL.md", SKILL), *((f"{n}.md", b"x") for n in range(20))), "odd.tgz", pack_files=10)
archived(plain_zip(("SKILL.md", SKILL)), archive_bytes=3)

# --- layers
pack("base/a", body="# Base\n", head="version: 1.0\nlicense: MIT\nreferences: [x.md]\ntags: [one]\nmetadata:\n  owner: x\n  deep: {a: 1}\n", files={"references/x.md": "base"})
pack("team/a", description="The team's. Use it.", body="", head="version: 1.10\nreferences: [y.md, x.md]\ntags: two, one\nmetadata:\n  owner: y\n  deep: {b: 2}\n", files={"references/x.md": "team", "references/y.md": "y"})
pack("user/a", body="# User\n", head="allowed-tools: Read\n")
pack("base/only-base")
pack("base/odd", head="colour: red\n")
pack("team/odd", head="colour: blue\n")
pack("base/names")
pack("team/names", "other")
write("base/broken/SKILL.md", "---\nname: broken\ndescription: Use when: it is\n---\n")
pack("team/broken")
pack("base/kinds", head="references: [x.md]\nmetadata: {a: {b: 1}}\n")
pack("team/kinds", head="references: {a: 1}\nmetadata: {a: [1]}\n")
listed(sources.layered("base", "team", "user"), read=[("a", None), ("a", "x.md"), ("a", "y.md"), ("a", "z.md"), ("only-base", None)])
layers = sources.layered("base", "team", "user", label="three")
scanned(layers)
each(layers.explain, "a", "only-base", "odd", "names", "broken", "kinds", "nope")
listed(sources.layered("base", "gone"))
listed(sources.layered("base"))
runs("show a base team user --layers", "show a base team user --layers --json", "show odd base team --layers", "show nope base team --layers", "show a --layers", "show a base team user more --layers")

# --- wrappers
four = sources.memory({name: {"SKILL.md": SKILL.replace(b"name: a", b"name: " + name.encode())} for name in ("one", "two", "three", "four")})
listed(four)
scanned(four)
listed(sources.only(four, ["t*"]), read=[("one", None), ("two", None)])
listed(sources.only(four, exclude=["t*"]))
listed(sources.prefixed(four, "p-"), read=[("p-one", None), ("one", None)])
listed(sources.renamed(four, {"one": "uno", "nope": "x"}), read=[("uno", None), ("one", None)])
listed(sources.renamed(four, {"one": "two"}))
listed(sources.prefixed(sources.folder("lib"), "{parent}-"))
listed(sources.prefixed(sources.folder("lib"), "{folder}.{path}-"))
sources.prefixed(four, "{mother}")
scanned(sources.prefixed(four, "p-"))
scanned(sources.only(four, ["one"]))
scanned(sources.renamed(four, {"one": "uno"}))


class Clock:
    def __init__(self):
        self.time = 0.0

    def monotonic(self):
        return self.time

    def now(self):
        return self.time

    __call__ = monotonic


moment = Clock()
kept = sources.cached(sources.folder("outside"), 60, moment)
[item.key for item in kept.scan()]
pack("outside/theta")
[item.key for item in kept.scan()]
moment.time = 100.0
[item.key for item in kept.scan()]
scanned(kept)
sources.memory({"bad": {"README.md": b""}})
listed(sources.memory({"bad": {"README.md": b""}, "../x": {"SKILL.md": SKILL}, "a": {"SKILL.md": SKILL, "../y": b"", "A.md": b"1", "a.md": b"2"}}))
listed(sources.memory({"a": {"SKILL.md": SKILL}}), sources.memory({"a": {"SKILL.md": SKILL}}, label="again"))
listed(sources.memory({"a": {"SKILL.md": SKILL}}), sources.memory({"a": {"SKILL.md": SKILL + b"more"}}, label="again"))
listed(sources.memory({"a": {"SKILL.md": SKILL}}), sources.memory({"a": {"SKILL.md": SKILL + b"more"}}, label="again"), options=Options(on_conflict="precedence"))

# --- packages
site = Path("site").resolve()
site.mkdir()
sys.path.insert(0, str(site))
install(site, "Rec-API", ".agents/skills/testing", "rec_api/.agents/skills/routing")
install(site, "rec-without")
install(site, "rec-escapes", record="../outside/.agents/skills/x/SKILL.md,,")
write("site/rec_plug.py", "from satchel.sources import memory\nfrom satchel import Skill\nsource = memory(Skill('plugged', description='Use it.'))\ndef fails():\n    raise ValueError('no')\nclass Older:\n    name = 'older'\n    def iter_skills(self):\n        return []\nolder = Older\nnumber = 1\n")
points = "[satchel.skill_sources]\nx = rec_plug:source\nbad = rec_plug:fails\ngone = rec_plug:nothing\nnumber = rec_plug:number\n[bernstein.skill_sources]\nold = rec_plug:older\nmissing = rec_nothing:x\n"
install(site, "rec-plugs", entry_points_DOT_txt=points)
listed(sources.package("rec.api"), read=[("testing", "a.md")])
scanned(sources.package("Rec_API"))
each(sources.package, "rec-without", "rec-none", "", "rec-escapes")
[source.label for source in sources.packages()]
[source.label for source in sources.packages(only=["rec-api"])]
[source.label for source in sources.packages(deny=["REC.api", "x"])]
sources.packages(only=["rec-without"])
[source.label for source in sources.load_plugin_sources()]
[source.label for source in sources.load_plugin_sources(deny=["rec-plugs"])]
listed(*sources.packages(only=["rec-plugs"]))
write("site/rec_pkg/__init__.py", "")
pack("site/rec_pkg/skills/packed", files={"references/a.md": "A"})
listed(sources.resource("rec_pkg"), read=[("packed", "a.md")])
scanned(sources.resource("rec_pkg"))
with zipfile.ZipFile("zipped_pkg.zip", "w") as zipped_package:
    zipped_package.writestr("rec_zipped/__init__.py", "")
    zipped_package.writestr("rec_zipped/skills/z/SKILL.md", SKILL.replace(b"name: a", b"name: z"))
    zipped_package.writestr("rec_zipped/skills/z/references/a.md", "A")
sys.path.insert(0, str(Path("zipped_pkg.zip").resolve()))
listed(sources.resource("rec_zipped"), read=[("z", "a.md"), ("z", "b.md")])
scanned(sources.resource("rec_zipped"))
each(sources.resource, "rec_none", "rec_plug", "", "no.such.module")
sources.resource("rec_pkg", "elsewhere")
listed(sources.only(sources.roles(), ["backend", "qa"]))
write("satchel.toml", 'packages = ["rec-api", "rec-plugs"]\n')
runs("list", "doctor", "why plugged", "why testing", "list --json", SATCHEL_CONFIG="satchel.toml")
write("satchel.toml", "packages = true\n")
runs("list", "doctor", SATCHEL_CONFIG="satchel.toml")
os.remove("satchel.toml")


# --- sources of the earlier protocol
class Artifact:
    def __init__(self, **members):
        vars(self).update(members)


class OlderSource:
    name = "older"
    references = {"a.md": "A", "b.md": b"B", "c.md": 1}

    def iter_skills(self):
        yield Artifact(name="x", description="Use x.", version="1", body="# X\n", references=["a.md", "b.md", "c.md", "d.md", "e.md", "f.md", "../g"], trigger_keywords=("k", 2))
        yield Artifact(manifest=Artifact(name="m", description="Use m.", author=None), body=None, scripts="no list")

    def read_reference(self, skill, name):
        if name == "e.md":
            raise ValueError("no")
        if name == "f.md":
            raise OSError("broken")
        return self.references[name]


class Failing:
    name = "failing"

    def iter_skills(self):
        raise RuntimeError("down")


listed(OlderSource(), read=[("x", None), ("x", "a.md"), ("x", "b.md"), ("x", "c.md"), ("x", "d.md"), ("x", "e.md"), ("x", "f.md"), ("m", None)])
listed(Failing())
each(lambda given: listed(given), OlderSource, object(), 3, b"lib")

# --- where clients keep skills
os.makedirs("project/.git")
for number, folder in enumerate((".agents/skills", ".claude/skills", ".github/skills", ".cursor/skills", ".codex/skills", ".gemini/skills", ".opencode/skill")):
    pack(f"project/{folder}/p{number}")
    pack(f"user/{folder}/u{number}")
pack("project/sub/.agents/skills/inner")
for source in sources.usual("project/sub", "user"):
    print(source.label, [item.key for item in source.scan() if hasattr(item, "key")])
for source in sources.usual("project/sub", "user", trust=True):
    print(source.label, [item.key for item in source.scan() if hasattr(item, "key")])
listed(*sources.usual("project", "user"))
listed(*sources.usual("project", "user", trust=True), read=[("p0", None)])
os.environ.update(HOME=os.path.abspath("user"), CODEX_HOME=os.path.abspath("user/.gemini"))
os.chdir("project")
runs("list", "doctor", "why p0", "why u0", "find do", "check", "prompt")
os.chdir("..")
