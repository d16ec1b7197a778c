# What a satchel.toml may say, and what is said of one that is wrong.
from satchel import Satchel
from satchel.config import find_config, load_config
from satchel.errors import ConfigError

pack("skills/alpha")
pack("other/beta", head="version: 1.0\n")


def told(text, name="satchel.toml"):
    write(name, text)
    try:
        return load_config(Path(name))
    finally:
        Path(name).unlink()


each(
    told,
    "",
    'skills = ["skills", "https://example.org/skills"]',
    'skills = "skills"',
    "skills = [1]",
    'skils = ["skills"]',
    "zebra = 1",
    'prefix = "team-"',
    'prefix = {other = "x-", skills = "y-"}',
    "prefix = {other = 1}",
    "prefix = 1",
    "packages = true",
    'packages = ["a"]',
    "packages = 1",
    'layers = {base = "b", team = "t", user = "u"}',
    "layers = {}",
    "layers = {base = 1}",
    'layers = {base = ""}',
    'layers = {bass = "b"}',
    "layers = 1",
    "usual = true\ntrust = true\nallow_private = true",
    "usual = 1",
    'trust = "yes"',
    'disabled = ["alpha", "b*"]',
    'profile = "strict"',
    'profile = "strickt"',
    "profile = 1",
    'on_conflict = "precedence"',
    'on_conflict = "first"',
    'style = "packs"',
    'style = "pack"',
    "budget_tokens = 100",
    'budget_tokens = "none"',
    "budget_tokens = 0",
    "budget_tokens = true",
    'budget_tokens = "many"',
    "index = true",
    'index = "none"',
    'index = "index.db"',
    "index = 1",
    'index = ""',
    "limits = {skill_md_bytes = 100, scan_entries = 5}",
    "limits = {skill_md = 100}",
    "limits = {skill_md_bytes = -1}",
    "limits = {skill_md_bytes = true}",
    "limits = 3",
    "[trust]\nwithdrawn = [1]",
    '[trust]\nwithdrawn = ["../list"]',
    "[lint]",
    '[lint]\nprofile = "spec"\nfail_on = "warning"\nselect = ["missing-h1"]\nignore = ["long-description"]',
    '[lint]\nprofile = "spek"',
    '[lint]\nfail_on = "never-ever"',
    "[lint]\nselekt = []",
    "[lint]\nselect = 1",
    '[lint.severity]\nmissing-h1 = "error"',
    '[lint.severity]\nmissing-h1 = "fatal"',
    '[lint.per_path]\n"vendor/**" = ["missing-h1"]',
    '[lint.per_path]\n"vendor/**" = "missing-h1"',
    "[lint.thresholds]\ndescription_characters = 10",
    "[lint.thresholds]\nbody_lines = 10",
    "[lint.thresholds]\nbody_lines = -1",
    "lint = 1",
    "skills = [",
)
told("[tool.other]\nx = 1", "pyproject.toml")
told("[tool]\nsatchel = 1", "pyproject.toml")
told('[tool.satchel]\nskills = ["skills"]', "pyproject.toml")
write("satchel.toml", b"skills = ['\xff']")
load_config(Path("satchel.toml"))
load_config(Path("nothing.toml"))
Path("satchel.toml").unlink()

# Which file is found.
write("a/b/c.txt", "")
find_config(Path("a/b").resolve())
write("a/pyproject.toml", "[tool.satchel]\n")
find_config(Path("a/b").resolve())
write("a/satchel.toml", "")
find_config(Path("a/b").resolve())
write("a/b/pyproject.toml", "[project]\n")
find_config(Path("a/b").resolve())


# What commands make of it.
def commanded(text, *lines, **env):
    write("satchel.toml", text)
    return runs(*lines, **env)


commanded('skills = ["skills", "other"]', "list", "doctor", "why beta", "find do", "prompt")
commanded('skills = ["skills", "other"]\ndisabled = ["beta"]', "list --json", "why beta", "show beta")
commanded('skills = ["skills"]', "list", "doctor --json", SATCHEL_DISABLED="alpha")
commanded('skills = ["skills"]', "list", "why alpha", SATCHEL_DISABLED='["al*", "x"]')
commanded('skills = ["skills"]', "list", SATCHEL_DISABLED="[1]")
commanded('skills = ["skills", "gone"]', "list", "doctor", "check")
commanded('skills = ["skills", "other"]\nprefix = "t-"', "list", "list --json")
commanded('skills = ["skills", "other"]\nprefix = {other = "{parent}-"}', "list")
commanded('skills = ["skills", "other"]\nprefix = {other = "{mother}-"}', "list")
commanded('skills = ["skills", "skills"]', "list", "doctor")
commanded("skills = []", "list", "prompt", "find do", "doctor")
commanded("usual = true", "list", "doctor", "why alpha")
commanded("usual = true\ntrust = true", "list", "doctor --json")
commanded("usual = true\ntrust = true", "list", "doctor --json", SATCHEL_CONFIG="satchel.toml")
commanded('style = "packs"\nbudget_tokens = 60\nskills = ["skills", "other"]', "prompt", "doctor", "prompt --budget none")
commanded('layers = {base = "skills", team = "other"}', "list", "doctor", "show alpha --layers")
commanded('layers = {base = "skills", team = "gone"}', "list", "doctor")
commanded('packages = ["no-such-package"]', "list", "doctor")
commanded('packages = ["no-such-package"]', "list", "doctor", SATCHEL_CONFIG="satchel.toml")
commanded("packages = true", "doctor --json")
commanded("packages = true", "doctor --json", SATCHEL_CONFIG="satchel.toml")
commanded('skills = ["http://127.0.0.1:9/skills"]', "list", "doctor")
commanded('skills = ["http://127.0.0.1:9/skills"]', "list", "doctor", SATCHEL_CONFIG="satchel.toml")
commanded('skills = ["http://127.0.0.1:9/skills"]\nallow_private = true', "list")
commanded('skills = ["http://127.0.0.1:9/skills"]\nallow_private = true', "list", SATCHEL_CONFIG="satchel.toml")
commanded("skils = []", "list", "check skills", "doctor", "serve", "build out")
commanded('skills = ["skills"]\n[lint]\nselect = ["no-such-code"]', "check")
commanded('skills = ["skills"]\n[lint]\nfail_on = "note"\nprofile = "strict"', "check", "check --statistics")
commanded('[lint.severity]\nmissing-h1 = "off"\n[lint.thresholds]\ndescription_characters = 5', "check skills", "check other --format json")
commanded('[lint.per_path]\n"skills/**" = ["long-description"]\n[lint.thresholds]\ndescription_characters = 5', "check skills other")
commanded('profile = "strict"\nskills = ["other"]', "list", "why beta")
commanded('limits = {skill_md_bytes = 20}\nskills = ["other"]', "list", "why beta", "doctor")
commanded('index = "here.db"\nskills = ["other"]', "list", "list", "doctor")
commanded('index = "here.db"\nskills = ["other"]', "list", "list", "doctor", SATCHEL_CONFIG="satchel.toml")
Path("here.db").exists()
commanded('on_conflict = "precedence"\nskills = ["skills", "copy"]', "list", "doctor")
pack("copy/alpha", body="# Another\n")
commanded('on_conflict = "precedence"\nskills = ["skills", "copy"]', "list", "doctor", "why alpha")
commanded('skills = ["skills", "copy"]', "list", "doctor", "why alpha", "build out")

# What is withdrawn: by its digest, or by a list; and what is no digest.
bad = "sha256:" + "0" * 64
commanded(f'skills = ["skills"]\n[trust]\nwithdrawn = ["{bad} It leaks."]', "list", "why alpha")
commanded('skills = ["skills"]\n[trust]\nwithdrawn = ["sha256:12"]', "list")
commanded('skills = ["skills"]\n[trust]\nwithdrawn = ["gone.txt"]', "list")
with Satchel("skills") as library:
    digest = library.registry.digest(library["alpha"])
write("list.txt", f"# Of March.\n{bad}\n{digest} It leaks.\n")
commanded('skills = ["skills"]\n[trust]\nwithdrawn = ["list.txt"]', "list", "why alpha", "doctor --json")
commanded('skills = ["skills"]\n[trust]\nwithdrawn = ["list.txt"]', "verify skills", "show alpha")
