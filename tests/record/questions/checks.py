# What `check` says: every case of tests/cases, in every format, with every option.
import json
import shutil
import sys

from tests.functional.test_grid import TROUBLES
from tests.unit.checking.history import commit

ROOT = Path(__import__("tools.adapters.frameworks", fromlist=["ROOT"]).ROOT)
FORMATS = ("text", "concise", "json", "sarif", "github", "markdown")
shutil.copytree(ROOT / "tests/cases/check", "cases")
names = sorted(path.name for path in Path("cases").iterdir())
profiles = ("strict", "spec", "lenient", "auto", "dialect")


def checked(number, name):
    style, profile = FORMATS[number % 6], profiles[number % 5]
    return f"{style} {profile}\n" + run(f"check cases/{name}/pack --format {style} --profile {profile}")


each(lambda name: checked(names.index(name), name), *names[::2])
each(lambda name: checked(names.index(name), name), *names[1::2])
each(lambda name: run(f"check cases/{name}/pack --diff"), *names)
shutil.copytree(ROOT / "tests/cases/spec", "spec")
for name in sorted(path.name for path in Path("spec").iterdir()):
    write(f"packs/{name}/SKILL.md", next(Path("spec", name).glob("*.md")).read_bytes())
packs = sorted(path.name for path in Path("packs").iterdir())
for start in range(0, len(packs), 12):
    about(packs[start])
    print(run(["check", *(f"packs/{name}" for name in packs[start : start + 12]), "--format", "concise"]))
shutil.copytree("packs", "fixed")
run("check fixed --fix --statistics")
each(lambda name: Path("fixed", name, "SKILL.md").read_bytes().decode("utf-8", "backslashreplace")[:600], *packs)
run("check fixed --format concise")
runs("list --skills packs --on-conflict precedence", "doctor packs")
shutil.copytree("cases", "to-fix")
each(lambda name: run(f"check to-fix/{name}/pack --fix"), *names)

# Options.
pack("lib/plain")
pack("lib/long", description="Do a long thing. " * 70)
pack("lib/links", body="# Links\n\n[gone](gone.md) [out](../plain/SKILL.md) [web](https://example.org) `scripts/run.sh`\n", files={"scripts/run.sh": "#!/bin/sh\necho $1\n", "references/a.md": "# A\n"})
pack("lib/scripts", body="# S\n\nRun `scripts/a.py`, `scripts/b.sh`, `scripts/c.json`.\n", files={"scripts/a.py": "def x(:\n", "scripts/b.sh": "if then\n", "scripts/c.json": "{", "scripts/d.py": "input()\n", "scripts/e.sh": "#!/bin/sh\r\nread x\r\n", "references/f.yaml": "a: [", "scripts/h.py": "print 'x'\n", "scripts/ok.py": "print(1)\n", "scripts/ok.sh": "echo 1\n"})
pack("lib/secret", body="# K\n\nkey AKIAIOSFODNN7EXAMPLE\n", files={".env": "A=1", "id_rsa": "-----BEGIN RSA PRIVATE KEY-----\n"})
pack("a/twice")
pack("b/twice", body="# Other\n")
write("lib/none/SKILL.md", "# nothing\n")
shutil.make_archive("zipped", "zip", "lib/plain")
lines = (
    "check", "check lib", "check lib --strict", "check lib --fail-on note", "check lib --fail-on never", "check lib --select dead-link,missing-h1", "check lib --ignore dead-link --ignore long-description", "check lib --select no-such-code", "check lib --ignore dead-lnik", "check lib --statistics", "check lib --statistics --json", "check lib -q", "check lib -v",
    "check lib/plain/SKILL.md", "check lib/links/references/a.md", "check README.md --changed-files", "check lib/links/gone.md lib/plain/SKILL.md --changed-files", "check zipped.zip", "check nowhere", "check lib nowhere", "check a b", "check a b --format json", "check . --format concise", "check lib --profile loud", "check lib --config none", "check lib --config nowhere.toml", "check lib --format html", "check lib --json --also sarif=out.sarif --also github=out.txt", "check lib --also xml=x", "check lib --also json=gone/x.json", "check lib --diff --fix", "check lib --fix --format json", "check lib/long --color always", "check lib --format github", "check lib --format sarif", "check lib --format markdown",
)
runs(*lines)
write("known.json", run("check lib --format json").partition("\n")[2])
write("broken.json", "{")
write("list.json", "[]")
write("later.json", '{"schema_version": 99, "findings": []}')
runs("check lib --baseline known.json", "check lib a --baseline known.json --format json", "check b --baseline known.json", "check lib --baseline broken.json", "check lib --baseline list.json", "check lib --baseline later.json", "check lib --baseline nowhere.json", "check lib --baseline known.json --statistics")
shutil.copyfile(ROOT / "tests/formats/check-1.json", "check-1.json")
run("check lib --baseline check-1.json")

# Clients.
for at, head in enumerate(TROUBLES):
    write(f"grid/skill-{at:02}/SKILL.md", f"---\n{head.format(name=f'skill-{at:02}')}\n---\nCount.\n")
lines = (
    "check grid --for all", "check grid --for list", "check grid --for list --json", "check grid --for codex,claude-code", "check grid --for clients", "check grid --for frameworks", "check grid --for codx", "check grid --for all --json", "check grid --for codex --format markdown", "check grid --for codex,google-adk --format html", "check grid --for codex --format sarif", "check grid/skill-00 --for all", "check grid/skill-01 --for codex -v", "check grid --for codex --statistics", "check grid --for codex --fix", "check grid --for codex --strict", "check grid --library",
    "check grid --library --for codex,claude-code", "check grid --library --for all --window 200k", "check grid --library --for all --window 8k,1m --json", "check grid --library --for codex --window nonsense", "check grid --library --for codex --format markdown", "check grid --library --for codex,gemini --format html", "check grid --library --for all --strict", "check grid --library --for codex --format sarif", "check grid --window 200k", "check lib --library --for claude-code", "check lib --for all --format markdown", "check nowhere --for codex", "check zipped.zip --for codex",
)
runs(*lines)
runs(*(line.replace("check ", "predict ") for line in lines), "predict grid", "predict grid --library --for codex --also sarif=seen.sarif")
for line in lines[:10] + lines[17:23]:
    about(line)
    print(run(line, COLUMNS="60")[:3_000])
write("one/evals/cases.json", "[]")
for name in ("\u6280\u80fd", "e\u0301tude", "a" * 70):
    write(f"wide/{name}/SKILL.md", f"---\nname: {name}\ndescription: Count.\n---\nCount.\n")
runs("check wide --for codex,google-adk", "check wide", "list wide", "doctor wide")
many = Path("many")
for number in range(120):
    pack(f"many/skill-{number:03}", description=f"Do the thing number {number}. " * (number % 7 + 1) + "Use it when a test asks for it, and never else.")
runs("check many --library --for all --window 8k", "check many --library --for codex --window 8k --json", "check many --library --for codex --window 8k,32k --format html", "check many --for all", "check many --for codex --format html", "check many --library --for all --window 8k --strict")


# Skills in code.
write("house/__init__.py", "")
write("house/bootstrap.py", '''
from satchel import BaseSkill, Skill, SkillDescriptor, SkillRegistry

class Good(BaseSkill):
    name = "good"
    description = "Use it."
    instructions = "Do it; see `references/a.md`."

def make():
    return Good()

REGISTRY = SkillRegistry()
REGISTRY.register(SkillDescriptor(skill_id="good", name="good", description="Use it.", import_path="house.bootstrap:Good", references=("house/references/a.md",)))
ONE = SkillDescriptor(skill_id="one", name="one", description="Use it.", import_path="house.bootstrap:Gone", references=("references/none.md",))
LIST = [ONE, ONE]
NUMBER = 1
SKILLS = [Skill("s", description="Use it.", instructions="# A\\n\\n### C\\n")]
def bootstrap():
    return [ONE]
def fails():
    raise ValueError("no")
''')
write("house/references/a.md", "# A\n")
write("house/references/b.md", "# B\n")
sys.path.insert(0, os.getcwd())
runs("check house.bootstrap:REGISTRY", "check house.bootstrap:ONE", "check house.bootstrap:LIST", "check house.bootstrap:NUMBER", "check house.bootstrap:SKILLS", "check house.bootstrap:bootstrap", "check house.bootstrap:fails", "check house.bootstrap:nothing", "check house.nothing:X", "check house.bootstrap:REGISTRY --format json", "check house.bootstrap:REGISTRY --for codex", "check house.bootstrap:REGISTRY lib", "check house.bootstrap:")
