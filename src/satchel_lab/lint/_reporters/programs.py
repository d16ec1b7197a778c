"""Reports for programs: editors, continuous integration, and the next run."""

from dataclasses import asdict
from typing import Final
from urllib.parse import quote

from satchel.model import Finding, codes
from satchel.text import printable, safe_in_log
from satchel_lab._pages import read_page, title_of
from satchel_lab.lint._report import (
    SCHEMA_VERSION,
    CheckReport,
    LibraryChange,
    SkillFix,
    fingerprint,
)
from satchel_lab.lint._reporters._formats import as_json, change_lines, line_in_log


def render_concise(report: CheckReport) -> str:
    """Return a line each: findings as ``path:line: severity code: message``."""
    findings = map(line_in_log, map(str, report.findings))
    return "\n".join([*findings, *change_lines(report), safe_in_log(report.summary)])


# docs.github.com, "Workflow commands for GitHub Actions"; the escapes are those of
# actions/toolkit, packages/core/src/command.ts.
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: CheckReport) -> str:
    """Return a workflow command a finding: they show at the lines of a pull request."""
    commands = map(_command, report.findings)
    return "\n".join([*commands, *change_lines(report), safe_in_log(report.summary)])


def _command(finding: Finding) -> str:
    properties = {"file": finding.path, "line": finding.line, "title": finding.code}
    given = ",".join(
        f"{key}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
        if value
    )
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = _data(f"{finding.message}{fix}")
    return f"::{_COMMANDS[finding.severity]} {given}::{message}"


def _data(text: str) -> str:
    # A raw line end would let a message begin another workflow command.
    text = printable(text, keep="\n")
    # `%` comes first, so that the other escapes are not escaped again.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_OF_FINDING: Final = (
    *("code", "severity", "path", "line", "message", "fix", "before", "after"),
)


def render_json(report: CheckReport) -> str:
    """Return one object in ASCII, with escapes, which every locale can print."""
    fixes = report.fix_of_finding()
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "profile": report.profile,
        "packs": report.packs,
        **({"places": list(report.places)} if report.places else {}),
        "known": report.known,
        "turned_off": {
            "settings": report.turned_off,
            "packs": report.turned_off_in_packs,
        },
        "not_looked_for": list(report.not_run),
        "findings": [
            {
                **{key: getattr(finding, key) for key in _OF_FINDING},
                "fixable": (finding.path, finding.code) in fixes,
                "fingerprint": fingerprint(finding),
            }
            for finding in report.findings + report.unsearched
        ],
    }
    if report.change is not None:
        document["since"] = _since(report.change)
    return as_json(document)


def _since(change: LibraryChange) -> dict[str, object]:
    skills, tokens = change.skills, change.tokens
    return {
        "rev": change.rev,
        **{
            name: [{"path": f.path, "line": f.line, "code": f.code} for f in findings]
            for name, findings in (("review", change.review), ("hidden", change.hidden))
        },
        "executables": [asdict(file) for file in change.executables],
        "duplicates": [
            {"path": pair.path, "other": pair.other, "same": pair.likeness}
            for pair in change.similar
        ],
        "packs": {
            "added": list(change.added),
            "changed": list(change.changed),
            "moved": [{"from": origin, "to": to} for origin, to in change.moved],
            "removed": list(change.removed),
        },
        "catalog": {
            "skills": {"before": skills[0], "after": skills[1]},
            "tokens": {"before": tokens[0], "after": tokens[1]},
        },
    }


# docs.oasis-open.org/sarif/sarif/v2.1.0, sections 3.13 to 3.30.
_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


def render_sarif(report: CheckReport) -> str:
    """Return SARIF 2.1.0: one run, with a rule for each code that occurs."""
    rules = sorted({finding.code for finding in report.findings})
    driver = {"name": "satchel", "rules": [_rule(code) for code in rules]}
    fixes = report.fix_of_finding()
    results = [
        _result(finding, rules, fixes.get((finding.path, finding.code)))
        for finding in report.findings
    ]
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return as_json(document)


def _rule(code: str) -> dict[str, object]:
    if code not in codes():  # a finding of a source that is not ours
        return {"id": code}
    page = read_page(code)
    return {
        "id": code,
        "shortDescription": {"text": title_of(code)},
        "help": {"text": page, "markdown": page},
    }


def _result(
    finding: Finding, rules: list[str], fix: SkillFix | None
) -> dict[str, object]:
    advice = f" Fix: {finding.fix}." if finding.fix else ""
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": rules.index(finding.code),
        "level": finding.severity,
        "message": {
            "text": f"{finding.message}.{advice}" if advice else finding.message
        },
        "partialFingerprints": {"satchel/v1": fingerprint(finding)},
    }
    if finding.path:
        result["locations"] = [{"physicalLocation": _place(finding)}]
    if fix is not None:
        result["fixes"] = [_fix(fix)]
    return result


def _fix(fix: SkillFix) -> dict[str, object]:
    """Return all that --fix does to a file: its changes depend on one another."""
    replacements = [
        {
            "deletedRegion": {
                "startLine": change.line,
                "startColumn": 1,
                "endLine": change.line + change.lines,
                "endColumn": 1,
            },
            "insertedContent": {"text": change.text},
        }
        for change in fix.changes
    ]
    return {
        "description": {"text": f"What `satchel check --fix` does to {fix.path}."},
        "artifactChanges": [
            {"artifactLocation": _artifact(fix.path), "replacements": replacements}
        ],
    }


def _artifact(path: str) -> dict[str, str]:
    # A relative reference must not look as if its first segment were a URL scheme.
    uri = quote(path.replace("\\", "/"), safe="/", errors="surrogatepass")
    return {"uri": uri.removeprefix("./")}


def _place(finding: Finding) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": _artifact(finding.path)}
    if finding.line:
        place["region"] = {"startLine": finding.line}
    return place
