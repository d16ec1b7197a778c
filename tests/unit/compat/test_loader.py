"""SkillLoader and load_skill: the front that users of role packs know."""

import asyncio
import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from satchel import (
    DuplicateSkillError,
    LocalDirSkillSource,
    Satchel,
    SkillLoader,
    SkillManifestError,
    SkillNotFoundError,
    load_skill,
)
from satchel.errors import ReferenceNotAllowedError
from satchel.usage import ListSink
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


@pytest.fixture
def loader(templates: Path) -> SkillLoader:
    return SkillLoader([LocalDirSkillSource(templates)], include_plugins=False)


@pytest.mark.row("C35", "C37", "C10", "C14", "C15")
def test_a_skill_as_a_whole(loader: SkillLoader) -> None:
    skill = loader.get("backend")

    assert skill.name == "backend"
    assert skill.body.startswith("# Backend")
    assert skill.references == ("conventions.md",)
    assert skill.scripts == ("lint.sh",)
    assert skill.trigger_keywords == ("api", "server")
    assert [item.name for item in loader.list_all()] == ["backend"]
    assert loader.has("backend")
    assert not loader.has("Backend")
    assert len(loader) == len(list(loader)) == 1
    source = loader.find_source_for("backend")
    assert isinstance(source, LocalDirSkillSource)
    assert source.label.startswith("local:")


def test_unknown_names_are_errors(loader: SkillLoader) -> None:
    with pytest.raises(SkillNotFoundError):
        loader.get("nope")
    with pytest.raises(SkillNotFoundError):
        loader.find_source_for("nope")


@pytest.mark.row("A08", "G08", "A10")
def test_files_are_read_by_their_names_if_they_are_listed(loader: SkillLoader) -> None:
    assert loader.read_reference("backend", "conventions.md") == "# Conventions\n"
    assert loader.read_script("backend", "lint.sh") == "echo lint\n"
    with pytest.raises(ReferenceNotAllowedError):
        loader.read_reference("backend", "hidden.md")


@pytest.mark.row("C17", "C18", "R04", "G03", "X18")
def test_broken_packs_are_one_error_that_lists_each(templates: Path) -> None:
    """Every pack is read first; the message names each path."""
    for name, text in {"one": b"no fence", "two": b"---\nname: two\n---\n"}.items():
        (templates / name).mkdir()
        (templates / name / "SKILL.md").write_bytes(text)

    with pytest.raises(SkillManifestError) as caught:
        SkillLoader([LocalDirSkillSource(templates)], include_plugins=False)

    assert isinstance(caught.value, ValueError)
    assert "one/SKILL.md" in str(caught.value)
    assert "two/SKILL.md" in str(caught.value)


@pytest.mark.row("F31", "C17", "C18", "G03")
def test_the_path_is_reported_once_and_the_detail_is_what_is_wrong(
    templates: Path,
) -> None:
    path = templates / "backend/SKILL.md"
    path.write_text("no fence")

    with pytest.raises(SkillManifestError) as caught:
        SkillLoader([LocalDirSkillSource(templates)], include_plugins=False)

    error = caught.value
    assert (error.path, error.line) == (str(path), 1)
    assert error.detail.startswith("the file does not begin with frontmatter (")
    assert str(error) == f"{path}:1: {error.detail}"
    (templates / "other").mkdir()
    (templates / "other/SKILL.md").write_text("no fence")
    with pytest.raises(SkillManifestError) as caught:
        SkillLoader([LocalDirSkillSource(templates)], include_plugins=False)
    assert str(caught.value).count("backend/SKILL.md") == 1
    assert str(caught.value).count("other/SKILL.md:1: ") == 1


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
    loader = SkillLoader([LocalDirSkillSource(templates), older], include_plugins=False)

    skill = loader.get("qa")

    assert [item.name for item in loader.list_all()] == ["backend", "qa"]
    assert (skill.body, skill.references, skill.scripts) == (
        "# QA\n",
        ("edge-cases.md",),
        ("run.sh",),
    )
    assert (skill.trigger_keywords, skill.source_name) == (("test",), "house")
    assert loader.read_reference("qa", "edge-cases.md") == "qa: edge-cases.md\n"
    assert loader.read_script("qa", "run.sh") == "echo qa run.sh\n"
    assert loader.find_source_for("qa") is older


@pytest.mark.row("F31")
def test_a_satchel_takes_it_too() -> None:
    skills = Satchel(Older())

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


@pytest.mark.row("F31", "C35")
def test_load_skill_takes_a_loader(loader: SkillLoader) -> None:
    result = asyncio.run(load_skill("backend", "conventions.md", skills=loader))

    assert result["reference_content"] == "# Conventions\n"
    assert result["error"] is None


@pytest.mark.row("C16")
def test_a_typo_in_a_key_is_named(templates: Path) -> None:
    text = BACKEND.replace("scripts:", "scirpts:")
    (templates / "backend/SKILL.md").write_text(text)

    with pytest.raises(SkillManifestError, match="scirpts"):
        SkillLoader([LocalDirSkillSource(templates)], include_plugins=False)


@pytest.mark.row("C36", "X04")
def test_a_name_that_two_sources_claim_aborts(templates: Path) -> None:
    other = FakeSource("other", {"backend": {"SKILL.md": BACKEND + "More.\n"}})

    with pytest.raises(DuplicateSkillError) as caught:
        SkillLoader([LocalDirSkillSource(templates), other], include_plugins=False)

    assert caught.value.skill_name == "backend"
    assert "other/backend" in str(caught.value)
    assert "skills/backend" in str(caught.value)
    assert "sources.prefixed(" in caught.value.fix
    assert "on_conflict" not in str(caught.value), "a loader has no such option"


@pytest.mark.row("X24", "C41", "X18")
def test_a_plugin_that_claims_a_taken_name_is_named_with_the_switch(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plug-ins are enumerated when the loader is made; a denied one is left out."""
    plugin = FakeSource("plugin:mine", {"backend": {"SKILL.md": BACKEND + "More.\n"}})

    def load_plugins(*, deny: object = ()) -> list[FakeSource]:
        return [] if "plugin:mine" in list(deny) else [plugin]  # type: ignore[call-overload]

    monkeypatch.setattr("satchel.compat._loader.load_plugin_sources", load_plugins)
    local = LocalDirSkillSource(templates)

    with pytest.raises(DuplicateSkillError, match="plugin:mine") as caught:
        SkillLoader([local])
    assert "--no-plugins" in str(caught.value)
    assert len(SkillLoader([local], deny=["plugin:mine"])) == 1


@pytest.mark.row("X18", "C42")
def test_a_broken_pack_of_a_plugin_is_left_out_and_reported(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = FakeSource("plugin:mine", {"broken": {"SKILL.md": "nothing"}})
    monkeypatch.setattr(
        "satchel.compat._loader.load_plugin_sources", lambda **_: [plugin]
    )

    loader = SkillLoader([LocalDirSkillSource(templates)])

    assert [entry.id for entry in loader] == ["backend"]
    assert [f.path for f in loader.findings] == ["plugin:mine/broken/SKILL.md"]


@pytest.mark.row("C26")
def test_load_skill_has_three_parameters_and_is_a_coroutine() -> None:
    names = [
        name
        for name, parameter in inspect.signature(load_skill).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]

    assert inspect.iscoroutinefunction(load_skill)
    assert names == ["name", "reference", "script"]


@pytest.mark.row("C26", "C27", "C28", "C29", "C30", "C31", "X02")
def test_seven_keys_whatever_is_asked(templates: Path) -> None:
    skills = Satchel(templates)
    body = asyncio.run(load_skill("backend", skills=skills))
    reference = asyncio.run(load_skill("backend", "conventions.md", skills=skills))
    script = asyncio.run(load_skill("backend", script="lint.sh", skills=skills))

    assert body == {
        "name": "backend",
        "body": "# Backend\n\nRead conventions.md first.\n",
        "available_references": ["conventions.md"],
        "available_scripts": ["lint.sh"],
        "reference_content": None,
        "script_content": None,
        "error": None,
    }
    assert (reference["body"], reference["reference_content"]) == (
        "",
        "# Conventions\n",
    )
    assert (script["body"], script["script_content"]) == ("", "echo lint\n")
    assert list(reference) == list(script) == list(body)


@pytest.mark.row("C33", "F31")
@pytest.mark.parametrize(
    ("asked", "reference", "script", "ok"),
    [
        ({}, None, None, True),
        ({"reference": "conventions.md"}, "references/conventions.md", None, True),
        ({"script": "lint.sh"}, None, "scripts/lint.sh", True),
        ({"script": "gone.sh"}, None, "scripts/gone.sh", False),
        ({"reference": "gone.md"}, "references/gone.md", None, False),
        (
            {"reference": "conventions.md", "script": "lint.sh"},
            *("references/conventions.md", "scripts/lint.sh", True),
        ),
        (
            {"reference": "conventions.md", "script": "gone.sh"},
            *("references/conventions.md", "scripts/gone.sh", False),
        ),
        (
            {"reference": "gone.md", "script": "lint.sh"},
            *("references/gone.md", "scripts/lint.sh", False),
        ),
    ],
)
def test_a_call_is_one_event_that_says_what_was_asked(
    templates: Path,
    asked: dict[str, str],
    reference: str | None,
    script: str | None,
    ok: bool,
) -> None:
    """A script that is refused is told as a script."""
    sink = ListSink()
    asyncio.run(load_skill("backend", **asked, skills=Satchel(templates, sinks=[sink])))

    (event,) = sink.events
    assert (event.name, event.reference, event.script) == (
        *("backend", reference),
        script,
    )
    assert (event.error is None) is ok


@pytest.mark.row("C32", "F31")
@pytest.mark.parametrize("wrong", [3, None, ["backend"], {}, b"backend"])
def test_what_is_no_text_is_a_result_too(templates: Path, wrong: object) -> None:
    """A model may write any JSON."""
    skills, call = Satchel(templates), cast("Any", load_skill)

    unknown = asyncio.run(call(wrong, skills=skills))
    assert list(unknown)[:2] == ["name", "body"]
    assert "not found" in unknown["error"]
    if wrong is not None:
        refused = asyncio.run(call("backend", wrong, skills=skills))
        assert (
            "does not stay inside" in refused["error"] or "listed" in refused["error"]
        )
        assert refused["reference_content"] is None


@pytest.mark.row("C32", "C30")
def test_errors_are_results(templates: Path) -> None:
    skills = Satchel(templates)

    assert asyncio.run(load_skill("nope", skills=skills)) == {
        "name": "nope",
        "body": "",
        "available_references": [],
        "available_scripts": [],
        "reference_content": None,
        "script_content": None,
        "error": "skill 'nope' not found",
    }
    refused = asyncio.run(load_skill("backend", "hidden.md", skills=skills))
    assert "hidden.md" in str(refused["error"])


@pytest.mark.row("D30", "D33")
def test_the_default_registry_is_one_and_is_synced(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is made at first use, from satchel.toml, and given again afterwards."""
    from satchel.compat import _registry as default

    default._make.cache_clear()
    (templates / "satchel.toml").write_text('skills = ["."]\n')
    monkeypatch.chdir(templates)

    first = default.default_registry()

    assert first is default.default_registry()
    assert "backend" in first.catalog
    assert asyncio.run(load_skill("backend"))["error"] is None
    default._make.cache_clear()


@pytest.mark.row("D34", "D35")
def test_without_a_configuration_it_reads_the_usual_folders(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from satchel.compat import _registry as default

    default._make.cache_clear()
    home = tmp_path / "home"
    (home / ".agents").mkdir(parents=True)
    templates.rename(home / ".agents/skills")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setenv("HOME", str(home))

    assert "backend" in default.default_registry().catalog
    default._make.cache_clear()
