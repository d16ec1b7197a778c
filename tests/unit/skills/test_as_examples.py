"""The ready-made skills are modules of their own, to read and to copy."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from satchel import Satchel

MODULES = ["calc", "clock"]


@pytest.mark.row("B22", "U10")
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    "first",
    [
        "from satchel.skills import {0}",
        "from satchel.skills.{0} import {0}",
        "import satchel.skills.{0}; from satchel.skills.{0} import {0}",
    ],
)
def test_the_function_is_there_however_it_is_imported(name: str, first: str) -> None:
    code = (
        f"{first.format(name)}\nimport satchel.skills as room\n"
        f"print({name}().name, room.{name} is {name}, {name}.__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{name} True satchel.skills.{name}\n"


@pytest.mark.row("B22", "U10")
@pytest.mark.parametrize("name", MODULES)
def test_a_copy_of_the_module_is_a_skill_of_its_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing in it is needed from anywhere but the doors of other rooms."""
    module = importlib.import_module(f"satchel.skills.{name}")
    source = Path(str(module.__file__)).read_text("utf-8")
    (tmp_path / f"my_{name}.py").write_text(source, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    mine = importlib.import_module(f"my_{name}")

    assert module.__all__ == [name]
    assert "An example to copy" in str(module.__doc__)
    skills = Satchel(getattr(mine, name)())
    chat = skills.session()
    chat.call("load_skill", {"skill_id": name})
    assert len(chat.tools()) > 1
