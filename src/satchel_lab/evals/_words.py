"""What authors call the parts of an eval case, and which only a run can know.

It is read from the parts of their words. Keys are not listed: ``should_not_trigger``,
``must-not-load`` and ``negativeCases`` are made of a few parts, and a key counts only
if all of its parts are known.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from satchel.skill_md import nearest_key


def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(words.split())})(?:e?s|e?d|ions?)?")


_NO: Final = _any(
    "no not non dont never false n 0 off out near anti neg negative control wrong "
    "quiet silent skip abstain dormant reject forbid(?:den)? disallow exclude "
    "unexpected refuse"
)
_YES: Final = _any(
    "yes true y 1 on in pos positive trigger activate? fire load invoke? invocation "
    "use match hit call appl(?:y|ies) explicit implicit contextual"
)
# Of what names a skill, or says what should be.
_WHO: Final = _any(
    "should must expect expectation skill target gold(?:en)? correct relevant route? "
    "label answer include require select winner right"
)
# Of what holds cases.
_CASES: Final = _any(
    "case testcase evalcase example prompt quer(?:y|ies) question utterance request "
    "test eval item entr(?:y|ies) row data dataset stimul(?:us|i) scenario task "
    "routing group suite section categor(?:y|ies) train val valid(?:at)? holdout dev "
    "edge boundar(?:y|ies) ambiguous fresh result sample trigger activate?"
)
_LINKS: Final = _any(
    "do does is be to of for the it this name id list set scope miss neighbou?r hard "
    "adversarial under"
)
_KNOWN: Final = (_NO, _YES, _WHO, _CASES, _LINKS)
_SAID: Final = _any("should must skill case example")
_KIND: Final = _any(
    "type kind categor(?:y|ies) label polarity class verdict outcome expect "
    "expectation should group intent tag"
)
# In this order, since a row may have two of them. The first are sure: only cases have
# a `query`, and anything may have a `text`.
_QUERY: Final = (
    *("query", "prompt", "question", "request", "utterance", "message", "input"),
    *("inputs", "task", "ask", "text", "phrase", "sentence", "instruction", "stimulus"),
    *("scenario", "example", "vars", "q"),
)
_SURE: Final = 5
_NOT_OF_USERS: Final = frozenset({"system", "assistant", "judge", "grader", "output"})
_NOBODY: Final = frozenset({"", "none", "null", "no_skill", "nothing", "n_a", "nobody"})
# What only a run can know of a case.
_MEASURED: Final = re.compile(
    r"pass(?:ed|es)?|fail(?:ed|ures?)?|ok|success(?:ful)?|triggered|(?:is_)?correct|"
    r"(?:pass|trigger|success|hit|fire)_rate|(?:latency|duration|elapsed)(?:_\w+)?"
)
_FIGURE: Final = re.compile(r"true|false|yes|no|pass(?:ed)?|fail(?:ed)?|\d*[.]?\d+%?")
_SEEN: Final = re.compile(r"(?:actual|predicted|observed|got)(?:_\w+)?")
_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_SIGNS: Final = re.compile(r"[\s\-./]+")

# Keys that say whether a skill should answer, and nothing else: others may have a text,
# a file to load, or a count, so only what is nearly true or false is a verdict there.
_VERDICT: Final = re.compile(
    r"(?:should|must|expect(?:s|ed)?)_(?:not_)?(?:trigger|activat|fire|invo[ck])"
    r"[a-z]*(?<!s)"
)
_TRUTHS: Final = frozenset({"true", "false"})
_OF_VERDICTS: Final = frozenset(
    [
        *("should", "must", "not", "expect", "expected", "trigger", "activate"),
        *("activation", "invoke", "fire"),
    ]
)

# Of a row: the skill that it is about, or that should get it.
OF_ROW: Final = frozenset({"skill", "skills", "skill_name", "skill_id"})


class Role(NamedTuple):
    """What is under a key, as far as its words tell.

    ``says`` is yes or no about all that is under it. ``names`` means names of skills
    and nothing else, ``who`` that skills under it should answer, or should not;
    ``whether`` that yes or no under it is about the skill of the row. ``rank`` is how
    early it counts as the text of a query; None where it is none.
    """

    says: bool | None
    cases: bool
    names: bool
    who: bool
    whether: bool
    kind: bool
    rank: int | None

    @property
    def is_sure(self) -> bool:
        """Whether only a case has such a text."""
        return self.rank is not None and self.rank % len(_QUERY) < _SURE


@lru_cache(4_096)
def plain(word: str) -> str:
    """Return a word as these tables have it: ``should_trigger``, however written."""
    spaced = _HUMP.sub("_", word.strip())
    return _SIGNS.sub("_", spaced).lower().strip("_:")


@lru_cache(4_096)
def role(key: str) -> Role:
    """Return what is under a key, which is plain."""
    parts = key.split("_")
    says = _said(parts, *_KNOWN)
    is_known = all(_has([part], *_KNOWN) for part in parts)
    is_skill = "skill" in parts or "skills" in parts
    names = is_known and is_skill and not _has(parts[1:], _CASES)
    who = is_known and (says is not None or _has(parts, _WHO))
    ours = ("should", "must", "relevant", "label", "expect")
    whether = says is not None or (who and key.startswith(ours))
    cases = is_known and not names and _has(parts, _CASES, _NO, _YES)
    kind = _KIND.fullmatch(parts[-1]) is not None
    rank: int | None = None
    if key in _QUERY:
        rank = _QUERY.index(key)
    elif parts[-1] in _QUERY and parts[0] not in _NOT_OF_USERS:
        is_other = _has(parts[:-1], _NO, _WHO)
        start = 0 if parts[0] in ("user", "trigger") else len(_QUERY)
        rank = None if is_other else start + _QUERY.index(parts[-1])
    return Role(says, cases, names, who, whether, kind, rank)


def _has(parts: list[str], *words: re.Pattern[str]) -> bool:
    return any(some.fullmatch(part) for part in parts for some in words)


def _said(parts: list[str], *words: re.Pattern[str]) -> bool | None:
    if not all(_has([part], *words) for part in parts):
        return None
    return False if _has(parts, _NO) else True if _has(parts, _YES) else None


@lru_cache(4_096)
def meant(value: object) -> bool | None:
    """Return what a value such as ``no-fire`` or 1 says; None for any other."""
    return _said(plain(str(value)).split("_"), _NO, _YES, _LINKS, _SAID)


def unclear(key: str, value: object) -> str:
    """Return why a key and its value seem to be a verdict, and are none; or nothing."""
    about = role(key)
    if about.whether and not about.names and isinstance(value, str | int | float):
        is_near = nearest_key(str(value), _TRUTHS) or _VERDICT.fullmatch(key)
        if is_near and meant(value) is None and plain(str(value)) not in _NOBODY:
            return f"expected true or false for {key}, got {value!r:.40}"
    right = _verdict_near(key)
    return f"it has {key}, which looks like {right}" if right else ""


@lru_cache(4_096)
def _verdict_near(key: str) -> str:
    """Return the key of a verdict that a key is a misspelling of; empty for none."""
    wrong = [part for part in key.split("_") if not _has([part], *_KNOWN)]
    near = nearest_key(wrong[0], _OF_VERDICTS) if len(wrong) == 1 else None
    right = key.replace(wrong[0], near) if near else ""
    return right if _VERDICT.fullmatch(right) else ""


def is_nobody(value: str) -> bool:
    """Return whether the name of a skill says that none is meant."""
    return plain(value) in _NOBODY or meant(value) is False


def is_measured(key: str, value: object) -> bool:
    """Return whether a value is what a run found out."""
    if _SEEN.fullmatch(key):
        return value not in (None, "")
    is_figure = isinstance(value, int | float) or (
        isinstance(value, str) and _FIGURE.fullmatch(value.strip().lower())
    )
    return bool(is_figure) and _MEASURED.fullmatch(key) is not None
