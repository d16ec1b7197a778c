"""SkillLoader and load_skill: the front that users of role packs know."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from satchel import (
    DuplicateSkillError,
    LocalDirSkillSource,
    Satchel,
    SkillLoader,
    SkillManifest,
    SkillManifestError,
    SkillNotFoundError,
    load_skill,
)
from satchel.errors import ReferenceNotAllowedError
from satchel.usage import ListSink
from satchel_compat import _registry as default
from tests.fakes import FakeSource

BACKEND = """---
name: backend
description: Python server code, APIs, async, strict typing.
trigger_keywords: [api, server]
references: [conventions.md]
scripts: [lint.sh]
---
# Backend

Read conventions.md first.
"""


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    home = tmp_path / "skills/backend"
    (home / "references").mkdir(parents=True)
    (home / "scripts").mkdir()
    (home / "SKILL.md").write_text(BACKEND)
    (home / "references/conventions.md").write_text("# Conventions\n")
    (home / "references/hidden.md").write_text("not listed")
    (home / "scripts/lint.sh").write_text("echo lint\n")
    return tmp_path / "skills"


def load_all(templates: Path, *more: object) -> SkillLoader:
    sources: list[Any] = [LocalDirSkillSource(templates), *more]
    return SkillLoader(sources, include_plugins=False)


def ask(*wanted: object, **more: object) -> dict[str, Any]:
    called: Any = load_skill
    result: dict[str, Any] = asyncio.run(called(*wanted, **more))
    return result


@pytest.mark.row("C35", "C37", "C10", "C14", "C15", "A08", "G08", "A10")
def test_a_skill_as_a_whole_and_its_listed_files(templates: Path) -> None:
    loader = load_all(templates)
    skill = loader.get("backend")

    assert skill.name == "backend"
    assert skill.body.startswith("# Backend")
    assert (skill.references, skill.scripts) == (("conventions.md",), ("lint.sh",))
    assert skill.trigger_keywords == ("api", "server")
    assert [item.name for item in loader.list_all()] == ["backend"]
    assert (loader.has("backend"), loader.has("Backend")) == (True, False)
    assert len(loader) == len(list(loader)) == 1
    source = loader.find_source_for("backend")
    assert isinstance(source, LocalDirSkillSource)
    assert source.label.startswith("local:")
    for look in (loader.get, loader.find_source_for):
        with pytest.raises(SkillNotFoundError):
            look("nope")
    assert loader.read_reference("backend", "conventions.md") == "# Conventions\n"
    assert loader.read_script("backend", "lint.sh") == "echo lint\n"
    with pytest.raises(ReferenceNotAllowedError):
        loader.read_reference("backend", "hidden.md")


@pytest.mark.row("C16", "C17", "C18", "R04", "G03", "X18", "F31")
def test_broken_packs_are_one_error_that_lists_each(templates: Path) -> None:
    """Every pack is read first; a path is reported once, with what is wrong."""
    path = templates / "backend/SKILL.md"
    path.write_text(BACKEND.replace("scripts:", "scirpts:"))
    with pytest.raises(SkillManifestError, match="scirpts"):
        load_all(templates)
    path.write_text("no fence")
    with pytest.raises(SkillManifestError) as caught:
        load_all(templates)

    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.path, error.line) == (str(path), 1)
    assert error.detail.startswith("the file does not begin with frontmatter (")
    assert str(error) == f"{path}:1: {error.detail}"
    (templates / "other").mkdir()
    (templates / "other/SKILL.md").write_bytes(b"---\nname: other\n---\n")
    with pytest.raises(SkillManifestError) as caught:
        load_all(templates)
    assert str(caught.value).count("backend/SKILL.md") == 1
    assert str(caught.value).count("other/SKILL.md: there is no description") == 1


class Older:
    """A source as the earlier system has it: name, iter_skills, readers."""

    name = "house"

    def iter_skills(self) -> list[object]:
        manifest = SimpleNamespace(
            name="qa",
            description="Use when tests are to be planned.",
            trigger_keywords=["test"],
            references=["edge-cases.md"],
            scripts=["run.sh"],
            assets=[],
            version="1.2.0",
            author=None,
        )
        return [SimpleNamespace(manifest=manifest, body="# QA\n", origin="house/qa")]

    def read_reference(self, skill: str, name: str) -> str:
        return f"{skill}: {name}\n"

    def read_script(self, skill: str, name: str) -> str:
        return f"echo {skill} {name}\n"


@pytest.mark.row("F31", "C35", "C39", "C40", "G11")
def test_a_source_of_the_earlier_system_is_taken_as_it_is(templates: Path) -> None:
    older = Older()
    loader = load_all(templates, older)
    skill = loader.get("qa")
    skills = Satchel(older)

    assert [item.name for item in loader.list_all()] == ["backend", "qa"]
    assert (skill.body, skill.source_name) == ("# QA\n", "house")
    assert (skill.references, skill.scripts) == (("edge-cases.md",), ("run.sh",))
    assert skill.trigger_keywords == ("test",)
    assert loader.read_reference("qa", "edge-cases.md") == "qa: edge-cases.md\n"
    assert loader.read_script("qa", "run.sh") == "echo qa run.sh\n"
    assert loader.find_source_for("qa") is older
    assert [entry.id for entry in skills.catalog] == ["qa"]
    assert skills.load("qa", "edge-cases.md").text == "qa: edge-cases.md\n"


@pytest.mark.row("F31")
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("skills", r"got a str: write LocalDirSkillSource\('skills'\)"),
        (Older, r"got the class Older: write Older\(\.\.\.\)"),
        (3, "expected a source; got a int"),
    ],
)
def test_what_is_no_source_is_reported_at_once(wrong: object, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        SkillLoader([wrong], include_plugins=False)  # type: ignore[list-item]


@pytest.mark.row("C36", "X04")
def test_a_name_that_two_sources_claim_aborts(templates: Path) -> None:
    other = FakeSource("other", {"backend": {"SKILL.md": BACKEND + "More.\n"}})
    with pytest.raises(DuplicateSkillError) as caught:
        load_all(templates, other)

    assert caught.value.skill_name == "backend"
    assert "other/backend" in str(caught.value)
    assert "skills/backend" in str(caught.value)
    assert "sources.prefixed(" in caught.value.fix
    assert "on_conflict" not in str(caught.value), "a loader has no such option"


@pytest.mark.row("X24", "C41", "C42", "X18", "F97")
def test_a_plugin_is_left_out_if_denied_and_a_broken_pack_of_it_in_any_case(
    templates: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Plug-ins are enumerated when the loader is made."""
    plugin = FakeSource("plugin:mine", {"backend": {"SKILL.md": BACKEND + "More.\n"}})

    def load_plugins(*, deny: object = ()) -> list[FakeSource]:
        return [] if "plugin:mine" in list(deny) else [plugin]  # type: ignore[call-overload]

    monkeypatch.setattr("satchel_compat._loader.load_plugin_sources", load_plugins)
    local = LocalDirSkillSource(templates)

    with pytest.raises(DuplicateSkillError, match="plugin:mine") as caught:
        SkillLoader([local])
    assert "--no-plugins" in str(caught.value)
    assert len(SkillLoader([local], deny=["plugin:mine"])) == 1
    plugin.packs = {"broken": {"SKILL.md": "nothing"}}
    loader = SkillLoader([local])
    assert [entry.id for entry in loader] == ["backend"]
    assert [f.path for f in loader.findings] == ["plugin:mine/broken/SKILL.md"]
    (line,) = caplog.messages
    assert line.startswith("a plug-in's pack is left out: plugin:mine/broken/SKILL.md:")


@pytest.mark.row("C26", "C27", "C28", "C29", "C30", "C31", "C32", "X02", "F31", "C35")
def test_seven_keys_whatever_is_asked_of_whom(templates: Path) -> None:
    empty = {
        "name": "backend",
        "body": "",
        "available_references": ["conventions.md"],
        "available_scripts": ["lint.sh"],
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    for skills in (Satchel(templates), load_all(templates)):
        body = ask("backend", skills=skills)
        reference = ask("backend", "conventions.md", skills=skills)
        script = ask("backend", script="lint.sh", skills=skills)

        whole = "# Backend\n\nRead conventions.md first.\n"
        assert body == empty | {"body": whole}
        assert list(body) == list(reference) == list(empty)
        assert reference == empty | {"reference_content": "# Conventions\n"}
        assert script == empty | {"script_content": "echo lint\n"}
        nothing: dict[str, object] = {
            "available_references": [],
            "available_scripts": [],
        }
        assert ask("nope", skills=skills) == empty | nothing | {
            "name": "nope",
            "error": "skill 'nope' not found",
        }
        assert "hidden.md" in ask("backend", "hidden.md", skills=skills)["error"]


@pytest.mark.row("C33", "F31")
@pytest.mark.parametrize("reference", [None, "conventions.md", "gone.md"])
@pytest.mark.parametrize("script", [None, "lint.sh", "gone.sh"])
def test_a_call_is_one_event_that_says_what_was_asked(
    templates: Path, reference: str | None, script: str | None
) -> None:
    """A script that is refused is reported as a script."""
    sink = ListSink()
    ask("backend", reference, script, skills=Satchel(templates, sinks=[sink]))

    (event,) = sink.events
    assert event.name == "backend"
    assert event.reference == (f"references/{reference}" if reference else None)
    assert event.script == (f"scripts/{script}" if script else None)
    assert (event.error is None) is (reference != "gone.md" and script != "gone.sh")


@pytest.mark.row("C32", "F31")
@pytest.mark.parametrize("wrong", [3, None, ["backend"], {}, b"backend"])
def test_what_is_no_text_is_a_result_too(templates: Path, wrong: object) -> None:
    """A model may write any JSON."""
    skills = Satchel(templates)
    unknown = ask(wrong, skills=skills)

    assert list(unknown)[:2] == ["name", "body"]
    assert "not found" in unknown["error"]
    if wrong is not None:
        refused = ask("backend", wrong, skills=skills)
        problem = refused["error"]
        assert "does not stay inside" in problem or "listed" in problem
        assert refused["reference_content"] is None


@pytest.fixture
def no_default() -> Iterator[None]:
    default._make.cache_clear()
    yield
    default._make.cache_clear()


@pytest.mark.row("D30", "D33")
@pytest.mark.usefixtures("no_default")
def test_the_default_registry_is_one_and_is_synced(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made at first use, from satchel.toml, and given again afterwards."""
    (templates / "satchel.toml").write_text('skills = ["."]\n')
    monkeypatch.chdir(templates)
    first = default.default_registry()

    assert first is default.default_registry()
    assert "backend" in first.catalog
    assert ask("backend")["error"] is None


FIRST_USE = """
import sys
looked = []
sys.addaudithook(
    lambda event, given: looked.append(event)
    if event in ("os.scandir", "open") and "my-skills" in str(given[0]) else None
)
import satchel
from satchel import Satchel, resolve_role_prompt
from satchel_compat import SkillLoader, SkillRegistry, default_registry, load_skill
SkillRegistry()
print(len(looked))
first = default_registry()
print(len(looked) > 0, [entry.id for entry in first.catalog])
print(first.registry.last_updated("backend") > 0)
count = len(looked)
print(default_registry() is first, len(looked) == count)
"""


@pytest.mark.row("R27", "F106")
def test_the_default_registry_looks_at_nothing_before_its_first_use(
    templates: Path, tmp_path: Path
) -> None:
    """No import does, whatever satchel.toml names; and a second use looks no more."""
    templates.rename(tmp_path / "my-skills")
    (tmp_path / "satchel.toml").write_text('skills = ["my-skills"]\nindex = "none"\n')
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines() == [
        "0",
        "True ['backend']",
        "True",
        "True True",
    ], done.stderr


@pytest.mark.row("D34", "D35")
@pytest.mark.usefixtures("no_default")
def test_without_a_configuration_it_reads_the_usual_folders(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home/.agents").mkdir(parents=True)
    templates.rename(tmp_path / "home/.agents/skills")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert "backend" in default.default_registry().catalog


GOOD = {"name": "qa", "description": "Find what breaks, and prove it."}


@pytest.mark.row("C17", "U10", "F97")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": "Bad Name", "description": "short"}, "expected a letter a-z"),
        ({"description": "short"}, "expected 20 to 500"),
        ({"name": "qa\n"}, "expected a letter a-z"),
        ({"name": ""}, "name"),
        ({"description": " " * 25}, "description"),
        ({"description": "x" * 501}, "expected 20 to 500"),
        ({"scirpts": ["a.sh"]}, "unknown field 'scirpts'"),
        ({"references": "a.md"}, "expected a list"),
        ({"references": ["../a.md"]}, "a.md"),
        ({"metadata": {1: object()}}, "metadata|SkillManifest"),
    ],
)
def test_a_manifest_made_in_code_is_checked(
    fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(SkillManifestError, match=reason) as raised:
        SkillManifest(**{**GOOD, **fields})

    assert raised.value.path.startswith("SkillManifest(")


@pytest.mark.row("C17", "C14", "C15", "U10")
def test_a_manifest_made_in_code_is_what_a_pack_would_give(tmp_path: Path) -> None:
    text = (
        "---\nname: qa\ndescription: Find what breaks, and prove it.\n"
        "trigger_keywords: [test]\n---\nDo.\n"
    )
    (tmp_path / "qa").mkdir()
    (tmp_path / "qa" / "SKILL.md").write_text(text)
    source = LocalDirSkillSource(tmp_path)

    made = SkillManifest(**GOOD, trigger_keywords=("test",), author=None)

    (artifact,) = source.iter_skills()
    assert made == artifact.manifest
    assert isinstance(source.manifest_for("qa"), SkillManifest)
    assert (made.version, made.author) == ("1.0.0", None)
    with pytest.raises(SkillManifestError, match="there is no description"):
        SkillManifest(name="qa")
