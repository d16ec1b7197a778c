"""The cases of an eval file in any shape, or that it has the results of a run.

Nobody agreed on one, so a document is walked: what has the text of a query is a row,
what holds rows is a container. Who should answer is read from the values, of which some
are names of skills of the library, and from what the words of the keys say.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from satchel.model import Json
from satchel_lab.evals._words import (
    OF_ROW,
    is_measured,
    is_nobody,
    meant,
    plain,
    role,
    unclear,
)

# How `satchel new` begins what an author has to write.
TO_FILL_IN: Final = "TODO: say"
_MAX_DEPTH: Final = 12
_GRADERS: Final = (
    *("graders", "grader", "assertions", "checks", "expectations", "assert"),
)
_MESSAGES: Final = ("messages", "input_messages", "turns", "conversation")
_NAME: Final = re.compile(r"[@/$]?[\w.:/@+-]+")
_NESTED: Final = re.compile("expect|assert|config|rout|label|gold|answer|tags|metadata")
# What lists the files of its cases, which are read by themselves.
_FILE: Final = re.compile(r"\S*[*]\S*|\S+\.(?:ya?ml|jsonl?|csv|tsv|md|txt)")

_Names: TypeAlias = tuple[str, ...]
_Row: TypeAlias = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One query, and which skills should answer it.

    A case is of one of three kinds: with ``expected`` it is a query that one of these
    skills should get; with ``forbidden`` alone it is a control of these skills, that
    others may get; with neither it is a control of the whole library, for which no
    skill should be loaded.
    """

    query: str
    expected: tuple[str, ...] = ()
    """Names of skills, each of which is a right answer."""
    forbidden: tuple[str, ...] = ()
    """Names of skills that should not get the query."""
    path: str = ""
    """The file that it was read from, as it was found; empty for none."""
    line: int = 0
    """The line in that file, from 1; 0 where it is unknown."""
    fields: Mapping[str, Any] = field(
        default_factory=dict[str, Any], compare=False, hash=False
    )
    """What the file says of the case, unknown fields included."""

    @property
    def is_control(self) -> bool:
        """Whether it says who should not answer, and not who should."""
        return not self.expected


@dataclass(frozen=True, slots=True)
class _Around:
    """What the containers around a row say: of which skill, and whether it should."""

    skill: str = ""
    verdict: bool | None = None
    depth: int = 0
    of_cases: bool = True


def cases_in(
    document: Json,
    is_skill: Callable[[str], bool],
    skill: str = "",
    lines: Sequence[int] = (),
) -> "FoundCases":
    """Return the cases of a document, as JSON or YAML gave it.

    Args:
        document: What was parsed.
        is_skill: Whether the library has a skill of this name.
        skill: The skill that the file is about, by its place; empty for none. What the
            file itself says of it counts more.
        lines: The line of each element, where the document is a list of rows.
    """
    walk = FoundCases(is_skill)
    if lines and isinstance(document, list):
        for number, (value, walk.line) in enumerate(zip(document, lines, strict=True)):
            walk.element(value, f"[{number + 1}]", _Around(skill))
    else:
        walk.any(document, "", _Around(skill))
    return walk


def is_of_a_run(document: Json) -> bool:
    """Return whether a document has results: figures, or rows of which most have one.

    Those of a grader, a benchmark or a runner, whatever their file is called.
    """
    rows = [*_rows_in(document)]
    if isinstance(document, dict):
        rows = rows or [_by_plain_key(document)]
        parts = (document, *document.values())
        keys = {key for part in parts if isinstance(part, dict) for key in part}
        if keys & {"hit_at_1", "run_summary"}:
            return True
    measured = [
        any(is_measured(key, value) for key, value in row.items()) for row in rows
    ]
    return sum(measured) * 2 > len(measured)


def _rows_in(document: Json, depth: int = 3) -> Iterator[_Row]:
    if isinstance(document, dict) and depth:
        for part in document.values():
            yield from _rows_in(part, depth - 1)
    elif isinstance(document, list):
        yield from (_by_plain_key(row) for row in document if isinstance(row, dict))


class FoundCases:
    """The cases of one file, and what in it could not be read, by a walk through it.

    A problem is its line, or 0, its place, its query if it has one, and the reason.
    ``left`` counts the cases that are left to fill in.
    """

    def __init__(self, is_skill: Callable[[str], bool]) -> None:
        """Start a walk that has met nothing yet."""
        self._is_skill = is_skill
        self.cases: list[EvalCase] = []
        self.problems: list[tuple[int, str, str, str]] = []
        self.left = self.line = 0

    def any(self, part: Json, at: str, around: _Around) -> None:
        """Read a container; anything else holds no case."""
        if around.depth > _MAX_DEPTH:
            self._problem(at, "it is nested too deep")
        elif isinstance(part, dict):
            self._mapping(part, at, around)
        elif isinstance(part, list):
            inner = replace(around, depth=around.depth + 1)
            for number, value in enumerate(part, 1):
                self.element(value, f"{at}[{number}]", inner)

    def element(self, value: Json, at: str, around: _Around) -> None:
        """Read an element of a list: a row in one of its forms, or a container."""
        if isinstance(value, dict):
            self.any(value, at, around)
        elif not around.of_cases:
            return
        elif isinstance(value, str):
            if value.strip() and not _FILE.fullmatch(value):
                self._row({"query": value}, [value], at, around)
        elif isinstance(value, list) and (pair := _pair(value)):
            row: _Row = {"query": pair[0], "expected": pair[1]}
            self._row(row, [pair[0]], at, around)
        elif isinstance(value, list):
            self.any(value, at, around)
        elif value is not None:
            self._problem(at, f"expected a query, got {value!r:.40}")

    def _problem(self, at: str, reason: str, query: str = "") -> None:
        self.problems.append((self.line, at, query, reason))

    def _mapping(self, part: Mapping[str, Json], at: str, around: _Around) -> None:
        row = _by_plain_key(part)
        queries, is_sure = _queries(row), any(role(key).is_sure for key in row)
        says_who = self._says_who(row)
        if queries and not _holds_rows(row):
            if around.of_cases or is_sure or says_who:
                self._row(row, queries, at, around)
            return
        if self._queries_as_keys(part, at, around):
            return
        if says_who and at.endswith("]"):
            keys = ", ".join(map(str, part))
            self._problem(at, f"no key of it has the text of a query: {keys:.80}")
        inner = replace(around, depth=around.depth + 1, skill=_subject(row, around))
        for raw, value in part.items():
            key, place = plain(str(raw)), f"{at}.{raw}" if at else str(raw)
            about = role(key)
            if key in _GRADERS:
                continue
            if isinstance(value, list | dict) and (reason := unclear(key, value)):
                self._problem(place, reason, next(_texts(value), ""))
                continue
            if about.says is not None and not about.names:
                here = replace(inner, verdict=about.says, of_cases=True)
            elif self._is_skill(str(raw)):
                here = replace(inner, skill=str(raw), of_cases=True)
            else:
                here = replace(inner, of_cases=about.cases)
            self.any(value, place, here)

    def _says_who(self, row: _Row) -> bool:
        """Return whether a row says yes or no, or names a skill that should answer."""
        return any(
            (role(key).whether and isinstance(value, bool))
            or (role(key).who and any(map(self._is_skill, _texts(value))))
            for key, value in row.items()
            if key not in OF_ROW
        )

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
        answer = self._answer(row, around)
        reason = "" if answer else "it names no skill, and the file belongs to none"
        for key, value in _flattened(row).items():
            if not (isinstance(value, str) and self._is_skill(value)):
                reason = unclear(key, value) or reason
        if reason or answer is None:
            self._problem(at, reason, queries[0])
            return
        queries = [one for one in queries if not one.startswith(TO_FILL_IN)]
        self.left += not queries
        self.cases += (
            EvalCase(query.strip(), *answer, line=self.line, fields=row)
            for query in queries
        )

    def _answer(self, row: _Row, around: _Around) -> tuple[_Names, _Names] | None:
        """Return who should get the query, and who should not; None: nobody says."""
        flat = _flattened(row)
        own = (around.skill,) if around.skill else ()
        expected, forbidden = self._named(flat, is_about_one=bool(own))
        required, disallowed = self._graded(row)
        expected, forbidden = expected or required, (*forbidden, *disallowed)
        own_verdict = _verdict_of(flat)
        verdict = around.verdict if own_verdict is None else own_verdict
        if verdict is False:
            # `skill` in a control says whose control it is, not who should answer.
            of_row = {key: flat[key] for key in OF_ROW & flat.keys()}
            mine = self._named(of_row, is_about_one=True)[0] or own
            expected = tuple(name for name in expected if name not in mine)
            return expected, tuple(dict.fromkeys((*forbidden, *mine)))
        if expected:
            return expected, forbidden
        if self._says_nobody(flat):
            return (), tuple(dict.fromkeys((*forbidden, *own)))
        if forbidden:
            return (own if verdict else ()), forbidden
        return (own, ()) if own else None

    def _named(self, flat: _Row, *, is_about_one: bool) -> tuple[_Names, _Names]:
        """Return the skills that a row says should answer, and that should not."""
        expected: list[str] = []
        forbidden: list[str] = []
        # `skill` next to `expected_skill` is the subject: the longer word counts.
        for key in sorted(flat, key=lambda key: (key in OF_ROW, key)):
            about = role(key)
            if about.who and about.rank is None:
                names = self._names(flat[key], certain=about.names)
                if about.says is False:
                    forbidden += names
                elif key not in OF_ROW or not expected:
                    expected += names
        if not (expected or forbidden or is_about_one):
            # By its shape: the one value that is the name of a skill.
            values = {value for value in flat.values() if isinstance(value, str)}
            by_shape = [value for value in values if value and self._is_skill(value)]
            expected = by_shape if len(by_shape) == 1 else []
        return tuple(dict.fromkeys(expected)), tuple(dict.fromkeys(forbidden))

    def _names(self, value: Json, *, certain: bool) -> list[str]:
        # A word that is no skill here is a name only where it can mean nothing else.
        return [
            name
            for name in _texts(value)
            if self._is_skill(name)
            or (certain and _NAME.fullmatch(name) and not is_nobody(name))
        ]

    def _graded(self, row: _Row) -> tuple[_Names, _Names]:
        """Return the skills that graders of a row require, and those they disallow."""
        required: list[str] = []
        disallowed: list[str] = []
        for grader in (one for key in _GRADERS for one in _mappings(row.get(key))):
            kind = plain(str(grader.get("type", grader.get("kind", ""))))
            if "skill" not in kind.split("_") or not role(kind).says:
                continue
            config = grader.get("config")
            values = config if isinstance(config, dict) else grader
            for key, value in _by_plain_key(values).items():
                if role(key).who or key in ("name", "value"):
                    refuses = role(key).says is False
                    names = self._names(value, certain=True)
                    (disallowed if refuses else required).extend(names)
        return tuple(required), tuple(disallowed)

    def _says_nobody(self, flat: _Row) -> bool:
        """Return whether a row says that no skill is expected, as null does."""
        return any(
            value is None
            or (value == [] and role(key).names)
            or (isinstance(value, str) and is_nobody(value))
            for key, value in flat.items()
            if role(key).who and key not in OF_ROW
        )


def _texts(value: Json) -> Iterator[str]:
    """Yield a text, or the texts of a list, or the keys of a mapping."""
    several = [value] if isinstance(value, str) else value
    if isinstance(several, list | dict):
        yield from (one for one in several if isinstance(one, str))


def _mappings(value: Json) -> Iterator[_Row]:
    if isinstance(value, list):
        yield from (_by_plain_key(one) for one in value if isinstance(one, dict))


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
    return {plain(str(key)): value for key, value in value.items()}


def _holds_rows(row: _Row) -> bool:
    """Return whether a mapping holds cases in a container, and is no case itself."""
    is_sure = any(role(key).is_sure for key in row)
    for key, value in row.items():
        if key in _GRADERS or not role(key).cases:
            continue
        if isinstance(value, dict) and _holds_rows(_by_plain_key(value)):
            return True
        if any(map(_queries, _mappings(value))):
            return True
        # In a row `should_not_trigger` may list names, which have no spaces.
        says = isinstance(value, list) and role(key).says is not None and not is_sure
        if says and any(" " in text.strip() for text in _texts(value)):
            return True
    return False


def _queries(row: _Row) -> list[str]:
    """Return the text of a row's query; several where it lists wordings."""
    ranks = ((role(key).rank, key) for key in row)
    for _, key in sorted((rank, key) for rank, key in ranks if rank is not None):
        value = row[key]
        if isinstance(value, dict):
            texts = _queries(_by_plain_key(value))
        else:
            texts = [text for text in _texts(value) if text.strip()]
        if texts and (not isinstance(value, list) or len(texts) == len(value)):
            return texts
    for key in _MESSAGES:
        if text := _last_of_user(row.get(key)):
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


def _subject(row: _Row, around: _Around) -> str:
    """Return the skill that a container says it is about, or those around it."""
    flat = _flattened(row)
    inside = flat.get("environment")
    flat |= _by_plain_key(inside) if isinstance(inside, dict) else {}
    for key in sorted(flat, key=lambda key: (key not in OF_ROW, key)):
        names = [*_texts(flat[key])] if role(key).names or key == "target" else []
        is_one = not isinstance(flat[key], dict) and len(names) == 1
        if is_one and not is_nobody(names[0]) and role(key).says is None:
            return names[0]
    return around.skill


def _flattened(row: _Row) -> dict[str, Json]:
    """Return a row with what its nested expectations say on one level."""
    flat = dict(row)
    for key in sorted(row):
        around = row[key]
        if isinstance(around, dict) and _NESTED.match(key):
            del flat[key]
            for inner, value in _by_plain_key(around).items():
                flat.setdefault(inner, value)
    return flat


def _verdict_of(flat: _Row) -> bool | None:
    """Return the verdict of a row's own words: yes, no, or nothing said."""
    whether = [key for key in flat if role(key).whether]
    for key in sorted(whether, key=lambda key: (role(key).says is False, key)):
        value = flat[key]
        truth = meant(value) if isinstance(value, str | int) else None
        if truth is not None:
            return truth is not (role(key).says is False)
    kinds = (flat[key] for key in flat if role(key).kind)
    spoken = {meant(word) for value in kinds for word in _texts(value)}
    return False if False in spoken else True if True in spoken else None
