# What is made of other programs' files, and packs that are made, changed, packed, retired, compared.
import json
import shutil
import tomllib

from satchel import Satchel
from satchel_lab.authoring import (
    ConvertOptions,
    NewPackRequest,
    compare_places,
    convert,
    make_pack,
    pack_skill,
    retire,
)

ROOT = Path(__import__("tools.adapters.frameworks", fromlist=["ROOT"]).ROOT)
CASES = ROOT / "tests/cases/convert"


def converted(name):
    """Convert a case in a folder of its own, as JSON and as text."""
    here = os.getcwd()
    shutil.copytree(CASES / name / "input", f"work/{name}", dirs_exist_ok=True)
    os.chdir(f"work/{name}")
    try:
        arguments = tomllib.loads((CASES / name / "options.toml").read_text("utf-8"))["args"]
        dry = run(["convert", *arguments, "--dry-run"])
        done = run(["convert", *arguments])
        again = run(["convert", *arguments, "--json"])
        return f"{dry}\n{done}\n{again}"[:6_000]
    finally:
        os.chdir(here)


each(converted, *sorted(path.name for path in CASES.iterdir()))
pack("lib/one", head="allowed-tools: Read, Write\nversion: 1.0\nreferences: [a.md]\n", files={"references/a.md": "A", "scripts/x.sh": "#!/bin/sh\n"})
pack("lib/two", head="tags: [x]\nmetadata:\n  owner: y\n", body="Use $ARGUMENTS and !`ls`.\n\n@file.md\n")
write("lib/bad/SKILL.md", "nothing")
write("AGENTS.md", "# Project\n\nIntro.\n\n## Setup\n\nRun make.\n\n## Tests\n\nRun tests.\n")
write(".cursor/rules/a.mdc", "---\ndescription: Use it.\nglobs: *.py\nalwaysApply: false\n---\nDo.\n")
write("plain.txt", "x")
write("roles/qa/system_prompt.md", "You test {{WHAT}}. {{#IF X}}x{{/IF}}\n")
TARGETS = ("strict", "spec", "claude", "claude-code", "codex", "cursor", "copilot", "windsurf", "cline", "gemini", "agents-md", "packs", "nothing")
runs(*(f"convert lib/{name} --to {target} -o out-{target}" for target in TARGETS for name in ("one", "two", "bad")))
runs("convert lib", "convert lib -o all", "convert lib -o all", "convert lib -o all --force", "convert AGENTS.md", "convert AGENTS.md --split -o split", "convert .cursor/rules -o rules", "convert plain.txt", "convert nowhere", "convert roles/qa", "convert roles -o made", "convert lib/one -o lib/one", "convert lib/one --name x", "convert lib --json -o j", "convert . -o everything", "convert lib/one --from cursor", "convert lib/one --from nothing", "convert")
each(tree, *sorted({path.name for path in Path().iterdir() if path.is_dir()} - {"work", "everything"}))

# New packs.
lines = (
    "new", "new greet", "new greet --in made1", "new Greet_X --in made1", "new a--b --in made1", "new greet --in made1", "new scripts --template scripts --in made1", "new refs --template references --in made1", "new x --template loud --in made1", "new roley --template role --in made1", "new layered --references a.md --references references/b.json --scripts run.sh --in made1", "new esc --references ../x --in made1", "new same --references a.md --references a.md --in made1", "new spec --dialect spec --in made1", "new strict --dialect strict --in made1", "new backend --role --in made1", "new from-role --role backend --in made1", "new json --json --in made1", "new assets --assets a.bin --in made1", "new none --no-evals --in made1", "new " + "x" * 70,
)
runs(*lines)
run(["new", "said", "--description", "Greet a customer. Use when a chat begins.", "--in", "made1"])
run(["new", "short", "--description", "x", "--in", "made1"])
run(["new", "colon", "--description", "Use when: it is 'quoted' \"x\" # no", "--in", "made1"])
run(["new", "--description", "Greet a customer. Use when a chat begins.", "--in", "made1"])
tree("made1")
run("check made1")
each(lambda more: make_pack(NewPackRequest(**more)), {"name": "a", "description": "x"}, {"name": "A B", "description": "x"}, {"name": "", "description": ""}, {"name": "a", "description": "Use it.", "template": "references"}) and None

# Archives.
runs("pack lib/one", "pack lib/one -o one.zip", "pack lib/one -o one.tar.gz", "pack lib/one -o one.rar", "pack lib/bad", "pack lib/two -o gone/two.skill", "pack lib", "pack nowhere", "pack lib/one --json -o j.skill", "pack plain.txt", "pack lib/one -o lib/one/x.skill", "list one.zip one.skill", "check one.skill", "show one one.skill", "pack one.skill -o again.skill", "pack lib/one -o one.zip --force")

# Retired.
runs("retire one lib", "retire one lib --dry-run", "retire one lib --for two --dry-run", "retire one lib --for two", "retire one lib --for two", "retire one lib --for nope", "retire nope lib", "retire one lib --for one", "list lib", "show one lib", "why one lib", "show one lib --envelope json", "retire two lib --for one", "retire one lib --undo --json", "retire one lib --undo", "retire bad lib", "retire one.skill", "retire one one.skill --for one")
tree("lib/one")
tree("lib/two")

# Compared.
shutil.copytree("lib", "later")
pack("later/one", description="Other. Use it.", head="allowed-tools: Read, Bash\nversion: 1.1\nreferences: [a.md, b.md]\nlicense: MIT\n", body="# New\n", files={"references/b.md": "B", "scripts/x.sh": "#!/bin/sh\necho\n"})
shutil.rmtree("later/two")
pack("later/three")
runs("diff lib/one later/one", "diff lib later", "diff lib later --json", "diff lib/one lib/one", "diff lib/one lib/two", "diff lib/bad lib/one", "diff nowhere lib", "diff one.skill later/one", "diff lib/one later/one --json", "diff lib/one later/one --color always", "diff lib lib", "diff lib/one lib", "diff lib/one/SKILL.md later/one/SKILL.md")
each(lambda given: compare_places(*given).to_json() if hasattr(compare_places(*given), "to_json") else repr(compare_places(*given))[:3_000], ("lib/one", "later/one"), ("lib", "later"), ("nowhere", "lib"))
