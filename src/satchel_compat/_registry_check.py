"""Check skills that are registered in code."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from inspect import Parameter, signature
from pkgutil import resolve_name
from typing import Final, cast

from satchel.agent import BaseSkill, Skill
from satchel.errors import ConfigError, SkillError
from satchel.model import SKILL_FILE, Descriptor, FileStat, Finding, Manifest
from satchel_compat._registry import (
    SkillDescriptor,
    SkillRegistry,
    files_below,
    is_folder,
    stat_file,
)
from satchel_lab.lint import (
    RULES,
    CheckReport,
    LintContext,
    LintSettings,
    lint_pack,
    settings_of,
)

_REFERENCES: Final = "references"
# The rules about references; the others are about a SKILL.md on disk.
_REFERENCE_RULES: Final = frozenset(
    {
        *("readable", "sensitive_pattern", "doubts", "skipped_heading"),
        *("unclosed_fence", "undefined_link", "dead_link", "dead_anchor"),
        *("python_syntax", "shell_syntax", "json_syntax"),
    }
)
# Markdown that is broken fails here, where references are part of a program; what is
# only untidy stays a warning.
_BROKEN: Final = frozenset(
    {"unclosed-fence", "undefined-link", "dead-link", "dead-anchor"}
)


def import_registered(what: str) -> tuple[SkillDescriptor, ...]:
    """Return the descriptors of ``MODULE:NAME``; the module is imported, which runs it.

    Raises:
        ConfigError: There is no such module or name, importing or calling it fails, or
            it has no descriptor.
    """
    here = os.getcwd()  # noqa: PTH109 - as text, for the path of imports
    # An installed command does not search the working folder by itself.
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        descriptors = descriptors_of(resolve_name(what))
    except SkillError:  # it says what is wrong better than the class of an error
        raise
    # A module may call `sys.exit` when it is imported.
    except (Exception, SystemExit) as error:
        detail = f"it cannot be imported: {type(error).__name__}: {error}"
        raise ConfigError(what, detail) from error
    if not descriptors:
        raise ConfigError(what, "no skill is registered there; call bootstrap first")
    return descriptors


def descriptors_of(what: object) -> tuple[SkillDescriptor, ...]:
    """Return the descriptors of something, in order.

    Args:
        what: A `satchel.SkillDescriptor`, a `satchel.SkillRegistry`, a skill, several
            of these, or a function that returns them or fills a registry. A skill alone
            has only its own text.

    Raises:
        TypeError: It is none of these.
    """
    if isinstance(what, SkillDescriptor):
        return (what,)
    if isinstance(what, SkillRegistry):
        return tuple(what.all_descriptors().values())
    if isinstance(what, (Skill, BaseSkill)):
        # A skill that only an agent has needs no description.
        description = what.description or what.name
        return (SkillDescriptor(what.name, description, what.instructions),)
    of_class: object = what
    if isinstance(of_class, type) and issubclass(of_class, BaseSkill):
        return descriptors_of(of_class())
    if callable(what):
        return _made_by(what)
    # A text is iterable too, but is never a list of skills.
    if isinstance(what, Iterable) and not isinstance(what, (str, bytes)):
        several = cast("Iterable[object]", what)
        return tuple(one for item in several for one in descriptors_of(item))
    kind = type(what).__name__
    raise TypeError(f"expected a registry, or descriptors; got a {kind}")


def check_registered(
    descriptors: Iterable[SkillDescriptor], settings: LintSettings | None = None
) -> CheckReport:
    """Check skills that are registered in code.

    Every listed reference must exist, every file in the folder ``references`` next to a
    skill's module must be listed, the instructions must be short and name each
    reference, and the references must pass the rules for files. The path of a finding
    begins with the package, or is the skill's ``import_path`` or name. Nothing is run.
    """
    settings = settings or settings_of(profile="strict")
    # A check of packs has to be asked for it; here references are part of a program.
    severity = {"skipped-heading": "warning", **settings.severity}
    settings = replace(settings, severity=severity)
    descriptors = tuple(descriptors)
    findings = [*_registration_errors(descriptors)]
    for descriptor in descriptors:
        findings += _check(descriptor, descriptors, settings)
    # Two skills that list the same file give equal findings: report each once.
    judged = [settings.judge(finding) for finding in dict.fromkeys(findings)]
    reported = [finding for finding in judged if finding is not None]
    reported.sort(key=lambda f: (f.path, f.line or 0, f.code, f.message))
    return CheckReport(
        len(descriptors),
        tuple(reported),
        "strict",
        turned_off=len(judged) - len(reported),
        turned_off_by=settings.turned_off_by,
    )


def _made_by(make: Callable[..., object]) -> tuple[SkillDescriptor, ...]:
    positional = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    required = [
        parameter
        for parameter in signature(make).parameters.values()
        if parameter.default is Parameter.empty and parameter.kind in positional
    ]
    registry = SkillRegistry()
    # A function with a parameter gets a registry to fill.
    made = make(*[registry][: len(required)])
    return descriptors_of(registry if made is None else made)


def _registration_errors(descriptors: Iterable[SkillDescriptor]) -> Iterator[Finding]:
    """Yield what a registry would refuse: a name twice, no name, no description."""
    registry = SkillRegistry()
    for descriptor in descriptors:
        try:
            registry.register(descriptor)
        except SkillError as error:
            yield Finding.of_error(error, _place(descriptor))


def _check(
    descriptor: SkillDescriptor,
    every: Iterable[SkillDescriptor],
    settings: LintSettings,
) -> Iterator[Finding]:
    where, text = _place(descriptor), descriptor.instructions
    most = settings.thresholds.description_chars
    error = partial(Finding.of, severity="error", sentence="registered")
    # A threshold of 0 turns the check off.
    if 0 < most < len(" ".join(text.split())):
        yield Finding.of("long-instructions", where, count=len(text), most=most)
    for path in descriptor.references:
        name = path.rpartition("/")[2]
        if name not in text:
            yield error("reference-not-mentioned", where, name=name)
    there = tuple(path for path in descriptor.references if stat_file(path) is not None)
    for path in descriptor.references:
        if path not in there:
            sentence = "listed-in-code"
            yield Finding.of("listed-file-missing", where, sentence=sentence, path=path)
    home = _home(descriptor)
    around = files_below(home) if home else ()
    # Skills of one package may share the folder: what any of them lists is listed.
    listed = {path for skill in every for path in skill.references}
    for path in around:
        if path not in listed:
            yield error("unlisted-reference", where, path=path)
    # Files that are not listed are targets of links too.
    yield from _check_references(descriptor, there, {*there, *around}, settings)


def _check_references(
    descriptor: SkillDescriptor,
    there: tuple[str, ...],
    around: Iterable[str],
    settings: LintSettings,
) -> Iterator[Finding]:
    """Yield the findings of lint about the references that exist."""
    # A registry refuses a name or a description that is empty, which is reported apart.
    name = descriptor.name.strip() or "skill"
    registry = SkillRegistry([replace(descriptor, name=name, description="d")])
    read = partial(registry.read, name, limit_bytes=settings.limits.file_bytes)
    pack = LintContext(
        descriptor=Descriptor(
            name,
            descriptor.description,
            references=there,
            files=tuple(FileStat(path, 0) for path in sorted(around)),
        ),
        manifest=Manifest(
            name=name, description=descriptor.description, references=there
        ),
        text="",  # instructions in code have no lines
        read=read,
        profile="strict",
        limits=settings.limits,
        thresholds=settings.thresholds,
    )
    rules = [
        rule for rule in RULES if rule.name in _REFERENCE_RULES and settings.needs(rule)
    ]
    for finding in lint_pack(pack, rules):
        if finding.code == "file-relative-link":
            continue  # a package has no root for links
        whole = finding.path == SKILL_FILE
        path = _place(descriptor) if whole else finding.path
        severity = "error" if finding.code in _BROKEN else finding.severity
        yield replace(finding, path=path, severity=severity)


def _home(descriptor: SkillDescriptor) -> str:
    """Return the folder ``references`` next to the skill's module; empty for none."""
    module = descriptor.import_path.partition(":")[0].removesuffix(".py")
    parts = module.replace(".", "/").split("/")
    # The longest path first: the nearest folder around the module is its home.
    for count in range(len(parts), 0, -1):
        folder = "/".join(parts[:count])
        if is_folder(folder):
            return f"{folder}/{_REFERENCES}"
    # Without a module, it is the one folder that all of its references are in.
    homes = {
        path.partition(f"/{_REFERENCES}/")[0]
        for path in descriptor.references
        if f"/{_REFERENCES}/" in path
    }
    alone = len(homes) == 1 and not descriptor.import_path
    return f"{homes.pop()}/{_REFERENCES}" if alone else ""


def _place(descriptor: SkillDescriptor) -> str:
    return descriptor.import_path or f"skill {descriptor.name!r}"
