"""A library says what is wrong with it: in the log, in findings, as a summary."""

import logging
from pathlib import Path

import pytest

from satchel import Satchel, SkillLoader, sources
from satchel.errors import (
    DuplicateSkillError,
    NoSkillsError,
    ReferenceUnreadableError,
    SkillError,
    SkillManifestError,
    SkillNotFoundError,
    SourceUnavailableError,
)
from satchel.files import _listing as walk
from satchel.runtime import without_logging
from satchel.sources import _unlisted as _search
from tests.fakes import FakeSource, away, pack

GOOD: dict[str, dict[str, str | bytes]] = {"good": {"SKILL.md": pack("good")}}


def fake(label: str, **packs: str) -> FakeSource:
    return FakeSource(label, {key: {"SKILL.md": text} for key, text in packs.items()})


def gone(label: str = "gone") -> FakeSource:
    source = FakeSource(label, {})
    source.failure = away(label)
    return source


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        each.getMessage()
        for each in caplog.records
        if (each.name, each.levelno) == ("satchel", logging.WARNING)
    ]


WRONG: dict[str, tuple[FakeSource, str, type[SkillError]]] = {
    "refused": (
        fake("s", good=pack("good"), bad="nothing"),
        "no-frontmatter",
        SkillManifestError,
    ),
    "unreachable": (gone(), "source-unavailable", SourceUnavailableError),
    "conflict": (
        fake("s", x=pack("good"), y=pack("good", body="# Other\n")),
        "duplicate-skill",
        DuplicateSkillError,
    ),
    "misspelled": (
        fake("s", good="---\nname: good\ndescription: Use it.\nlicence: MIT\n---\n"),
        "misspelled-field",
        SkillManifestError,
    ),
    "empty": (FakeSource("s", {}), "no-skills", NoSkillsError),
}


@pytest.mark.row("F10", "T03")
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_not_as_it_was_asked_for_is_one_line_and_a_finding(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    source, code, _ = WRONG[kind]

    skills = Satchel(source)

    (line,) = lines(caplog)
    assert code in line
    assert code in {finding.code for finding in skills.findings}
    assert code in str(skills)


@pytest.mark.row("F10", "T03")
@pytest.mark.parametrize("kind", WRONG)
def test_strict_makes_it_an_error_and_closes_the_sources(kind: str) -> None:
    source, _, error = WRONG[kind]
    closed = source.closed

    with pytest.raises(error):
        Satchel(source, strict=True)
    assert source.closed == closed + 1


@pytest.mark.row("F10", "T03")
def test_strict_tells_everything_that_is_wrong_and_nothing_where_all_is_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "SKILL.md").write_text(pack("good"))

    skills = Satchel(tmp_path, strict=True)

    assert lines(caplog) == []
    assert str(skills) == f"1 skill from 1 source\n  {tmp_path}: 1 pack"

    with pytest.raises(SourceUnavailableError) as caught:
        Satchel(gone(), WRONG["refused"][0], strict=True)

    (note,) = caught.value.__notes__
    assert "no-frontmatter" in note


@pytest.mark.row("T03")
@pytest.mark.parametrize(("count", "logged"), [(10, 10), (11, 1)])
def test_more_than_ten_of_a_kind_are_one_line(
    count: int, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    Satchel(fake("s", **{f"b{n:02}": "nothing" for n in range(count)}))

    found = lines(caplog)
    assert len(found) == logged
    assert found[0].startswith("11 findings no-frontmatter, ") is (count > 10)
    assert "s/b00/SKILL.md" in found[0]


@pytest.mark.row("T03")
def test_a_later_sync_logs_what_is_new_and_again_what_came_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = fake("s", good=pack("good"))
    skills = Satchel(source)
    for text in ("nothing", "nothing", pack("bad"), "nothing"):
        source.packs["bad"] = {"SKILL.md": text}
        skills.sync()

    assert len(lines(caplog)) == 2


def test_nothing_is_logged_by_the_command_line_or_where_nothing_is_meant(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with without_logging():
        Satchel(gone())

    Satchel(FakeSource("s", GOOD)).session(only=[])

    assert lines(caplog) == []


@pytest.mark.row("T03")
def test_a_log_line_holds_no_control_character(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Satchel(FakeSource("s\n\x1b[2J", {}))

    (line,) = lines(caplog)
    assert line.isprintable()


@pytest.mark.row("F10", "T04")
def test_an_id_whose_source_is_away_is_not_called_unknown_until_it_has_answered() -> (
    None
):
    skills = Satchel(FakeSource("here", GOOD), gone())

    assert skills.load("good").id == "good"
    for act in (skills.load, skills.resources, skills.digest):
        with pytest.raises(SourceUnavailableError) as caught:
            act("other")
        assert caught.value.name == "gone"

    # What a source did not have when it answered is not there; what it had is listed.
    source = FakeSource("s", GOOD)
    skills = Satchel(source)
    source.failure = ZeroDivisionError("oops")
    skills.sync()
    with pytest.raises(SkillNotFoundError):
        skills.load("other")
    assert "good" in skills.catalog


@pytest.mark.row("F13", "T04")
def test_a_folder_or_root_that_cannot_be_read_is_said_to_be_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(pack(name))

    def refusing(folder: str, at_most: int) -> object:
        if folder.endswith("closed"):
            raise PermissionError(13, "Permission denied", folder)
        return walk.list_folder(folder, at_most)

    monkeypatch.setattr(_search, "list_folder", refusing)
    skills = Satchel(tmp_path)

    with pytest.raises(ReferenceUnreadableError, match="Permission denied"):
        skills.load("closed")
    assert skills.load("good").id == "good"
    assert "Permission denied" in str(skills.why("closed"))

    with pytest.raises(SourceUnavailableError, match="Permission denied"):
        Satchel(tmp_path / "closed").load("any")


@pytest.mark.row("T03")
def test_the_summary_has_at_most_ten_lines() -> None:
    bad = {
        "a": "nothing",
        "b": "---\nname: x\n---\n",
        "c": "---\nname: [\n---\n",
        "d": "---\nname: c\ndescription: Use it.\nrefrences: [q.md]\n---\n",
        "e": "---\nname: e\ndescription: Use it.\nreferences: [q.md]\n---\n",
        "f": "---\nname: e\ndescription: Use it too.\n---\n",
    }
    many = [fake(f"s{n}", good=pack("good")) for n in range(5)]

    text = str(Satchel(gone(), fake("s" * 300, **bad), *many))

    assert len(text.splitlines()) <= 10
    assert max(map(len, text.splitlines())) <= 200
    assert "and 4 sources more" in text
    assert "to do: " in text


@pytest.mark.row("T03", "F16")
def test_a_library_of_which_nothing_is_listed_says_so_whatever_it_is_made_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hidden = "---\nname: h\ndescription: Use it.\ndisable-model-invocation: true\n---\n"

    Satchel(sources.only(fake("s", h=hidden, good=pack("good")), ["h"]))

    (line,) = lines(caplog)
    assert "no skill is listed: 1 filtered, 1 hidden" in line


@pytest.mark.row("T02")
def test_why_knows_who_keeps_a_contested_id_in_this_process() -> None:
    source = fake("s", x=pack("good"))
    skills = Satchel(source)
    source.packs["y"] = {"SKILL.md": pack("good", body="# Other\n")}
    skills.sync()

    assert skills.why("good").stage == "listed"
    assert Satchel(source).why("good").stage == "conflict"
    (finding,) = (f for f in skills.findings if f.code == "duplicate-skill")
    assert "s/x had it first and keeps it until this process ends" in finding.message


@pytest.mark.row("F10", "T03")
def test_the_older_loader_tells_of_a_source_that_does_not_answer() -> None:
    loader = SkillLoader([gone()], include_plugins=False)

    assert [each.code for each in loader.findings] == ["source-unavailable"]
    with pytest.raises(SourceUnavailableError):
        loader.get("any")
