"""The tools of the three styles, as a model calls them."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, cast, get_args

import pytest

from satchel.errors import DuplicateSkillError
from satchel.load import PlainBackend, StyleOptions, load, offer_find, tools_for
from satchel.load._tool_backend import DEFAULT_STYLE_OPTIONS
from satchel.model import Catalog, Descriptor, Excluded, Hit, Loaded, Request, Style
from satchel.prompt import render
from satchel.text import EstimateCounter
from satchel.tools import Tool, Toolbox, result_text
from tests.unit.load.fake_pack import SKILL_MD, FakeBackend, FakePack

SEVEN = [
    "name",
    "body",
    "available_references",
    "available_scripts",
    "reference_content",
    "script_content",
    "error",
]


def fake() -> FakePack:
    return FakePack.of(
        references__fields_md="# Fields\n",
        references__lint_sh="in references",
        scripts__lint_sh="echo\n",
        assets__logo_png=b"\x89PNG\x00",
        NOTICE_txt="free\n",
    )


def tools(
    style: Style,
    one: FakePack | None = None,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    find: Callable[[str, int], list[Hit]] | None = None,
) -> Toolbox:
    catalog = (one or fake()).catalog()
    backend = FakeBackend(catalog, find=find) if find else FakeBackend(catalog)
    return tools_for(style, backend, options=options, find=find is not None)


def call(style: Style, name: str, /, **arguments: object) -> Any:  # noqa: ANN401 - JSON
    return tools(style).call(name, arguments)


@pytest.mark.row("D05", "D06", "D21", "A11", "C26", "R14", "X10")
@pytest.mark.parametrize(
    ("style", "signatures"),
    [
        ("lean", ["load_skill(skill_id)", "read_skill_file(skill_id, path)"]),
        ("agent-skills", ["load_skill(skill_id)", "read_skill_file(skill_id, path)"]),
        (
            "packs",
            ["load_skill(name, reference, script)", "read_skill_file(name, path)"],
        ),
        (
            "references",
            [
                "list_skills()",
                "search_skills(query)",
                "load_skill_instructions(skill_name, reference)",
            ],
        ),
    ],
)
def test_each_style_has_its_tools_and_parameters(
    style: Style, signatures: list[str]
) -> None:
    box = tools(style)
    found = [
        f"{tool.name}({', '.join(cast('Any', tool.parameters['properties']))})"
        for tool in box
    ]

    assert found == signatures
    # Without the key nothing else is taken either.
    assert all(not tool.parameters.get("additionalProperties") for tool in box)
    assert all(_refuses_more(tool) for tool in box)
    assert all(tool.description for tool in box)


def _refuses_more(tool: Tool) -> bool:
    required = cast("list[str]", tool.parameters["required"])
    result = tool.call({**dict.fromkeys(required, "pdf"), "more": 1})
    return "unknown argument 'more'" in result_text(result)


@pytest.mark.row("D06")
def test_the_schema_of_load_skill() -> None:
    tool = tools("agent-skills").get("load_skill")

    assert tool is not None
    assert tool.parameters["required"] == ["skill_id"]
    assert tool.description.startswith("Load full SKILL.md instructions by skill_id")
    json.dumps(tool.parameters)


@pytest.mark.row("X14")
@pytest.mark.parametrize("style", get_args(Style))
def test_no_skills_no_tools(style: Style) -> None:
    def unused(request: Request) -> Loaded:
        raise AssertionError(request)

    assert len(tools_for(style, PlainBackend(unused))) == 0


@pytest.mark.row("D05", "D07", "D08", "D09", "D14", "D21", "X22")
def test_agent_skills_load() -> None:
    found = call("agent-skills", "load_skill", skill_id="pdf")
    missed = call("agent-skills", "load_skill", skill_id="PDF")

    assert found.startswith(f'<skill_context id="pdf">\n  <instructions>\n{SKILL_MD}')
    assert 'Skill with id "PDF" was not found in the current registry.' in missed


@pytest.mark.row("R12", "A14", "A24", "G11", "G22", "R24")
@pytest.mark.parametrize(
    ("style", "key"), [("agent-skills", "skill_id"), ("packs", "name")]
)
def test_a_file_is_read_whole(style: Style, key: str) -> None:
    read = {
        path: call(style, "read_skill_file", **{key: "pdf", "path": path})
        for path in ("NOTICE.txt", "logo.png", "nope.md", "../x")
    }

    assert read["NOTICE.txt"] == {
        key: "pdf",
        "path": "NOTICE.txt",
        "media_type": "text/plain",
        "content": "free\n",
    }
    assert read["logo.png"]["content"] is None
    assert read["logo.png"]["size_bytes"] == 5
    assert read["nope.md"]["error"]["code"] == "reference-not-allowed"
    assert "references/fields.md" in read["nope.md"]["error"]["message"]
    assert read["../x"]["error"]["code"] == "reference-escapes"


@pytest.mark.row("R14")
def test_in_packs_load_skill_gives_references_and_scripts() -> None:
    kinds = [
        call("packs", "read_skill_file", name="pdf", path=path)["error"]["message"]
        for path in ("fields.md", "scripts/lint.sh")
    ]

    assert "is a reference: load_skill gives it" in kinds[0]
    assert "is a script: load_skill gives it" in kinds[1]


@pytest.mark.row("C27", "C28", "C29", "R14", "X22", "X02")
def test_packs_give_the_body_under_seven_keys_and_always_where_told_to() -> None:
    result = call("packs", "load_skill", name="pdf")

    assert list(result) == SEVEN
    assert result == {
        "name": "pdf",
        "body": "# PDF\n",
        "available_references": ["fields.md", "lint.sh"],
        "available_scripts": ["lint.sh"],
        "reference_content": None,
        "script_content": None,
        "error": None,
    }

    box = tools("packs", options=StyleOptions(always_body=True))

    result = cast(
        "Any", box.call("load_skill", {"name": "pdf", "reference": "fields.md"})
    )

    assert (result["body"], result["reference_content"]) == ("# PDF\n", "# Fields\n")


@pytest.mark.row("C30", "C31", "C28", "X02", "R30", "R14", "A20")
@pytest.mark.parametrize(
    ("wish", "reference", "script"),
    [
        ({"reference": "fields.md"}, "# Fields\n", None),
        ({"reference": "references/fields.md", "script": None}, "# Fields\n", None),
        ({"script": "lint.sh"}, None, "echo\n"),
        ({"reference": "lint.sh"}, "in references", None),
        ({"reference": "lint.sh", "script": "lint.sh"}, "in references", "echo\n"),
    ],
)
def test_packs_give_files_instead_of_the_body(
    wish: dict[str, str], reference: str | None, script: str | None
) -> None:
    result = call("packs", "load_skill", name="pdf", **wish)

    assert list(result) == SEVEN
    assert (result["body"], result["error"]) == ("", None)
    assert (result["reference_content"], result["script_content"]) == (
        reference,
        script,
    )


@pytest.mark.row("C27", "C29", "C32", "R12")
@pytest.mark.parametrize("name", ["nope", "pdff"], ids=["far", "close to a listed one"])
def test_a_miss_in_packs_is_the_golden_text(name: str) -> None:
    result = call("packs", "load_skill", name=name)

    assert json.dumps(result, separators=(",", ":")) == (
        f'{{"name":"{name}","body":"","available_references":[],"available_scripts":[],'
        '"reference_content":null,"script_content":null,'
        f'"error":"skill \'{name}\' not found"}}'
    )


@pytest.mark.row("C29", "C32", "G08", "R12")
@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"reference": "nope.md"}, "not a listed file"),
        ({"script": "../../x"}, "does not stay inside"),
        ({"reference": "assets/logo.png"}, "is not text: 5 bytes of image/png"),
    ],
)
def test_a_file_that_cannot_be_given_is_a_sentence(
    wish: dict[str, str], told: str
) -> None:
    result = call("packs", "load_skill", name="pdf", **wish)

    assert list(result) == SEVEN
    assert told in result["error"]
    assert (result["body"], result["reference_content"]) == ("", None)
    assert result["available_references"] == ["fields.md", "lint.sh"]


@pytest.mark.row("R16")
def test_notes_are_a_field_of_their_own() -> None:
    hiding = FakePack.of(
        f"{SKILL_MD}\u200b\n", references__a_md="\u200b", n_txt="\u200b"
    )

    in_packs: Any = tools("packs", hiding).call("load_skill", {"name": "pdf"})
    by_name: Any = tools("references", hiding).call(
        "load_skill_instructions", {"skill_name": "pdf"}
    )
    in_file: Any = tools("packs", hiding).call(
        "read_skill_file", {"name": "pdf", "path": "n.txt"}
    )

    for result in (in_packs, by_name, in_file):
        assert "zero-width" in result["notes"][0]
    assert in_packs["body"] == "# PDF\n\u200b\n"


def test_packs_load_what_is_not_listed_and_still_loads() -> None:
    """A deprecated pack is in no list; its lists come with it."""
    one = fake()
    held = Excluded(one.descriptor(), "deprecated")
    catalog = Catalog(
        (Descriptor("other", "Use."),), excluded=(held,), readers={"here": one}
    )
    box = tools_for("packs", FakeBackend(catalog))

    result: Any = box.call("load_skill", {"name": "pdf"})

    assert result["available_references"] == ["fields.md", "lint.sh"]
    assert result["notes"] == ["Skill 'pdf' is deprecated."]


@pytest.mark.row("X19", "A11", "A24", "A03", "A12", "R12")
def test_references_give_the_descriptor_or_the_file() -> None:
    give = partial(call, "references", "load_skill_instructions", skill_name="pdf")

    assert give() == {
        "name": "pdf",
        "instructions": "# PDF\n",
        "tools": [],
        "references": [
            "references/fields.md",
            "references/lint.sh",
            "scripts/lint.sh",
            "assets/logo.png",
            "NOTICE.txt",
        ],
    }
    assert give(reference="fields.md") == "# Fields\n"
    assert give(skill_name="no") == {"error": "unknown_skill", "skill_name": "no"}
    assert give(reference="x.md")["error"]["code"] == "reference-not-allowed"

    image = give(reference="logo.png")
    assert (image["content"], image["media_type"]) == (None, "image/png")


@pytest.mark.row("A24", "A40", "A03", "A25")
@pytest.mark.parametrize(
    ("query", "found"), [("PDF is", ["pdf"]), ("FIELDS.md", ["pdf"]), ("zip", [])]
)
def test_discovery_lists_and_searches_with_reference_paths(
    query: str, found: list[str]
) -> None:
    listed = call("references", "list_skills")["skills"]
    matches = call("references", "search_skills", query=query)

    assert [skill["name"] for skill in listed] == ["pdf"]
    assert "references/fields.md" in listed[0]["references"]
    assert matches["query"] == query
    assert [skill["name"] for skill in matches["matches"]] == found


@pytest.mark.row("D14", "C32", "R12", "G16", "X09")
@pytest.mark.parametrize(
    ("style", "name", "arguments"),
    [
        ("agent-skills", "load_skill", {"skill_id": "pdf"}),
        ("packs", "load_skill", {"name": "pdf"}),
        ("references", "load_skill_instructions", {"skill_name": "pdf"}),
        ("agent-skills", "read_skill_file", {"skill_id": "pdf", "path": "x"}),
    ],
)
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("/home/me/secret"),
        DuplicateSkillError("pdf", "/home/me/secret/a", "/home/me/secret/b"),
    ],
)
def test_no_error_leaves_a_tool_and_none_tells_a_path(
    style: Style, name: str, arguments: dict[str, str], error: Exception
) -> None:
    def fail(request: Request) -> Loaded:
        raise error

    result = tools_for(style, FakeBackend(fake().catalog(), fail)).call(name, arguments)

    assert "error" in str(result)
    assert "/home" not in str(result)


@pytest.mark.row("D15")
def test_a_toolbox_answers_from_the_catalog_in_use() -> None:
    catalogs = [fake().catalog()]

    def read(request: Request) -> Loaded:
        return load(catalogs[-1], request)

    box = tools_for("references", PlainBackend(read, lambda: catalogs[-1]))
    catalogs.append(Catalog((Descriptor("new", "Use."),)))
    result: Any = box.call("list_skills", {})

    assert [skill["name"] for skill in result["skills"]] == ["new"]


def catalog_of(count: int) -> Catalog:
    return Catalog(tuple(Descriptor(f"s{n:02}", "Use for it.") for n in range(count)))


@pytest.mark.row("R35")
@pytest.mark.parametrize(
    ("count", "budget", "offered"),
    [(1, 4000, False), (29, 4000, False), (30, 4000, True), (10, 70, True)],
)
def test_the_find_tool_is_offered_for_long_lists_and_small_budgets(
    count: int, budget: int, offered: bool
) -> None:
    catalog = catalog_of(count)
    rendered = render(catalog, budget_tokens=budget, counter=EstimateCounter())

    assert offer_find(catalog, rendered) is offered


@pytest.mark.row("R35", "D22")
def test_a_weak_hit_is_labelled_in_the_older_styles() -> None:
    def find(query: str, k: int) -> list[Hit]:
        del query, k
        return [Hit("a", "Use it.", 1.0), Hit("b", "Or it.", 0.5, confidence=0.01)]

    assert tools("packs", find=find).call("find_skills", {"query": "x"}) == {
        "query": "x",
        "skills": [
            {"id": "a", "description": "Use it."},
            {"id": "b", "description": "Or it.", "weak": True},
        ],
        "note": "Weak matches; use one only if it fits.",
    }


@pytest.mark.parametrize("style", get_args(Style))
def test_the_find_tool_gives_ids_and_clean_descriptions(style: Style) -> None:
    asked: list[tuple[str, int]] = []

    def find(query: str, k: int) -> list[Hit]:
        asked.append((query, k))
        return [Hit("pdf", "Use\nit\u200b.", 1.0)]

    box = tools(style, find=find)
    results = [
        box.call("find_skills", {"query": "forms", **more})
        for more in ({}, {"k": 3}, {"k": 0}, {"k": 9999})[: 1 if style == "lean" else 4]
    ]

    assert results[0] == (
        "- pdf: Use it."
        if style == "lean"
        else {"query": "forms", "skills": [{"id": "pdf", "description": "Use it."}]}
    )
    counts = [20] if style == "lean" else [20, 3, 1, 50]  # lean shows no count
    assert asked == [("forms", count) for count in counts]
    assert [tool.name for tool in box][-1] == "find_skills"
