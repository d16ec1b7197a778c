"""What authors call the parts of an eval case: keys and values, in small letters.

Collected from public repositories: the reference runner and its documentation, what
other runners read (`stimuli`, `scenarios`, rows of `question`), and lists that authors
made up. A key is compared without its case, with ``_`` for ``-`` and for a hump.
"""

import re
from typing import Final


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# In this order, since a row may have two of them: `query` next to `text`.
QUERY: Final = _list(
    "query user_query prompt user_prompt question request user_request message "
    "user_message utterance user_input input inputs task ask text phrase "
    "stimulus scenario example trigger_phrase vars q"
)
SURE_QUERY: Final = _set(
    "query user_query prompt user_prompt question user_request user_message utterance "
    "user_input trigger_phrase"
)
MESSAGES: Final = _set("messages input_messages turns conversation")

# Keys that say yes or no of the skill that a file is about.
SHOULD: Final = _set(
    "should_trigger should_activate should_fire should_load should_invoke should_use "
    "should_use_skill should_match should_route should_call expect_activation "
    "expected_activation expect_trigger expected_trigger expects_trigger triggers "
    "trigger activates activate fires fire is_positive positive must_trigger "
    "must_invoke must_invoke_skill must_load relevant matches in_scope applies "
    "invoke load expected should expect"
)
SHOULD_NOT: Final = _set(
    "should_not_trigger should_not_activate should_not_fire should_not_load "
    "should_not_invoke should_not_use must_not_trigger must_not_invoke must_not_load "
    "is_negative negative is_control control out_of_scope anti_trigger "
    "near_miss"
)
# Keys that name skills which should get the query, or should not.
EXPECTED: Final = _set(
    "expected_skill expected_skills expected_skill_name expected_skill_id expected "
    "expect expects target_skill target_skills correct_skill gold gold_skill "
    "gold_skills golden_skill should_load should_invoke should_trigger should_activate "
    "should_use should_route_to should_route route_to routes_to route expected_route "
    "expected_activation expected_activations expect_skill expect_skills include "
    "includes must_include must_invoke must_load required relevant relevant_skills "
    "positives answer label skill_expected expected_id winner selected_skill skill "
    "skills skill_name skill_id"
)
FORBIDDEN: Final = _set(
    "should_not_trigger should_not_activate should_not_fire should_not_load "
    "should_not_invoke should_not_use must_not_trigger must_not_invoke must_not_load "
    "not_expected not_expected_skill not_expected_skills unexpected unexpected_skill "
    "unexpected_skills forbidden forbidden_skill forbidden_skills exclude excludes "
    "excluded must_exclude must_not_include disallowed disallowed_skills reject_skills "
    "wrong_skill wrong_skills negative_skills not_skill not_skills "
    "negatives"
)
# A row's own word for what it is: a verdict where its value is one.
KIND: Final = _set(
    "expected type kind category label polarity class verdict outcome expectation "
    "should expect group test_type intent"
)
# Objects in a row that have the expectation one level deeper.
NESTED: Final = _set(
    "expect expected expectation expectations expected_result expects assert config "
    "routing expected_routing"
)
# Containers of cases whose key says nothing about them.
NEUTRAL: Final = _set(
    "evals eval evalcases cases eval_cases test_cases testcases tests items queries "
    "eval_queries "
    "trigger_evals trigger_queries trigger_tests trigger_cases examples rows data "
    "dataset prompts entries triggers trigger stimuli scenarios tasks routing "
    "routing_cases train val validation test holdout dev suites suite groups sections "
    "categories fresh edge_cases edge_case boundary boundary_cases ambiguous "
    "activation activation_examples activation_evals results samples"
)
YES: Final = _set(
    "true yes y 1 fire fires trigger triggers should_trigger should_fire positive pos "
    "activate activates should_activate in_scope load should_load invoke invoked "
    "should_invoke match hit explicit implicit contextual use should_use "
    "on"
)
NO: Final = _set(
    "false no n 0 no_fire not_fire no_trigger not_trigger should_not_trigger "
    "should_not_fire should_not_activate should_not_load should_not_invoke "
    "should_not_use negative neg negative_control control controls near_miss "
    "near_misses near_neighbor near_neighbour out_of_scope anti_trigger skip quiet "
    "silent dormant abstain reject no_match do_not_trigger does_not_trigger dont_fire "
    "do_not_activate off adversarial_negative hard_negative"
)
# What the key of a container begins with that is a verdict about all in it.
_NO_LISTS: Final = _list(
    "should_not must_not do_not dont negative anti_trigger non_trigger no_trigger "
    "no_fire near_miss near_neighbo out_of_scope control false_positive hard_negative "
    "quiet"
)
_YES_LISTS: Final = _list(
    "should must positive expected_trigger in_scope trigger_on triggers_on "
    "true_positive hits activates"
)
# Of a file: which skill it is about.
SUBJECT: Final = (
    *("skill_name", "skill", "skill_id", "target_skill", "skill_under_test", "target"),
)
NOBODY: Final = frozenset({"", "none", "null", "no_skill", "nothing", "n/a", "-"})

# Of a row: the skill that it is about, or that should get it.
OF_ROW: Final = frozenset({"skill", "skills", "skill_name", "skill_id"})
REQUIRED: Final = _set("required expected include skill skills name value")
REFUSED: Final = _set("disallowed forbidden excluded exclude rejected")

_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def verdict_of_list(key: str) -> bool | None:
    """Return what the key of a container says about all in it; None for nothing."""
    if key.startswith(_NO_LISTS):
        return False
    return True if key.startswith(_YES_LISTS) else None


def plain(word: object) -> str:
    """Return a key or a value as these sets have it: ``shouldTrigger`` is one too."""
    spaced = _HUMP.sub("_", str(word).strip())
    return re.sub(r"[\s\-./]+", "_", spaced).lower().strip("_:")
