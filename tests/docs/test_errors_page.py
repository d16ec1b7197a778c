"""The page of errors has each class that can be caught, with its code."""

import re
from typing import Final

from satchel import NoSources, SkillError, errors
from tools.api import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "errors.md"
_ROW: Final = re.compile(r"^\| `(\w+)` \| `([\w-]+)` \|", re.MULTILINE)


def test_the_page_has_each_error_with_its_code() -> None:
    classes = {name: getattr(errors, name) for name in errors.__all__}
    codes = {
        name: each.code
        for name, each in {**classes, "NoSources": NoSources}.items()
        if issubclass(each, SkillError)
    }

    assert dict(_ROW.findall(PAGE.read_text("utf-8"))) == codes
