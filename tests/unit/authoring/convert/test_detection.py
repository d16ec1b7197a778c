"""What lies at a path is known by its names; what a client makes of it is predicted."""

from dataclasses import replace
from pathlib import Path

import pytest

from satchel.authoring import TARGETS, Conversion
from satchel.authoring._convert._detection import detect
from satchel.authoring._convert._targets import predict_client, prediction_findings
from satchel.authoring._convert._values import PackDraft, PackFile
from satchel.clients import CLIENT_FOLDERS, Loader, LoaderVerdict, Prediction
from satchel.errors import ConfigError, MissingPathError
from satchel.model import SKILL_FILE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lay(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x\n", "utf-8")


@pytest.mark.parametrize(
    ("there", "path", "found"),
    [
        ("p/a/SKILL.md", "p", [("packs", "p")]),
        ("p/deep/er/SKILL.md", "p", [("packs", "p")]),
        ("p/SKILL.md", "p/SKILL.md", [("packs", "p")]),
        ("SKILL.md", "SKILL.md", [("packs", ".")]),
        ("t/roles/qa/system_prompt.md", "t", [("roles", "t")]),
        ("t/roles/qa/system_prompt.md", "t/roles/", [("roles", "t/roles/")]),
        ("t/roles/qa/system_prompt.md", "t/roles/qa", [("roles", "t/roles/qa")]),
        ("AGENTS.md", ".", [("agents-md", "AGENTS.md")]),
        ("p/CLAUDE.md", "p/", [("agents-md", "p/CLAUDE.md")]),
        ("p/AGENTS.md", "p/AGENTS.md", [("agents-md", "p/AGENTS.md")]),
        ("p/.cursor/rules/a.mdc", "p", [("cursor", "p/.cursor/rules")]),
        (".cursor/rules/a.mdc", ".", [("cursor", ".cursor/rules")]),
        ("p/.cursor/rules/a.mdc", "p/.cursor/rules", [("cursor", "p/.cursor/rules")]),
        ("rules/a.mdc", "rules", [("cursor", "rules")]),
        ("p/a.mdc", "p/a.mdc", [("cursor", "p/a.mdc")]),
        ("p/.cursorrules", "p", [("cursor", "p/.cursorrules")]),
        ("p/.cursorrules", "p/.cursorrules", [("cursor", "p/.cursorrules")]),
        (
            ".github/copilot-instructions.md .github/instructions/a.instructions.md",
            ".",
            [
                ("copilot", ".github/copilot-instructions.md"),
                ("copilot", ".github/instructions"),
            ],
        ),
        ("a.instructions.md", "a.instructions.md", [("copilot", "a.instructions.md")]),
        (
            ".github/copilot-instructions.md",
            ".github/copilot-instructions.md",
            [("copilot", ".github/copilot-instructions.md")],
        ),
        (".claude/commands/a.md", ".", [("commands", ".claude/commands")]),
        ("p/.claude/commands/a.md", "p", [("commands", "p/.claude/commands")]),
        (
            ".claude/commands/git/a.md",
            ".claude/commands/",
            [("commands", ".claude/commands/")],
        ),
        (
            "p/.claude/commands/a.md",
            "p/.claude/commands/a.md",
            [("commands", "p/.claude/commands/a.md")],
        ),
    ],
)
def test_kinds(
    there: str, path: str, found: list[tuple[str, str]], folder: Path
) -> None:
    lay(folder, *there.split())

    assert [thing[:2] for thing in detect(path)] == found


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("notes.md", "agents-md"), ("notes.md", "commands")],
)
def test_any_file_is_what_the_user_says(path: str, wanted: str, folder: Path) -> None:
    lay(folder, path)

    assert [thing[:2] for thing in detect(path, wanted)] == [(wanted, path)]


def test_two_kinds_need_a_choice(folder: Path) -> None:
    lay(folder, "AGENTS.md", ".cursor/rules/a.mdc", "packs/SKILL.md")

    with pytest.raises(
        ConfigError, match=r"agents-md, cursor, packs; choose one by --from"
    ):
        detect(".")
    assert [thing[:2] for thing in detect(".", "cursor")] == [
        ("cursor", ".cursor/rules")
    ]


@pytest.mark.parametrize(
    ("path", "wanted"), [("notes.txt", ""), ("notes.txt", "cursor"), (".", "roles")]
)
def test_nothing_of_that_kind(path: str, wanted: str, folder: Path) -> None:
    lay(folder, "notes.txt")

    with pytest.raises(ConfigError, match="nothing of that kind"):
        detect(path, wanted)


def test_nothing_at_all(folder: Path) -> None:
    with pytest.raises(MissingPathError):
        detect("nowhere")


@pytest.mark.row("E13")
def test_every_client_is_a_target() -> None:
    """Each under a name of its own, and the dialects next to them."""
    assert len(TARGETS) == len(CLIENT_FOLDERS) + 2
    assert {name: TARGETS[name].folder for name in ("agents", "claude", "copilot")} == {
        "agents": ".agents/skills",
        "claude": ".claude/skills",
        "copilot": ".github/skills",
    }
    for name in ("codex", "gemini", "cursor", "opencode"):
        assert TARGETS[name].folder == f".{name}/skills"
    homes = [target.name for target in TARGETS.values() if target.home]
    assert homes == ["openclaw", "amp"]


LOADER = Loader("codex", "Codex", "1", "client", "2026-11-01", "documented", "docs")


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("loaded", []),
        ("unknown", []),
        ("cut", [("note", "client-cuts")]),
        ("wrong", [("warning", "client-refuses")]),
        ("dropped", [("warning", "client-refuses")]),
        ("breaks-neighbours", [("warning", "client-refuses")]),
    ],
)
def test_verdicts(verdict: LoaderVerdict, expected: list[tuple[str, str]]) -> None:
    found = list(
        prediction_findings([Prediction(LOADER, verdict, fix="shorten it")], "p")
    )

    assert [(each.severity, each.code) for each in found] == expected
    assert {each.path for each in found} <= {f"p/{SKILL_FILE}"}
    assert {each.fix for each in found} <= {"shorten it"}


def test_nothing_is_reported_of_what_is_for_no_client() -> None:
    skill = PackFile(SKILL_FILE, b"---\nname: A B\ndescription: c\n---\n")
    made = Conversion("p", PackDraft("A B", (skill,)))

    assert predict_client(made, TARGETS["spec"]) is made
    assert predict_client(Conversion("p", None), TARGETS["claude"]).findings == ()


def test_a_client_of_which_nothing_is_known_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("satchel.clients.loaders", lambda: (LOADER,))
    made = Conversion("p", PackDraft("a", (PackFile(SKILL_FILE, b""),)))

    assert predict_client(made, TARGETS["claude"]).findings == ()


@pytest.mark.parametrize(
    ("target", "title", "known"),
    [
        ("claude", "Claude Code", True),
        ("copilot", "GitHub Copilot CLI", True),
        ("copilot", "VS Code", True),
        ("vibe", "Mistral Vibe", True),
        ("claude", "VS Code", False),
        ("agents", "Any Agent CLI", False),
    ],
)
def test_a_loader_is_known_by_its_name(
    target: str, title: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = replace(LOADER, title=title)
    monkeypatch.setattr("satchel.clients.loaders", lambda: (loader,))
    monkeypatch.setattr(
        "satchel.clients.predict",
        lambda _, chosen: [
            Prediction(each, "dropped", fix="rename it") for each in chosen
        ],
    )
    made = Conversion("p", PackDraft("a", (PackFile(SKILL_FILE, b""),)))

    found = predict_client(made, TARGETS[target]).findings

    assert [each.code for each in found] == (["client-refuses"] if known else [])
