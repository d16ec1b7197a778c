"""What becomes of packs elsewhere, put together: neighbours, lines, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.checking import LibraryPrediction, PackPrediction, predict_library
from satchel.checking._prediction import named_loaders
from satchel.cli._prediction import groups_of
from satchel.clients import Prediction, UnknownLoaderError
from satchel.errors import MissingPathError
from satchel.model import Limits
from tests.made_up_loaders import GOOD, LONG, MUTE, all_loaders, forget, know_only_these

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        know_only_these(patch)
        yield
    forget()


def write(folder: Path, name: str, text: str = GOOD, file: str = "SKILL.md") -> None:
    pack = folder / name
    pack.mkdir(parents=True)
    (pack / file).write_text(text.format(pack.name), "utf-8")


def verdicts(outlook: LibraryPrediction) -> dict[str, dict[str, str]]:
    return {
        pack.pack.rpartition("/")[2]: {
            each.loader.key: pack.verdict(each) for each in pack.outcomes
        }
        for pack in outlook.packs
    }


@pytest.mark.row("E02")
def test_a_pack_that_breaks_takes_those_beside_it_down(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "mute", MUTE)

    outlook = predict_library([str(tmp_path)], ["careful", "fragile"])

    assert verdicts(outlook) == {
        "good": {"careful": "loaded", "fragile": "dropped"},
        "mute": {"careful": "dropped", "fragile": "breaks-neighbours"},
    }
    good, mute = outlook.packs
    assert good.by == {"fragile": mute.pack}
    assert mute.by == {}
    assert [(f.code, f.severity, f.line) for f in outlook.findings] == [
        ("client-drops", "error", 1),
        ("client-breaks", "error", 1),
        ("client-drops", "error", 1),
    ]
    assert f"{mute.pack} breaks it" in outlook.findings[0].message
    assert outlook.findings[1].path == mute.path


def test_a_pack_in_another_library_takes_nothing_down(tmp_path: Path) -> None:
    write(tmp_path / "skills", "good")
    write(tmp_path / "drafts", "mute", MUTE)
    paths = [str(tmp_path / name) for name in ("skills", "drafts")]

    assert verdicts(predict_library(paths, ["fragile"])) == {
        "good": {"fragile": "loaded"},
        "mute": {"fragile": "breaks-neighbours"},
    }


def test_two_that_break_name_each_other_and_are_not_lost_twice(tmp_path: Path) -> None:
    write(tmp_path, "a-mute", MUTE)
    write(tmp_path, "b-mute", MUTE)

    packs = predict_library([str(tmp_path)], ["fragile"]).packs

    assert [pack.by["fragile"] for pack in packs] == [packs[1].pack, packs[0].pack]
    assert not any(pack.is_lost(pack.outcomes[0]) for pack in packs)


def test_what_is_cut_is_a_warning_at_the_description(tmp_path: Path) -> None:
    write(tmp_path, "long", LONG)

    cut, *_ = [
        each
        for each in predict_library([str(tmp_path)], ["careful"]).findings
        if each.code == "client-cuts"
    ]

    assert (cut.severity, cut.line) == ("warning", 3)
    assert "careful: the description has more than 1,024 characters" in cut.message
    assert cut.fix == "shorten the description to 1,024 characters"


@pytest.mark.parametrize(
    ("inside", "careful"),
    [
        (["a"], "loaded"),
        (["skills/a", "skills/b"], "loaded"),
        (["repo/skills/a", "b"], "loaded"),
        (["x/a", "y/b"], "dropped"),  # both lie one folder too deep in what was named
        (["group/a", "b"], "dropped"),
        (["skills/group/a", "skills/b"], "dropped"),
    ],
)
def test_depth_counts_from_the_library(
    inside: list[str], careful: str, tmp_path: Path
) -> None:
    for name in inside:
        write(tmp_path, name)

    assert verdicts(predict_library([str(tmp_path)], ["careful"]))["a"] == {
        "careful": careful
    }


def test_a_pack_that_is_named_itself_lies_in_its_library(tmp_path: Path) -> None:
    write(tmp_path / "group", "a")

    outlook = predict_library([str(tmp_path / "group" / "a")], ["careful"])

    assert verdicts(outlook) == {"a": {"careful": "loaded"}}
    assert outlook.packs[0].path == str(tmp_path / "group" / "a" / "SKILL.md")


def test_a_link_is_seen_as_one(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "a")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a").symlink_to(tmp_path / "elsewhere" / "a")

    assert verdicts(predict_library([str(tmp_path / "skills")], ["careful"])) == {
        "a": {"careful": "wrong"}
    }


def test_a_file_in_wrong_case_is_told_of_too(tmp_path: Path) -> None:
    write(tmp_path, "a", file="skill.md")
    write(tmp_path, "b")

    outlook = predict_library([str(tmp_path)], ["careful", "fragile"])

    assert verdicts(outlook)["a"] == {"careful": "loaded", "fragile": "unknown"}
    assert outlook.packs[0].path.endswith("/a/skill.md")


def test_a_folder_may_be_named_with_a_slash_behind_it(tmp_path: Path) -> None:
    write(tmp_path, "a", file="skill.md")
    write(tmp_path, "b")

    outlook = predict_library([f"{tmp_path}/"], ["careful"])

    assert [each.path for each in outlook.packs] == [
        f"{tmp_path}/a/skill.md",
        f"{tmp_path}/b/SKILL.md",
    ]


def test_the_same_pack_in_two_libraries_is_told_of_twice(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "other" / "group"]
    for path in paths:
        write(path, "a")

    outlook = predict_library(
        [str(tmp_path / "one"), str(tmp_path / "other")], ["careful"]
    )

    assert [each.pack for each in outlook.packs] == [str(p / "a") for p in paths]


def test_what_cannot_be_read_is_left_to_the_check(tmp_path: Path) -> None:
    write(tmp_path, "a", file="skill.md")
    write(tmp_path, "b")

    outlook = predict_library(
        [str(tmp_path)], ["careful"], limits=Limits(skill_md_bytes=9)
    )

    assert outlook.packs == ()


def test_a_loader_that_takes_no_pack_at_all_is_told_of() -> None:
    outcome = Prediction(all_loaders()[0], "dropped", ("plain",))
    pack = PackPrediction("a", "a/SKILL.md", (outcome,), {}, {"plain": 1})

    (finding,) = pack.findings()
    (group,) = groups_of(pack)

    assert finding.message.endswith("not even list a plain pack such as this one")
    assert group.reasons[0].about == "it does so with every pack"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["all"], ["careful", "fragile", "judge", "closed"]),
        (["measured"], ["careful", "fragile", "judge"]),
        (["documented"], ["closed"]),
        (["clients"], ["careful", "closed"]),
        (["Frameworks", "VALIDATORS"], ["fragile", "judge"]),
        (["judge", "all"], ["judge", "careful", "fragile", "closed"]),
        (["Care_ful".replace("_", ""), "careful"], ["careful"]),
    ],
    ids=["all", "measured", "documented", "kind", "two", "order", "once"],
)
def test_names_stand_for_one_or_several(
    wanted: list[str], found: list[str], tmp_path: Path
) -> None:
    outlook = predict_library([str(tmp_path)], wanted)

    assert [loader.key for loader in outlook.loaders] == found


def test_unknown_names_and_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownLoaderError, match="did you mean careful"):
        predict_library([str(tmp_path)], ["carefull"])
    with pytest.raises(MissingPathError):
        predict_library([str(tmp_path / "nowhere")], ["careful"])


def test_a_long_list_of_loaders_is_counted() -> None:
    every = all_loaders()

    assert named_loaders(every) == "careful, fragile, judge, closed"
    assert named_loaders([*every, every[0]]) == "careful, fragile, judge and 2 more"


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"---\n", b"---\nname: \x1b[2J\n---\n", b"\x00" * 9],
    ids=["empty", "utf-16", "fence", "escape", "nul"],
)
def test_any_bytes_have_an_outlook(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "SKILL.md").write_bytes(data)

    outlook = predict_library([str(tmp_path)], ["all"])

    assert len(outlook.packs) == 1
    assert all(finding.line for finding in outlook.findings)
