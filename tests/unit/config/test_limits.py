"""The page of limits says the limits that hold."""

import re
from dataclasses import asdict
from pathlib import Path

from satchel.model import Limits

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "limits.md"


def test_every_default_is_that_of_the_page() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d,]+) \|", PAGE.read_text("utf-8"), re.MULTILINE
    )

    assert {name: int(n.replace(",", "")) for name, n in rows} == asdict(Limits())
