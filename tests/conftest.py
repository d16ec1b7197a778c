"""What every test stands on: a home of its own, and repeatable properties."""

import gc
import os
import re
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline: a shared machine pauses for longer than any of ours would be. Each run
# draws other examples, so few are enough here; CI has a hundred, `make fuzz` 20,000.
settings.register_profile("dev", deadline=None, max_examples=25)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=20_000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Processes that tests start read our modules compiled, wherever they may be kept: a
# shell that says not to keep them would have each of them compile all again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPYCACHEPREFIX"] = str(
    Path(__file__).parents[1] / ".cache" / "pycache"
)

_homes = count()
_folders = count()


def pytest_collection_finish() -> None:
    """Let no later collection of garbage look at the tests, which all stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder of the test, as pytest's but that no link leads to it.

    To put the link in the place of the last one takes longer than to make the folder.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_folders)}"
    folder.mkdir(0o700)
    return folder


@pytest.fixture(autouse=True)
def own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep the skills, settings and state of the person who runs the tests out of them.

    The home does not exist until something writes to it.
    """
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    for name in list(os.environ):
        if name.startswith(("SATCHEL_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
