"""What the clients are made of is fixed by hash, and no lock file says from where."""

import json
from typing import Any

import pytest

from tests import test_lock_files
from tools.clients.known import HOME, npm_versions, pip_version

FOLDERS = ["npm", "claude"]


def packages(folder: str) -> dict[str, Any]:
    lock = json.loads((HOME / folder / "package-lock.json").read_text("utf-8"))
    found: dict[str, Any] = lock["packages"]
    return found


@pytest.mark.parametrize("name", ["python", "node"])
def test_python_lock_files_hold_pins_and_hashes(name: str) -> None:
    test_lock_files.test_every_line_is_a_pin_a_hash_or_a_short_comment(
        HOME / f"{name}.txt"
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_npm_lock_files_hold_hashes_and_no_address(folder: str) -> None:
    for path, package in packages(folder).items():
        if path:  # the first is the folder itself
            assert package["integrity"].startswith("sha512-"), path
            assert "resolved" not in package, path


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_asked_for_is_what_is_locked(folder: str) -> None:
    locked = packages(folder)

    assert npm_versions(HOME / folder) == {
        name: locked[f"node_modules/{name}"]["version"]
        for name in npm_versions(HOME / folder)
    }


def test_a_distribution_that_is_not_locked_is_told() -> None:
    with pytest.raises(LookupError, match=r"node\.txt has no fastmcp"):
        pip_version(HOME / "node.txt", "fastmcp")
