"""The official conformance suite against the server: every scenario that applies.

No failure and no warning. A scenario that does not apply is named with its reason; one
that is in neither list is new in the suite, and fails until somebody has sorted it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from tools.clients.library import PROMPTS, SKILLS, write
from tools.clients.outcome import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tools.clients.bench import Bench


ERAS: Final = ("2025-11-25", "2026-07-28")
"""The revisions that scenarios are run in: the last with a handshake, and ours."""

EXTENSION: Final = "extension"
"""What the suite says instead of a revision."""

_TOOL: Final = "calls tools of the suite's own"
_RESOURCE: Final = "reads resources of the suite's own (`test://...`)"
_TASKS: Final = "an extension that a server of skills has no use for"
_INPUT: Final = "needs tools that ask the user back; ours never do"

LEFT_OUT: Final = {
    r"tools-call-.*": _TOOL,
    r"json-schema-2020-12": _TOOL,
    r"server-sse-polling": _TOOL,
    r"elicitation-.*": _INPUT,
    r"input-required-result-(?!unsupported-methods).*": _INPUT,
    r"resources-(read|templates-read|subscribe|unsubscribe)(-.*)?": _RESOURCE,
    r"prompts-get-(embedded-resource|with-image)": "a prompt with what no skill has",
    r"logging-set-level": "logging is deprecated since 2026-07-28, and not offered",
    r"http-custom-header-server-validation": "needs tools that ask for headers",
    r"tasks-.*": _TASKS,
}
"""Scenarios that do not apply, as patterns, and why."""

APPLY: Final = {
    "caching",
    "completion-complete",
    "dns-rebinding-protection",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "ping",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "sep-2640-skills-directory",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
    "server-initialize",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-stateless",
    "tools-list",
}

LEFT_OUT_CHECKS: Final = {
    "sep-2575-http-server-no-independent-requests-on-stream": _TOOL,
    "sep-2575-server-no-log-without-loglevel": _TOOL,
    "sep-2575-server-rejects-undeclared-capability": _TOOL,
    "sep-2575-missing-capability-http-400": _TOOL,
    "sep-2575-server-sends-prompts-list-changed-on-subscription": _TOOL,
    "sep-2575-server-sends-tools-list-changed-on-subscription": _TOOL,
}
"""Single checks of scenarios that apply else."""

_SCENARIO: Final = re.compile(r"  - ([a-z0-9-]+) \[([^\]]+)\]")


def run(bench: Bench) -> Iterator[Step]:
    """Serve the library, and yield a step for each scenario in each era."""
    library = write({**SKILLS, **PROMPTS}, bench.folder / "skills")
    with bench.serve(library) as address:
        for name, revisions in scenarios(bench):
            if reason := left_out(name):
                yield Step(name, "left out", reason)
            elif name not in APPLY:
                yield Step(name, "failed", "a new scenario: put it in a list")
            else:
                eras = [era for era in (*ERAS, EXTENSION) if era in revisions]
                yield from (_run(bench, address, name, era) for era in eras)


def scenarios(bench: Bench) -> Iterator[tuple[str, str]]:
    """Yield the server scenarios of the suite, each with its revisions."""
    listed = bench.npm("conformance", "list").out
    yield from _SCENARIO.findall(listed.partition("Client scenarios")[0])


def left_out(name: str) -> str:
    """Return why a scenario does not apply; empty where it does."""
    return next((why for p, why in LEFT_OUT.items() if re.fullmatch(p, name)), "")


def _run(bench: Bench, address: str, name: str, era: str) -> Step:
    what = f"{name} ({era})"
    found = bench.folder / f"{name}-{era}"
    wanted = ["--scenario", name, "--output-dir", str(found)]
    wanted += ["--spec-version", era] if era in ERAS else []
    done = bench.npm("conformance", "server", "--url", f"{address}/mcp", *wanted)
    files = list(found.rglob("checks.json"))
    if not files:
        return Step(what, "failed", done.last)
    checks = json.loads(files[0].read_text("utf-8"))
    passed = [each["id"] for each in checks if each["status"] == "SUCCESS"]
    bad = [
        f"{each['status']} {each['id']}: {each.get('errorMessage', '')}".strip()
        for each in checks
        if each["status"] in {"FAILURE", "WARNING"}
        and each["id"] not in LEFT_OUT_CHECKS
    ]
    aside = {each["id"] for each in checks if each["status"] != "SUCCESS"}
    said = f"{len(passed)} checks"
    if aside := aside & LEFT_OUT_CHECKS.keys():
        said += f", {len(aside)} left out: {_TOOL}"
    return Step(what, "failed", "; ".join(bad)) if bad else Step(what, "passed", said)
