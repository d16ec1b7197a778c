"""What users of the earlier system do with a role's prompt, and with what it names."""

import asyncio
import copy
import json
import logging
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel import load_skill, resolve_role_prompt
from satchel_compat import ResolvedRolePrompt, RoleResolver, _registry as default
from tests.unit.compat.templates import INDEX, edit, write_role

pytestmark = pytest.mark.row("F31")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work where the default registry finds a skill of its own."""
    home = tmp_path / "home"
    write_role(home / ".agents", "own", body="# Own\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    default._make.cache_clear()
    yield home
    default._make.cache_clear()


def loaded(name: str, **options: object) -> dict[str, object]:
    return asyncio.run(load_skill(name, **options))  # type: ignore[arg-type]


@pytest.mark.row("C19", "C20", "C56")
def test_a_prompt_is_a_text(templates: Path) -> None:
    prompt = resolve_role_prompt("backend", templates)

    assert isinstance(prompt, str)
    assert prompt == INDEX == str(prompt) == prompt.body
    assert type(str(prompt)) is str
    assert hash(prompt) == hash(INDEX)
    assert prompt + "x" == f"{prompt}x" == INDEX + "x"
    parts = ["Base.", prompt]
    assert "\n".join(parts) == f"Base.\n{INDEX}"
    assert json.loads(json.dumps({"prompt": prompt})) == {"prompt": INDEX}
    assert prompt.encode() == INDEX.encode()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, None])
def test_a_prompt_survives_a_copy(how: object, templates: Path) -> None:
    prompt = resolve_role_prompt("backend", templates)

    again = how(prompt) if callable(how) else pickle.loads(pickle.dumps(prompt))  # noqa: S301

    assert isinstance(again, ResolvedRolePrompt)
    assert (again, again.source, again.tokens) == (prompt, "skill", prompt.tokens)


@pytest.mark.row("C20", "C24", "C25", "C27", "C28", "T05")
def test_load_skill_sees_what_the_prompt_named(templates: Path) -> None:
    """And edits and new packs since then."""
    prompt = resolve_role_prompt("backend", templates)
    assert 'load_skill(name="backend")' in prompt
    for name in ("backend", "analyst"):
        result = loaded(name)
        assert (result["name"], result["error"]) == (name, None)
        assert "Do it well." in str(result["body"])
    assert loaded("own")["body"] == "# Own\n", "what no prompt named is looked for, too"
    assert loaded("nope")["error"] == "skill 'nope' not found"
    edit(templates / "skills/backend/SKILL.md", "Do it well.", "Do it better.")
    write_role(templates, "qa", body="# QA\n")
    assert "Do it better." in str(loaded("backend")["body"])
    assert loaded("qa")["body"] == "# QA\n"


def test_the_folder_of_the_prompt_goes_before_the_default(
    templates: Path, elsewhere: Path
) -> None:
    write_role(elsewhere / ".agents", "backend", body="# Not this one\n")

    assert loaded("backend")["body"] == "# Not this one\n"
    resolve_role_prompt("backend", templates)
    assert loaded("backend")["body"] == "# Backend\n\nDo it well.\n"


def test_a_prompt_that_names_no_pack_changes_nothing(templates: Path) -> None:
    """A fallback is one sentence; no model is told of any skill."""
    assert loaded("backend", templates_dir=templates)["error"] is None
    resolve_role_prompt("nobody", templates)

    assert loaded("backend")["error"] == "skill 'backend' not found"
    assert loaded("backend", templates_dir=templates)["error"] is None


def test_two_folders_with_one_pack_are_one_and_with_two_are_an_error(
    templates: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What to do is told in the log: anyone who reads the result cannot do it."""
    other = tmp_path / "other"
    write_role(other, "backend", body="# Backend\n\nDo it well.\n")
    for folder in (templates, other):
        resolve_role_prompt("backend", folder)
    assert loaded("backend")["error"] is None

    write_role(other, "backend", body="# Otherwise\n")

    with caplog.at_level(logging.WARNING, logger="satchel"):
        result = loaded("backend")
    assert result["error"] == (
        "several packs claim the skill 'backend'; none of them is handed out"
    )
    assert (result["body"], result["available_references"]) == ("", [])
    assert "templates_dir=" in caplog.text
    assert loaded("backend", templates_dir=other)["body"] == "# Otherwise\n"
    assert "Do it well." in str(loaded("backend", templates_dir=templates)["body"])


def test_a_resolver_gives_its_packs_for_loads(templates: Path) -> None:
    resolver = RoleResolver(templates, include_plugins=False)

    result = loaded("backend", skills=resolver.skills)

    assert result["error"] is None
    assert loaded("backend")["error"] is not None, "it is not one of this process"


@pytest.mark.row("C20", "T02")
def test_a_pack_in_a_folder_of_another_name_is_reported(
    templates: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (templates / "skills/backend").rename(templates / "skills/zz")

    with caplog.at_level(logging.WARNING, logger="satchel"):
        prompts = [resolve_role_prompt("backend", templates) for _ in range(2)]

    for prompt in prompts:
        (finding,) = prompt.findings
        assert (finding.code, finding.severity) == ("role-pack-elsewhere", "warning")
        assert finding.path.endswith("skills/zz")
        assert prompt.source == "skill"
    assert caplog.text.count("in a folder of another name, 'zz'") == 1
    assert resolve_role_prompt("analyst", templates).findings == ()


@pytest.mark.row("C26", "C57", "F97")
@pytest.mark.parametrize(
    ("name", "expected"), [("backend", 1), ("nope", 0), ("../skills/backend", 0)]
)
def test_a_skill_near_the_process_is_named_in_the_log(
    name: str,
    expected: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing named its folder, so it is not used; somebody has to hear of it."""
    folder = tmp_path / "templates" / "skills" / "backend"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: backend\ndescription: Use it.\n---\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    result = asyncio.run(load_skill(name))

    assert str(result["error"]).endswith("not found")
    lines = [line for line in caplog.messages if 'templates_dir="templates"' in line]
    assert len(lines) == expected
