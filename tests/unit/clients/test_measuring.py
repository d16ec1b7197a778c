"""The measurement says what it misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.loaders.driver import UnavailableError, uv_command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.row("F57")
def test_without_uv_the_measurement_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="pip install"):
        uv_command(tmp_path / "uv")


@pytest.mark.row("F57")
def test_uv_is_called_where_it_is(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.touch()

    assert uv_command(uv)[0] == str(uv)
