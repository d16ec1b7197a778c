"""Any document is read: into cases, or into reasons why not."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from satchel_lab.evals._adding import with_case
from satchel_lab.evals._dialects import cases_in
from satchel_lab.evals._shadows import claims_of

pytestmark = pytest.mark.property

WORDS = (
    *("query", "prompt", "question", "text", "input", "messages", "content", "role"),
    *("should_trigger", "should_not_trigger", "expected", "expected_skill", "skill"),
    *("evals", "cases", "items", "positive", "negative", "tags", "graders", "type"),
    *("config", "required", "expect", "include", "exclude", "skill_name", "id", "pdf"),
)
SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False, width=16)
    | st.text(max_size=8)
    | st.sampled_from(("pdf", "none", "fire", "no_fire", "skill-invocation", "user"))
)
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(WORDS) | st.text(max_size=5), inner, max_size=4
        )
    ),
    max_leaves=24,
)


@given(DOCUMENTS, st.sampled_from(("", "pdf", "other")))
def test_every_document_gives_cases_or_reasons(
    document: Any,  # noqa: ANN401 - anything that JSON has
    skill: str,
) -> None:
    found = cases_in(document, {"pdf", "mail"}.__contains__, skill)
    again = cases_in(document, {"pdf", "mail"}.__contains__, skill)

    assert (found.cases, found.problems) == (again.cases, again.problems)
    for case in found.cases:
        assert case.query.strip()
        assert not {*case.expected} & {""}
    assert all(reason for *_, reason in found.problems)


@given(DOCUMENTS, st.text(min_size=1, max_size=20), st.booleans(), st.booleans())
def test_an_added_case_leaves_the_rest_as_it_is(
    document: Any,  # noqa: ANN401 - anything that JSON has
    query: str,
    should: bool,
    indented: bool,
) -> None:
    before = json.dumps(document, indent=2 if indented else None, ensure_ascii=False)

    after = with_case(before, query, "pdf", should=should)

    if after is None:
        return
    added = json.loads(after)
    lists = [added] if isinstance(added, list) else [*added.values()]
    old = [document] if isinstance(document, list) else [*document.values()]
    changed = [(new, one) for new, one in zip(lists, old, strict=True) if new != one]
    assert len(changed) == 1
    (new, one) = changed[0]
    assert new[:-1] == one
    assert query in new[-1].values()


@given(st.text(max_size=200))
def test_every_description_has_claims_or_boundaries(text: str) -> None:
    claims = claims_of(text, lambda name: (name,))

    assert bool(text.strip()) or not (claims.sentences or claims.boundaries)
    assert all(sentence.strip() for sentence in claims.sentences)
