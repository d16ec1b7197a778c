"""What a repository that was cloned can make Satchel do, and what it cannot.

Each line of docs/explanation/cloned-repositories.md names its test here.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from satchel import Options, Satchel
from satchel.config import find_config, load_config
from satchel.errors import ConfigError, SkillError
from satchel.model import DEFAULT_LIMITS, LintConfig
from tests.functional.library import run, run_process, tree, write_pack

pytestmark = pytest.mark.row("U06")

PACK: Final = "---\nname: {0}\ndescription: Use {0} when testing.\n---\n# {0}\n"
LINUX: Final = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away"
)
STRANGER: Final = 12_345


@pytest.fixture(autouse=True)
def clone(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cloned repository, and next to it what is none of its business."""
    folder = here / "clone"
    write_pack(folder / "skills/theirs", PACK.format("theirs"))
    write_pack(folder / ".claude/skills/planted", PACK.format("planted"))
    write_pack(here / "private/mine", PACK.format("mine"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def own() -> Path:
    """The user's own file, not yet there."""
    return Path.home() / ".config/satchel/satchel.toml"


def write_own(own: Path, text: str) -> None:
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(text, "utf-8")


def plain(clone: Path, text: str) -> Path:
    (clone / "satchel.toml").write_text(text, "utf-8")
    return clone / "satchel.toml"


def pyproject(clone: Path, text: str) -> Path:
    lines = f"[tool.satchel]\n{text}".replace("\n[", "\n[tool.satchel.").splitlines()
    (clone / "pyproject.toml").write_text("\n".join(lines), "utf-8")
    return clone / "pyproject.toml"


def linked(clone: Path, text: str) -> Path:
    (clone / "real.toml").write_text(text, "utf-8")
    (clone / "satchel.toml").symlink_to("real.toml")
    return clone / "satchel.toml"


FORMS: Final = (plain, pyproject, linked)

# What a project's file says, the line with it, and what the message names.
# Cases of who may sign: nobody should copy that from a stranger.
SIGNING: Final = "signers", "root", "revoked"
REFUSED: Final = {
    "trust": ("usual = true\ntrust = true", 2, "trust: only your own settings"),
    "private": (
        'skills = ["skills"]\n\nallow_private = true',
        3,
        "allow_private: only",
    ),
    "parent": ('skills = ["skills", "../private"]', 1, "'../private' is outside"),
    "lines": (
        'skills = [\n "skills",\n "../private",\n]',
        3,
        "'../private' is outside",
    ),
    "dots": ('skills = ["skills/../../private"]', 1, "is outside of the project"),
    "absolute": ('skills = ["/etc"]', 1, "'/etc' is outside of the project"),
    "home": ('skills = ["~/.claude/skills"]', 1, "'~/.claude/skills' is outside"),
    "link": ('skills = ["leads-out"]', 1, "'leads-out' is outside of the project"),
    "deep link": ('skills = ["leads-out/mine"]', 1, "'leads-out/mine' is outside"),
    "nul": ('skills = ["a\\u0000b"]', 1, "is outside of the project"),
    "address": ('skills = ["https://skills.example.com"]', 1, "is outside of"),
    "loopback": ('skills = ["http://127.0.0.1:9"]', 1, "is outside of the project"),
    "layer": ('[layers]\nbase = "skills"\nteam = "../private"', 3, "'../private' is"),
    "index": ('skills = ["skills"]\nindex = "../x"', 2, "index: only your own"),
    "inside": ('skills = ["skills"]\nindex = "empty"', 2, "index: only your own"),
    "trusted index": (
        'skills = ["skills"]\ncheck = "trust"',
        2,
        "check: only your own",
    ),
    "folders": ('skills = ["skills"]\ncheck = "folders"', 2, "check: only your own"),
    "signers": (
        '[trust]\nsigners = [{ skills = ["*"], key = "their.pub" }]',
        2,
        "signers: only your own",
    ),
    "root": ('[trust]\nroot = "their.json"', 2, "root: only your own settings"),
    "revoked": ('[trust]\nrevoked = ["00"]', 2, "revoked: only your own settings"),
    "packages": ('packages = ["pytest"]', 1, "packages: only your own settings"),
    "all packages": ("packages = true", 1, "packages: only your own settings"),
    "limit": (
        'skills = ["skills"]\n[limits]\nfile_bytes = 99_999_999',
        3,
        "10,485,760",
    ),
    "ratio": ('skills = ["skills"]\nlimits.archive_ratio = 9999', 2, "limit of 100"),
}


@pytest.fixture
def leads_out(clone: Path) -> None:
    (clone / "leads-out").symlink_to("../private")
    (clone / "empty").write_bytes(b"")


def by_code(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        Satchel()
    for again in (
        lambda: Satchel(options=Options(config=path)),
        lambda: load_config(path),
    ):
        with pytest.raises(ConfigError) as other:
            again()
        assert str(other.value) == str(caught.value)
    return str(caught.value)


def by_command(path: Path) -> str:
    listed = run("list")
    assert listed.exit_code == 2
    for command in ("check", "doctor", "show theirs", "serve --port 0", "prompt"):
        other = run(*command.split())
        assert other.exit_code == 2
        assert listed.stderr in other.stderr
    return listed.stderr.removeprefix("error: ").strip()


@pytest.mark.row("F77")
@pytest.mark.usefixtures("leads_out")
@pytest.mark.parametrize("door", [by_code, by_command])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_the_users_to_say_is_refused_in_one_line(
    clone: Path,
    case: str,
    form: Callable[[Path, str], Path],
    door: Callable[[Path], str],
    own: Path,
) -> None:
    text, line, says = REFUSED[case]
    path = form(clone, text)
    before = tree(clone.parent)

    message = door(path)

    line += form is pyproject
    assert f"{path.name}:{line}: " in message
    assert says in message
    is_signing = case.startswith(SIGNING)
    advice = f'below [projects."{clone.resolve()}"] in {own}'
    assert (advice in message) is not is_signing
    assert message.count("\n") == 0
    assert tree(clone.parent) == before


def refusal(path: Path) -> str:
    try:
        load_config(path)
    except ConfigError as error:
        return str(error)
    return ""


def allow_what_it_says(own: Path, path: Path, text: str = "") -> int:
    """Follow the advice of each message until there is none; return how many."""
    for count in range(5):
        write_own(own, text)
        message = refusal(path)
        if not message:
            return count
        found = re.search(r"or write (.+) below (\[.+\]) in (.+)$", message)
        assert found is not None, message
        line, section, file = found.groups()
        assert Path(file) == own
        text += f"{line}\n" if section in text else f"\n{section}\n{line}\n"
    raise AssertionError(text)


@pytest.mark.usefixtures("leads_out")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "case", [case for case in REFUSED if not case.startswith(SIGNING)]
)
def test_the_advice_allows_it_for_this_project_alone(
    clone: Path, case: str, form: Callable[[Path, str], Path], own: Path
) -> None:
    path = form(clone, REFUSED[case][0])
    other = clone.parent / "other"
    other.mkdir()
    (other / "leads-out").symlink_to("../private")
    copy = form(other, REFUSED[case][0])

    assert allow_what_it_says(own, path, 'budget_tokens = "none"\n') == 1

    assert load_config(path).budget_tokens is None
    with pytest.raises(ConfigError, match="below"):
        load_config(copy)


def test_what_the_user_allows_is_done(clone: Path, own: Path) -> None:
    plain(clone, 'skills = ["skills"]\nusual = true\n')
    places = json.dumps(["skills", str(clone.parent / "private")])
    trusts = f"[projects.{json.dumps(str(clone))}]\n"

    assert listed() == ["theirs"]

    write_own(own, f'{trusts}trust = true\nskills = ["{clone}/skills"]\n')
    assert listed() == ["planted", "theirs"]
    write_own(own, f"{trusts}skills = {places.replace('skills', f'{clone}/skills', 1)}")
    assert listed() == ["mine", "theirs"]


def listed() -> list[str]:
    return [entry.id for entry in Satchel().catalog]


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """A site on this machine, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.row("F77")
def test_it_connects_to_nothing(
    clone: Path, own: Path, site: tuple[str, list[str]]
) -> None:
    url, asked = site
    path = plain(clone, f'skills = ["{url}"]\nallow_private = true\n')

    for command in ("list", "check", "find x", "doctor", "cost", "prompt"):
        assert run(*command.split()).exit_code == 2
    run("eval")
    assert asked == []

    assert allow_what_it_says(own, path) == 2
    run("list")
    assert asked != []


@pytest.mark.parametrize("key", ["sinks", "usage", "runner", "endpoint"])
@pytest.mark.parametrize("value", ['"jsonl:///tmp/x"', '{ url = "http://127.0.0.1" }'])
def test_what_is_no_setting_is_an_error(clone: Path, key: str, value: str) -> None:
    plain(clone, f'skills = ["skills"]\n{key} = {value}\n')

    assert f"unknown key '{key}'" in run("list").stderr
    assert run("check").exit_code == 2


@pytest.mark.row("F77")
@pytest.mark.parametrize(
    ("users", "projects", "says"),
    [
        ("budget_tokens = 500", "budget_tokens = 501", "your own settings say 500"),
        ("budget_tokens = 500", 'budget_tokens = "none"', "your own settings say 500"),
        ('on_conflict = "error"', 'on_conflict = "precedence"', 'say "error"'),
        ('profile = "strict"', 'profile = "spec"', 'settings say "strict"'),
        ('profile = "spec"', 'profile = "lenient"', 'settings say "spec"'),
        ("limits.name_chars = 20", "limits.name_chars = 21", "limit of 20"),
        ("index = false", "index = true", "your own settings say false"),
        ('check = "folders"', 'check = "trust"', 'your own settings say "folders"'),
    ],
)
def test_nothing_is_looser_than_the_user_has_it(
    clone: Path, own: Path, users: str, projects: str, says: str
) -> None:
    path = plain(clone, f'skills = ["skills"]\n{projects}\n')
    write_own(own, users)

    with pytest.raises(ConfigError, match=f"satchel.toml:2: .*{says}"):
        load_config(path)

    assert allow_what_it_says(own, path, f"{users}\n") == 1


def test_it_takes_back_nothing_that_the_user_withdraws(clone: Path, own: Path) -> None:
    first, second = (f"sha256:{digit * 64}" for digit in "01")
    write_own(own, f'[trust]\nwithdrawn = ["{first}"]')

    for named, expected in (("", [first]), (f'"{second}"', [first, second])):
        path = plain(clone, f'skills = ["skills"]\n[trust]\nwithdrawn = [{named}]\n')
        assert [one for one, _ in load_config(path).withdrawn] == expected
    path = plain(clone, 'skills = ["skills"]\n[trust]\nwithdrawn = ["../list"]\n')
    with pytest.raises(ConfigError, match=r"satchel.toml:3: .*outside of the project"):
        load_config(path)


@pytest.mark.parametrize(
    ("users", "projects", "name", "value"),
    [
        ("budget_tokens = 500", "budget_tokens = 300", "budget_tokens", 300),
        ('budget_tokens = "none"', "budget_tokens = 9000", "budget_tokens", 9000),
        ("", "budget_tokens = 9000", "budget_tokens", 9000),
        ('on_conflict = "precedence"', 'on_conflict = "error"', "on_conflict", "error"),
        ('profile = "lenient"', 'profile = "strict"', "profile", "strict"),
        ('disabled = ["a"]', 'disabled = ["b"]', "disabled", ("a", "b")),
        ("trust = true", "trust = false", "trust", False),
        ("trust = true", "trust = true", "trust", True),
        ("trust = true", "", "trust", True),
        ('packages = ["a"]', 'packages = ["a"]', "packages", ("a",)),
        ('packages = ["a"]', "packages = []", "packages", ()),
        ('index = "/x/y"', "index = true", "index", "/x/y"),
        ('index = "/x/y"', 'index = "/x/y"', "index", "/x/y"),
        ('index = "/x/y"', 'index = "none"', "index", False),
        ("index = false", "", "index", False),
        ('check = "trust"', "", "check", "trust"),
        ('check = "trust"', 'check = "files"', "check", "files"),
        ('check = "trust"', 'check = "folders"', "check", "folders"),
        ("", 'check = "files"', "check", "files"),
        ('style = "packs"', 'style = "lean"', "style", "lean"),
        ('style = "packs"', "", "style", "packs"),
    ],
)
def test_a_project_may_be_stricter(
    own: Path, users: str, projects: str, name: str, value: object
) -> None:
    path = plain(Path.cwd(), f'skills = ["skills"]\n{projects}\n')
    write_own(own, users)

    assert getattr(load_config(path), name) == value


def test_each_limit_is_the_lower_one(clone: Path, own: Path) -> None:
    path = plain(clone, "[limits]\nname_chars = 30\npack_files = 5\n")
    write_own(own, "[limits]\nname_chars = 40\nfile_bytes = 99_000_000\n")

    limits = load_config(path).limits

    assert (limits.name_chars, limits.pack_files) == (30, 5)
    assert limits.file_bytes == 99_000_000
    assert limits.pack_bytes == DEFAULT_LIMITS.pack_bytes


@pytest.mark.parametrize("who", ["project", "user"])
def test_it_takes_no_place_of_a_skill_of_the_user(
    clone: Path, own: Path, who: str
) -> None:
    write_pack(clone / "skills/deploy", PACK.format("deploy") + "Mine.\n")
    write_pack(Path.home() / ".claude/skills/deploy", PACK.format("deploy"))
    wins = 'on_conflict = "precedence"\n'
    usual = {"project": "", "user": ""} | {who: "usual = true\n"}
    write_own(own, usual["user"])
    path = plain(clone, f'skills = ["skills"]\n{usual["project"]}{wins}')

    with pytest.raises(ConfigError, match="would take the places of yours"):
        Satchel()
    assert allow_what_it_says(own, path, usual["user"]) == 1
    assert "Mine." in Satchel().load("deploy").text

    plain(clone, f'skills = ["skills"]\n{usual["project"]}')
    write_own(own, usual["user"])
    assert [conflict.id for conflict in Satchel().conflicts] == ["deploy"]


def give_away(path: Path) -> None:
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def given(clone: Path, text: str) -> Path:
    path = plain(clone, text)
    give_away(path)
    return path


def given_pyproject(clone: Path, text: str) -> Path:
    path = pyproject(clone, text)
    give_away(path)
    return path


def given_link(clone: Path, text: str) -> Path:
    path = linked(clone, text)
    give_away(path)
    return path


def given_target(clone: Path, text: str) -> Path:
    path = linked(clone, text)
    give_away(clone / "real.toml")
    return path


def out_of_it(clone: Path, text: str) -> Path:
    (clone.parent / "real.toml").write_text(text, "utf-8")
    (clone / "satchel.toml").symlink_to("../real.toml")
    return clone / "satchel.toml"


@pytest.mark.row("F77")
@pytest.mark.parametrize(
    ("form", "says"),
    [
        pytest.param(given, "uid 12345", marks=LINUX),
        pytest.param(given_pyproject, "uid 12345", marks=LINUX),
        pytest.param(given_link, "uid 12345", marks=LINUX),
        pytest.param(given_target, "uid 12345", marks=LINUX),
        (out_of_it, "it is a link to a file outside of its folder"),
    ],
)
def test_a_file_that_may_be_from_somebody_else_is_not_read(
    clone: Path, own: Path, form: Callable[[Path, str], Path], says: str
) -> None:
    path = form(clone, 'skills = ["skills"]')
    (clone / "below").mkdir()

    for folder in (clone, clone / "below"):
        os.chdir(folder)
        result = run("list")
        assert result.exit_code == 2
        assert says in result.stderr
        with pytest.raises(ConfigError, match=says):
            Satchel()

    line = result.stderr.partition("type: ")[2].strip()
    subprocess.run(["sh", "-c", line], check=True)

    assert listed() == ["theirs"]
    assert own.read_text() == f'\n[projects."{clone.resolve()}"]\n'
    path.write_text(path.read_text() + "\ntrust = true\n")
    with pytest.raises(ConfigError, match="trust: only your own"):
        Satchel()


@LINUX
def test_a_file_of_others_about_other_programs_does_not_matter(clone: Path) -> None:
    (clone.parent / "pyproject.toml").write_text("[tool.black]\n")
    give_away(clone.parent / "pyproject.toml")

    assert find_config(clone) is None
    assert run("list").exit_code == 0


@LINUX
@pytest.mark.parametrize("sudo", [STRANGER, STRANGER + 1])
def test_who_types_sudo_is_no_stranger(
    clone: Path, monkeypatch: pytest.MonkeyPatch, sudo: int
) -> None:
    given(clone, 'skills = ["skills"]')
    monkeypatch.setenv("SUDO_UID", str(sudo))

    assert run("list").exit_code == (0 if sudo == STRANGER else 2)


@LINUX
def test_another_user_reads_what_root_wrote_and_no_third_ones(clone: Path) -> None:
    def count(uid: int) -> str:
        """Count as a user without rights: in a process that was this one."""
        ours, theirs = os.pipe()
        if not os.fork():
            os.setuid(uid)
            try:
                said = str(len(Satchel().catalog))
            except ConfigError as error:
                said = str(error)
            os.write(theirs, said.encode())
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            said = pipe.read().decode()
        os.wait()
        return said

    for folder in (clone, *clone.parents[:-1]):
        if folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)
    path = plain(clone, 'skills = ["skills"]')
    assert listed() == ["theirs"]  # what that imports, nobody else may read
    assert count(65_534) == "1"
    give_away(path)
    assert "it belongs to another user (uid 12345)" in count(65_534)
    assert count(STRANGER) == "1"


def test_the_users_own_file_may_be_anywhere_and_a_link(
    clone: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = clone.parent / "dotfiles.toml"
    elsewhere.write_text('skills = ["private"]\nindex = "~/x.db"\n')
    own.parent.mkdir(parents=True)
    own.symlink_to(elsewhere)
    (clone.parent / "empty").mkdir()
    monkeypatch.chdir(clone.parent / "empty")

    with pytest.raises(Exception, match="private: no such file or folder"):
        Satchel()

    monkeypatch.setenv("SATCHEL_CONFIG", str(elsewhere))
    assert listed() == ["mine"]
    assert load_config(elsewhere).index == str(Path.home() / "x.db")
    assert "satchel.toml" not in run("doctor").stdout

    monkeypatch.setenv("SATCHEL_CONFIG", "none")
    assert listed() == []
    environ = {"SATCHEL_CONFIG": str(elsewhere)}
    assert [e.id for e in Satchel(options=Options(environ=environ)).catalog] == ["mine"]

    monkeypatch.setenv("SATCHEL_CONFIG", "missing.toml")
    with pytest.raises(ConfigError, match=r"missing\.toml: No such file"):
        Satchel()


def test_a_file_of_a_project_can_be_made_the_users_own(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plain(clone, 'skills = ["../private"]\n[lint]\nignore = ["missing-h1"]\n')
    monkeypatch.setenv("SATCHEL_CONFIG", str(path))

    assert listed() == ["mine"]
    assert load_config(path).lint == LintConfig(ignore=("missing-h1",))
    assert run("check").exit_code == 0


@LINUX
def test_the_users_own_file_has_to_be_theirs(own: Path) -> None:
    write_own(own, "trust = true\n")
    give_away(own)

    with pytest.raises(ConfigError, match=r"another user .*name your own in SATCHEL"):
        Satchel()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("projects = 1", "projects: expected a table; got 1"),
        ('[projects]\n"{0}" = true', "expected a table; got True"),
        ('[projects."{0}"]\ntrusts = true', "unknown key 'trusts'; did you mean"),
        ("trust = 1", "trust: expected true or false; got 1"),
        ("[lint]", "lint: only a project's file says this"),
    ],
)
def test_what_is_wrong_in_the_users_own_file_names_that_file(
    clone: Path, own: Path, text: str, says: str
) -> None:
    write_own(own, text.replace("{0}", str(clone)))

    with pytest.raises(ConfigError) as caught:
        load_config(plain(clone, 'skills = ["skills"]'))

    assert str(caught.value).startswith(str(own))
    assert says in str(caught.value)


HUGE: Final = "x" * 100_000
LONG: Final = {
    "skills": 'skills = ["{}"]',
    "skills in it": 'skills = ["skills/{}"]',
    "outside": 'skills = ["../{}"]',
    "address": 'skills = ["https://{}"]',
    "a text": 'skills = "{}"',
    "disabled": 'skills = ["skills"]\ndisabled = ["{}"]',
    "index": 'skills = ["skills"]\nindex = "{}"',
    "style": 'style = "{}"',
    "profile": 'profile = "{}"',
    "flag": 'trust = "{}"',
    "key": '{} = "x"',
    "limit": "[limits]\n{} = 1",
    "limit of it": '[limits]\nfile_bytes = "{}"',
    "layers": '[layers]\nbase = "{}"',
    "layer": '[layers]\n{} = "x"',
    "prefix": 'skills = ["skills"]\nprefix.{} = "x"',
    "prefix of it": "skills = ['skills']\nprefix.skills = [\"{}\"]",
    "packages": 'packages = ["{}"]',
    "lint": '[lint]\n{} = "x"',
    "select": '[lint]\nselect = ["{}"]',
    "severity": '[lint.severity]\n{} = "x"',
    "severity of it": '[lint.severity]\nmissing-h1 = "{}"',
    "code": '[lint.severity]\n{} = "off"',
    "glob": "[lint.per_path]\n{} = 1",
    "threshold": "[lint.thresholds]\n{} = 1",
}


@pytest.mark.row("F78")
@pytest.mark.parametrize("case", LONG)
def test_what_is_huge_is_not_printed_whole(clone: Path, case: str) -> None:
    plain(clone, LONG[case].replace("{}", HUGE))

    for command in ("list", "check", "doctor --json"):
        result = run(*command.split())
        assert len(result.output) < 9_000
    with pytest.raises((SkillError, AssertionError)) as caught:
        raise_what_is_wrong(clone / "satchel.toml")
    assert len(str(caught.value)) < 4_000


def raise_what_is_wrong(path: Path) -> None:
    Satchel(options=Options(config=path), strict=True)
    load_config(path)
    raise AssertionError("only check looks at it")


def test_lint_of_the_project_can_be_left_out(clone: Path) -> None:
    write_pack(
        clone / "skills/theirs", PACK.format("theirs").replace("# ", "No title: ")
    )
    plain(clone, 'skills = ["skills"]\n[lint]\nignore = ["missing-h1"]\n')

    assert "(not looked for: missing-h1)" in run("check").stdout
    assert "(not looked for" not in run("check", "--config", "none").stdout


@pytest.mark.slow
def test_a_program_in_it_does_not_run(clone: Path) -> None:
    """Not by a folder of packages, by hooks of git or by a file of variables."""
    plain(clone, 'skills = ["skills"]\n')
    mark = "open('ran', 'w').close()\n"
    (clone / "plug_in.py").write_text(mark)
    (clone / "sitecustomize.py").write_text(mark)
    info = clone / "plug_in-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug_in\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[satchel.skill_sources]\np = plug_in\n")
    (clone / ".env").write_text("SATCHEL_INDEX=../x\nOPENAI_BASE_URL=http://x\n")
    write_pack(clone / "skills/theirs", PACK.format("theirs"), {"scripts/a.py": mark})

    for command in ("list", "check", "doctor", "eval", "find testing", "show theirs"):
        run_process(*command.split(), cwd=clone)

    assert not (clone / "ran").exists()
    assert not (clone.parent / "x").exists()


def test_what_it_says_reaches_the_model(clone: Path) -> None:
    plain(clone, 'skills = ["skills"]\nprefix = "x-"\nstyle = "packs"\n')

    skills = Satchel()

    assert "Use theirs when testing." in str(skills.prompt())
    assert skills.load("x-theirs").text
    assert skills.style == "packs"


@pytest.mark.row("F77")
def test_each_line_of_the_page_has_its_test() -> None:
    page = Path(__file__).parents[2] / "docs/explanation/cloned-repositories.md"
    lines = page.read_text("utf-8").splitlines()
    rows = [line for line in lines if re.match(r"\| (?!it can)\w", line)]
    tests = re.findall(r"\[`(test_\w+)`\]\(([^)]+)\)", "".join(rows))

    assert len(rows) > 10
    assert [row for row in rows if "[`test_" not in row] == []
    for name, path in tests:
        assert f"def {name}(" in (page.parent / path).read_text("utf-8")
