"""The names at the top: imported when they are first used."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import satchel

# Not in the stub that checkers read.
HOMES: dict[str, str] = vars(satchel)["_HOMES"]
ALL: list[str] = vars(satchel)["__all__"]
OF_EARLIER_SYSTEMS = sorted(set(HOMES) - set(ALL))


@pytest.mark.row("C57")
@pytest.mark.parametrize("name", [*ALL, *OF_EARLIER_SYSTEMS])
def test_a_name_is_the_same_by_import_and_as_an_attribute(name: str) -> None:
    by_attribute = getattr(satchel, name)

    assert by_attribute is not None
    assert satchel.__getattr__(name) is by_attribute


@pytest.mark.row("C57")
def test_names_of_earlier_systems_are_not_listed() -> None:
    assert {"SkillLoader", "load_skill", "SkillManifest"} <= set(OF_EARLIER_SYSTEMS)
    assert not set(OF_EARLIER_SYSTEMS) & set(dir(satchel))


def test_about_twenty_names_are_at_the_top_and_their_version() -> None:
    assert dir(satchel) == sorted([*ALL, "__version__"])
    assert len(dir(satchel)) <= 22
    assert satchel.__version__ == version("satchel")


def test_nothing_is_imported_before_it_is_used() -> None:
    """Neither the parts of the front door nor what reads the version."""
    program = "import sys, satchel; print(*sys.modules)"
    output = subprocess.check_output([sys.executable, "-c", program], text=True)

    loaded = set(output.split())
    assert "satchel" in loaded
    assert not {m for m in loaded if m.startswith("satchel.") and m != "satchel.lazy"}
    assert not loaded & {"importlib.metadata", "yaml", "pydantic", "click"}
