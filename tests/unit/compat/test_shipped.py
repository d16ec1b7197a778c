"""The role packs that ship, resolved from a folder of templates."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from satchel_compat import RoleResolver

ROOT: Final = Path(__file__).parents[3]
PACKS: Final = ROOT / "src" / "satchel" / "packs"
INDEX: Final = (ROOT / "tests/cases/role-packs/index.txt").read_text("utf-8")
"""The index of all of them, on record byte for byte."""

ROLES: Final = [line[2:].partition(":")[0] for line in INDEX.splitlines()[1:]]


@pytest.fixture(params=["a link", "copies", "a link each"])
def templates(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    skills = tmp_path / "templates" / "skills"
    skills.parent.mkdir()
    match request.param:
        case "a link":
            skills.symlink_to(PACKS)
        case "copies":
            shutil.copytree(PACKS, skills)
        case _:
            skills.mkdir()
            for pack in PACKS.iterdir():
                (skills / pack.name).symlink_to(pack)
    return skills.parent


def hint(role: str) -> str:
    """Return the golden text with this role in front, out of the index on record."""
    header, *lines = INDEX.splitlines(keepends=True)
    own = next(line for line in lines if line.startswith(f"- {role}: "))
    others = "".join(line for line in lines if line != own)
    return f'Role: {role}. load_skill(name="{role}").\n{header}*{own[1:]}{others}'


@pytest.mark.row("C20", "C23", "C52", "X01", "C01")
def test_every_role_gives_its_golden_text(templates: Path) -> None:
    resolver = RoleResolver(templates, include_plugins=False)

    assert len(ROLES) == 17
    assert resolver.build_index_only().text == INDEX
    assert resolver.roles() == tuple(ROLES)
    for role in ROLES:
        resolved = resolver.resolve(role)
        assert resolved.body == hint(role)
        assert [f.code for f in resolved.findings] in ([], ["linked-pack"])
    assert resolver.parses == 17


@pytest.mark.row("G15", "G25")
@pytest.mark.filterwarnings("ignore:role ")
def test_what_each_legacy_prompt_saves_or_costs_next_to_all_packs(
    tmp_path: Path,
) -> None:
    """With 17 skills listed, a short template is the cheaper one, and that is said."""
    shutil.copytree(PACKS, tmp_path / "skills")
    shutil.copytree(ROOT / "examples/templates/roles", tmp_path / "roles")
    resolver = RoleResolver(tmp_path, include_plugins=False)

    for role in ("backend", "qa", "security"):
        resolved = resolver.resolve(role)
        whole = resolver.resolve(role, primary="body")
        codes = [finding.code for finding in resolved.findings]
        assert resolved.legacy_tokens is not None
        assert resolved.saved_tokens == resolved.legacy_tokens - resolved.tokens
        assert (resolved.saved_tokens < 0) == ("role-costs-more" in codes)
        assert resolved.tokens < whole.tokens
        budget = resolved.legacy_tokens
        within = resolver.resolve(role, budget_tokens=budget)
        assert within.saved_tokens is not None
        assert within.saved_tokens >= 0
