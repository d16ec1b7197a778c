"""The usual folders of clients, as scopes."""

from pathlib import Path

import pytest

from satchel import Options, Satchel, SkillError, sources
from satchel.sources import CLIENT_FOLDERS, _client_folders as well_known
from tests.unit.sources.trees import keys, pack


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> Path:
    """A repository below the home."""
    (home / "work" / "repo" / ".git").mkdir(parents=True)
    return home / "work" / "repo"


@pytest.fixture(autouse=True)
def _no_managed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine's administrator has set up."""
    monkeypatch.setattr(well_known, "_managed_folders", list)


@pytest.mark.row("D34", "D35", "R19", "D42", "R21")
def test_missing_folders_are_tolerated(home: Path, project: Path) -> None:
    """The two that everybody shares are watched for even before they are there.

    A project is not trusted by itself, and goes last: so nothing of it can shadow what
    the user has.
    """
    mine, users = sources.usual(project, home)

    assert mine.label == "project:.agents/skills"
    assert users.label == "user:~/.agents/skills"
    assert [list(mine.scan()), list(users.scan())] == [[], []]
    assert (mine.trusted, users.trusted) == (False, True)
    assert (mine.precedence or 0) > (users.precedence or 0)


@pytest.mark.row("D34", "D35", "D40", "R03", "R21")
def test_scopes(home: Path, project: Path) -> None:
    """Project before user, `.agents` before single clients; trust must be given."""
    for folder in (".agents", ".claude", ".github"):
        pack(project, f"{folder}/skills/a")
    for folder in (".agents", ".claude", ".codex"):
        pack(home, f"{folder}/skills/b")
    trusted = sources.usual(project, home, trust=True)
    order = sorted(trusted, key=lambda source: source.precedence or 0)

    assert [source.label for source in order] == [
        "project:.agents/skills",
        "project:.claude/skills",
        "project:.github/skills",
        "user:~/.agents/skills",
        "user:~/.claude/skills",
        "user:~/.codex/skills",
    ]
    assert [keys(source) for source in order] == [["a"]] * 3 + [["b"]] * 3
    assert [source.scope for source in order] == ["project"] * 3 + ["user"] * 3
    assert all(source.trusted for source in order)


@pytest.mark.row("E11", "D40")
@pytest.mark.parametrize(
    ("trust", "added", "expected"),
    [
        (True, (), ["project .agents", "project .claude", "user .agents"]),
        (False, (".codex",), ["user .agents", "user .codex"]),
        (True, (".codex",), ["project .agents", "project .claude", "user .agents"]),
    ],
)
def test_the_cascade_keeps_one_and_names_every_pack_that_loses(
    home: Path, project: Path, trust: bool, added: tuple[str, ...], expected: list[str]
) -> None:
    """Folders of a trusted project go first, then the user's; nothing is chosen."""
    text = "---\nname: same\ndescription: Use it.\n---\n{}\n"
    folders = [(project, "project", c) for c in (".agents", ".claude")]
    folders += [(home, "user", c) for c in (".agents", *added)]
    for root, scope, client in reversed(folders):
        write(root / client / "skills" / "same", text.format(f"{scope} {client}"))

    in_any_order = reversed(sources.usual(project, home, trust=trust))
    with Satchel(*in_any_order, sinks=()) as skills:
        (conflict,) = skills.conflicts
        kept = skills.load("same").body.strip()

    names = [owner.source for owner in conflict.owners]
    labels = [name.replace("~/", "").replace("/skills", "") for name in names]
    owners = [label.replace(":", " ") for label in labels]
    assert conflict.preferred == conflict.owners[0]
    assert (kept, owners[: len(expected)]) == (expected[0], expected)
    assert len(owners) == len(expected) + (len(added) if trust else 0)


@pytest.mark.row("D40", "U11", "F98")
@pytest.mark.parametrize(
    ("user", "project_pack", "trust", "expected"),
    [
        ("same", "same", False, True),
        ("same", "same", True, False),
        ("same", "equal", False, False),
        ("other", "same", False, False),
        ("same", "broken", False, False),
    ],
)
def test_a_pack_that_loses_for_want_of_trust_is_a_finding_and_a_warning(  # noqa: PLR0913, PLR0917
    user: str,
    project_pack: str,
    trust: bool,
    expected: bool,
    home: Path,
    project: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = "---\nname: {0}\ndescription: Use for {1}.\n---\n"
    texts = {"equal": text.format("same", "user"), "broken": "---\nname: same\n---\n"}
    write(home / ".agents/skills" / user, text.format(user, "user"))
    mine = texts.get(project_pack, text.format("same", "project"))
    write(project / ".agents/skills" / "same", mine)

    skills = Satchel(
        *sources.usual(project, home, trust=trust),
        options=Options(on_conflict="precedence"),
    )

    found = [f for f in skills.findings if f.code == "untrusted-pack-loses"]
    lines = [line for line in caplog.messages if "untrusted-pack-loses" in line]
    assert (len(found), len(lines)) == (int(expected), int(expected))
    if expected:
        assert found[0].path == ".agents/skills/same/SKILL.md"
        assert "trust=True" in found[0].fix
        with pytest.raises(SkillError, match="this project is not trusted"):
            Satchel(*sources.usual(project, home), strict=True)


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def test_the_folders_above_count_up_to_the_repository(
    home: Path, project: Path
) -> None:
    pack(project, ".agents/skills/top")
    pack(project, "src/app/.claude/skills/near")
    pack(home / "work", ".agents/skills/outside")
    here = project / "src" / "app"
    listed = sources.usual(here, home, trust=True)

    assert [source.label for source in listed] == [
        "project:.agents/skills",
        "project:.claude/skills",
        "project:../../.agents/skills",
        "user:~/.agents/skills",
    ]
    assert [keys(source) for source in listed] == [[], ["near"], ["top"], []]


def test_a_home_that_is_a_repository_stays_the_users(home: Path) -> None:
    """Its folders are the user's, not those of an untrusted project."""
    (home / ".git").mkdir()
    pack(home, ".agents/skills/mine")
    listed = sources.usual(home / "x", home)

    assert [(source.scope, source.trusted, keys(source)) for source in listed] == [
        ("project", False, []),
        ("user", True, ["mine"]),
    ]


def test_defaults_are_where_we_are(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working folder, the home of the environment, and its variables."""
    pack(project, ".agents/skills/a")
    pack(home, "codex/skills/b")
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))
    listed = sources.usual()

    assert [(source.label, keys(source)) for source in listed] == [
        ("project:.agents/skills", ["a"]),
        ("user:~/.agents/skills", []),
        ("user:$CODEX_HOME/skills", ["b"]),
    ]
    labels = [source.label for source in sources.usual(project, home)]
    assert labels == ["project:.agents/skills", "user:~/.agents/skills"]


def test_managed_folders_go_first(
    tmp_path: Path, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    managed = [(pack(tmp_path, "etc/skills/m").parent, "/etc/x/skills")]
    monkeypatch.setattr(well_known, "_managed_folders", lambda: managed)
    first, *_ = sources.usual(project, home)

    assert (first.label, first.scope) == ("managed:/etc/x/skills", "managed")
    assert first.precedence == 0


def test_the_table_of_clients() -> None:
    """The shared folder comes first, and every entry is of the right kind."""
    first = CLIENT_FOLDERS[0]
    paths = [path for client in CLIENT_FOLDERS for path in client.project + client.user]

    assert first.project == first.user == (".agents/skills",)
    assert len({client.name for client in CLIENT_FOLDERS}) == len(CLIENT_FOLDERS)
    assert not [path for path in paths if path.startswith(("/", "~"))]
    assert all(
        path.startswith("/") for client in CLIENT_FOLDERS for path in client.managed
    )
    assert all(client.user for client in CLIENT_FOLDERS if client.home_variable)
