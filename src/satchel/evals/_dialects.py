"""The cases of an eval file, whatever the shape that its author chose.

Nobody agreed on one, so a document is walked: what has the text of a query is a row,
what holds rows is a container, and the words of its keys say what is expected.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from satchel.evals import _words
from satchel.evals._case import EvalCase
from satchel.evals._words import plain
from satchel.model import Json

# How `satchel new` begins what an author has to write.
TO_FILL_IN: Final = "TODO: say"
_MAX_DEPTH: Final = 12
_GRADERS: Final = ("graders", "grader", "assertions", "checks", "expectations")
_INVOCATION: Final = frozenset(
    {"skill_invocation", "skill_called", "skill_used", "skill_call", "skill_activation"}
)
_NAME: Final = re.compile(r"[@/$]?[\w.:/@+-]+")
_VERDICTS: Final = _words.YES | _words.NO
# What lists the files of its cases, which are read by themselves.
_FILE: Final = re.compile(r"\S+\.(?:ya?ml|jsonl?|csv|tsv|md|txt)")

_Names: TypeAlias = tuple[str, ...]
_Row: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Around:
    """What the containers around a row say: of which skill, and whether it should."""

    skill: str = ""
    verdict: bool | None = None
    depth: int = 0


@dataclass(slots=True)
class FoundCases:
    """The cases of one file, and what in it could not be read: a place and a reason.

    ``left`` counts the cases that are left to fill in.
    """

    cases: list[EvalCase] = field(default_factory=list[EvalCase])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    left: int = 0


def cases_in(
    document: Json, is_skill: Callable[[str], bool], skill: str = ""
) -> FoundCases:
    """Return the cases of a document, as JSON or YAML gave it.

    Args:
        document: What was parsed.
        is_skill: Whether the library has a skill of this name.
        skill: The skill that the file is about, by its place; empty for none. What the
            file itself says of it counts more.
    """
    walk = _Walk(is_skill)
    walk.any(document, "", _Around(skill))
    return walk.found


class _Walk:
    """One walk through a document."""

    def __init__(self, is_skill: Callable[[str], bool]) -> None:
        self._is_skill = is_skill
        self.found = FoundCases()

    def any(self, part: Json, at: str, around: _Around) -> None:
        """Read a container; anything else holds no case."""
        if around.depth > _MAX_DEPTH:
            self.found.problems.append((at, "it is nested too deep"))
        elif isinstance(part, dict):
            self._mapping(part, at, around)
        elif isinstance(part, list):
            inner = replace(around, depth=around.depth + 1)
            for number, value in enumerate(part, 1):
                self._element(value, f"{at}[{number}]", inner)

    def _element(self, value: Json, at: str, around: _Around) -> None:
        if isinstance(value, str):
            if value.strip() and not _FILE.fullmatch(value):
                self._row({"query": value}, [value], at, around)
        elif isinstance(value, list) and (pair := _pair(value)):
            self._row(
                dict(zip(("query", "expected"), pair, strict=True)),
                [pair[0]],
                at,
                around,
            )
        elif isinstance(value, dict | list):
            self.any(value, at, around)
        elif value is not None:
            self.found.problems.append((at, f"expected a query, got {value!r:.40}"))

    def _mapping(self, part: Mapping[str, Json], at: str, around: _Around) -> None:
        row = _by_plain_key(part)
        queries = _queries(row)
        if queries and not _holds_rows(row):
            self._row(row, queries, at, around)
            return
        if self._queries_as_keys(part, at, around):
            return
        around = replace(around, skill=_subject(row) or around.skill)
        inner = replace(around, depth=around.depth + 1)
        for raw, value in part.items():
            key, place = plain(raw), f"{at}.{raw}" if at else str(raw)
            if not isinstance(value, list | dict):
                continue
            verdict = _words.verdict_of_list(key)
            if verdict is not None:
                self.any(value, place, replace(inner, verdict=verdict))
            elif self._is_skill(str(raw)):
                self.any(value, place, replace(inner, skill=str(raw)))
            elif key in _words.NEUTRAL or _is_of_cases(value):
                self.any(value, place, inner)

    def _queries_as_keys(
        self, part: Mapping[str, Json], at: str, around: _Around
    ) -> bool:
        """Read ``{"the query": "the-skill"}``; return whether it is of that shape."""
        if not part or not all(
            " " in key.strip() and (value is None or isinstance(value, str | bool))
            for key, value in part.items()
        ):
            return False
        for query, value in part.items():
            key = "expected" if isinstance(value, bool) else "expected_skill"
            row = {"query": query, key: value}
            self._row(row, [query], f"{at}[{query!r:.40}]", around)
        return True

    def _row(self, row: _Row, queries: list[str], at: str, around: _Around) -> None:
        subject = _subject_of_row(row) or around.skill
        answer = self._answer(row, subject, around)
        if answer is None:
            reason = "it names no skill, and the file belongs to none"
            self.found.problems.append((at, reason))
            return
        expected, forbidden = answer
        queries = [one for one in queries if not one.startswith(TO_FILL_IN)]
        if not queries:
            self.found.left += 1
            return
        for query in queries:
            self.found.cases.append(
                EvalCase(query.strip(), expected, forbidden, fields=row)
            )

    def _answer(
        self, row: _Row, subject: str, around: _Around
    ) -> tuple[_Names, _Names] | None:
        """Return who should get the query, and who should not; None: nobody says."""
        flat = _flattened(row)
        own = (subject,) if subject else ()
        required, disallowed = self._graded(row)
        expected = self._names(flat, _words.EXPECTED) or required
        forbidden = (*self._names(flat, _words.FORBIDDEN), *disallowed)
        own_verdict = _verdict_of(flat)
        verdict = around.verdict if own_verdict is None else own_verdict
        if verdict is False:
            # `skill` in a control says whose control it is, not who should answer.
            mine = self._names(flat, _words.OF_ROW) or own
            expected = tuple(name for name in expected if name not in mine)
            forbidden = tuple(dict.fromkeys((*forbidden, *mine)))
            return expected, forbidden
        if expected:
            return expected, forbidden
        if _says_nobody(flat):
            return (), tuple(dict.fromkeys((*forbidden, *own)))
        if forbidden:
            return (own if verdict else ()), forbidden
        return (own, ()) if own else None

    def _names(self, flat: _Row, keys: frozenset[str], *, sure: bool = False) -> _Names:
        """Return the names of skills under some keys, value once."""
        names: list[str] = []
        # `skill` next to `expected_skill` is the subject: the longer word counts.
        for key in sorted(
            keys & flat.keys(), key=lambda key: (key in _words.OF_ROW, key)
        ):
            if names and key in _words.OF_ROW:
                break
            value = flat[key]
            several = [value] if isinstance(value, str) else value
            if isinstance(several, list | dict):
                certain = sure or key in _words.OF_ROW or "skill" in key
                texts = (name for name in several if isinstance(name, str))
                names += [one for one in texts if self._may_name(one, certain=certain)]
        return tuple(dict.fromkeys(names))

    def _may_name(self, value: str, *, certain: bool) -> bool:
        if plain(value) in _words.NOBODY:
            return False
        # A word that is no skill here is a name only where it can mean nothing else.
        is_name = _NAME.fullmatch(value) is not None and plain(value) not in _VERDICTS
        return self._is_skill(value) or (certain and is_name)

    def _graded(self, row: _Row) -> tuple[_Names, _Names]:
        """Return the skills that graders of a row require, and those they disallow."""
        required: list[str] = []
        disallowed: list[str] = []
        for grader in _graders(row):
            config = grader.get("config")
            values = config if isinstance(config, dict) else grader
            named = _by_plain_key(values)
            required += self._names(named, _words.REQUIRED, sure=True)
            disallowed += self._names(named, _words.REFUSED, sure=True)
        return tuple(required), tuple(disallowed)


def _pair(value: list[Json]) -> tuple[str, Json] | None:
    """Return a query and what is expected, where a row is a list of those two."""
    if len(value) != 2:  # noqa: PLR2004
        return None
    query, answer = value
    if not isinstance(query, str) or not query.strip():
        return None
    is_verdict = answer is None or isinstance(answer, bool)
    is_name = isinstance(answer, str) and _NAME.fullmatch(answer)
    return (query, answer) if is_verdict or is_name else None


def _by_plain_key(value: Mapping[str, Json]) -> dict[str, Json]:
    return {plain(key): value for key, value in value.items()}


def _is_of_cases(value: list[Json] | dict[str, Json]) -> bool:
    """Return whether what is under a key that means nothing here holds cases."""
    if isinstance(value, dict):
        inside = value.values()
        return _holds_rows(_by_plain_key(value)) or any(
            isinstance(one, dict) and _holds_rows(_by_plain_key(one)) for one in inside
        )
    # Anything may have a `text` or an `input`; only cases have a `query`.
    rows = (_by_plain_key(one) for one in value if isinstance(one, dict))
    return any(row.keys() & _words.SURE_QUERY for row in rows)


def _holds_rows(row: _Row) -> bool:
    """Return whether a mapping holds cases in a container, and is no case itself."""
    for key, value in row.items():
        is_list = _words.verdict_of_list(key) is not None
        if not is_list and key not in _words.NEUTRAL:
            continue
        if isinstance(value, dict):
            return _holds_rows(_by_plain_key(value))
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict) and _queries(_by_plain_key(one)):
                return True
            # In a row `should_not_trigger` may list names, which have no spaces.
            if is_list and isinstance(one, str) and " " in one.strip():
                return True
    return False


def _queries(row: _Row) -> list[str]:
    """Return the text of a row's query; several where it lists wordings."""
    for key in _words.QUERY:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return [value]
        if isinstance(value, dict) and (inner := _queries(_by_plain_key(value))):
            return inner
        if isinstance(value, list) and value:
            texts = [one for one in value if isinstance(one, str) and one.strip()]
            if len(texts) == len(value):
                return texts
    for key in sorted(_words.MESSAGES & row.keys()):
        if text := _last_of_user(row[key]):
            return [text]
    return []


def _last_of_user(messages: Json) -> str:
    text = ""
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, str):
            text = message
        elif isinstance(message, dict) and message.get("role", "user") == "user":
            text = _content(message.get("content", message.get("text"))) or text
    return text


def _content(content: Json) -> str:
    """Return the text of a message, which may be in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (p.get("text", p.get("value")) for p in parts if isinstance(p, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _subject(row: _Row) -> str:
    """Return the skill that a container says it is about; empty for none."""
    for key in _words.SUBJECT:
        name = row.get(key)
        if isinstance(name, str) and plain(name) not in _words.NOBODY:
            return name
    name = _subject_of_row(row)
    around = row.get("environment")
    if not name and isinstance(around, dict):
        skills = around.get("skills")
        if isinstance(skills, list) and len(skills) == 1:
            return str(skills[0])
    return name


def _subject_of_row(row: _Row) -> str:
    """Return the skill that the tags of a row name."""
    for key in ("tags", "metadata"):
        inner = row.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("skill"), str):
            return str(inner["skill"])
    return ""


def _flattened(row: _Row) -> dict[str, Json]:
    """Return a row with what its nested expectations say on one level."""
    flat = dict(row)
    for key in sorted(_words.NESTED & row.keys()):
        around = row[key]
        if isinstance(around, dict):
            del flat[key]
            for inner, value in _by_plain_key(around).items():
                flat.setdefault(inner, value)
    return flat


def _says_nobody(flat: _Row) -> bool:
    """Return whether a row says that no skill is expected, as null does."""
    keys = (_words.EXPECTED & flat.keys()) - _words.OF_ROW
    return any(
        flat[key] is None
        or (isinstance(flat[key], str) and plain(flat[key]) in _words.NOBODY)
        or (flat[key] == [] and "skill" in key)
        for key in keys
    )


def _verdict_of(flat: _Row) -> bool | None:
    """Return the verdict of a row's own words: yes, no, or nothing said."""
    for keys, yes in ((_words.SHOULD, True), (_words.SHOULD_NOT, False)):
        for key in sorted(keys & flat.keys()):
            value = _truth(flat[key])
            if value is not None:
                return value is yes
    words = [flat[key] for key in sorted(_words.KIND & flat.keys())]
    tags = flat.get("tags")
    if isinstance(tags, list | dict):
        words += tags.values() if isinstance(tags, dict) else tags
    spoken = [plain(word) for word in words if isinstance(word, str)]
    if any(word in _words.NO for word in spoken):
        return False
    return True if any(word in _words.YES for word in spoken) else None


def _truth(value: Json) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = plain(value)
        return True if word in _words.YES else False if word in _words.NO else None
    return None


def _graders(row: _Row) -> Iterator[Mapping[str, Json]]:
    """Yield the graders of a row that look at which skill was loaded."""
    for key in _GRADERS:
        value = row.get(key)
        for one in value if isinstance(value, list) else ():
            if isinstance(one, dict):
                grader = _by_plain_key(one)
                if plain(grader.get("type", grader.get("kind", ""))) in _INVOCATION:
                    yield grader
