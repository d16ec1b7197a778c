"""Properties of packs, the data on loaders, and what is predicted from both."""

import json
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from typing import Any

import pytest

from satchel_lab.clients import (
    PROPERTIES,
    VERDICTS,
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
    read_documented,
    read_measured,
    worst_verdict,
)
from satchel_lab.clients._loaders import LoaderData, predict_for, table_from_json
from satchel_lab.clients._properties import _DETECTORS, GROUPS, PLAIN, properties_in
from satchel_lab.conformance._packs import BODY, FIRST, NAME, PACKS, pack
from tools.loaders.writing import table_to_json

LOADER = Loader("one", "One", "1", "framework", "2026-11-21", "measured", "it")
GOOD = PACKS[PLAIN][0]
HARMLESS: dict[str, LoaderVerdict] = dict.fromkeys([PLAIN, *PROPERTIES], "loaded")
EARLIEST = date(2026, 11, 1)
TABLES = ["measured.json", "documented.json"]


def _properties_of(candidate: Candidate) -> tuple[str, ...]:
    return properties_in(PackReader(candidate))


def test_a_property_is_found_in_its_packs_and_says_what_to_do() -> None:
    for key, one in PROPERTIES.items():
        assert all(key in _properties_of(candidate) for candidate in PACKS[key]), key
        assert one.about[0].isascii(), key
        assert one.fix, key
        assert not one.fix.endswith("."), key


@pytest.mark.row("F56")
@pytest.mark.parametrize(
    ("head", "keys"),
    [
        (f"name: {NAME}\ndescription:\tIt counts", ["tab-behind-colon"]),
        (f"name:  \t{NAME}\ndescription: It counts", ["tab-behind-colon"]),
        (f"name: {NAME}\ndescription: It\tcounts", []),
        (f"name: {NAME}\ndescription: !!str It counts", ["standard-tag"]),
        (f"name: {NAME}\ndescription: !mine It counts", ["tag"]),
        (
            f"name: {NAME}\ndescription: It\x85counts",
            ["next-line-character", "not-ascii"],
        ),
        (f"  name: {NAME}\n  description: It counts", ["indented-fields"]),
        ("name: null\ndescription: It counts", ["null-name"]),
        ("name: ~\ndescription: It counts", ["null-name"]),
        ("name:\ndescription: It counts", ["empty-name"]),
    ],
)
def test_all_properties_of_a_frontmatter(head: str, keys: list[str]) -> None:
    assert list(_properties_of(pack(head))) == keys


def test_properties_come_in_the_order_of_the_table() -> None:
    head = "name: Other\ndescription: 'It counts '\nversion: 1.0"
    keys = _properties_of(pack(head, ""))

    assert _properties_of(GOOD) == ()
    assert keys == tuple(key for key in PROPERTIES if key in keys)
    assert keys == (
        *("empty-body", "name-not-folder", "name-upper-case"),
        *("description-single-quoted", "description-blank-around"),
        *("unknown-field", "version-number", "version-not-semantic"),
    )

    assert sorted(PROPERTIES) == sorted(_DETECTORS)
    assert sorted(PACKS) == sorted([PLAIN, *PROPERTIES])
    assert sum(map(len, GROUPS.values())) == len(PROPERTIES)


@pytest.mark.row("F56")
@pytest.mark.parametrize(
    ("name", "key"),
    [
        *(("12", "name-number"), ("0", "name-number"), ("1.10", "name-odd-number")),
        *(("0x1f", "name-odd-number"), ("010", "name-odd-number")),
        *(("1_000", "name-odd-number"), ("1e3", "name-odd-number")),
        *(("1:30", "name-odd-number"), ("'1.10'", ""), ("v1", "")),
    ],
)
def test_a_name_that_yaml_reads_as_a_number(name: str, key: str) -> None:
    keys = _properties_of(pack(f"name: {name}\ndescription: It counts"))

    assert [one for one in keys if one.endswith("number")] == [key] * bool(key)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"\xff\xfe\x00", "not-utf8"),
        (b"\n\n", "empty-file"),
        (b"Some prose.\n", "no-frontmatter"),
        (b"---\n- a\n---\n", "frontmatter-not-mapping"),
        (b"---\n" + b"[" * 5000 + b"\n---\n", ""),
        (b"\x00" * 100, "no-frontmatter"),
        (b"---\nname: a\ndescription: &x b\nother: *x\n---\n", "anchor"),
        (f"--- \n{FIRST}\n---\n{BODY}".encode(), "blanks-behind-opening-fence"),
        *(
            (f"---\n{head}\n---\n{BODY}".encode(), key)
            for head, key in (
                ("description: a: b\nname: x", "unquoted-colon"),
                ("name: x\ndescription: > text here", "text-behind-block-mark"),
                ("name: x\ndescription: '", "open-single-quote"),
                ('name: x\ndescription: "a', "open-double-quote"),
                ("name: x\ndescription: [a] b", "text-behind-bracket"),
                ("name: x\ndescription: b\nbad: a: b", "broken-field"),
            )
        ),
    ],
)
def test_any_bytes_have_properties(data: bytes, key: str) -> None:
    assert not key or key in _properties_of(Candidate(data, NAME))


def test_a_rule_in_the_body_is_not_a_closing_fence() -> None:
    text = f"---\n{FIRST}\n\n# Head\n\nSome prose.\n\n---\n\nMore.\n"
    keys = _properties_of(Candidate(text.encode(), NAME))

    assert "no-closing-fence-before-a-rule" in keys
    assert "broken-field" not in keys


def text_of(name: str) -> str:
    return files("satchel_lab.clients").joinpath(name).read_text("utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_whole_and_is_written_as_the_same_bytes(name: str) -> None:
    table = table_from_json(json.loads(text_of(name)))
    text = json.dumps(table_to_json(table), indent=1, ensure_ascii=False)

    assert f"{text}\n" == text_of(name)
    for key, entry in table.loaders.items():
        assert set(entry.verdicts) <= {PLAIN, *PROPERTIES}, key
        assert set(entry.verdicts.values()) <= set(VERDICTS) - {"unknown"}, key
        assert set(entry.shown) <= set(entry.verdicts), key
        assert date.fromisoformat(entry.checked) > EARLIEST
        assert entry.kind in {"framework", "client", "validator"}


def test_every_verdict_was_measured_or_has_its_source_and_day() -> None:
    table = read_measured()

    assert len(table.loaders) >= 15
    assert table.properties == tuple(PACKS)
    assert {
        key: missing
        for key, entry in table.loaders.items()
        if (missing := sorted(set(PACKS) - set(entry.verdicts)))
    } == {}

    for key, entry in read_documented().loaders.items():
        assert set(entry.claims) == set(entry.verdicts), key
        for claim in entry.claims.values():
            assert claim.source.startswith("https://")
            assert date.fromisoformat(claim.checked) > EARLIEST


def test_a_table_keeps_what_it_is_given() -> None:
    entry: dict[str, Any] = {
        "title": "One",
        "version": "1",
        "kind": "client",
        "checked": "2026-11-21",
        "source": "its page",
        "verdicts": {"dropped": ["crlf"], "loaded": ["plain"]},
        "shown": {"crlf": {"name": "folder"}},
        "claims": {"plain": {"source": "https://a.test", "checked": "2026-11-21"}},
    }
    data = {"schema_version": 1, "properties": ["plain"], "loaders": {"one": entry}}

    assert table_to_json(table_from_json(data)) == data


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_another_schema_is_refused(version: object) -> None:
    with pytest.raises(ValueError, match="schema_version 1"):
        table_from_json({"schema_version": version})


def outcome(
    candidate: Candidate,
    verdicts: Mapping[str, LoaderVerdict],
    shown: Mapping[str, Mapping[str, str]] | None = None,
) -> Prediction:
    """Return the prediction for a loader of which only this is known."""
    reader = PackReader(candidate)
    keys = properties_in(reader) or (PLAIN,)
    entry = LoaderData(
        "One", "1", "framework", "2026-11-21", "it", verdicts, shown or {}
    )
    return predict_for(LOADER, entry, keys, reader)


def test_each_pack_gets_the_verdict_that_was_measured() -> None:
    """Of the packs of one property each, which is where the data comes from."""
    measured = [loader for loader in loaders() if loader.how == "measured"]
    table = read_measured()
    agreed = [
        one.verdict == table.loaders[one.loader.key].verdicts[key]
        for key, (candidate, *_) in PACKS.items()
        for one in predict(candidate, measured)
    ]

    assert sum(agreed) / len(agreed) >= 0.99


OTHER = pack("name: Other\ndescription: It counts\nversion: 1.0")


@pytest.mark.parametrize(
    ("candidate", "verdicts", "expected"),
    [
        (GOOD, {"plain": "loaded"}, ("loaded", (), "")),
        (
            OTHER,
            {
                "name-not-folder": "dropped",
                "name-upper-case": "dropped",
                "unknown-field": "wrong",
                "version-number": "loaded",
            },
            (
                "dropped",
                ("name-not-folder", "name-upper-case"),
                (
                    "give the folder the name of `name:`; "
                    "write the name in lower case, and the folder's with it"
                ),
            ),
        ),
        (
            pack("name: Other\ndescription: It counts"),
            {"name-not-folder": "wrong"},
            ("unknown", ("name-upper-case",), ""),
        ),
        (
            pack("name: Other\ndescription: It counts"),
            {"name-not-folder": "breaks-neighbours"},
            (
                "breaks-neighbours",
                ("name-not-folder",),
                "give the folder the name of `name:`",
            ),
        ),
    ],
    ids=["good", "worst", "unknown", "worse than unknown"],
)
def test_the_worst_verdict_counts_with_its_reasons_and_fixes(
    candidate: Candidate,
    verdicts: dict[str, LoaderVerdict],
    expected: tuple[str, tuple[str, ...], str],
) -> None:
    predicted = outcome(candidate, verdicts)

    assert (predicted.verdict, predicted.reasons, predicted.fix) == expected
    assert predicted.shown is None


NAMED = pack("name: other\ndescription: It counts")
QUOTED = pack("name: the-pack\ndescription: 'It counts'")
LONG = pack(f"name: the-pack\ndescription: {'x' * 1100}")


@pytest.mark.parametrize(
    ("candidate", "key", "kind", "word", "shown"),
    [
        (NAMED, "name-not-folder", "name", "folder", ("the-pack", "It counts")),
        (NAMED, "name-not-folder", "name", "other", (None, "It counts")),
        (
            LONG,
            "description-over-1024",
            "description",
            "first-1024",
            ("the-pack", "x" * 1024),
        ),
        *(
            (QUOTED, "description-single-quoted", "description", word, (NAME, text))
            for word, text in (
                ("line", "'It counts'"),
                ("nothing", ""),
                ("other", None),
            )
        ),
    ],
)
def test_what_is_listed_instead_is_predicted(
    candidate: Candidate,
    key: str,
    kind: str,
    word: str,
    shown: tuple[str | None, str | None],
) -> None:
    words = {key: {kind: word}}
    wrong = outcome(candidate, {**HARMLESS, key: "wrong"}, words)

    assert (wrong.verdict, wrong.shown) == ("wrong", ShownEntry(*shown))
    assert outcome(candidate, {**HARMLESS, key: "dropped"}, words).shown is None


def test_loaders_are_chosen_and_predicted_in_order() -> None:
    """Underscores and hyphens are the same, and case does not count."""
    (chosen,) = choose_loaders([" Google_ADK ", "google-adk"])
    with pytest.raises(UnknownLoaderError) as caught:
        choose_loaders(["google-adj"])

    assert chosen.key == "google-adk"
    assert choose_loaders(["all"]) == loaders()
    assert caught.value.key == "google-adj"
    assert "google-adk" in caught.value.close
    assert str(caught.value).startswith("no loader 'google-adj'; did you mean")
    assert str(UnknownLoaderError("x")).startswith("no loader 'x'; known are agent-")

    keys = ["strands", "google-adk", "agno"]
    assert [one.loader.key for one in predict(GOOD, choose_loaders(keys))] == keys
    assert tuple(one.loader for one in predict(GOOD)) == loaders()

    assert worst_verdict([]) == "loaded"
    assert worst_verdict(["cut", "dropped", "wrong"]) == "dropped"
