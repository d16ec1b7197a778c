"""The names at the top: imported when they are first used."""

import pytest

import satchel

OF_EARLIER_SYSTEMS = sorted(set(satchel._HOMES) - set(satchel.__all__))


@pytest.mark.row("C57")
@pytest.mark.parametrize("name", [*satchel.__all__, *OF_EARLIER_SYSTEMS])
def test_a_name_is_the_same_by_import_and_as_an_attribute(name: str) -> None:
    by_attribute = getattr(satchel, name)

    assert by_attribute is not None
    assert satchel.__getattr__(name) is by_attribute


@pytest.mark.row("C57")
def test_names_of_earlier_systems_are_not_listed() -> None:
    assert {"SkillLoader", "load_skill", "SkillManifest"} <= set(OF_EARLIER_SYSTEMS)
    assert not set(OF_EARLIER_SYSTEMS) & set(dir(satchel))
