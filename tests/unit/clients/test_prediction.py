"""What is foretold is what was measured, in the order that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from satchel.clients import (
    PROPERTIES,
    Candidate,
    Loader,
    LoaderVerdict,
    PackReader,
    Prediction,
    ShownEntry,
    UnknownLoaderError,
    choose_loaders,
    loaders,
    predict,
    read_measured,
    worst_verdict,
)
from satchel.clients._loaders import LoaderData
from satchel.clients._prediction import predict_for
from satchel.clients._properties._all import PLAIN, properties_in
from tools.loaders.packs import PACKS, pack

if TYPE_CHECKING:
    from collections.abc import Mapping

LOADER = Loader("one", "One", "1", "framework", "2026-11-21", "measured", "it")
MEASURED = tuple(each for each in loaders() if each.how == "measured")


GOOD = PACKS[PLAIN][0]
HARMLESS: dict[str, LoaderVerdict] = dict.fromkeys([PLAIN, *PROPERTIES], "loaded")


def outcome(
    candidate: Candidate,
    verdicts: Mapping[str, LoaderVerdict],
    shown: Mapping[str, Mapping[str, str]] | None = None,
) -> Prediction:
    """Return what is foretold for a loader of which only this is known."""
    reading = PackReader(candidate)
    keys = properties_in(reading) or (PLAIN,)
    entry = LoaderData(
        "One", "1", "framework", "2026-11-21", "it", verdicts, shown or {}
    )
    return predict_for(LOADER, entry, keys, reading)


def test_each_pack_gets_the_verdict_that_was_measured() -> None:
    """Of the packs of one property each, which is where the data comes from."""
    pairs = agreed = 0
    table = read_measured()
    for key, (candidate, *_) in PACKS.items():
        for told in predict(candidate, MEASURED):
            pairs += 1
            agreed += told.verdict == table.loaders[told.loader.key].verdicts[key]

    assert agreed / pairs >= 0.99


def test_a_good_pack_has_no_reasons() -> None:
    told = outcome(pack("name: the-pack\ndescription: It counts"), {"plain": "loaded"})

    assert told.verdict == "loaded"
    assert told.reasons == ()
    assert told.fix == ""
    assert told.shown is None


def test_the_gravest_verdict_counts_and_brings_its_fix() -> None:
    candidate = pack("name: Other\ndescription: It counts\nversion: 1.0")
    verdicts: dict[str, LoaderVerdict] = {
        "name-not-folder": "dropped",
        "name-upper-case": "dropped",
        "unknown-field": "wrong",
        "version-number": "loaded",
    }
    told = outcome(candidate, verdicts)

    assert told.verdict == "dropped"
    assert told.reasons == ("name-not-folder", "name-upper-case")
    assert told.fix == (
        "give the folder the name of `name:`; "
        "write the name in lower case, and the folder's with it"
    )


def test_what_nobody_knows_stays_unknown() -> None:
    candidate = pack("name: Other\ndescription: It counts")
    told = outcome(candidate, {"name-not-folder": "wrong"})

    assert told.verdict == "unknown"
    assert told.reasons == ("name-upper-case",)
    assert told.fix == ""


def test_what_keeps_a_pack_out_counts_more_than_what_is_unknown() -> None:
    candidate = pack("name: Other\ndescription: It counts")
    told = outcome(candidate, {"name-not-folder": "breaks-neighbours"})

    assert told.verdict == "breaks-neighbours"


@pytest.mark.parametrize(
    ("candidate", "key", "words", "shown"),
    [
        (
            pack("name: other\ndescription: It counts"),
            "name-not-folder",
            {"name": "folder"},
            ShownEntry("the-pack", "It counts"),
        ),
        (
            pack("name: other\ndescription: It counts"),
            "name-not-folder",
            {"name": "other"},
            ShownEntry(None, "It counts"),
        ),
        (
            pack(f"name: the-pack\ndescription: {'x' * 1100}"),
            "description-over-1024",
            {"description": "first-1024"},
            ShownEntry("the-pack", "x" * 1024),
        ),
        (
            pack("name: the-pack\ndescription: 'It counts'"),
            "description-single-quoted",
            {"description": "line"},
            ShownEntry("the-pack", "'It counts'"),
        ),
        (
            pack("name: the-pack\ndescription: 'It counts'"),
            "description-single-quoted",
            {"description": "nothing"},
            ShownEntry("the-pack", ""),
        ),
        (
            pack("name: the-pack\ndescription: 'It counts'"),
            "description-single-quoted",
            {"description": "other"},
            ShownEntry("the-pack", None),
        ),
    ],
    ids=["folder", "other name", "first", "line", "nothing", "other"],
)
def test_what_is_listed_instead_is_told(
    candidate: Candidate, key: str, words: dict[str, str], shown: ShownEntry
) -> None:
    told = outcome(candidate, {**HARMLESS, key: "wrong"}, {key: words})

    assert told.verdict == "wrong"
    assert told.shown == shown


def test_of_a_dropped_pack_nothing_is_listed() -> None:
    candidate = pack("name: other\ndescription: It counts")
    words = {"name-not-folder": {"name": "folder"}}

    assert outcome(candidate, {"name-not-folder": "dropped"}, words).shown is None


def test_outcomes_come_in_the_order_that_was_asked_for() -> None:
    chosen = choose_loaders(["strands", "google-adk", "agno"])
    told = predict(GOOD, chosen)

    assert [each.loader.key for each in told] == ["strands", "google-adk", "agno"]
    assert told == predict(GOOD, chosen)


def test_all_loaders_are_told_of_unless_some_are_named() -> None:
    told = predict(GOOD)

    assert tuple(each.loader for each in told) == loaders()


def test_a_key_may_have_underscores_capitals_and_blanks_around() -> None:
    (chosen,) = choose_loaders([" Google_ADK ", "google-adk"])

    assert chosen.key == "google-adk"


def test_all_is_every_loader() -> None:
    assert choose_loaders(["all"]) == loaders()


def test_an_unknown_loader_is_refused_with_close_keys() -> None:
    with pytest.raises(UnknownLoaderError) as caught:
        choose_loaders(["google-adj"])

    assert caught.value.wanted == "google-adj"
    assert "google-adk" in caught.value.close
    assert str(caught.value).startswith("no loader 'google-adj'; did you mean")
    assert str(UnknownLoaderError("x")) == "no loader 'x'"


def test_the_gravest_of_no_verdict_is_the_mildest() -> None:
    assert worst_verdict([]) == "loaded"
    assert worst_verdict(["cut", "dropped", "wrong"]) == "dropped"
