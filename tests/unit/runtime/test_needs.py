"""What skills take for granted: other skills, and that somebody runs their scripts."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from satchel import Options, Policy, Satchel, deny
from satchel.cli import main
from satchel.errors import ScriptsNotRunWarning
from satchel.model import Finding, Style
from satchel.runtime import Session
from satchel.tools import result_text
from satchel_lab.checking import check

RUN: Final = "# X\n\n```sh\npython scripts/x.py\n```\n"
CODES: Final = ("required-skill-missing", "requires-circle")


def write(root: Path, name: str, fields: str = "", body: str = "# X\n") -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    head = f"name: {name}\ndescription: Use when {name} is what is needed."
    lines = f"\n{fields}" if fields else ""
    (folder / "SKILL.md").write_text(f"---\n{head}{lines}\n---\n{body}", "utf-8")
    return folder


def with_script(root: Path, name: str, body: str = RUN) -> Path:
    folder = write(root, name, body=body)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "x.py").write_text("print()\n", "utf-8")
    return folder


def load(session: Session, skill: str) -> str:
    with session.turn():
        return result_text(session.call("load_skill", {"skill_id": skill}))


def found(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    return [(f.code, f.message) for f in findings if f.code in CODES]


MISSING: Final = "it needs {}, which this library does not have"
CIRCLE: Final = "skills need one another in a circle: {}"


@pytest.mark.row("F102")
@pytest.mark.parametrize(
    ("fields", "requires"),
    [
        ("requires: [a, b]", ("a", "b")),
        ("requires: a, b-2", ("a", "b-2")),
        ("requires: a", ("a",)),
        ("depends: [a]", ("a",)),
        ("depends:\n  - a\n  - b", ("a", "b")),
        ("dependencies:\n  - a\n  - b", ()),
        ("metadata:\n  requires: a, b", ("a", "b")),
        ("metadata:\n  requires: [b]\nrequires: [a]", ("a",)),
        ("requires: [a, a, 'pandas>=2', 3.11]", ("a",)),
        ("reqiures: [a]", ("a",)),
        ("dependencies: [pandas>=2, numpy]", ()),
        ("depends: [git, 'node >= 20']", ()),
        ("requires: pandas>=2", ()),
        ("requires: a person who reads", ()),
        ("requires:\n  bins: [git]", ()),
        ("required: [a]", ()),
        ("requires: []", ()),
        ("requires:", ()),
        ("metadata:\n  openclaw:\n    requires:\n      bins: [git]", ()),
        ("metadata:\n  depends: a", ()),
    ],
)
def test_the_skills_that_a_manifest_needs(
    tmp_path: Path, fields: str, requires: tuple[str, ...]
) -> None:
    write(tmp_path, "x", fields)
    skills = Satchel(tmp_path)

    assert skills.manifest("x").requires == requires
    assert skills["x"].requires == requires


@pytest.mark.row("F102")
@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ("requires: [a]", "client-only-field"),
        ("depends: a", "client-only-field"),
        ("requires: []", None),
        ("metadata:\n  requires: a", None),
        ("depends: [pandas>=2]", None),
        ("requires:\n  bins: [git]", None),
        ("references: [r.md]\nrequires: [a]", "client-only-field"),
    ],
)
def test_a_check_says_which_spelling_is_valid_everywhere(
    tmp_path: Path, fields: str, code: str | None
) -> None:
    write(tmp_path, "a")
    write(tmp_path, "x", fields)

    report = check([str(tmp_path)])

    names = {"unknown-field", "client-only-field", "misspelled-field"}
    about = [f for f in report.findings if f.code in names]
    assert [f.code for f in about] == ([] if code is None else [code])
    if code == "client-only-field":
        assert "`requires: a` in metadata" in about[0].fix


@pytest.mark.row("F102")
@pytest.mark.parametrize(
    ("packs", "expected"),
    [
        ({"a": "requires: [b]", "b": ""}, []),
        ({"a": "requires: [b, c]", "b": ""}, [MISSING.format("'c'")]),
        ({"a": "depends: [b, c]"}, [MISSING.format("'b', 'c'")]),
        ({"a": "metadata:\n  requires: A-1, a1"}, [MISSING.format("'a1'")]),
        ({"a": "requires: a"}, [CIRCLE.format("a -> a")]),
        ({"b": "requires: a", "a": "depends: b"}, [CIRCLE.format("a -> b -> a")]),
        (
            {"a": "requires: c", "c": "requires: b", "b": "requires: a", "d": ""},
            [CIRCLE.format("a -> c -> b -> a")],
        ),
        (
            {
                "a": "requires: b",
                "b": "requires: a, c",
                "c": "requires: d, x",
                "d": "requires: c",
            },
            [
                MISSING.format("'x'"),
                CIRCLE.format("a -> b -> a"),
                CIRCLE.format("c -> d -> c"),
            ],
        ),
        (
            {"a": "requires: b", "b": "disable-model-invocation: true"},
            [],
        ),
    ],
)
def test_what_is_missing_or_goes_round_is_a_finding(
    tmp_path: Path, packs: Mapping[str, str], expected: list[str]
) -> None:
    for name, fields in packs.items():
        write(tmp_path, name, fields)
    skills = Satchel(tmp_path)

    opened = found(skills.findings)

    assert [message for _, message in opened] == expected
    assert sorted(found(check([str(tmp_path)]).findings)) == sorted(opened)
    assert sorted(found(skills.check().findings)) == sorted(opened)


def test_what_is_stored_in_the_index_says_the_same(tmp_path: Path) -> None:
    write(tmp_path / "s", "a", "requires: [b, c]")
    write(tmp_path / "s", "b", "requires: [a]")
    write(tmp_path / "s", "z")
    index = str(tmp_path / "index.db")

    def opened() -> list[tuple[str, str]]:
        with Satchel(tmp_path / "s", options=Options(index=index)) as skills:
            return found(skills.findings)

    first = opened()
    assert [code for code, _ in first] == [*CODES]
    assert opened() == opened() == first

    text = (tmp_path / "s/z/SKILL.md").read_text("utf-8")
    text = text.replace("\n---\n", "\nrequires: [y]\n---\n", 1)
    (tmp_path / "s/z/SKILL.md").write_text(text, "utf-8")
    assert (
        opened()
        == opened()
        == [*first[:1], (CODES[0], MISSING.format("'y'")), first[1]]
    )


def test_many_that_go_round_cost_no_time_and_are_named_in_part(tmp_path: Path) -> None:
    names = [f"s{number:04}" for number in range(600)]
    shuffled = sorted(names, key=lambda name: name[::-1])
    for name, after in zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True):
        write(tmp_path, name, f"requires: {after}")

    (only,) = found(Satchel(tmp_path).findings)

    assert only[1].count("->") == 11
    assert only[1].endswith(" -> ... -> s0000")


@pytest.mark.row("F102")
def test_a_skill_next_to_the_one_that_is_checked_is_not_missing(
    tmp_path: Path,
) -> None:
    write(tmp_path, "a", "requires: [b, c]")
    write(tmp_path, "b")

    assert found(check([str(tmp_path / "a")]).findings) == [
        (CODES[0], MISSING.format("'c'"))
    ]


def test_a_prefix_is_that_of_the_skill_that_needs(tmp_path: Path) -> None:
    write(tmp_path, "a", "requires: [b, c]")
    write(tmp_path, "b")
    skills = Satchel(tmp_path, options=Options(prefix="team-"))

    text = load(skills.session(), "team-a")

    assert found(skills.findings) == [(CODES[0], MISSING.format("'c'"))]
    assert "\nNeeds: team-b (load it with load_skill).\n" in text
    assert "\nNeeds: c, which this library does not have.\n" in text


@pytest.mark.row("F102")
def test_a_load_says_what_is_needed(tmp_path: Path) -> None:
    write(tmp_path, "a", "requires: [b, c, gone, secret]")
    for name in ("b", "c", "secret"):
        write(tmp_path, name)
    skills = Satchel(tmp_path, policy=Policy(deny("secret")))
    before = str(skills.prompt())

    text = load(skills.session(), "a")
    viewed = skills.view().tools().call("load_skill", {"skill_id": "a"})

    needs = "Needs: b, c (load them with load_skill).\n"
    gone = "Needs: gone, secret, which this library does not have.\n"
    assert f"\n{needs}{gone}" in text
    assert f"\n{needs}{gone}" in result_text(viewed)
    assert "Needs" not in before
    assert "Needs" not in load(skills.session(), "b")


def test_a_release_keeps_what_is_needed(tmp_path: Path) -> None:
    write(tmp_path / "s", "a", "requires: [b]")
    write(tmp_path / "s", "b")
    built = CliRunner().invoke(
        main, ["build", str(tmp_path / "r"), str(tmp_path / "s")]
    )
    assert built.exit_code == 0, built.output

    assert Satchel(tmp_path / "r")["a"].requires == ("b",)


# --- Scripts --------------------------------------------------------------------------

LINE: Final = "This text asks to run scripts/x.py. No tool of this library runs scripts"


def warned(caught: list[warnings.WarningMessage]) -> list[str]:
    return [str(one.message) for one in caught if one.category is ScriptsNotRunWarning]


@pytest.mark.row("F101")
def test_a_session_warns_once_of_the_skills_that_ask(tmp_path: Path) -> None:
    with_script(tmp_path, "a")
    with_script(tmp_path, "b", "See references/go.md")
    (tmp_path / "b/references").mkdir()
    (tmp_path / "b/references/go.md").write_text("Run `scripts/x.py`.", "utf-8")
    with_script(tmp_path, "c", "The code is in [x](scripts/x.py).")
    skills = Satchel(tmp_path)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        session = skills.session()
        texts = {name: load(session, name) for name in "abc"}
        load(skills.session(), "a")

    (message,) = warned(caught)
    assert "runs one: a, b. " in message
    assert [name for name in texts if LINE in texts[name]] == ["a", "b"]


@pytest.mark.row("F101")
def test_many_are_named_in_part(tmp_path: Path) -> None:
    for number in range(13):
        with_script(tmp_path, f"s{number:02}")

    with pytest.warns(ScriptsNotRunWarning, match="s00, .*, s09 and 3 more"):
        Satchel(tmp_path).session()


@pytest.mark.row("F101")
def test_a_long_list_is_not_read_before_a_load(tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path, f"s{number}")
    with_script(tmp_path, "a")
    skills = Satchel(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = skills.session()

    with pytest.warns(ScriptsNotRunWarning, match="runs one: a"):
        text = load(session, "a")

    assert LINE in text
    assert LINE in load(skills.session(), "a")


@pytest.mark.parametrize("style", ["agent-skills", "packs", "references"])
def test_no_other_style_has_the_line(tmp_path: Path, style: Style) -> None:
    with_script(tmp_path, "a")
    skills = Satchel(tmp_path)
    with pytest.warns(ScriptsNotRunWarning):
        session = skills.session(style=style)

    names = {"agent-skills": "skill_id", "packs": "name", "references": "skill_name"}
    tool = session.tools().tools[0].name if style == "references" else "load_skill"
    result = result_text(session.call(tool, {names[style]: "a"}))

    assert "No tool of this library" not in result


def test_a_staged_folder_is_a_way_to_run_them(tmp_path: Path) -> None:
    with_script(tmp_path, "a")

    text = load(Satchel(tmp_path).session(stage=True), "a")

    assert "No tool of this library" not in text
    assert "Relative paths in these instructions" in text


def test_a_call_does_not_raise_where_warnings_are_errors(tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path, f"s{number}")
    with_script(tmp_path, "a")
    session = Satchel(tmp_path).session()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LINE in load(session, "a")


@pytest.mark.row("F101")
def test_doctor_and_check_name_all_that_ask(tmp_path: Path) -> None:
    with_script(tmp_path, "a")
    with_script(tmp_path, "b", "See scripts/x.py")
    with_script(tmp_path, "c")

    for command in (["doctor"], ["check", "--select", "script-not-run"]):
        result = CliRunner().invoke(main, [*command, str(tmp_path)])
        places = [f"{tmp_path}/{name}/SKILL.md:8" for name in "ac"]
        assert all(place in result.output for place in places), result.output
        assert result.output.count("note script-not-run") == 2
        assert result.exit_code == 0
