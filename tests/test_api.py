"""The public names are those of api.txt: a change of them is seen in review."""

from tools.api import API, render_api


def test_public_names_are_on_record() -> None:
    assert API.read_text("utf-8") == render_api(), "run `make generate`"
