"""A Satchel as a library: counted, iterated, asked by id, printed."""

from pathlib import Path

import pytest

from satchel import DuplicateSkillError, Policy, Satchel, SkillNotFoundError, deny
from satchel.errors import SkillExcludedError
from tests.fakes import FakeSource, pack


def packs(*ids: str, **texts: str) -> FakeSource:
    """Return a source of packs, with the text of a SKILL.md for some."""
    texts = {skill_id: pack(skill_id) for skill_id in ids} | texts
    return FakeSource("s", {name: {"SKILL.md": text} for name, text in texts.items()})


def test_it_is_counted_iterated_and_asked_as_its_catalog_is() -> None:
    skills = Satchel(packs("b", "a"))

    assert len(skills) == 2
    assert [skill.id for skill in skills] == ["a", "b"]
    assert [skills[skill.id] for skill in skills] == [*skills.catalog]
    assert all(skill in skills and skill.id in skills for skill in skills)
    assert skills["a"].description == skills.catalog.entries[0].description
    assert ("c" in skills, 7 in skills, None in skills) == (False, False, False)
    assert next(iter(Satchel(packs("a", "c")))) in skills
    assert next(iter(Satchel(packs("c")))) not in skills


def test_a_library_without_skills_is_empty() -> None:
    assert not Satchel(FakeSource("s", {}))
    assert list(Satchel(FakeSource("s", {}))) == []


def test_the_policy_is_for_users_and_not_for_the_program() -> None:
    """What no user may list is in the library, and in no prompt."""
    skills = Satchel(packs("a", "b"), policy=Policy(deny("b")))

    assert [skill.id for skill in skills] == ["a", "b"]
    assert str(skills.prompt()) == str(Satchel(packs("a")).prompt())


def test_what_an_id_means_is_what_load_would_load() -> None:
    old = "---\nname: old\ndescription: Old.\nmetadata: {status: deprecated}\n---\nX"
    skills = Satchel(packs("a", "off", old=old), disabled=["off"])

    assert "old" not in skills
    assert skills["old"].id == skills.load("old").descriptor.id == "old"
    with pytest.raises(SkillExcludedError, match="off"):
        skills["off"]
    with pytest.raises(KeyError, match="did you mean old") as caught:
        Satchel(packs("old"))["olt"]
    assert isinstance(caught.value, SkillNotFoundError)
    with pytest.raises(DuplicateSkillError, match="skill 'a'"):
        Satchel(packs("a"), packs(a=pack("a", "Another.")))["a"]


def test_skills_have_no_numbers() -> None:
    number: str = 0  # type: ignore[assignment] # as a user may write it

    with pytest.raises(TypeError, match="expected the id of a skill; got int"):
        Satchel(packs("a"))[number]


def test_its_repr_says_how_many_skills_from_where(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(pack("a"))

    assert repr(Satchel(tmp_path)) == f"<Satchel: 1 skill from {tmp_path}>"
    both = Satchel(tmp_path, packs("b", "c"))
    assert repr(both) == "<Satchel: 3 skills from 2 sources>"
    evil = FakeSource("x\x1b[2J\nINFO", {})
    assert "\x1b" not in repr(Satchel(evil))
    assert "\n" not in repr(Satchel(evil))
