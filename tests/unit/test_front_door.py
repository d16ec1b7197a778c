"""The names at the top: made when they are first asked for, however they are."""

import pytest

import satchel


@pytest.mark.row("C57")
@pytest.mark.parametrize("name", satchel.__all__)
def test_a_name_is_the_same_by_import_and_as_an_attribute(name: str) -> None:
    by_attribute = getattr(satchel, name)

    assert by_attribute is not None
    if not name.startswith("__") and name in satchel._HOMES:
        assert satchel.__getattr__(name) is by_attribute
