# Commands that the other scripts do not ask: connect, completion, cost, explain, and how output looks.
import json
import shutil
import subprocess
import sys

from satchel_lab.hostile import hostile_packs

os.environ["HOME"] = os.path.abspath("home")
os.makedirs("home")
CLIENTS = "claude-code claude-desktop codex cursor vscode gemini windsurf cline goose opencode zed continue amp kiro copilot nothing".split()
runs("connect", *(f"connect {client}" for client in CLIENTS), *(f"connect {client} --json" for client in CLIENTS[:3]))
for client in CLIENTS:
    about(client)
    print(run(f"connect {client} --token-env SKILLS_TOKEN --name skills"), run(f"connect {client} --write"), run(f"connect {client} --write --yes --name skills"), run(f"connect {client} --write --yes --name skills"), run(f"connect {client} --write --yes --name skills --url https://e.org/mcp"), run(f"connect {client} --stdio ./skills"))
tree("home")
[path for path in sorted(p.name for p in Path().iterdir())]
each(tree, *(p.name for p in sorted(Path().iterdir()) if p.is_dir() and p.name not in ("home",)))
each(lambda text: (write(".mcp.json", text), run("connect claude-code --write --yes"), tree(".")[:3])[1:], "{", "[]", '{"mcpServers": 3}', '{"mcpServers": {"satchel": {"url": "x"}}, "other": 1}', "// comment\n{}", '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}\n', "", "\ufeff{}", '{"a": 1, "a": 2}')
runs("connect claude-code --url nonsense", "connect claude-code --name a:b", "connect claude-code --token-env 1x", "connect codex --write --yes --name a.b", "connect claude-code --url http://example.com/mcp", "connect claude-code --nonsense")
write("home/.codex/config.toml", 'model = "x"\n\n[mcp_servers.other]\nurl = "y" # kept\n')
runs("connect codex --write --yes", "connect codex --write --yes", "connect codex --write --yes --url https://e.org/mcp")
tree("home/.codex")
os.symlink("config.toml", "home/.codex/link.toml")
for line in ("completion bash", "completion zsh", "completion fish", "completion powershell", "completion", "completion nothing"):
    about(line)
    print(run(line)[:300])

# Completion by the shell.
pack("skills/alpha", files={"references/guide.md": "# G\n", "scripts/run.sh": "echo\n"})
pack("skills/beta", description="Do other things. Use when others ask. " * 12)
write("satchel.toml", 'skills = ["skills"]\n')


def completed(words, last=""):
    """What a shell is told after these words."""
    line = " ".join(["satchel", *words.split()])
    return run([], _SATCHEL_COMPLETE="bash_complete", COMP_WORDS=f"{line} {last}", COMP_CWORD=str(len(line.split())))


each(completed, "", "show", "show alpha --reference", "find", "check", "check --format", "explain", "connect", "why", "retire", "list --on-conflict", "prompt --format", "role", "usage --db", "eval --format", "new --template")

# Costs.
runs("cost", "cost skills", "cost skills --json", "cost nowhere", "cost skills --window 8k", "cost --style packs", "cost skills --budget 30", "cost skills --message forms", "cost skills -v", "cost skills --for codex", "cost --skills skills --nonsense")
runs("cost ../../examples", "cost ../../made-up")
runs("explain", "explain no-such-code", "explain missing-h", "explain --json", "explain dead-link --json", "explain dead-link missing-h1", "explain SATCHEL")
runs("--version", "--help", "-q list", "-v list", "nothing", "lst", "list --hlp", "", "list -v", "list -q --json", "--color always list", "--color never list", "--color loud list", "find", "find x --json", "find alpha -k 1", "find alpha -k 0", "find alpha --min nonsense", "find 'a b", "find zzz", "prompt --json", "prompt --format json", "prompt --format loud", "prompt --message guide", "prompt --budget 0", "prompt --budget 30", "prompt -v", "why", "why alpha", "why alpha --json", "why nope", "why alp", "doctor", "doctor --json", "doctor -v", "show", "show alpha --json", "show alpha --reference guide.md", "show alpha --reference nope", "show alpha --script run.sh --json", "show alpha --asset x", "show alpha --reference a --script b", "show nope", "show nope --envelope lean", "show nope --envelope json", "show alpha --envelope lean", "show alpha --envelope loud", "list --prefix x-", "list --prefix {parent}-", "list --prefix skills=x-", "list --prefix {mother}-", "list skills --skills skills", "list --on-conflict precedence", "list --on-conflict loud", "find alpha skills", "find alpha --skills skills")
run("list", COLUMNS="40")
run("list --color always", COLUMNS="200")
os.makedirs("empty")
runs("list empty", "find x empty", "prompt empty", "doctor empty", "check empty", "why x empty", "cost empty", "eval empty", "build out empty", "publish site --skills empty", "show x empty", "list nowhere", "find x nowhere", "doctor nowhere", "check nowhere", "prompt nowhere", "why x nowhere", "show x nowhere", "build out nowhere", "retire x nowhere", "usage nowhere", "serve nowhere", "diff nowhere skills", "pack nowhere", "convert nowhere", "role x nowhere", "list skills/alpha/references/guide.md", "list https://127.0.0.1:9/x", "list http://example.invalid/", "list ftp://x")
os.remove("satchel.toml")
runs("list", "find alpha", "prompt", "doctor", "why alpha", "check", "show alpha", "cost")
for closed in ("skills/alpha/SKILL.md",):
    shutil.move(closed, "kept")
    os.symlink("/nowhere", closed)
    print(run("list skills"), run("why alpha skills"), run("check skills"), run("show alpha skills"))
    os.remove(closed)
    shutil.move("kept", closed)
done = subprocess.run([sys.executable, "-m", "satchel", "list", "skills"], capture_output=True, text=True, check=False)
[done.returncode, done.stdout, done.stderr]
typed = run("new", typed="greet\nGreet a customer. Use when a chat begins.\n\n\n")
typed

# Packs that were made to do harm, but for those that depend on rights or devices.
HARMLESS = ("crash", "encoding", "name", "markup", "escape", "link")
packs = [one for one in hostile_packs() if one.kind in HARMLESS and "long" not in one.name]
for number, one in enumerate(packs):
    about(one.name)
    place = Path("hostile") / str(number)
    place.mkdir(parents=True)
    os.chdir(one.make(place))
    print(run("list .")[:800])
    print(run(("check . --format concise", "doctor .", "prompt .", "check . --for codex", f"show {one.name} . --envelope lean", "check . --diff")[number % 6])[:800])
    os.chdir(os.path.expanduser("~/.."))
