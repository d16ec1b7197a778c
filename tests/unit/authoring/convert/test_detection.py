"""What lies at a path is known by its names; what a client makes of it is predicted."""

from dataclasses import replace
from pathlib import Path

import pytest

from satchel.errors import ConfigError, MissingPathError
from satchel.model import SKILL_FILE
from satchel.sources import CLIENT_FOLDERS
from satchel_lab.authoring import TARGETS, Conversion
from satchel_lab.authoring._convert._engine import detect
from satchel_lab.authoring._convert._values import (
    predict_client,
    prediction_findings,
)
from satchel_lab.authoring._packs import PackDraft
from satchel_lab.clients import Loader, LoaderVerdict, Prediction


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lay(*paths: str) -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("x\n", "utf-8")


COPILOT = ".github/copilot-instructions.md"
RULES = ".github/instructions"


@pytest.mark.parametrize(
    ("there", "path", "kind", "places"),
    [
        ("p/a/SKILL.md", "p", "packs", "p"),
        ("p/deep/er/SKILL.md", "p", "packs", "p"),
        ("p/SKILL.md", "p/SKILL.md", "packs", "p"),
        ("SKILL.md", "SKILL.md", "packs", "."),
        ("t/roles/qa/system_prompt.md", "t", "roles", "t"),
        ("t/roles/qa/system_prompt.md", "t/roles/", "roles", "t/roles/"),
        ("t/roles/qa/system_prompt.md", "t/roles/qa", "roles", "t/roles/qa"),
        ("AGENTS.md", ".", "agents-md", "AGENTS.md"),
        ("p/CLAUDE.md", "p/", "agents-md", "p/CLAUDE.md"),
        ("p/AGENTS.md", "p/AGENTS.md", "agents-md", "p/AGENTS.md"),
        ("p/.cursor/rules/a.mdc", "p", "cursor", "p/.cursor/rules"),
        (".cursor/rules/a.mdc", ".", "cursor", ".cursor/rules"),
        ("p/.cursor/rules/a.mdc", "p/.cursor/rules", "cursor", "p/.cursor/rules"),
        ("rules/a.mdc", "rules", "cursor", "rules"),
        ("p/a.mdc", "p/a.mdc", "cursor", "p/a.mdc"),
        ("p/.cursorrules", "p", "cursor", "p/.cursorrules"),
        ("p/.cursorrules", "p/.cursorrules", "cursor", "p/.cursorrules"),
        (f"{COPILOT} {RULES}/a.instructions.md", ".", "copilot", f"{COPILOT} {RULES}"),
        ("a.instructions.md", "a.instructions.md", "copilot", "a.instructions.md"),
        (COPILOT, COPILOT, "copilot", COPILOT),
        (".claude/commands/a.md", ".", "commands", ".claude/commands"),
        ("p/.claude/commands/a.md", "p", "commands", "p/.claude/commands"),
        *(
            (f"{place}git/a.md", path, "commands", path)
            for place in (".claude/commands/", "p/.claude/commands/")
            for path in (place, f"{place}git/a.md")
        ),
    ],
)
def test_kinds(there: str, path: str, kind: str, places: str) -> None:
    lay(*there.split())

    assert [thing[:2] for thing in detect(path)] == [
        (kind, place) for place in places.split()
    ]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("notes.md", "agents-md"), ("notes.md", "commands")],
)
def test_any_file_is_what_the_user_says(path: str, wanted: str) -> None:
    lay(path)

    assert [thing[:2] for thing in detect(path, wanted)] == [(wanted, path)]


def test_all_kinds_are_found_and_one_can_be_chosen() -> None:
    lay("AGENTS.md", ".cursor/rules/a.mdc", "packs/SKILL.md")

    assert [thing[:2] for thing in detect(".")] == [
        ("cursor", ".cursor/rules"),
        ("agents-md", "AGENTS.md"),
        ("packs", "."),
    ]
    assert [thing[:2] for thing in detect(".", "cursor")] == [
        ("cursor", ".cursor/rules")
    ]


@pytest.mark.parametrize(
    ("path", "wanted"), [("notes.txt", ""), ("notes.txt", "cursor"), (".", "roles")]
)
def test_nothing_of_that_kind(path: str, wanted: str) -> None:
    lay("notes.txt")

    with pytest.raises(ConfigError, match="nothing of that kind"):
        detect(path, wanted)
    with pytest.raises(MissingPathError):
        detect("nowhere", wanted)


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

    assert [(finding.severity, finding.code) for finding in found] == expected
    assert {finding.path for finding in found} <= {f"p/{SKILL_FILE}"}
    assert {finding.fix for finding in found} <= {"shorten it"}


def test_nothing_is_reported_of_what_is_for_no_client() -> None:
    skill = b"---\nname: A B\ndescription: c\n---\n"
    made = Conversion("p", PackDraft("A B", {SKILL_FILE: skill}))

    assert predict_client(made, TARGETS["spec"]) is made
    assert predict_client(Conversion("p", None), TARGETS["claude"]).findings == ()


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
    monkeypatch.setattr("satchel_lab.clients.loaders", lambda: (loader,))
    monkeypatch.setattr(
        "satchel_lab.clients.predict",
        lambda _, chosen: [
            Prediction(loader, "dropped", fix="rename it") for loader in chosen
        ],
    )
    made = Conversion("p", PackDraft("a", {SKILL_FILE: b""}))

    found = predict_client(made, TARGETS[target]).findings

    assert [finding.code for finding in found] == (["client-refuses"] if known else [])
