"""Which findings count: the settings of a check, and what packs turn off themselves."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final, cast

from satchel.errors import ConfigError
from satchel.lazy import lazy_pattern
from satchel.model import (
    DEFAULT_LIMITS,
    DEFAULT_LINT,
    SKILL_FILE,
    FailOn,
    Finding,
    Level,
    Limits,
    LintConfig,
    Severity,
    Thresholds,
    codes,
)
from satchel.skill_md import Profile, body_of
from satchel_lab._pages import UnknownCodeError
from satchel_lab.lint._context import DEFAULT_THRESHOLDS, LintRule, matches_in
from satchel_lab.lint._rules.fields import doubtful_field
from satchel_lab.lint._rules.risks import risky_code
from satchel_lab.lint._rules.scripts import script_start

_PARTS: Final = lazy_pattern(r"\*\*/|\*\*|\*|\?|[^*?]+")
_FOLDERS: Final = lazy_pattern(r"(?:\*\*/)+")
_MEANING: Final = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return a pattern for paths: only ``**`` crosses a ``/``."""
    glob = _FOLDERS.sub("**/", glob.removeprefix("./").rstrip("/"))
    parts = (
        _MEANING[part] if part in _MEANING else re.escape(part)
        for part in _PARTS.findall(glob)
    )
    return re.compile(f"(?:{''.join(parts)})(?:/.*)?", re.DOTALL)


@cache
def aliases() -> Mapping[str, tuple[str, ...]]:
    import tomllib
    from importlib.resources import files

    text = files("satchel_lab.lint").joinpath("aliases.toml").read_text("utf-8")
    return {name: tuple(codes) for name, codes in tomllib.loads(text).items()}


def codes_named(name: str) -> tuple[str, ...]:
    """Return the codes of a name or a group; `UnknownCodeError` has close ones."""
    if name in aliases():
        return aliases()[name]
    if name in codes():
        return (name,)
    # Imported for an error only.
    from difflib import get_close_matches

    names = sorted({*codes(), *aliases()})
    raise UnknownCodeError(name, tuple(get_close_matches(name, names)))


# Codes of text that is made to deceive.
DECEIVING: Final = frozenset({"hidden-text", "envelope-breakout", "client-envelope"})
# Codes of what a reviewer must see; a pack turns off what is only a fault of its own.
REVIEWED: Final = frozenset(
    (*risky_code.codes, *doubtful_field.codes, *script_start.codes)
)
NEVER_IGNORED: Final = DECEIVING | {*risky_code.codes, "look-alike-letters"}

# Codes that are looked for only where they are selected, or given a severity: those
# that take long, those whose findings are not right often enough, and what is wrong in
# an application rather than in a pack.
ON_REQUEST: Final = frozenset(
    [
        *("client-only-syntax", "script-not-run", "shadowed-skill", "skipped-heading"),
        "unpinned-command",
    ]
)

_MARK: Final = "satchel:"
_IN_FRONTMATTER: Final = lazy_pattern(
    r"^[ \t]*#[ \t]*satchel:[ \t]*ignore\b([^\r\n]*)", re.MULTILINE
)
_IN_BODY: Final = lazy_pattern(
    r"^[ \t]*<!--\s{0,9}satchel:\s{0,9}ignore\b([^>]{0,400}?)-->", re.MULTILINE
)
_NAME: Final = lazy_pattern(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class InlineIgnores:
    """The codes that a pack turns off itself, and what has no effect of that."""

    codes: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()

    def hides(self, finding: Finding) -> bool:
        return (
            finding.code in self.codes
            and finding.severity != "error"
            and finding.code not in NEVER_IGNORED
        )


_NOTHING: Final = InlineIgnores()


def read_inline_ignores(text: str) -> InlineIgnores:
    """Return what a SKILL.md turns off, in comments of its frontmatter or its body."""
    # A comment in the frontmatter costs nothing on a load; one in the body is loaded.
    if _MARK not in text:
        return _NOTHING
    codes: set[str] = set()
    findings: list[Finding] = []
    for name, line in _names(text):
        unheeded = partial(Finding.of, "unheeded-ignore", SKILL_FILE, line)
        try:
            named = codes_named(name)
        except UnknownCodeError as error:
            findings.append(unheeded(sentence="unknown", detail=error))
            continue
        codes.update(named)
        if not NEVER_IGNORED.isdisjoint(named):
            findings.append(unheeded(sentence="never", name=name))
    return InlineIgnores(frozenset(codes), tuple(findings))


def _names(text: str) -> Iterator[tuple[str, int]]:
    head = len(text) - len(body_of(text))
    for pattern, begin, end in ((_IN_FRONTMATTER, 0, head), (_IN_BODY, head, None)):
        for line, match in matches_in(text, pattern, begin, end):
            for name in _NAME.findall(match[1]):
                yield name, line


COMMAND_LINE: Final = "the command line"
_STRICT_BODY_BYTES: Final = 5 * 1024


def thresholds_for(profile: str, given: Mapping[str, int] | None = None) -> Thresholds:
    base = DEFAULT_THRESHOLDS
    if profile == "strict":
        base = replace(base, body_bytes=_STRICT_BODY_BYTES)
    return replace(base, **given) if given else base


STRICT_THRESHOLDS: Final = thresholds_for("strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSettings:
    """Which findings count, and how severe they are.

    ``select`` is None for every code. ``per_path`` has patterns that match a whole
    path, relative to the folder ``base``, with the codes that are off there.
    ``strict_thresholds`` are for packs of the strict dialect, where each pack is judged
    by its own dialect. ``limits`` come from the same file, so that a check reads what a
    run reads. ``turned_off_by`` says in words where something is turned off.
    """

    profile: "Profile" = "dialect"
    fail_on: FailOn = "error"
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: "Mapping[str, Level]" = field(default_factory=dict[str, Level])
    per_path: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = ()
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    strict_thresholds: Thresholds = STRICT_THRESHOLDS
    limits: Limits = DEFAULT_LIMITS
    base: str = ""
    turned_off_by: str = ""

    def counts(self, code: str) -> bool:
        """Tell whether findings of this code count anywhere."""
        if self.severity.get(code) == "off" or code in self.ignore:
            return False
        if code in ON_REQUEST:
            return code in {*(self.select or ()), *self.severity}
        return self.select is None or code in self.select

    def needs(self, rule: LintRule) -> bool:
        """Tell whether a rule may find anything that counts."""
        return not rule.codes or any(self.counts(code) for code in rule.codes)

    def judge(self, finding: "Finding") -> "Finding | None":
        """Return a finding with its severity here; None where it is turned off."""
        if not self.counts(finding.code) or self._is_off_at(finding):
            return None
        level = self.severity.get(finding.code, finding.severity)
        same = level in {"off", finding.severity}
        return finding if same else replace(finding, severity=cast("Severity", level))

    def _is_off_at(self, finding: "Finding") -> bool:
        if not any(finding.code in codes for _, codes in self.per_path):
            return False
        # Strings and no Path: this runs for every finding of a large library.
        path = os.path.relpath(finding.path, self.base)
        path = path.replace(os.sep, "/")
        return any(
            finding.code in codes and pattern.fullmatch(path)
            for pattern, codes in self.per_path
        )


def settings_of(  # noqa: PLR0913 - a file, and what a command line may add
    config: LintConfig = DEFAULT_LINT,
    path: str = "",
    *,
    profile: "Profile | None" = None,
    fail_on: FailOn | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> LintSettings:
    """Return settings from the file at ``path`` and from the command line.

    The command line wins: its profile, its severity that fails, its selection in place
    of the file's. A code that it selects counts even where the file turns it off; what
    it ignores is ignored as well.

    Raises:
        ConfigError: A code is unknown; the message names close ones.
    """
    selected = _named(select, COMMAND_LINE)
    ignored = _named(ignore, COMMAND_LINE)
    off = _named(config.ignore, path) - selected
    levels: dict[str, Level] = {
        code: level
        for name, level in config.severity
        for code in _named((name,), path)
        if level != "off" or code not in selected
    }
    chosen = selected or _named(config.select, path)
    kind = cast("Profile", profile or config.profile or "dialect")
    by_file = off or config.per_path or config.select or "off" in levels.values()
    places = [os.path.basename(path)] if by_file else []  # noqa: PTH119
    places += [COMMAND_LINE] if selected or ignored else []
    return LintSettings(
        profile=kind,
        fail_on=fail_on or cast("FailOn", config.fail_on or "error"),
        select=chosen or None,
        # What the command line ignores is off, also where it selects it.
        ignore=off | ignored,
        severity=levels,
        per_path=tuple(
            (glob_pattern(glob), _named(names, path)) for glob, names in config.per_path
        ),
        thresholds=thresholds_for(kind, dict(config.thresholds)),
        strict_thresholds=thresholds_for("strict", dict(config.thresholds)),
        limits=limits,
        base=os.path.dirname(os.path.abspath(path)) if path else "",  # noqa: PTH100, PTH120
        turned_off_by=" and ".join(places),
    )


def _named(names: Iterable[str], where: str) -> frozenset[str]:
    try:
        return frozenset(
            code
            for text in names
            for name in text.split(",")
            if name.strip()
            for code in codes_named(name.strip())
        )
    except UnknownCodeError as error:
        raise ConfigError(where, str(error)) from error
