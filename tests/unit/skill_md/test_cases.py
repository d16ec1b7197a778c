"""Each folder of tests/cases/spec is a SKILL.md and what `parse` must make of it.

``expect.json`` names the folder and the profile that the pack is parsed with, the
profile that matches (empty where it is refused), the fields of the manifest that
matter, and every finding as ``severity code:line``. Adding a case needs no Python.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from satchel.model import NO_CLIENT_FIELDS, ClientFields, Finding
from satchel.skill_md import (
    FENCE_REPAIRS,
    YAML_REPAIRS,
    Parsed,
    _yaml,
    body_of,
    parse,
)
from satchel.text import decode

CASES = sorted((Path(__file__).parents[2] / "cases" / "spec").iterdir())


def _shown(finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    return f"{finding.severity} {finding.code}{line}"


def _plain(value: object) -> object:
    """Return a field as JSON has it; of client fields only those that say something."""
    if isinstance(value, ClientFields):
        silent = asdict(NO_CLIENT_FIELDS)
        value = {k: v for k, v in asdict(value).items() if v != silent[k]}
    return json.loads(json.dumps(value))


def _check(parsed: Parsed, expected: dict[str, Any]) -> None:
    fields = expected.get("manifest", {})
    assert [_shown(finding) for finding in parsed.findings] == expected["findings"]
    assert parsed.profile == expected["matched"]
    assert (parsed.manifest is None) == ("manifest" not in expected)
    assert {key: _plain(getattr(parsed.manifest, key)) for key in fields} == fields


@pytest.mark.row("C05", "C06", "C08", "C09", "C10", "C11", "C12", "C13")
@pytest.mark.row("C14", "C15", "C16", "D36", "D37", "X05", "X06", "X07")
@pytest.mark.row("G01", "G02", "G03", "G04", "G05", "G06", "F56")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    expected = json.loads((case / "expect.json").read_text("utf-8"))

    parsed = parse(
        (case / "SKILL.md").read_bytes(),
        profile=expected["profile"],
        directory=expected["directory"],
    )

    _check(parsed, expected)


def test_cases_without_the_c_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML has no C extension the same comes, more slowly."""
    monkeypatch.setattr(_yaml, "new_parser", _yaml._PureParser)
    for case in CASES:
        _check_pure(case)


def _check_pure(case: Path) -> None:
    expected = json.loads((case / "expect.json").read_text("utf-8"))

    parsed = parse(
        (case / "SKILL.md").read_bytes(),
        profile=expected["profile"],
        directory=expected["directory"],
    )

    if case.name in _READ_OTHERWISE:
        assert parsed.manifest is not None
    else:
        _check(parsed, expected)


_READ_OTHERWISE: set[str] = set()
"""The pure parser takes what the C parser refuses, and so repairs nothing."""


def test_bodies_begin_behind_the_yaml_tree() -> None:
    """What `parse` reads is never handed out a second time as body."""
    for case in CASES:
        data = (case / "SKILL.md").read_bytes()
        body = body_of(decode(data).text)

        if parse(data, directory="d").manifest is not None:
            assert "description:" not in body, case
            assert not body.startswith("---\n"), case


def test_every_repair_has_a_case() -> None:
    """A repair with no case is a repair nobody has seen."""
    seen = {
        line.split()[1].partition(":")[0]
        for case in CASES
        for line in json.loads((case / "expect.json").read_text("utf-8"))["findings"]
    }

    assert seen >= FENCE_REPAIRS | YAML_REPAIRS
