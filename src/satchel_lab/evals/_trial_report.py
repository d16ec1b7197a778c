"""Trials: a query put to a model with our prompt and tools, and what came of it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from satchel.errors import ToolError
from satchel.load import READ_TOOL
from satchel.model import LOAD_TOOLS, Catalog, Descriptor, SeenMessage, Style
from satchel.runtime import Satchel
from satchel.text import plural, printable
from satchel.tools import Tool, arguments_of
from satchel_lab.evals._dialects import EvalCase
from satchel_lab.evals._trial_answers import Answer, ChatRequest

# The first member of what is digested: another form of trials gets other answers.
_FORMAT: Final = "satchel trial 1"
PROMPT: Final = "You are a helpful assistant."

Act: TypeAlias = Literal["load", "unknown", "other", "text"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One request to the model. Equal ones have one ``key``, and so one answer."""

    case: EvalCase
    style: Style
    run: int
    key: str
    request: ChatRequest
    tools: Mapping[str, Tool]


class FirstCall(NamedTuple):
    """What a reply does first, and with what: a skill's id, or one of our tools."""

    act: Act
    name: str = ""


def plan_trials(  # noqa: PLR0913 - what an answer depends on
    satchel: Satchel,
    cases: Sequence[EvalCase],
    styles: Sequence[Style],
    runs: int,
    *,
    identity: str,
    prompt: str,
) -> Iterator[Trial]:
    """Yield every trial: by case, style and run, in this order."""
    for case in cases:
        for style in styles:
            # A session of its own, as a user would have who asks this first.
            session = satchel.session(style=style)
            session.see([SeenMessage("user", case.query)])
            toolbox = session.tools()
            request = ChatRequest(
                (
                    {"role": "system", "content": session.instructions(prompt)},
                    {"role": "user", "content": case.query},
                ),
                tuple(_function(tool) for tool in toolbox),
            )
            tools = {tool.name: tool for tool in toolbox}
            asked = [_FORMAT, identity, request.messages, request.tools]
            digest = sha256(json.dumps(asked, sort_keys=True).encode())
            for run in range(runs):
                key = digest.copy()
                key.update(f" {run}".encode())
                yield Trial(case, style, run, key.hexdigest(), request, tools)


def _function(tool: Tool) -> dict[str, Any]:
    about = {"name": tool.name, "description": tool.description}
    return {
        "type": "function",
        "function": {**about, "parameters": dict(tool.parameters)},
    }


def first_call(answer: Answer, trial: Trial, catalog: Catalog) -> FirstCall:
    """Return what the first tool call of an answer does; later calls do not count.

    Source: the reference runner, which takes a skill as triggered if the first tool
    that is called loads it, or reads one of its files.
    """
    if not answer.tool:
        return FirstCall("text")
    load_tool, parameter = LOAD_TOOLS[trial.style]
    tool = trial.tools.get(answer.tool)
    if tool is None or tool.name not in {load_tool, READ_TOOL}:
        return FirstCall("other", tool.name if tool else "")
    try:
        arguments = arguments_of(tool.name, answer.arguments)
    except ToolError:
        return FirstCall("unknown")
    names = [parameter, *(alias for alias, of in tool.aliases if of == parameter)]
    skill = next((arguments[name] for name in names if name in arguments), None)
    entry = catalog.get(skill)
    return FirstCall("load", entry.id) if entry else FirstCall("unknown")


def is_named(names: Sequence[str], entry: Descriptor) -> bool:
    """Return whether a skill is one of these, by its id or its name."""
    return entry.id in names or entry.name in names


def judge(
    case: EvalCase, call: FirstCall, catalog: Catalog
) -> Literal["right", "wrong", ""]:
    """Return whether a skill was loaded that should be, or one that should not."""
    entry = catalog.get(call.name) if call.act == "load" else None
    if entry is None:
        return ""
    if case.expected:
        return "right" if is_named(case.expected, entry) else "wrong"
    is_forbidden = not case.forbidden or is_named(case.forbidden, entry)
    return "wrong" if is_forbidden else ""


# The share of runs from which a query counts as triggered.
# Source: the reference runner of the Agent Skills guide.
THRESHOLD: Final = 0.5
_ACTS: Final = {"text": "no tool", "unknown": "no such skill", "other": "no such tool"}


@dataclass(frozen=True, slots=True)
class TrialResult:
    """One query in one style, over its runs.

    ``runs`` counts those with an answer. ``right`` and ``wrong`` are skills that were
    loaded, by id, and should be, or should not; ``first`` has all that was loaded or
    done first, the most frequent at the top. ``failures`` are why other runs have no
    answer. ``expected`` are the ids of the case's skills.
    """

    case: EvalCase
    style: Style
    expected: tuple[str, ...]
    runs: int
    right: Counter[str]
    wrong: Counter[str]
    first: Counter[str]
    failures: Counter[str]

    @property
    def triggers(self) -> int:
        """Runs in which a right skill was loaded; for a control, one it forbids."""
        return (self.wrong if self.case.is_control else self.right).total()

    @property
    def rate(self) -> float | None:
        """The share of runs that triggered; None without an answer."""
        return _share(self.triggers, self.runs)

    @property
    def passed(self) -> bool | None:
        """Whether the rate is right for the query; None without an answer."""
        if not self.runs:
            return None
        return (self.triggers / self.runs >= THRESHOLD) != self.case.is_control

    def as_dict(self) -> dict[str, Any]:
        """Return the keys of the reference runner's results, and some of ours."""
        return {
            "query": self.case.query,
            "should_trigger": not self.case.is_control,
            "trigger_rate": self.rate,
            "triggers": self.triggers,
            "runs": self.runs,
            "pass": self.passed,
            "style": self.style,
            "expected": [*self.case.expected],
            "forbidden": [*self.case.forbidden],
            "first": dict(self.first.most_common()),
            "failures": {**self.failures},
            "path": self.case.path,
            "line": self.case.line,
        }


@dataclass(frozen=True, slots=True)
class SkillScore:
    """How often one skill was loaded, over all runs with an answer.

    ``right`` runs loaded it for a query of its own, ``wrong`` runs for one that it
    should not get; in ``missed`` runs no right skill was loaded, and it was one.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def as_dict(self) -> dict[str, float | None]:
        """Return the counts, with the precision and recall that follow from them."""
        return {
            "precision": _share(self.right, self.right + self.wrong),
            "recall": _share(self.right, self.right + self.missed),
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }

    def __str__(self) -> str:
        shares = self.as_dict()
        precision, recall = _number(shares["precision"]), _number(shares["recall"])
        return f"precision {precision}, recall {recall}"


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What a model loaded for each query, by style.

    All but ``calls`` is the same if the trials were stopped and asked for again.
    ``calls`` are requests sent now, with or without an answer; ``answers`` are those
    that the report is made of, cached ones included, each once. ``left_out`` counts
    trials by reason; ``problems`` are about the cache.
    """

    results: tuple[TrialResult, ...]
    answers: tuple[Answer, ...]
    calls: int
    left_out: Mapping[str, int]
    problems: tuple[str, ...]

    @property
    def cost(self) -> dict[str, int]:
        """Tokens of all answers; ``estimates`` of them did not say how many."""
        return {
            "answers": len(self.answers),
            "input_tokens": sum(answer.input_tokens for answer in self.answers),
            "output_tokens": sum(answer.output_tokens for answer in self.answers),
            "estimates": sum(answer.is_estimate for answer in self.answers),
        }

    @property
    def styles(self) -> tuple[Style, ...]:
        """The styles that were tried, in order."""
        return tuple({result.style: 0 for result in self.results})

    def scores(self, style: Style) -> tuple[SkillScore, dict[str, SkillScore]]:
        """Return the score of all skills together, and of each by id."""
        results = [result for result in self.results if result.style == style]
        right = sum((result.right for result in results), Counter[str]())
        wrong = sum((result.wrong for result in results), Counter[str]())
        missed: Counter[str] = Counter()
        all_missed = 0
        for result in results:
            if not result.case.is_control:
                count = result.runs - result.right.total()
                all_missed += count
                missed.update(dict.fromkeys(result.expected, count))
        names = sorted({*right, *wrong, *missed})
        scores = {n: SkillScore(right[n], wrong[n], missed[n]) for n in names}
        return SkillScore(right.total(), wrong.total(), all_missed), scores

    @property
    def passed(self) -> bool:
        """Whether every query was judged, and is right."""
        return all(result.passed for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """Return the report for JSON; ``this_run`` alone depends on the cache."""
        verdicts = Counter(result.passed for result in self.results)
        return {
            "results": [result.as_dict() for result in self.results],
            "summary": {
                "total": len(self.results),
                "passed": verdicts[True],
                "failed": verdicts[False],
                "not_judged": verdicts[None],
            },
            "styles": {style: self._style_dict(style) for style in self.styles},
            "cost": self.cost,
            "left_out": dict(self.left_out),
            "this_run": {"calls": self.calls, "problems": [*self.problems]},
        }

    def text(self) -> str:
        """Return the report for people: what is wrong, then the cost."""
        return "\n".join(self._lines())

    def _style_dict(self, style: Style) -> dict[str, Any]:
        total, scores = self.scores(style)
        skills = {name: score.as_dict() for name, score in scores.items()}
        return {**total.as_dict(), "skills": skills}

    def _lines(self) -> Iterator[str]:
        for style in self.styles:
            results = [result for result in self.results if result.style == style]
            bad = [result for result in results if not result.passed]
            total, scores = self.scores(style)
            passed = f"{len(results) - len(bad):,} of {len(results):,} queries pass"
            yield f"{style}: {passed}; {total}"
            for result in bad:
                yield from _result_lines(result)
            for name, score in scores.items():
                if score.wrong or score.missed:
                    counts = f"wrong {score.wrong:,}, missed {score.missed:,}"
                    yield f"  skill {name}: {score}; {counts}"
        answers, given, written, estimates = self.cost.values()
        about = f", {estimates:,} estimated" if estimates else ""
        yield (
            f"{plural(answers, 'answer')}{about}: {given:,} tokens read, "
            f"{written:,} written; {plural(self.calls, 'call')} now"
        )
        for reason, many in self.left_out.items():
            yield f"left out: {plural(many, 'trial')}: {printable(reason, keep='')}"
        yield from self.problems


def trial_result(
    trials: Sequence[Trial],
    answers: Mapping[str, Answer],
    failures: Mapping[str, str],
    catalog: Catalog,
) -> TrialResult:
    """Return what came of the runs of one query in one style."""
    case, style = trials[0].case, trials[0].style
    first: Counter[str] = Counter()
    loads: dict[str, Counter[str]] = {"right": Counter(), "wrong": Counter()}
    answered = [trial for trial in trials if trial.key in answers]
    for trial in answered:
        call = first_call(answers[trial.key], trial, catalog)
        first[call.name or _ACTS[call.act]] += 1
        if verdict := judge(case, call, catalog):
            loads[verdict][call.name] += 1
    return TrialResult(
        case,
        style,
        tuple(entry.id for entry in catalog if is_named(case.expected, entry)),
        len(answered),
        loads["right"],
        loads["wrong"],
        Counter(dict(sorted(first.items()))),
        Counter(sorted(failures[t.key] for t in trials if t.key in failures)),
    )


def _result_lines(result: TrialResult) -> Iterator[str]:
    case = result.case
    names = ", ".join(case.expected or case.forbidden)
    aim = (f"not {names}" if names else "no skill") if case.is_control else names
    first = ", ".join(f"{name} {many}" for name, many in result.first.most_common())
    place = f"  ({case.path}:{case.line})" if case.path else ""
    verdict = "not judged" if result.passed is None else "fails"
    lines = [
        f"  {verdict} {_number(result.rate)} {' '.join(case.query.split())}{place}",
        f"    expected {aim}; first: {first or 'nothing'}",
    ]
    for failure, many in result.failures.items():
        lines.append(f"    no answer in {plural(many, 'run')}: {failure}")
    yield from (printable(line, keep="") for line in lines)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _number(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"
