"""The ranker, by what it finds."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from satchel import Options, Satchel
from satchel.model import Hit
from satchel.protocols import CatalogView
from satchel.search._words import normal_name
from tests.fakes import FakeSource, pack


def library(**packs: str) -> Satchel:
    files: dict[str, dict[str, str | bytes]] = {
        name: {"SKILL.md": text} for name, text in packs.items()
    }
    return Satchel(FakeSource("s", files))


def described(**descriptions: str) -> Satchel:
    return library(**{name: pack(name, text) for name, text in descriptions.items()})


def three_skills() -> Satchel:
    packs = {
        "pdf-forms": pack("pdf-forms", "Fill in PDF forms.", "Tax returns and such.\n"),
        "sql-style": pack("sql-style", "Write readable queries for databases."),
        "dumplings": pack("dumplings", "学习做饺子的方法"),
        "café": pack("café", "Choose a coffee."),
    }
    return library(**packs)


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("fill in a form", "pdf-forms"),
        ("tax return", "pdf-forms"),
        ("SQL", "sql-style"),
        ("querying a database", "sql-style"),
        ("饺子", "dumplings"),
        ("cafe", "café"),
        ("sql-style", "sql-style"),
    ],
)
def test_it_finds_by_name_description_and_body(query: str, best: str) -> None:
    assert three_skills().find(query, k=1)[0].id == best


def test_a_query_of_common_words_is_still_a_query() -> None:
    """Common words are dropped only where others remain."""
    skills = described(a="What to do when lost.")

    assert [hit.id for hit in skills.find("what to do")] == ["a"]


def test_no_match_is_an_empty_list_k_bounds_it_and_ties_go_by_id() -> None:
    skills = three_skills()
    equal = described(**dict.fromkeys("bac", "The very same words."))

    assert [skills.find(query) for query in ("", "   ", "!!!", "zzzz")] == [[]] * 4
    assert skills.find("forms queries coffee", k=0) == []
    assert len(skills.find("forms queries coffee", k=2)) == 2
    assert [hit.id for hit in equal.find("very same words")] == ["a", "b", "c"]


def test_the_index_follows_the_catalog() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a", "About apples.")}})
    skills = Satchel(source)
    assert [hit.id for hit in skills.find("apples")] == ["a"]
    source.packs["b"] = {"SKILL.md": pack("b", "About pears.")}
    skills.sync()

    assert [hit.id for hit in skills.find("pears")] == ["b"]


def test_a_body_that_cannot_be_read_is_found_by_its_description() -> None:
    source = FakeSource("s", {"a": {"SKILL.md": pack("a", "About apples.")}})
    skills = Satchel(source)
    source.packs["a"].clear()

    assert [hit.id for hit in skills.find("apples")] == ["a"]


@pytest.mark.row("F01")
@pytest.mark.parametrize(
    "query",
    [
        "review a golang pull request",
        "go over this golang pull request",
        "test: is this golang pull request C code",
    ],
)
def test_a_word_that_is_an_id_decides_nothing(query: str) -> None:
    """Public skills are called ``test``, ``go``, ``C``; most queries hold one."""
    skills = described(
        review="Prune fruit trees.",
        go="Play the board game.",
        test="Taste soup.",
        C="Sing a note.",
        checks="What holds for a golang pull request.",
    )

    assert skills.find(query)[0].id == "checks"


@pytest.mark.row("F01")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("code-review", "code-review"),
        (" Code-Review ", "code-review"),
        ("code review", "code-review"),
        ("CODE_REVIEW", "code-review"),
        ("cafe\u0301", "café"),
        ("cafe", "café"),
        ("cöde review", "code-review"),
    ],
)
def test_a_query_that_is_an_id_finds_it_first(query: str, best: str) -> None:
    descriptions = {
        "code-review": "Prune fruit trees.",
        "other": "Code review, code review, cafe\u0301.",
        "café": "Choose a drink.",
    }
    skills = described(**descriptions)

    assert skills.find(query)[0].id == best


@pytest.mark.row("F05")
@pytest.mark.parametrize(
    "head",
    [
        "trigger_keywords: [pyright]",
        "triggers: [pyright]",
        "when_to_use: Whenever pyright complains.",
        "keywords: mypy, pyright",
        "tags: [pyright]",
        "trigger-keywords: [pyright]",
        "metadata:\n  trigger_keywords: pyright",
        "metadata:\n  keywords: [pyright]",
        "metadata:\n  tags: types, pyright",
    ],
)
def test_the_keywords_of_a_manifest_are_searched(head: str) -> None:
    text = f"---\nname: types\ndescription: Fix what is annotated.\n{head}\n---\nDo.\n"

    skills = library(types=text, b=pack("b"))

    assert [hit.id for hit in skills.find("pyright")] == ["types"]
    assert "pyright" not in str(skills.prompt())


@pytest.mark.row("F05")
def test_keywords_are_bounded() -> None:
    """A pack cannot bury the others under its keywords."""
    many = ", ".join(f"word{n}" for n in range(500))
    text = f"---\nname: a\ndescription: Use it.\nkeywords: [{many}]\n---\nDo.\n"

    entry = library(a=text).catalog.get("a")

    assert entry is not None
    assert entry.keywords[0] == "word0"
    assert sum(map(len, entry.keywords)) <= 1_024


LIBRARY = three_skills()


@pytest.mark.property
@given(
    st.text(max_size=200) | st.sampled_from(['" OR 1', "a NEAR(b)", "x*", "^a", "-a"])
)
def test_no_query_is_ever_an_error(query: str) -> None:
    """None of the index's operators is interpreted, and every answer is ranked."""
    hits = LIBRARY.find(query, k=3)

    named = normal_name(query)
    ranked = [hit.score for hit in hits if normal_name(hit.id) != named]
    assert ranked == sorted(ranked, reverse=True)
    ids = [hit.id for hit in hits]
    assert len(set(ids)) == len(ids) <= 3
    assert all(skill_id in LIBRARY.catalog for skill_id in ids)


LONG = "Deploy a web service to a cluster of servers, step by step, with a rollback."


def prefixed() -> Satchel:
    """Skills of one name from several folders: two copies, and one that is none."""
    sources = [
        FakeSource(label, {"deploy": {"SKILL.md": pack("deploy", text)}})
        for label, text in (
            ("a", LONG),
            ("b", LONG.replace("cluster", "group")),
            ("c", "Release a Python package: a web service is not needed."),
        )
    ]
    prefixes = {label: f"{label}-" for label in "abc"}
    return Satchel(*sources, options=Options(prefix=prefixes))


def test_copies_of_a_skill_are_one_hit_with_their_ids() -> None:
    hits = prefixed().find("deploy a web service")

    assert [(hit.id, hit.copies) for hit in hits] == [
        ("a-deploy", ("b-deploy",)),
        ("c-deploy", ()),
    ]
    assert prefixed().find("deploy a web service", k=1) == hits[:1]


def test_a_copy_that_may_not_be_found_does_not_speak_for_others() -> None:
    skills = prefixed()

    assert [(h.id, h.copies) for h in skills.session(only=["b-*"]).find("deploy")] == [
        ("b-deploy", ())
    ]
    assert [hit.id for hit in skills.find("web service", source="c")] == ["c-deploy"]
    assert skills.find("web service", source="nowhere") == []


def test_filters_by_tag_and_owner() -> None:
    head = "---\nname: {0}\ndescription: Write a report.\n{1}\n---\nDo.\n"
    skills = library(
        a=head.format("a", "tags: [Finance, weekly]"),
        b=head.format("b", "metadata:\n  owner: ana"),
    )

    assert [hit.id for hit in skills.find("report", tag="finance")] == ["a"]
    assert [hit.id for hit in skills.find("report", owner="ana")] == ["b"]
    assert skills.find("report", tag="finance", owner="ana") == []


def test_what_several_queries_find_goes_first() -> None:
    skills = described(
        one="Fill in a form.", two="Sign a contract.", both="Sign a form, contract law."
    )

    hits = skills.find(["fill in a form", "sign a contract"])
    alone = skills.find(["sign a contract"], k=1)

    assert {hit.id for hit in hits} == {"one", "two", "both"}
    assert hits[0].score == max(hit.score for hit in hits)
    assert alone == skills.find("sign a contract", k=1)
    assert skills.find([]) == skills.find(["", "the"], k=0) == []


@pytest.mark.row("T14")
def test_a_hit_says_why_and_how_sure_it_is() -> None:
    skills = three_skills()

    best = skills.find("fill in tax forms", k=1)[0]
    worse = skills.find("a form for seven fishes, cakes, boats and islands", k=1)[0]

    assert best.terms == ("forms", "fill", "tax")
    assert best.fields == ("name", "description", "body")
    assert best.score == pytest.approx(sum(m.points for m in best.matches), abs=1e-5)
    assert not best.weak
    assert worse.weak
    assert worse.confidence < best.confidence < 1
    assert skills.find("pdf-forms", k=1)[0].confidence == 1
    assert skills.find("form fish cake boats islands", min_confidence=0.9) == []


EXAMPLES = Path(__file__).parents[3] / "examples" / "skills"
PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "search.md"


@pytest.mark.row("T14", "F106")
def test_the_line_of_weak_is_the_one_that_its_page_names() -> None:
    (written,) = re.findall(r"Below (\S+) a hit is \*weak\*", PAGE.read_text("utf-8"))
    line = float(written)
    below = math.nextafter(line, 0.0)
    weak = [Hit("a", "", 1.0, confidence=at).weak for at in (0.0, below, line, 1.0)]

    assert weak == [True, True, False, False]


@pytest.mark.row("T14", "F88")
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("a paper from the tax office", "pdf-forms"),
        ("review the words of my text", "house-style"),
        ("is this bill right", "invoice-check"),
        ("boss wants the text shorter", "house-style"),
        ("we had an outage", "incident-review"),
        ("bake a cake in the form of a fish", ""),
        ("merge two documents into one", ""),
        ("explain this to a reader of Chinese", ""),
        ("sum of a column", ""),
    ],
)
def test_right_answers_are_not_weak_and_what_is_not_here_is(
    query: str, best: str
) -> None:
    """Of a library that the line was not calibrated on."""
    with Satchel(EXAMPLES, sinks=()) as skills:
        hit = skills.find(query, k=1)[0]

    assert (hit.weak, "" if hit.weak else hit.id) == (not best, best)


def test_a_ranker_of_ones_own_is_filtered_and_trusted() -> None:
    class Everything:
        def rank(self, catalog: CatalogView, query: str, k: int) -> list[Hit]:
            del query
            return [Hit(e.id, "", 1.0) for e in [*catalog.entries][:k]]

    skills = Satchel(
        FakeSource("s", {name: {"SKILL.md": pack(name)} for name in "ab"}),
        options=Options(ranker=Everything()),
    )

    assert [hit.id for hit in skills.find("x", 1)] == ["a"]
    assert [hit.id for hit in skills.session(only=["b"]).find("x", 1)] == ["b"]
    assert not skills.find("x", 1)[0].weak


def test_many_packs_that_change_one_by_one_are_found_as_if_indexed_at_once() -> None:
    """Each change makes a small segment; from time to time they are merged."""
    source = FakeSource("s", {"a0": {"SKILL.md": pack("a0", "About apples.")}})
    skills = Satchel(source)
    for n in range(1, 14):
        source.packs[f"a{n}"] = {"SKILL.md": pack(f"a{n}", f"About apples and x{n}.")}
        source.packs["a0"] = {"SKILL.md": pack("a0", f"About apples, day {n}.")}
        skills.sync()

        assert skills.find("apples day", 20) == Satchel(source).find("apples day", 20)
