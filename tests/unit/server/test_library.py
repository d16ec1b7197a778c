"""One open Satchel, and views of it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import pytest

from satchel import Options, Satchel
from satchel.errors import DuplicateSkillError
from satchel.runtime import _access as reading
from satchel.server import Caller, ServedLibrary
from satchel.server._library import MAX_VIEWS
from satchel.testing import write_pack

if TYPE_CHECKING:
    from pathlib import Path

    from satchel.model import SyncReport


def open_library(folder: Path) -> ServedLibrary:
    write_pack(folder, "alpha")
    return ServedLibrary(Satchel(folder, options=Options(environ={})))


def test_one_caller_has_one_view(tmp_path: Path) -> None:
    served = open_library(tmp_path)

    assert served.view() is served.view()
    assert served.view(client="a") is not served.view(client="b")
    assert [e.id for e in served.view(Caller("x", ("b*",))).catalog] == []
    assert served.view().catalog is served.catalog


def test_many_clients_do_not_fill_the_memory(tmp_path: Path) -> None:
    served = open_library(tmp_path)
    first = served.view(client="first")

    for n in range(MAX_VIEWS):
        served.view(client=str(n))

    assert served._client_view.cache_info().currsize == MAX_VIEWS
    assert served.view(client="first") is not first


@pytest.mark.row("F45")
def test_a_new_name_of_a_client_costs_no_look_at_every_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write_pack(tmp_path, f"alpha-{number}")
    served = open_library(tmp_path)
    looks: list[str] = []

    def counted(name: str, pattern: str) -> bool:
        looks.append(name)
        return fnmatchcase(name, pattern)

    monkeypatch.setattr(reading, "fnmatchcase", counted)
    caller = Caller("x", ("alpha-1*",))
    for number in range(MAX_VIEWS + 5):
        assert len(served.view(caller, client=f"agent-{number}").catalog) == 11
    once = len(looks)
    write_pack(tmp_path, "alpha-100")
    served.refresh()
    assert len(served.view(caller, client="another").catalog) == 12

    assert once == 21
    assert len(looks) == once + 22


def test_a_later_conflict_is_the_same_for_callers_old_and_new(tmp_path: Path) -> None:
    served = ServedLibrary(Satchel(tmp_path, options=Options(environ={})))
    old = served.view()
    write_pack(tmp_path, "alpha")
    for place in ("one", "two"):
        write_pack(tmp_path / place, "secret", body=f"From {place}.\n")
    served.refresh()

    new = served.view(Caller("x", ("a*",)), client="new")

    assert [entry.id for entry in old.catalog] == ["alpha"]
    assert [entry.id for entry in new.catalog] == ["alpha"]
    assert new.load("alpha").id == "alpha"
    assert served.skills.registry.latest.unresolved


@pytest.mark.row("F03", "T02")
def test_a_server_that_starts_with_a_conflict_serves_the_rest(tmp_path: Path) -> None:
    write_pack(tmp_path, "alpha")
    for place in ("one", "two"):
        write_pack(tmp_path / place, "secret", body=f"From {place}.\n")
    served = ServedLibrary(Satchel(tmp_path, options=Options(environ={})))

    assert [entry.id for entry in served.view().catalog] == ["alpha"]
    with pytest.raises(DuplicateSkillError):
        served.view().load("secret")


def test_who_listens_is_told_of_changes_only(tmp_path: Path) -> None:
    served = open_library(tmp_path)
    told: list[SyncReport] = []
    stop = served.listen(told.append)

    served.refresh()
    assert told == []
    write_pack(tmp_path, "beta")
    served.refresh()
    write_pack(tmp_path, "shy", disable_model_invocation=True)
    served.refresh()
    stop()
    write_pack(tmp_path, "gamma")
    served.refresh()

    assert [report.added for report in told] == [("beta",), ()]
