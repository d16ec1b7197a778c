"""An id that looks like another one is reported, and a typed one is answered."""

import unicodedata

import pytest

from satchel import Options, Satchel
from satchel.model import Style
from satchel.tools import result_text
from tests.fakes import LOADERS, FakeSource, pack

CYRILLIC = "r\u0435funds"
KAFE = "kaf\u00e9"


def source(*names: str) -> FakeSource:
    packs: dict[str, dict[str, str | bytes]] = {
        f"p{number}": {"SKILL.md": pack(f'"{name}"')}
        for number, name in enumerate(names)
    }
    return FakeSource("s", packs)


@pytest.mark.row("F08", "R30", "F76")
@pytest.mark.parametrize(
    ("names", "reported"),
    [
        (("refunds", CYRILLIC), [(CYRILLIC, "refunds")]),
        (("pay", "\u03a1\u0430\u0443"), [("\u03a1\u0430\u0443", "pay")]),
        ((KAFE, unicodedata.normalize("NFD", KAFE)), [(None, None)]),
        (("refunds", CYRILLIC, "r\u0435fund\u0455"), [(None, "refunds")] * 2),
        (("refunds", KAFE, "\u0440\u0435\u0444"), []),
        (("refunds", "REFUNDS"), []),  # no one takes these for one another
    ],
)
def test_an_id_that_looks_like_another_has_a_finding(
    names: tuple[str, ...], reported: list[tuple[str | None, str | None]]
) -> None:
    skills = Satchel(source(*names))

    found = [one for one in skills.findings if one.code == "lookalike-id"]

    assert len(found) == len(reported)
    assert all(one.severity == "warning" for one in found)
    for finding, (id, other) in zip(found, reported, strict=True):
        assert (id or "") in finding.message
        assert (other or "") in finding.message


@pytest.mark.row("F76")
def test_it_is_logged_and_seen_after_a_sync_and_from_the_index(
    caplog: pytest.LogCaptureFixture, tmp_path: object
) -> None:
    of = source("refunds")
    skills = Satchel(of)
    assert "lookalike-id" not in caplog.text

    of.packs["more"] = {"SKILL.md": pack(CYRILLIC)}
    skills.sync()

    assert "lookalike-id" in caplog.text
    assert "lookalike-id" in {f.code for f in skills.findings}
    folder = f"{tmp_path}"
    for number, name in enumerate(("refunds", CYRILLIC)):
        _write(folder, f"p{number}", name)
    for _ in range(2):  # the second opens what the first has stored
        again = Satchel(folder, options=Options(index=f"{folder}/i.db"))
        assert "lookalike-id" in {f.code for f in again.findings}


def _write(folder: str, key: str, name: str) -> None:
    from pathlib import Path

    path = Path(folder) / "skills" / key / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(pack(name), "utf-8")


@pytest.mark.row("F08", "R30", "F76")
@pytest.mark.parametrize("style", LOADERS)
@pytest.mark.parametrize(
    "typed",
    [
        unicodedata.normalize("NFD", KAFE),
        KAFE.upper(),
        "k\u0430f\u00e9",
        "".join(chr(ord(c) + 0xFEE0) if c < "\x80" else c for c in KAFE),
    ],
)
def test_a_typed_id_is_answered_with_the_exact_one(typed: str, style: Style) -> None:
    name, key = LOADERS[style]
    session = Satchel(source(KAFE, "refunds")).session(style=style)

    first = result_text(session.call(name, {key: typed}))
    other = result_text(session.call(name, {key: "kafe-nowhere"}))

    assert f"The id is exactly {KAFE}." in first
    assert "exactly" not in other
    assert "# Do" not in first


def test_what_the_user_may_not_see_is_not_named() -> None:
    from satchel.policy import Policy, deny

    session = Satchel(source(KAFE, "refunds"), policy=Policy(deny(KAFE))).session()

    answer = str(session.call("load_skill", {"skill_id": KAFE.upper()}))

    assert KAFE not in answer
