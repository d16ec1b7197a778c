"""JUnit's XML, which every CI system shows: a suite a skill, a test a case."""

from collections import defaultdict
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from satchel.text import printable
from satchel_lab.evals._report import EvalReport
from satchel_lab.evals._routing import Routed


def render(report: EvalReport) -> str:
    """Return one document; findings of severity error are errors of a suite."""
    suites: dict[str, list[Routed]] = defaultdict(list)
    for one in report.routed:
        suites[(*one.case.expected, *one.case.forbidden, "no skill")[0]].append(one)
    failed = sum(not one.good for one in report.routed)
    errors = [one for one in report.findings if one.severity == "error"]
    tests = len(report.routed) + len(errors)
    counts = f'tests="{tests}" failures="{failed}" errors="{len(errors)}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="satchel eval" {counts}>',
    ]
    for name, cases in sorted(suites.items()):
        failures = sum(not one.good for one in cases)
        lines.append(
            f'  <testsuite name={_attribute(name)} tests="{len(cases)}"'
            f' failures="{failures}">'
        )
        lines += (line for one in cases for line in _case(name, one))
        lines.append("  </testsuite>")
    if errors:
        lines.append(f'  <testsuite name="eval files" errors="{len(errors)}">')
        for finding in errors:
            lines.append(f"    <testcase name={_attribute(finding.path)}>")
            lines.append(f"      <error message={_attribute(str(finding))}/>")
            lines.append("    </testcase>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"])


def _case(suite: str, one: Routed) -> Iterator[str]:
    query = " ".join(one.case.query.split())
    head = f"    <testcase classname={_attribute(suite)} name={_attribute(query)}"
    place = f" file={_attribute(one.case.path)}" if one.case.path else ""
    line = f' line="{one.case.line}"' if one.case.line else ""
    if one.good:
        yield f"{head}{place}{line}/>"
        return
    yield f"{head}{place}{line}>"
    kind, message = _attribute(one.verdict), _attribute(why(one))
    yield f"      <failure type={kind} message={message}>"
    words = ", ".join(map(_safe, one.words))
    yield escape(f"words of the query that it has: {words}")
    yield "      </failure>"
    yield "    </testcase>"


def why(one: Routed) -> str:
    """Return in a sentence why a case did not go well."""
    if one.verdict == "fires":
        return f"{one.winner} is found, and should not be"
    expected = ", ".join(one.case.expected)
    if not one.winner:
        return f"no skill is found; {expected} should be"
    where = f"is number {one.rank}" if one.rank else "is further down"
    return f"{one.winner} is found first; {expected} {where}"


def _attribute(text: str) -> str:
    return quoteattr(_safe(text))


def _safe(text: str) -> str:
    """Return text without characters that XML has no way to write."""
    return printable(text, keep="").replace("\ufffe", "").replace("\uffff", "")
