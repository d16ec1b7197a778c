"""From packs on disk to a prompt and a tool: what holds over all rooms at once."""

import socket
from pathlib import Path

import pytest

from satchel import Satchel
from satchel.errors import ReferenceNotAllowedError
from tests.fakes import FakeSource, pack


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for name in ("b-skill", "a-skill"):
        home = tmp_path / name / "references"
        home.mkdir(parents=True)
        (home.parent / "SKILL.md").write_text(pack(name))
        (home / "guide.md").write_text("# Guide\nset API_KEY\n")
    return tmp_path


@pytest.mark.row("A34", "D24")
def test_nothing_is_ever_fetched(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A URL that a pack names is a path like any other, and is refused as one."""
    text = pack("a-skill").replace(
        "---\n#", "references: ['https://example.com/guide.md']\n---\n#"
    )
    (library / "a-skill/SKILL.md").write_text(text)

    def refuse(*_: object) -> None:
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    skills = Satchel(library)
    skills.prompt()
    skills.find("guide")

    assert "unsafe-declared-file" in {finding.code for finding in skills.findings}
    with pytest.raises(ReferenceNotAllowedError):
        skills.load("a-skill", "https://example.com/guide.md")


@pytest.mark.row("D18", "D23")
def test_prompt_tools_and_search_ask_the_registry_and_scan_nothing() -> None:
    """Only a sync looks at a source; all else is told from its catalog."""
    source = FakeSource("s", {"a": {"SKILL.md": pack("a")}})
    skills = Satchel(source)
    session = skills.session()
    source.packs["b"] = {"SKILL.md": pack("b")}

    session.instructions()
    session.tools()
    session.call("load_skill", {"skill_id": "a"})
    skills.find("testing")
    skills.why("b")

    assert source.scans == 1
    assert "b" not in skills.catalog
    assert "not found" in str(session.call("load_skill", {"skill_id": "b"}))


@pytest.mark.row("E26")
def test_loading_a_skill_runs_nothing(library: Path) -> None:
    """Neither its scripts nor the commands that its text asks for."""
    proof = library / "proof"
    scripts = library / "a-skill/scripts"
    scripts.mkdir()
    (scripts / "run.sh").write_text(f"#!/bin/sh\ntouch {proof}\n")
    (scripts / "run.sh").chmod(0o755)
    (library / "a-skill/SKILL.md").write_text(
        pack("a-skill", body=f"!`touch {proof}`\n```!\ntouch {proof}\n```\n")
    )
    skills = Satchel(library)

    loaded = skills.load("a-skill")
    script = skills.load("a-skill", "run.sh")

    assert f"!`touch {proof}`" in loaded.text
    assert script.text.startswith("#!/bin/sh")
    assert not proof.exists()


@pytest.mark.row("G22")
def test_an_asset_is_loaded_by_its_short_name_before_files_elsewhere(
    library: Path,
) -> None:
    """As a reference or a script is: the bucket goes before the unique name."""
    for folder in ("assets", "other"):
        (library / "a-skill" / folder).mkdir()
        (library / "a-skill" / folder / "logo.svg").write_text(f"<svg>{folder}</svg>")

    loaded = Satchel(library).load("a-skill", "logo.svg")

    assert loaded.text == "<svg>assets</svg>"
