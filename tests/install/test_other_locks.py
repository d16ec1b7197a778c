"""``satchel add --from``: the lock files of ``npx skills``, read and never written."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.functional.library import run
from tests.install.conftest import PACK, Upstream
from tests.install.test_add_and_sync import installed

# As skills 1.7.4 wrote it for a folder with these files, on Node.js 22.
FILES = {
    "SKILL.md": PACK.format("alpha"),
    "scripts/a.py": "print(1)\n",
    "Zed.md": "x",
    "_under.md": "y",
    "a-b.md": "e",
    "ab.md": "e",
}
WRITTEN = "3f9c72020fb5ae8315f6c9a0840eeca1f79bba911e3760158627bbe574d9db61"
FORGE = "https://github.com/a/skills"


def of_git(skill: str, **fields: object) -> dict[str, Any]:
    """Return an entry as skills 1.7.4 has it of a repository."""
    row = {"source": "a/skills", "sourceType": "github"}
    return row | {"skillPath": f"skills/{skill}/SKILL.md", **fields}


def write(file: Path, rows: Mapping[str, object], version: int = 1) -> None:
    """Write a lock file as `npx skills` does."""
    text = json.dumps({"version": version, "skills": rows}, indent=2)
    file.write_text(f"{text}\n")


@pytest.fixture
def forge(upstream: Upstream, tmp_path: Path) -> Upstream:
    """The repository, at an address of a forge: git's own settings lead there."""
    settings = tmp_path / "home" / ".gitconfig"
    settings.parent.mkdir()
    settings.write_text(
        f'[url "{upstream.address}"]\n'
        f"\tinsteadOf = {FORGE}\n\tinsteadOf = {FORGE}.git\n"
    )
    return upstream


def test_each_entry_of_a_projects_lock_becomes_one(
    project: Path, forge: Upstream
) -> None:
    forge.git("tag", "v1")
    (project / "mine" / "house").mkdir(parents=True)
    (project / "mine" / "house" / "SKILL.md").write_text(PACK.format("house"))
    write(
        project / "skills-lock.json",
        {
            "form": of_git("form", ref="v1", computedHash="0" * 64),
            "house": {"source": "./mine", "sourceType": "local"},
            "sql-read": of_git("sql-read", sourceUrl=f"{FORGE}.git", sourceType="git"),
        },
    )

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 0, result.stderr
    assert [*installed(project)] == [
        *("form/SKILL.md", "house/SKILL.md", "sql-read/SKILL.md")
    ]
    assert (project / "satchel.toml").read_text() == (
        "[skills]\n"
        f'form = {{git = "{FORGE}", path = "skills/form", rev = "v1"}}\n'
        'house = {folder = "mine", skills = ["house"]}\n'
        f'sql-read = {{git = "{FORGE}.git", path = "skills/sql-read"}}\n'
    )
    assert "form: what https://github.com/a/skills@" in result.stderr
    assert "has differs from skills-lock.json" in result.stderr
    assert result.stderr.count("differs") == 1
    # Nobody here has typed what the file lists.
    assert "satchel.lock is not approved" in result.stderr
    assert run("verify").exit_code == 1
    assert "nothing to do" in run("add", "--from", "skills-lock.json").stderr


def test_a_users_lock_is_read_too(project: Path, forge: Upstream) -> None:
    file = project / ".skill-lock.json"
    more = {"installedAt": "2026-11-29T13:53:13.847Z", "pluginName": None}
    tree = forge.git("rev-parse", "HEAD:skills/form")
    form = of_git("form", sourceUrl=f"{FORGE}.git", skillFolderHash=tree)
    write(file, {"form": form | more}, 3)

    result = run("add", "--from", str(file), "--json")

    assert result.exit_code == 0, result.stderr
    assert [*installed(project)] == ["form/SKILL.md"]
    assert json.loads(result.stdout)["warnings"] == []


def test_the_hash_is_that_of_the_other_tool(project: Path, forge: Upstream) -> None:
    forge.commit({f"skills/alpha/{path}": text for path, text in FILES.items()})
    write(
        project / "skills-lock.json", {"alpha": of_git("alpha", computedHash=WRITTEN)}
    )
    assert "differs" not in run("add", "--from", "skills-lock.json", "--dry-run").stderr

    forge.commit({"skills/alpha/ab.md": "f"})
    assert "differs" in run("add", "--from", "skills-lock.json").stderr


@pytest.mark.parametrize("has", ["whole", "framed", "other", "archive"])
def test_the_digest_of_a_site_is_compared_where_it_can_be(
    project: Path, site: tuple[Path, str], upstream: Upstream, has: str
) -> None:
    folder, address = site
    packs = str(upstream.folder / "skills")
    assert run("publish", str(folder), "--skills", packs).exit_code == 0
    data = (upstream.folder / "skills/form/SKILL.md").read_bytes()
    bytes_of = {"whole": data, "framed": b"SKILL.md\0" + data + b"\0"}
    digest = f"sha256:{sha256(bytes_of.get(has, b'')).hexdigest()}"
    # Of a skill with several files a site has an archive, whose bytes are not kept.
    skill = "pdf" if has == "archive" else "form"
    row = {"source": address.partition("://")[2], "sourceType": "well-known"}
    row |= {"sourceUrl": f"{address}/x/SKILL.md", "sourceBaseUrl": address}
    row |= {"skillFolderHash": "", "wellKnownDigest": digest}
    write(project / "skills-lock.json", {skill: row}, 3)

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 0, result.stderr
    assert f"{skill}/SKILL.md" in installed(project)
    assert (f"{skill}: what {address} has differs" in result.stderr) is (has == "other")


HOSTILE: dict[str, Any] = {
    "a package of npm": {"source": "x", "sourceType": "node_modules"},
    "no text": of_git("pdf", source=5),
    "no object": ["pdf"],
    "a password": of_git("pdf", source="https://u:p@example.com/x"),
    "an option": of_git("pdf", source="--upload-pack=x", sourceType="git"),
    "a revision": of_git("pdf", ref="--orphan"),
    "a way out": of_git("pdf", skillPath="../../SKILL.md"),
    "another file": of_git("pdf", skillPath="skills/pdf/README.md"),
    "a folder outside": {"source": "../canary", "sourceType": "local"},
    "a root": {"source": "/etc", "sourceType": "local"},
    "this machine": of_git("pdf", source="file:///etc", sourceType="git"),
    "no certificate": of_git("pdf", source="http://example.com/x", sourceType="git"),
    "what is installed": {"source": "./skills", "sourceType": "local"},
    "no place": {"sourceType": "local"},
    "a hash": of_git("pdf", computedHash=5),
}


@pytest.mark.parametrize("case", [*HOSTILE])
def test_what_cannot_be_used_is_named_and_left(
    project: Path, forge: Upstream, canary: Path, case: str
) -> None:
    del forge, canary
    write(project / "skills-lock.json", {"pdf": HOSTILE[case], "form": of_git("form")})

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 1
    assert "'pdf' is left out: " in result.stderr
    assert "u:p@" not in result.stderr
    assert [*installed(project)] == ["form/SKILL.md"]


@pytest.mark.parametrize("name", ["../up", ".hidden", "*", "a/b", "\x1b[31mred", "con"])
def test_a_name_that_no_folder_can_have_is_left(project: Path, name: str) -> None:
    write(project / "skills-lock.json", {name: of_git("form")})

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 1
    assert " is left out: " in result.stderr
    assert "\x1b" not in result.stderr
    assert not (project / "satchel.toml").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 1,\n "skills": {\n', "line 3 column 1"),
        ('{\n<<<<<<< ours\n  "version": 1', ":2: a merge left its conflict here"),
        ('{"version": 1, "skills": {"a": {}, "a": {}}}', "the member 'a' twice"),
        ('{"version": 2, "skills": {}}', "version: expected 1 or 3"),
        ('{"version": true, "skills": {}}', "version: expected 1 or 3"),
        ('{"version": [], "skills": {}}', "version: expected 1 or 3"),
        ('{"version": 1, "skills": []}', "skills: expected an object"),
        ("[" * 100_000, "nested too deeply"),
        (" " * 1_100_000, "1,048,576"),
        ("\x00", "is not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused(project: Path, text: str, message: str) -> None:
    (project / "skills-lock.json").write_text(text)

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code != 0
    assert message in result.stderr
    assert not (project / "satchel.toml").exists()


def test_an_entry_of_that_name_stays_as_it_is(
    project: Path, upstream: Upstream, forge: Upstream
) -> None:
    del forge
    run("add", upstream.address, "--skill", "form")
    before = (project / "satchel.toml").read_text()
    write(project / "skills-lock.json", {"form": of_git("form")})

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 1
    assert "has another entry 'form'" in result.stderr
    assert (project / "satchel.toml").read_text() == before


@pytest.mark.parametrize("more", [["a/b"], ["--skill", "x"], ["--name", "x"]])
def test_a_file_goes_without_a_source(project: Path, more: list[str]) -> None:
    write(project / "skills-lock.json", {})
    assert run("add", *more, "--from", "skills-lock.json").exit_code == 2
    assert "No such file" in run("add", "--from", "none.json").stderr
    assert "name a SOURCE" in run("add").stderr


def test_a_place_that_fails_keeps_nobody_else_out(
    project: Path, forge: Upstream, tmp_path: Path
) -> None:
    settings = tmp_path / "home" / ".gitconfig"
    settings.write_text(
        settings.read_text()
        + f'[url "file://{tmp_path}/gone"]\n\tinsteadOf = https://github.com/b/gone\n'
    )
    gone = {"source": "b/gone", "sourceType": "github", "skillPath": "x/SKILL.md"}
    rows = {"aaa": gone, "pdf": of_git("pdf"), "form": of_git("nowhere")}
    write(project / "skills-lock.json", rows)

    result = run("add", "--from", "skills-lock.json")

    assert result.exit_code == 1
    assert "warning: 'aaa' is left out: " in result.stderr
    assert "warning: 'form' is left out: " in result.stderr
    assert (project / "skills/pdf/SKILL.md").is_file()
    assert "aaa" not in (project / "satchel.toml").read_text()
    assert run("sync").exit_code == 0
