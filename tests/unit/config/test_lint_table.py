"""The table ``lint`` of a configuration file, and what is wrong with one."""

from dataclasses import fields
from pathlib import Path

import pytest

from satchel.config import load_config
from satchel.errors import ConfigError
from satchel.model import DEFAULT_LINT, LintConfig

WHOLE = """
[lint]
profile = "strict"
fail_on = "warning"
select = ["hidden-text", "invalid-markdown"]
ignore = ["missing-h1"]

[lint.severity]
long-description = "warning"
missing-h1 = "off"

[lint.per_path]
"vendor/**" = ["long-description"]

[lint.thresholds]
body_tokens = 2000
pack_files = 0
"""


def load(folder: Path, text: str, name: str = "satchel.toml") -> LintConfig | None:
    (folder / name).write_text(text, "utf-8")
    return load_config(folder / name).lint


def test_every_key_has_its_value_in_either_file(tmp_path: Path) -> None:
    lint = load(tmp_path, WHOLE)

    assert lint == LintConfig(
        profile="strict",
        fail_on="warning",
        select=("hidden-text", "invalid-markdown"),
        ignore=("missing-h1",),
        severity=(("long-description", "warning"), ("missing-h1", "off")),
        per_path=(("vendor/**", ("long-description",)),),
        thresholds=(("body_tokens", 2000), ("pack_files", 0)),
    )
    silent = [f.name for f in fields(lint) if not getattr(lint, f.name)]
    assert silent == []

    text = WHOLE.replace("[lint", "[tool.satchel.lint")

    assert load(tmp_path, text, "pyproject.toml") == load(tmp_path, WHOLE)

    assert load(tmp_path, 'skills = ["a"]\n') == DEFAULT_LINT


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lint = 1", "lint: expected a table"),
        ("[lint]\nprofil = 'spec'", "unknown key in lint 'profil'; did you mean"),
        ("[lint]\nprofile = 'loose'", "lint.profile = 'loose'; expected one of"),
        ("[lint]\nprofile = ['spec']", "lint.profile = ['spec']; expected one of"),
        ("[lint]\nfail_on = 'often'", "lint.fail_on = 'often'; did you mean"),
        ("[lint]\nselect = 'a'", "lint.select: expected a list of strings"),
        ("[lint]\nignore = [1]", "lint.ignore: expected a list of strings"),
        ("[lint]\nseverity = 1", "severity: expected a table"),
        ("[lint.severity]\nx = 'fatal'", "lint.severity.x = 'fatal'; expected one of"),
        ("[lint.per_path]\n'a/*' = 'x'", "lint.per_path.'a/*': expected a list"),
        ("[lint.thresholds]\nbody = 1", "unknown key in lint.thresholds 'body'"),
        (
            "[lint.thresholds]\nbody_tokens = -1",
            "body_tokens: expected a count; got -1",
        ),
        ("[lint.thresholds]\nbody_tokens = true", "expected a count; got True"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)

    assert said in str(caught.value)
    assert str(tmp_path / "satchel.toml") in str(caught.value)
