"""Approvals that were used, and what a fingerprint tells apart."""

import os
import stat
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from satchel.protocols import UsedApprovals
from satchel.runtime import UsedApprovalsInFolder, UsedApprovalsInMemory
from satchel.runtime._used_approvals import approval_key, fingerprint, used_approvals
from tests.fakes import in_threads

pytestmark = pytest.mark.row("T08", "F20")


@pytest.fixture(params=["memory", "folder", "default"])
def used(request: pytest.FixtureRequest, tmp_path: Path) -> UsedApprovals:
    if request.param == "memory":
        return UsedApprovalsInMemory()
    if request.param == "folder":
        return UsedApprovalsInFolder(tmp_path / "used")
    return used_approvals({}, tmp_path)


def test_a_key_is_new_once_for_one_of_many_threads(used: UsedApprovals) -> None:
    assert [used.use(key) for key in "aaba"] == [True, False, True, False]

    begin, news = threading.Barrier(8), list[bool]()

    def work() -> None:
        begin.wait(30)
        news.append(used.use("c"))

    in_threads(lambda _: work(), range(8))

    assert sorted(news) == [False] * 7 + [True]


def test_a_folder_is_shared_by_processes_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "used"

    assert UsedApprovalsInFolder(folder).use("a")
    assert not UsedApprovalsInFolder(folder).use("a")
    assert str(folder) in repr(UsedApprovalsInFolder(folder))
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "a").stat().st_mode) & 0o077 == 0


def test_memory_forgets_the_oldest() -> None:
    used = UsedApprovalsInMemory(maximum=2)

    assert [used.use(key) for key in "abca"] == [True] * 4


def test_the_environment_says_where(tmp_path: Path) -> None:
    chosen = used_approvals(
        {"SATCHEL_APPROVALS": str(tmp_path / "mine")}, tmp_path / "state"
    )

    assert chosen.use("a")
    assert (tmp_path / "mine" / "a").exists()
    assert isinstance(
        used_approvals({"SATCHEL_APPROVALS": "memory"}, tmp_path), UsedApprovalsInMemory
    )


def test_a_state_folder_that_cannot_be_written_to_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(OSError, match="file"):  # where it was chosen, it is an error
        UsedApprovalsInFolder(blocked / "used").use("a")
    used = used_approvals({}, blocked)

    assert [used.use(key) for key in "aab"] == [True, False, True]
    (line,) = caplog.messages
    assert "SATCHEL_APPROVALS" in line


def test_a_user_without_a_home_gets_no_folder_called_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    used = used_approvals({}, Path("~/.local/state/satchel"))

    assert [used.use("a"), used.use("a")] == [True, False]
    assert "no home folder" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_that_of_one_call() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    calls = [
        ("1", "desk", "pay", {"a": 1, "b": 2}),
        ("2", "desk", "pay", {"a": 1, "b": 2}),
        ("1", "other", "pay", {"a": 1, "b": 2}),
        ("1", "desk", "refund", {"a": 1, "b": 2}),
        ("1", "desk", "pay", {"a": 1, "b": 3}),
        ("1", "desk", "pay", {"a": deep}),
        ("\ud800", "desk", "pay", {}),
    ]

    keys = [approval_key(*call) for call in calls]

    assert len(set(keys)) == len(calls)
    assert approval_key("c1", "desk", "pay", {"order": "A-1", "cents": 995}) == (
        "f48371af54773c18bca87f6ae485316c6547b1b2274ad016abbade207433ac03"
    )  # what an earlier release noted is found
    assert approval_key("1", "desk", "pay", {"b": 2, "a": 1}) == keys[0]
    assert all(key.isalnum() and len(key) == 64 for key in keys)


@pytest.mark.row("T08")
@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"a": 1}, {"a": "1"}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": object()}, {"a": Fraction(1, 2)}, False),
        ({"a": {1, 2}}, {"a": {1, 3}}, False),
        ({"a": {1, 2}}, {"a": {2, 1}}, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ],
)
def test_equal_arguments_alone_have_one_fingerprint(
    one: object, other: object, *, is_same: bool
) -> None:
    assert (fingerprint(one) == fingerprint(other)) is is_same
