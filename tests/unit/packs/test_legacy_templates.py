"""The legacy roles in examples/templates, next to the pack that replaces one."""

import re
from typing import Final

import pytest

from satchel import Satchel, sources
from satchel_compat import render_role_prompt, resolve_role_prompt
from tests.unit.packs.house import ROOT

TEMPLATES: Final = ROOT / "examples" / "templates"
LEGACY: Final = ("adversary", "backend", "qa", "security")
FILES: Final = ("config.yaml", "system_prompt.md", "task_prompt.md")


@pytest.mark.row("C04")
def test_packs_lie_next_to_the_legacy_roles() -> None:
    assert sorted(item.name for item in TEMPLATES.iterdir()) == ["roles", "skills"]
    assert (TEMPLATES / "skills" / "backend" / "SKILL.md").is_file()
    assert [entry.name for entry in sorted((TEMPLATES / "roles").iterdir())] == [
        *LEGACY
    ]
    for role in LEGACY:
        folder = TEMPLATES / "roles" / role
        assert tuple(sorted(one.name for one in folder.iterdir())) == FILES


@pytest.mark.row("C54", "C04")
@pytest.mark.parametrize("role", ["adversary", "qa", "security"])
def test_the_others_keep_their_template(role: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"role '{role}'"):
        prompt = resolve_role_prompt(
            role, TEMPLATES, context={"PROJECT": "shop"}, include_plugins=False
        )

    assert prompt.source == "legacy"
    assert " of shop" in str(prompt)


@pytest.mark.row("C54")
@pytest.mark.parametrize("role", LEGACY)
def test_a_template_renders_with_and_without_its_values(role: str) -> None:
    roles = TEMPLATES / "roles"
    written = (roles / role / "system_prompt.md").read_text("utf-8")
    names = dict.fromkeys(re.findall(r"\{\{(?:#IF(?:_NOT)? )?(\w+)\}\}", written))
    full = render_role_prompt(role, {n: f"<{n}>" for n in names}, templates_dir=roles)
    bare = render_role_prompt(role, {}, templates_dir=roles)

    assert [name for name in names if f"<{name}>" not in full] == []
    assert "{{" not in full
    assert "{{PROJECT}}" in bare
    assert "{{#IF" not in bare
    assert full != bare


def test_the_pack_is_the_one_that_ships() -> None:
    shown = Satchel(TEMPLATES / "skills")
    shipped = Satchel(sources.roles())

    assert [entry.id for entry in shown.catalog] == ["backend"]
    assert shown.digest("backend") == shipped.digest("backend")
