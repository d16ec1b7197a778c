"""Text in quotes that runs on at the margin, which YAML 1.2 refuses."""

from __future__ import annotations

import pytest

from satchel.model import Limits
from satchel.server._mcp._portability import has_unindented_text
from satchel.skill_md import YamlTree, read_tree

INDENTED = 'name: x\ndescription: "One.\n  Two: three.\n\n  # Four."\n'
LISTS = "name: x\ntags:\n- a\n- b\n# note\nother: [\n  c,\n]\nmore: {\n  d: e\n}\n"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (INDENTED, False),
        (LISTS, False),
        ("name: x\ndescription: |\n  # One\n  two\n\nlicense: MIT\n", False),
        ("'name': x\n\"description\": y\n", False),
        ("# a: b\nname: x\n", False),
        ('name: x\ndescription: "One.\nTwo."\n', True),
        ("name: x\ndescription: 'One.\n\nTwo: three.'\n", True),
        ('name: x\ndescription: "One.\n# Two"\nlicense: MIT\n', True),
        ('name: x\ndescription: "One.\n- Two"\n', True),
    ],
)
def test_the_margin_belongs_to_fields(head: str, expected: bool) -> None:
    tree = read_tree(head.encode(), Limits())
    assert isinstance(tree, YamlTree), tree

    assert has_unindented_text(head, tree.root) is expected
