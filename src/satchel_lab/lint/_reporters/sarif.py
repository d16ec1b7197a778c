"""SARIF 2.1.0, as code-scanning services read it."""

from typing import Final
from urllib.parse import quote

from satchel.model import Finding, codes, read_page, title_of
from satchel_lab.lint._report import CheckReport, SkillFix, fingerprint
from satchel_lab.lint._reporters._formats import as_json

# docs.oasis-open.org/sarif/sarif/v2.1.0, sections 3.13 to 3.30.
_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


def render(report: CheckReport) -> str:
    """Return one run; each code that occurs is a rule with its page as help."""
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
