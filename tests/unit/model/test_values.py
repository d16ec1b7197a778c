"""Values whose defaults and equality others rest on."""

import re
from dataclasses import asdict
from pathlib import Path

from satchel.model import Limits, Request

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "limits.md"


def test_every_default_is_that_of_the_page() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d,]+) \|", PAGE.read_text("utf-8"), re.MULTILINE
    )

    assert {name: int(n.replace(",", "")) for name, n in rows} == asdict(Limits())


def test_who_reports_a_request_makes_it_no_other_request() -> None:
    """A turn keeps what was read by its request; the two names are for events."""
    request = Request("pdf", "a.md", agent="desk", client="shell")

    assert request == Request("pdf", "a.md", agent="helper", client="editor")
    assert request != Request("pdf", "b.md", agent="desk", client="shell")
