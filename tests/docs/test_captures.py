"""The pictures of docs/images show what commands print today."""

import pytest

from tools.captures import CAPTURES, FOLDER, Capture


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_a_picture_shows_what_is_printed(capture: Capture) -> None:
    path = FOLDER / f"{capture.name}.svg"

    assert path.read_text("utf-8") == capture.draw(), "run `make generate`"
