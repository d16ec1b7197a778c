"""What loaders make of a library: neighbours, lines, findings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel.errors import MissingPathError
from satchel.model import DEFAULT_LIMITS
from satchel_lab.checking import LibraryPrediction, PackPrediction, predict_library
from satchel_lab.checking._prediction import some_of
from satchel_lab.clients import Prediction, UnknownLoaderError
from satchel_lab.commands._grid import problems_of
from tests.made_up_loaders import GOOD, LONG, MUTE, all_loaders, forget, know_only_these


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


def predicted(
    *paths: Path | str, loaders: tuple[str, ...] = ("careful",)
) -> LibraryPrediction:
    return predict_library([str(path) for path in paths], loaders)


def verdicts(prediction: LibraryPrediction) -> dict[str, dict[str, str]]:
    return {
        pack.pack.rpartition("/")[2]: {
            one.loader.key: pack.verdict(one) for one in pack.outcomes
        }
        for pack in prediction.packs
    }


@pytest.mark.row("E02")
def test_a_pack_that_breaks_takes_its_neighbours_down(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "mute", MUTE)
    library = predicted(tmp_path, loaders=("careful", "fragile"))
    good, mute = library.packs

    assert verdicts(library) == {
        "good": {"careful": "loaded", "fragile": "dropped"},
        "mute": {"careful": "dropped", "fragile": "breaks-neighbours"},
    }
    assert (good.by, mute.by) == ({"fragile": mute.pack}, {})
    assert [(f.code, f.severity, f.line) for f in library.findings] == [
        ("client-drops", "error", 1),
        ("client-breaks", "error", 1),
        ("client-drops", "error", 1),
    ]
    assert f"{mute.pack} breaks it" in library.findings[0].message
    assert library.findings[1].path == mute.path


def test_a_pack_in_another_library_takes_nothing_down(tmp_path: Path) -> None:
    write(tmp_path / "skills", "good")
    write(tmp_path / "drafts", "mute", MUTE)
    library = predicted(tmp_path / "skills", tmp_path / "drafts", loaders=("fragile",))

    assert verdicts(library) == {
        "good": {"fragile": "loaded"},
        "mute": {"fragile": "breaks-neighbours"},
    }


def test_two_that_break_name_each_other_and_are_not_lost_twice(tmp_path: Path) -> None:
    write(tmp_path, "a-mute", MUTE)
    write(tmp_path, "b-mute", MUTE)
    packs = predicted(tmp_path, loaders=("fragile",)).packs

    assert [pack.by["fragile"] for pack in packs] == [packs[1].pack, packs[0].pack]
    assert not any(pack.is_lost(pack.outcomes[0]) for pack in packs)


def test_what_is_cut_is_a_warning_at_the_description(tmp_path: Path) -> None:
    write(tmp_path, "long", LONG)
    findings = predicted(tmp_path).findings
    cut = next(finding for finding in findings if finding.code == "client-cuts")

    assert (cut.severity, cut.line) == ("warning", 3)
    assert "careful: the description has more than 1,024 characters" in cut.message
    assert cut.fix == "shorten the description to 1,024 characters"


@pytest.mark.parametrize(
    ("inside", "careful"),
    [
        (["a"], "loaded"),
        (["skills/a", "skills/b"], "loaded"),
        (["repo/skills/a", "b"], "loaded"),
        (["x/a", "y/b"], "dropped"),  # both are one folder too deep
        (["group/a", "b"], "dropped"),
        (["skills/group/a", "skills/b"], "dropped"),
    ],
)
def test_depth_counts_from_the_library(
    inside: list[str], careful: str, tmp_path: Path
) -> None:
    for name in inside:
        write(tmp_path, name)

    assert verdicts(predicted(tmp_path))["a"] == {"careful": careful}


def test_a_link_is_seen_as_one(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "a")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a").symlink_to(tmp_path / "elsewhere" / "a")

    assert verdicts(predicted(tmp_path / "skills")) == {"a": {"careful": "wrong"}}


def test_a_file_in_wrong_case_counts_too(tmp_path: Path) -> None:
    write(tmp_path, "a", file="skill.md")
    write(tmp_path, "b")
    library = predicted(f"{tmp_path}/", loaders=("careful", "fragile"))
    for pack in library.packs:
        with Path(pack.path).open("ab") as file:
            file.write(b"x" * DEFAULT_LIMITS.skill_md_bytes)
    few = predicted(tmp_path)

    assert verdicts(library)["a"] == {"careful": "loaded", "fragile": "unknown"}
    assert [pack.path for pack in library.packs] == [
        f"{tmp_path}/a/skill.md",
        f"{tmp_path}/b/SKILL.md",
    ]
    assert few.packs == ()  # the check without --for reports it


def test_the_same_pack_in_two_libraries_is_there_twice(tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "other" / "group"]
    for path in paths:
        write(path, "a")
    library = predicted(tmp_path / "one", tmp_path / "other")

    assert [pack.pack for pack in library.packs] == [str(path / "a") for path in paths]


def test_a_loader_that_lists_no_pack_at_all_is_reported() -> None:
    outcome = Prediction(all_loaders()[0], "dropped", ("plain",))
    pack = PackPrediction("a", "a/SKILL.md", (outcome,), {}, {"plain": (1,)})
    (finding,) = pack.findings()
    (problem,) = problems_of(LibraryPrediction((outcome.loader,), (pack,)))

    assert finding.message.endswith("not even list a plain pack such as this one")
    assert problem.about == "nothing is wrong: it does so with every skill"
    assert problem.fix == ""


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["all"], ["careful", "fragile", "judge", "closed"]),
        (["measured"], ["careful", "fragile", "judge"]),
        (["documented"], ["closed"]),
        (["clients"], ["careful", "closed"]),
        (["Frameworks", "VALIDATORS"], ["fragile", "judge"]),
        (["judge", "all"], ["judge", "careful", "fragile", "closed"]),
        (["Careful", "careful"], ["careful"]),
    ],
    ids=["all", "measured", "documented", "kind", "two", "order", "once"],
)
def test_names_mean_one_loader_or_several(
    names: list[str], keys: list[str], tmp_path: Path
) -> None:
    loaders = predicted(tmp_path, loaders=tuple(names)).loaders

    assert [loader.key for loader in loaders] == keys


def test_unknown_names_and_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownLoaderError, match="did you mean careful"):
        predicted(tmp_path, loaders=("carefull",))
    with pytest.raises(MissingPathError):
        predicted(tmp_path / "nowhere")


def test_a_long_list_of_loaders_is_counted() -> None:
    every = all_loaders()

    keys = [loader.key for loader in every]

    assert some_of(keys) == "careful, fragile, judge, closed"
    assert some_of([*keys, keys[0]]) == "careful, fragile, judge and 2 more"
