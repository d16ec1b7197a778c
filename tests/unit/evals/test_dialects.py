"""Every shape of eval file that authors write gives the same cases."""

import json
from typing import Any

import pytest

from satchel_lab.evals._dialects import FoundCases, cases_in

SKILLS = frozenset({"pdf-forms", "sheets", "mail"})
YES = "fill in a form"
NO = "what is the weather"


def read(document: Any, skill: str = "") -> FoundCases:  # noqa: ANN401 - from JSON
    """Return what is found in a document; by its place it is about ``skill``."""
    return cases_in(document, SKILLS.__contains__, skill)


# Each is about pdf-forms, by its place or by its own words, and has one query for it
# and one control of it.
OF_ONE_SKILL: dict[str, Any] = {
    "the reference": [
        {"query": YES, "should_trigger": True},
        {"query": NO, "should_trigger": False},
    ],
    "prompts under evals": {
        "evals": [
            {"prompt": YES, "should_trigger": True},
            {"prompt": NO, "should_trigger": False},
        ]
    },
    "two lists": {"should_trigger": [YES], "should_not_trigger": [NO]},
    "two lists of objects": {
        "should_trigger": [{"query": YES, "why": "x"}],
        "should_not_trigger": [{"query": NO}],
    },
    "lists in splits": {
        "should_trigger": {"train": [YES], "val": []},
        "should_not_trigger": {"train": [], "val": [NO]},
    },
    "items that fire": {
        "schema_version": 1,
        "items": [
            {"id": "fire-01", "query": YES, "expected": "fire", "split": "train"},
            {"id": "no-fire-01", "query": NO, "expected": "no_fire", "split": "val"},
        ],
    },
    "triggers with items": {
        "skill": "pdf-forms",
        "triggers": {
            "split": "val",
            "items": [
                {"query": YES, "expected": "fire"},
                {"query": NO, "expected": "no-fire"},
            ],
        },
        "stop_list": ["tag the release"],
    },
    "positive and negative": {"positive": [YES], "negative": [NO]},
    "positives and negatives": {"positives": [YES], "negatives": [NO]},
    "cases by kind": {
        "positive_cases": [{"id": "pos_001", "prompt": YES}],
        "negative_cases": [{"id": "neg_001", "prompt": NO}],
    },
    "camel case": [
        {"userPrompt": YES, "shouldTrigger": True},
        {"userPrompt": NO, "shouldTrigger": False},
    ],
    "hyphens": {"should-trigger": [YES], "should-not-trigger": [NO]},
    "a type in each row": {
        "test_cases": [
            {"type": "should_trigger", "prompt": YES},
            {"type": "should_not_trigger", "prompt": NO},
        ]
    },
    "a category in each row": [
        {"prompt": YES, "category": "positive"},
        {"prompt": NO, "category": "near_miss"},
    ],
    "rows of an expected skill": [
        {"id": 1, "question": YES, "expected_skill": "pdf-forms", "ground_truth": "x"},
        {"id": 2, "question": NO, "expected_skill": None, "ground_truth": "x"},
    ],
    "a benchmark with both": {
        "eval_queries": [
            {"query": YES, "should_trigger": True, "expected_skill": "pdf-forms"},
            {"query": NO, "should_trigger": False, "expected_skill": None},
        ]
    },
    "should_activate": [
        {"id": "a", "prompt": YES, "should_activate": True, "reason": "x"},
        {"id": "b", "prompt": NO, "should_activate": False, "reason": "x"},
    ],
    "activation examples": {
        "activation_examples": {"should_activate": [YES], "should_not_activate": [NO]}
    },
    "scenarios": {
        "scenarios": [
            {"name": "x", "prompt": YES, "expect_activation": True},
            {"name": "y", "prompt": NO, "expect_activation": False},
        ]
    },
    "inputs": {
        "name": "routing",
        "scenarios": [
            {"id": "pos-1", "input": YES, "expect_activation": True},
            {"id": "neg-1", "input": NO, "expect_activation": False},
        ],
    },
    "stimuli with graders": {
        "tags": {"type": "trigger", "skill": "pdf-forms"},
        "stimuli": [
            {
                "prompt": YES,
                "graders": [
                    {"type": "skill-invocation", "config": {"required": ["pdf-forms"]}},
                    {"type": "completed"},
                ],
            },
            {
                "prompt": NO,
                "graders": [
                    {
                        "type": "skill-invocation",
                        "config": {"disallowed": ["pdf-forms"]},
                    }
                ],
            },
        ],
    },
    "polarity in tags": {
        "stimuli": [
            {"prompt": YES, "tags": {"polarity": "positive"}},
            {"prompt": NO, "tags": {"polarity": "negative"}},
        ]
    },
    "tags as a list": [
        {"inputs": {"prompt": YES}, "tags": ["routing"]},
        {"inputs": {"prompt": NO}, "tags": ["negative", "routing"]},
    ],
    "strings for truth": [
        {"prompt": YES, "should_trigger": "yes"},
        {"prompt": NO, "should_trigger": "No"},
    ],
    "numbers for truth": [
        {"prompt": YES, "should_trigger": 1},
        {"prompt": NO, "should_trigger": 0},
    ],
    "messages": [
        {"messages": [{"role": "user", "content": YES}], "should_trigger": True},
        {"messages": [{"role": "user", "content": NO}], "should_trigger": False},
    ],
    "pairs": [[YES, True], [NO, False]],
    "a mapping to truth": {YES: True, NO: False},
    "a mapping to a skill": {YES: "pdf-forms", NO: None},
    "by skill": {"pdf-forms": {"should_trigger": [YES], "should_not_trigger": [NO]}},
    "skills under a key": {
        "skills": {"pdf-forms": {"positive": [YES], "negative": [NO]}}
    },
    "a nested expectation": [
        {"query": YES, "expect": {"skill": "pdf-forms"}},
        {"query": NO, "expect": {"should_trigger": False}},
    ],
    "include and exclude": [
        {"query": YES, "expect": {"include": ["pdf-forms"]}},
        {"query": NO, "expect": {"exclude": ["pdf-forms"]}},
    ],
    "must not": [
        {"prompt": YES, "must_invoke_skill": True},
        {"prompt": NO, "must_invoke_skill": False},
    ],
    "names to keep quiet": [
        {"prompt": YES, "expected_skill": "pdf-forms"},
        {"prompt": NO, "expected_skill": None, "should_not_trigger": "pdf-forms"},
    ],
    "groups": {
        "groups": [
            {"name": "a", "cases": [{"query": YES, "should_trigger": True}]},
            {"name": "b", "cases": [{"query": NO, "should_trigger": False}]},
        ]
    },
    "vars with assertions": [
        {"vars": {"user_input": YES}, "assert": [{"type": "contains", "value": "x"}]},
        {"vars": {"user_input": NO}, "expected": "no_trigger"},
    ],
    "parts of messages": {
        "evalcases": [
            {
                "id": "a",
                "input_messages": [
                    {"role": "system", "content": "x"},
                    {"role": "user", "content": [{"type": "text", "value": YES}]},
                ],
            },
            {"id": "b", "input_messages": [NO], "should_trigger": False},
        ]
    },
    "prompts by verdict": {
        "skill": "pdf-forms",
        "should_trigger_prompts": [{"prompt": YES, "reason": "x"}],
        "should_not_trigger_prompts": [{"prompt": NO}],
    },
    "names of other files": {
        "skill": "pdf-forms",
        "tasks": ["tasks/*.yaml", "more.json"],
        "should_trigger": [YES],
        "near_misses": [NO],
    },
    "graders next to it": {
        "skill": "pdf-forms",
        "graders": [{"query": "none of it"}],
        "should_trigger": [YES],
        "near_misses": [NO],
    },
    "one file a case": {
        "name": "x",
        "cases": [
            {"skills": ["pdf-forms"], "query": YES, "expected_behavior": ["y"]},
            {"query": NO, "label": "negative"},
        ],
    },
}


@pytest.mark.row("E09")
@pytest.mark.parametrize("shape", OF_ONE_SKILL)
def test_a_query_and_a_control_are_read_from(shape: str) -> None:
    found = read(OF_ONE_SKILL[shape], "pdf-forms")

    assert [(case.query, case.expected, case.forbidden) for case in found.cases] == [
        (YES, ("pdf-forms",), ()),
        (NO, (), ("pdf-forms",)),
    ]
    assert found.problems == []


# A library's own file, which is about no skill.
OF_A_LIBRARY: dict[str, tuple[Any, Any]] = {
    "expected_skill": (
        [
            {"question": "a b", "expected_skill": "mail"},
            {"question": "c d", "expected_skill": None},
        ],
        [("a b", ("mail",), ()), ("c d", (), ())],
    ),
    "none as a word": (
        [{"prompt": "c d", "expected_skill": "none"}],
        [("c d", (), ())],
    ),
    "several are right": (
        [{"query": "a b", "relevant": ["mail", "sheets"]}],
        [("a b", ("mail", "sheets"), ())],
    ),
    "another skill's control": (
        {
            "tests": [
                {
                    "prompt": "a b",
                    "expected_skill": "mail",
                    "should_not_trigger": "sheets",
                }
            ]
        },
        [("a b", ("mail",), ("sheets",))],
    ),
    "required and disallowed": (
        {
            "stimuli": [
                {
                    "prompt": "a b",
                    "graders": [
                        {
                            "type": "skill-invocation",
                            "config": {"required": ["mail"], "disallowed": ["sheets"]},
                        }
                    ],
                }
            ]
        },
        [("a b", ("mail",), ("sheets",))],
    ),
    "queries of each skill": (
        {"mail": ["a b", "c d"], "sheets": ["e f"]},
        [("a b", ("mail",), ()), ("c d", ("mail",), ()), ("e f", ("sheets",), ())],
    ),
    "a skill that is unknown": (
        [{"query": "a b", "expected_skill": "unknown-skill"}],
        [("a b", ("unknown-skill",), ())],
    ),
    "pairs with names": (
        [["a b", "mail"], ["c d", None]],
        [("a b", ("mail",), ()), ("c d", (), ())],
    ),
}


@pytest.mark.parametrize("shape", OF_A_LIBRARY)
def test_a_library_names_the_skills(shape: str) -> None:
    document, expected = OF_A_LIBRARY[shape]

    found = read(document)

    assert [(c.query, c.expected, c.forbidden) for c in found.cases] == expected
    assert found.problems == []


def test_prompts_of_output_evals_are_queries_of_their_skill() -> None:
    document = {
        "skill_name": "pdf-forms",
        "evals": [
            {
                "id": 1,
                "prompt": "fill in x",
                "expected_output": "It is filled in.",
                "assertions": ["the file exists"],
                "files": [],
            }
        ],
    }

    found = read(document)

    assert [(c.query, c.expected) for c in found.cases] == [
        ("fill in x", ("pdf-forms",))
    ]


def test_unknown_fields_stay_with_the_case() -> None:
    row = {"query": YES, "should_trigger": True, "note_of_mine": {"a": [1]}}

    case = read([row], "pdf-forms").cases[0]

    assert json.loads(json.dumps(case.fields)) == row


def test_a_control_with_another_answer_has_both() -> None:
    rows = [{"query": "a b", "should_trigger": False, "expected_skill": "mail"}]

    case = read(rows, "pdf-forms").cases[0]

    assert (case.expected, case.forbidden) == (("mail",), ("pdf-forms",))


NO_CASES: list[tuple[Any, str]] = [
    ([{"query": "a b"}], "[1]"),
    ({"evals": [{"prompt": "a b", "assertions": []}]}, "evals[1]"),
    (["a b"], "[1]"),
    ([1.5], "[1]"),
]


@pytest.mark.parametrize(("document", "place"), NO_CASES)
def test_what_is_no_case_is_a_problem_with_its_place(
    document: object, place: str
) -> None:
    found = read(document)

    assert found.cases == []
    assert [at for _, at, *_ in found.problems] == [place]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"should_trigger": "flase"}, "true or false for should_trigger, got 'flase'"),
        ({"shouldTrigger": "maybe"}, "true or false for should_trigger, got 'maybe'"),
        ({"should_not_trigger": 7}, "true or false for should_not_trigger, got 7"),
        ({"must_activate": "yes please"}, "true or false for must_activate"),
        ({"expect": {"should_trigger": "tru"}}, "true or false for should_trigger"),
        ({"expected": "ture"}, "true or false for expected, got 'ture'"),
        ({"shoud_trigger": False}, "it has shoud_trigger, which looks like"),
        ({"should_not_tirgger": "x"}, "which looks like should_not_trigger"),
    ],
)
def test_a_verdict_that_is_misspelled_is_a_problem(
    row: dict[str, Any], reason: str
) -> None:
    found = read([{"query": "a b", **row}], "pdf-forms")

    assert found.cases == []
    assert [reason in said for *_, said in found.problems] == [True]


def test_a_list_under_a_misspelled_verdict_is_a_problem() -> None:
    found = read({"should_trigger": [YES], "shoud_not_trigger": [NO]}, "pdf-forms")

    assert [case.query for case in found.cases] == [YES]
    assert [at for _, at, *_ in found.problems] == ["shoud_not_trigger"]


@pytest.mark.parametrize(
    "row",
    [
        {"should_trigger": ""},
        {"should_trigger": "none"},
        {"should_trigger": "mail"},
        {"should_trigger": None},
        {"expected": "The sum of the table."},
        {"must_not_include": "a price"},
        {"should_mention": "forms"},
        {"trigger": "when asked"},
        {"should_load": "forms.md"},
        {"expected_invocations": 2},
    ],
)
def test_what_is_no_verdict_is_no_problem(row: dict[str, Any]) -> None:
    assert read([{"query": "a b", **row}], "pdf-forms").problems == []


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        [],
        3,
        "text",
        {"claims": [{"id": "c", "text_": "x"}]},
        {"rubric": [{"id": "a", "pattern": "b", "weight": 1}]},
    ],
)
def test_what_has_no_query_has_no_case(document: object) -> None:
    found = read(document, "pdf-forms")

    assert found.cases == []


def test_a_document_that_is_too_deep_is_a_problem() -> None:
    document: Any = [{"query": "a b"}]
    for _ in range(40):
        document = {"cases": document}

    found = read(document, "pdf-forms")

    assert found.cases == []
    assert [reason for *_, reason in found.problems] == ["it is nested too deep"]
