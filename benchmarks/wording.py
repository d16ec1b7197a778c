"""How often a model loads the right skill: ``python -m benchmarks wording``.

    OPENAI_API_KEY=... python -m benchmarks wording --model NAME [--url URL]

Any endpoint that speaks OpenAI's Chat Completions will do; ``--url`` is what its paths
begin with, else OPENAI_BASE_URL; the model is ``--model``, else OPENAI_MODEL.
A conversation is one query with the list of skills in
the system prompt and the style's tools, of at most three calls of the model, and ends
with the first load. Each pack that ships brings ten queries that are meant for it and
five that are not; ``--queries FILE`` has others, JSON objects with ``skill``, ``query``
and ``should_trigger``, of the packs in ``--skills FOLDER``. All styles are asked the
same queries, drawn by ``--seed``. Temperature is 0; models may differ all the same.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import httpx2

from benchmarks.measure import table
from benchmarks.role_packs import EVALS, PACKS
from satchel import Satchel, sources
from satchel.errors import PathError
from satchel.model import Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from satchel.protocols import SkillSource
    from satchel.runtime import Session

Outcome = Literal["right", "another", "no load", "made up", "left alone", "taken"]
MEANT: Final = ("right", "another", "no load", "made up")
"""Of a query that is meant for a skill; *no load* is an answer without a load: a guess.

*Made up* is a load of a skill that does not exist."""
NOT_MEANT: Final = ("left alone", "taken")
"""Of a query that is not meant for a skill."""
MAX_CALLS: Final = 3
DEFAULT_URL: Final = "https://api.openai.com/v1"
TIMEOUT_S: Final = 120.0
_LOADS: Final = ("load_skill", "load_skill_instructions", "read_skill_file")


@dataclass(frozen=True, slots=True)
class Query:
    """What a user asks, and whether the skill is meant to be loaded for it."""

    skill: str
    query: str
    should_trigger: bool


class EndpointError(Exception):
    """The endpoint gave no answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model behind an address; its key is in the client."""

    client: httpx2.Client
    url: str
    model: str

    def answer(self, messages: Sequence[Any], tools: Sequence[Any]) -> dict[str, Any]:
        """Return the message of the model.

        Raises:
            EndpointError: There is no answer, or it is no chat completion.
        """
        body = {"model": self.model, "messages": messages, "temperature": 0}
        if tools:
            body["tools"] = tools
        try:
            answer = self.client.post(f"{self.url}/chat/completions", json=body)
            answer.raise_for_status()
            message: dict[str, Any] = {**answer.json()["choices"][0]["message"]}
        except httpx2.HTTPStatusError as error:
            detail = " ".join(error.response.text[:200].split())
            status = error.response.status_code
            raise EndpointError(f"{self.url} answers {status}: {detail}") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise EndpointError(f"{self.url} does not answer: {error}") from error
        except (ValueError, LookupError, TypeError) as error:
            raise EndpointError(f"{self.url} gives no chat completion") from error
        return message


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and print a table; status 1 where the endpoint does not answer."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks wording",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    model = os.environ.get("OPENAI_MODEL")
    parser.add_argument("--model", default=model, required=not model)
    parser.add_argument("--url", default=os.environ.get("OPENAI_BASE_URL", DEFAULT_URL))
    parser.add_argument("--limit", type=int, default=60, help="queries for each style")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--skills", type=Path)
    options = parser.parse_args(arguments)
    source = options.skills or sources.roles()
    try:
        queries = read_queries(options.queries)
    except (OSError, ValueError, TypeError) as error:
        parser.error(f"{options.queries} has no queries that can be asked: {error}")
    random.Random(options.seed).shuffle(queries)  # noqa: S311 - nothing is secret
    queries = queries[: max(options.limit, 1)]
    asked = len(queries) * len(get_args(Style))
    print(f"{asked} conversations, at most {asked * MAX_CALLS} requests.", flush=True)
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx2.Client(timeout=TIMEOUT_S, headers=headers) as client:
        endpoint = Endpoint(client, options.url.rstrip("/"), options.model)
        try:
            rows = [measure(endpoint, source, one, queries) for one in get_args(Style)]
        except (EndpointError, PathError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    meant = sum(query.should_trigger for query in queries)
    print(
        f"{options.model}: {meant} queries that are meant for a skill, "
        f"{len(queries) - meant} that are not, seed {options.seed}\n"
    )
    print(table(("style", *MEANT, *NOT_MEANT), rows))
    return 0


def read_queries(file: Path | None) -> list[Query]:
    """Return the queries of a file, else those next to the packs that ship."""
    if file is not None:
        return [Query(**row) for row in json.loads(file.read_text("utf-8"))]
    return [
        Query(folder.name, row["query"], row["should_trigger"])
        for folder in sorted(PACKS.iterdir())
        if (folder / EVALS).exists()
        for row in json.loads((folder / EVALS).read_text("utf-8"))
    ]


def measure(
    endpoint: Endpoint,
    source: Path | SkillSource,
    style: Style,
    queries: Sequence[Query],
) -> tuple[str, ...]:
    """Ask all queries in one style, and return the row of the table."""
    counts: Counter[Outcome] = Counter()
    with Satchel(source, style=style) as skills:
        for query in queries:
            counts[converse(endpoint, skills, query)] += 1
    return style, *(str(counts[outcome]) for outcome in (*MEANT, *NOT_MEANT))


def converse(endpoint: Endpoint, skills: Satchel, query: Query) -> Outcome:
    """Hold one conversation, until a skill is loaded or the model calls no tool."""
    session = skills.session()
    messages: list[Any] = [
        {"role": "system", "content": session.instructions()},
        {"role": "user", "content": query.query},
    ]
    for _ in range(MAX_CALLS):
        message = endpoint.answer(messages, _tools(session))
        messages.append(message)
        for name, call, given in _calls(message):
            if name in _LOADS:
                return _judge(skills, query, _asked_for(given))
            result = session.call(name, given)
            content = result if isinstance(result, str) else json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": call, "content": content})
        if messages[-1] is message:
            break
    return "no load" if query.should_trigger else "left alone"


def _judge(skills: Satchel, query: Query, loaded: str) -> Outcome:
    if not query.should_trigger:
        return "taken" if loaded == query.skill else "left alone"
    if loaded == query.skill:
        return "right"
    return "another" if loaded in skills else "made up"


def _asked_for(given: dict[str, Any]) -> str:
    """Return the skill that a call is for, whatever the style calls it."""
    names = ("skill_id", "skill_name", "name")
    return str(next(filter(None, map(given.get, names)), ""))


def _calls(message: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name, the id and the arguments of each call; bad JSON has none."""
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        try:
            given = json.loads(function.get("arguments") or "{}")
        except ValueError:
            given = {}
        is_object = isinstance(given, dict)
        yield function.get("name", ""), call.get("id", ""), given if is_object else {}


def _tools(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in session.tools()
    ]


if __name__ == "__main__":
    sys.exit(main())
