# The fronts of the earlier systems: registries, role prompts, templates, loaders.
import asyncio
import sys
import warnings
from types import SimpleNamespace

import satchel
from satchel import BaseSkill, LocalDirSkillSource, Satchel, SkillDescriptor, SkillLoader, SkillRegistry, load_skill, resolve_role_prompt
from satchel_compat import (
    LegacyRenderer,
    LoadedSkill,
    ResolvedRolePrompt,
    RoleResolver,
    SkillArtifact,
    build_index_only,
    check_registered,
    check_role,
    default_registry,
    descriptors_of,
    invalidate_cache,
    render_role_prompt,
    render_template,
)
from satchel.errors import SkillError
from satchel.skill_md import parse
from tests.unit.compat.templates import write_role, write_template
from tests.unit.sources.house import build
from tests.unit.sources.test_packages import install

warnings.simplefilter("ignore")


def shown(resolved):
    parts = [resolved.body, resolved.source, resolved.skill_name, resolved.tokens, resolved.counted_by, resolved.legacy_tokens, resolved.saved_tokens]
    return [*map(repr, parts), *((f.code, f.severity, f.path, f.line, f.message, f.fix) for f in resolved.findings)]


# --- registries
house = build(Path("houses"), SimpleNamespace(syspath_prepend=lambda path: sys.path.insert(0, os.path.abspath(path))))
registry = SkillRegistry()
house.module("bootstrap").bootstrap(registry)
[repr(registry), list(registry.all_descriptors()), registry.get("agentic-rag").description]
PING = SkillDescriptor("ping", "Use to see who is there.", "Say pong.")
[PING, PING.category, hash(PING) == hash(SkillDescriptor("ping", "Use to see who is there.", "Say pong."))]
each(lambda more: SkillDescriptor("a", "About.", **more), {}, {"references": ["x"]}, {"references": "x"}, {"references": (1,)}, {"tools": None}, {"tools": {"x"}}, {"category": "Raw"}, {"category": "raw"}, {"import_path": 3}, {"nonsense": 1})
each(lambda given: SkillDescriptor(*given), (), ("a",), ("", ""), ("a b", "x"), (3, "x"), ("a" * 99, "x"))
each(lambda skill: registry.register(skill), PING, PING, SkillDescriptor("", "x"), SkillDescriptor("a", ""), 3)
registry.register(SkillDescriptor("ping", "Another."), replace=True)
registry.bootstrap([SkillDescriptor("x", "X."), SkillDescriptor("x", "X.")])
each(registry.get, "ping", "pong", "", None)
each(registry.find, "ping", "documents answer", "", "nothing xyzzy")
[getattr(item, "key", item) for item in registry.scan()]
for key in ("agentic-rag", "execution-debugging", "ping", "nope"):
    about(key)
    print(tried(registry.manifest, key), tried(lambda: [(f.path, f.size) for f in registry.files(key)]))
    for path in ("SKILL.md", "references/notes.md", f"{house.name}/agentic_rag/references/notes.md", "references/unlisted.md", "../x", "notes.md"):
        print(path, tried(registry.read, key, path, 10_000), tried(registry.read, key, path, 2))
with Satchel(registry, sinks=()) as skills:
    print(repr(skills), [(f.code, f.path.replace(house.name, "<house>"), f.message.replace(house.name, "<house>")) for f in skills.findings])
    for file in (None, "notes.md", "azure_search_config.md", "sandbox_runner.py", "unlisted.md", "../x", "NOTES.md"):
        for skill_id in ("agentic-rag", "execution-debugging"):
            print(skill_id, file, str(tried(lambda: skills.load(skill_id, file).text)).replace(house.name, "<house>"))
    chat = skills.session(style="references")
    for arguments in ({"skill_name": "agentic-rag"}, {"skill_name": "agentic-rag", "reference": "notes.md"}, {"skill_name": "execution-debugging", "reference": "notes.md"}, {"skill_name": "nope"}, {"skill_name": "agentic-rag", "reference": "nope.md"}, {}):
        print(arguments, str(chat.call("load_skill_instructions", arguments)).replace(house.name, "<house>"))
for what in (registry, PING, [PING, PING], [], 3, "x", BaseSkill, lambda: [PING], lambda: 1 / 0, house.module("bootstrap").bootstrap, house.module("agentic_rag.skill").AgenticRagSkill, house.module("agentic_rag.skill").DESCRIPTOR):
    about(getattr(what, "__name__", type(what).__name__))
    print(str(tried(lambda: [d.name for d in descriptors_of(what)])).replace(house.name, "<house>"))
    print(str(tried(lambda: [(f.code, f.severity, f.path, f.message, f.fix) for f in check_registered(descriptors_of(what)).findings])).replace(house.name, "<house>"))


def registered(**more):
    more = {"name": "a", "description": "Use it.", "instructions": "Do it.", **more}
    report = check_registered([SkillDescriptor(**more)])
    return [(f.code, f.severity, f.path.replace(house.name, "<house>"), f.message.replace(house.name, "<house>"), f.fix) for f in report.findings]


home = f"{house.name}/agentic_rag/references"
each(lambda more: registered(**more), {}, {"instructions": ""}, {"instructions": "x" * 801}, {"instructions": "# A\n\n### C\n"}, {"instructions": "```\nopen"}, {"references": (f"{home}/notes.md",)}, {"references": (f"{home}/none.md",)}, {"references": ("../x.md",)}, {"references": (f"{home}/notes.md", f"{home}/notes.md")}, {"import_path": f"{house.name}.agentic_rag.skill:AgenticRagSkill"}, {"import_path": f"{house.name}.agentic_rag.skill:Gone"}, {"import_path": "no.such.module:X"}, {"import_path": "nonsense"}, {"import_path": f"{house.name}.agentic_rag.skill:AgenticRagSkill", "references": (f"{home}/notes.md",)}, {"description": ""}, {"description": "x" * 2_000}, {"name": "A B"}, {"tools": ("t",)})
write(f"houses/{house.name}/agentic_rag/references/bad.py", "def x(:\n")
write(f"houses/{house.name}/agentic_rag/references/skips.md", "# A\n\n### C\n")
write(f"houses/{house.name}/agentic_rag/references/open.md", "```\nx\n")
registered(references=(f"{home}/bad.py", f"{home}/skips.md", f"{home}/open.md"), instructions="See `bad.py`, `skips.md`, `open.md`.")
[default_registry() is default_registry(), repr(default_registry()).partition(" from ")[0]]
catalog_skill = satchel.SkillDiscoverySkill(Satchel(libraries["examples"], sinks=()))
[catalog_skill.name, catalog_skill.instructions, [(t.name, t.description, t.parameters) for t in catalog_skill.tools]]
each(lambda call: catalog_skill.tools.call(*call), ("list_skills", {}), ("search_skills", {"query": "pdf form"}), ("search_skills", {"query": ""}), ("search_skills", {}), ("load_skill_instructions", {"skill_name": "pdf-forms"}), ("load_skill_instructions", {"skill_name": "nope"}), ("load_skill_instructions", {"skill_name": "pdf-forms", "reference": "nope.md"}), ("nothing", {}))
with catalog_skill.turn():
    print(str(catalog_skill.tools.call("load_skill_instructions", {"skill_name": "pdf-forms"}))[:200])
each(satchel.SkillDiscoverySkill, 3, registry) and None

# --- role prompts
for name in ("analyst", "backend"):
    write_role(Path("templates"), name, body="# Do it\n\nRead conventions.md.\n")
write_role(Path("templates"), "broken").write_text("nothing")
write_role(Path("templates"), "other", "Use it.").write_text("---\nname: another\ndescription: Use it.\n---\n")
TEMPLATES = {
    "qa": "Test {{WHAT}} {{MORE}}.\n!`echo {{WHAT}} ran`\n",
    "ifs": "{{#IF X}}x{{/IF}}{{#IF_NOT X}}y{{/IF}}{{#IF X}}open\n",
    "nested": "{{#IF A}}{{#IF B}}both{{/IF}}a{{/IF}}.{{/IF}}{{ A }}{{a}}{{A-B}}{{}}{{A\n}}\n",
    "win": "Gr\u00fc\u00dfe".encode("cp1252"),
    "wide": "Ja".encode("utf-16"),
    "bin": b"\0",
    "empty": b"",
    "bom": b"\xef\xbb\xbfYou.\r\nTest\rall.\n",
    "cmds": "!`false`\n!`exit 3`\n!`echo $HOME`\n!``\n`!`x\ntext !`echo in` line\n!`printf 'a\\nb'`\n!`no-such-command`\n",
    "deep": "{{#IF A}}" * 60 + "x" + "{{/IF}}" * 60,
}
for role, text in TEMPLATES.items():
    write_template(Path("templates"), role, text)
os.makedirs("templates/roles/folder/system_prompt.md")
write("secret/system_prompt.md", "secret")
os.symlink(os.path.abspath("secret"), "templates/roles/link")
ROLES = ("backend", "analyst", "broken", "other", "another", *TEMPLATES, "folder", "link", "vp", "bakend", "../x", "", "A B", "x" * 99, None)
for role in ROLES:
    for more in ({}, {"primary": "body"}, {"context": {"WHAT": "all", "X": "1", "A": "a", "B": ""}}):
        about((role, more))
        resolved = tried(resolve_role_prompt, role, "templates", include_plugins=False, **more)
        print(resolved if isinstance(resolved, str) else "\n".join(map(str, shown(resolved))))
each(lambda more: shown(resolve_role_prompt("qa", "templates", include_plugins=False, **more)), {"shell": True}, {"context": {"WHAT": "$(id)"}, "shell": True}, {"context": {"WHAT": 3}}, {"context": 3}, {"primary": "Body"}, {"budget_tokens": 5}, {"nonsense": 1})
each(lambda more: shown(resolve_role_prompt("backend", "templates", include_plugins=False, **more)), {"budget_tokens": 5}, {"budget_tokens": None}, {"budget_tokens": 0}, {"limits": satchel.Limits(skill_md_bytes=10)})
each(lambda place: shown(resolve_role_prompt("backend", place, include_plugins=False)), "nowhere", "templates/skills", "templates/roles", "", Path("templates"), 3)
write_template(Path("templates"), "backend", "You are the backend. " * 30)
shown(resolve_role_prompt("backend", "templates", include_plugins=False))
each(lambda role: render_role_prompt(role, {"A": "a", "WHAT": "w"}, templates_dir="templates/roles"), "qa", "vp", "bin", "../x", "deep", "cmds")
render_role_prompt("cmds", {}, templates_dir="templates/roles", shell=True)
each(lambda text: render_template(text, {"A": "a", "X": "", "L": ["x"]}), "{{A}}", "{{ A }}", "{{B}}", "{{#IF A}}x{{/IF}}", "{{#IF X}}x{{/IF}}", "{{#IF_NOT X}}y{{/IF}}", "{{#IF A}}", "{{/IF}}", "!`echo 1`", "{{L}}", "", "{{#IF A}}{{#IF X}}n{{/IF}}{{/IF}}", "{{#UNLESS A}}x{{/UNLESS}}")
each(check_role, "backend", "", "../x", "A", "x" * 99, None)
each(build_index_only, "templates") and None
str(tried(build_index_only, "templates"))
invalidate_cache()
resolver = RoleResolver("templates", include_plugins=False)
each(lambda role: shown(resolver.resolve(role)), "backend", "qa", "vp")
write_role(Path("templates"), "backend", "Edited now.")
shown(resolver.resolve("backend"))
write_role(Path("templates"), "vp")
[shown(resolver.resolve("vp")), repr(resolver)]
renderer = tried(LegacyRenderer)
repr(renderer)

# --- loaders
pack("roles/backend", description="Python server code, APIs, async, strict typing.", head="trigger_keywords: [api, server]\nreferences: [conventions.md]\nscripts: [lint.sh]\nassets: [a.bin]\nversion: 1.10\nauthor: ann\n", body="# Backend\n\nRead conventions.md first.\n", files={"references/conventions.md": "# Conventions\n", "references/hidden.md": "no", "scripts/lint.sh": "echo lint\n", "assets/a.bin": "x", "references/bad.md": b"\xff"})
pack("roles/plain", head="references: []\n")
write("roles/wrong/SKILL.md", "nothing")
pack("more/backend", body="# Another\n")
loader = tried(SkillLoader, [LocalDirSkillSource("roles")], include_plugins=False)
loader if isinstance(loader, str) else "made"
import shutil
shutil.rmtree("roles/wrong")
loader = SkillLoader([LocalDirSkillSource("roles")], include_plugins=False)
[len(loader), [s.name for s in loader.list_all()], loader.has("backend"), loader.has("Backend"), repr(loader)]
each(loader.get, "backend", "plain", "nope", "", None)
each(lambda given: loader.read_reference(*given), ("backend", "conventions.md"), ("backend", "hidden.md"), ("backend", "../x"), ("nope", "x"), ("backend", "none.md"), ("backend", ""))
each(lambda given: loader.read_script(*given), ("backend", "lint.sh"), ("backend", "none.sh"))
each(lambda name: repr(loader.find_source_for(name)), "backend", "nope")
[loader.catalog, loader.findings]
each(lambda given: SkillLoader(*given, include_plugins=False), ([LocalDirSkillSource("roles"), LocalDirSkillSource("more")],), ([3],), (["roles"],), ([],), ([LocalDirSkillSource],)) and None
older = LocalDirSkillSource("roles")
[repr(older), [a.manifest.name for a in older.iter_skills()], older.manifest_for("backend"), older.manifest_for("nope")]
each(lambda given: getattr(older, given[0])(*given[1:]), ("read_reference", "backend", "conventions.md"), ("read_reference", "backend", "bad.md"), ("read_reference", "backend", "hidden.md"), ("read_reference", "backend", "../x"), ("read_script", "backend", "lint.sh"), ("read_asset", "backend", "a.bin"), ("read_asset", "backend", "b.bin"), ("list_references", "backend"), ("list_scripts", "backend"), ("list_assets", "backend"), ("list_references", "nope"), ("list_scripts", "plain"))
each(LocalDirSkillSource, "nowhere", "", 3) and None


async def loaded(*given, **more):
    try:
        return await load_skill(*given, **more)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


for given, more in ((("backend",), {"templates_dir": "roles"}), (("backend",), {"templates_dir": "templates"}), (("nope",), {"templates_dir": "templates"}), (("backend", "conventions.md"), {"templates_dir": "roles"}), (("backend",), {"reference": "conventions.md", "templates_dir": "roles"}), (("backend",), {"script": "lint.sh", "templates_dir": "roles"}), (("backend",), {"reference": "../x", "templates_dir": "roles"}), (("",), {}), ((3,), {}), (("qa",), {"templates_dir": "nowhere"}), (("analyst",), {}), (("no-such-skill",), {})):
    about((given, more))
    print(await loaded(*given, **more))
each(lambda more: tried(satchel_compat.SkillManifest if hasattr(satchel_compat, "SkillManifest") else lambda **k: "none", **more), {"name": "a", "description": "x"}, {"name": ""}, {"name": "a", "description": "x", "references": "y"})

# --- the command
lines = ("role backend", "role backend --primary body", "role analyst --json", "role qa --set WHAT=x --set WHAT=a=b", "role qa --shell --set WHAT=$(id) --set MORE=", "role vp --no-plugins", "role bakend --no-plugins", "role broken --no-plugins", "role other --no-plugins", "role ../x", "role qa --set nonsense", "role backend --budget 5", "role backend --budget none", "role backend --budget x", "role backend --templates nowhere", "role backend roles", "role backend --primary loud", "role cmds", "role bin", "role folder --no-plugins", "role link --no-plugins", "role backend -q", "role backend -v")
runs(*lines)
write("no-templates/readme", "")
run("role vp no-templates --no-plugins")
for number in range(20):
    write_role(Path("templates"), f"x{number}")
run("role unknown --no-plugins")
