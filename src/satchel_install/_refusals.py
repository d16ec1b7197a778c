"""What a source itself says must not be used: withdrawn, or too old to be sure of."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from satchel.errors import DigestMismatchError
from satchel.model import SKILL_FILE, Descriptor, Finding, Severity
from satchel.protocols import SkillSource, Verifier


def unvouched(skill: Descriptor, detail: str, fix: str, *, warn: bool) -> Finding:
    """Return the finding of a skill that nobody vouches for."""
    where = f"{skill.origin.location}/{SKILL_FILE}"
    severity: Severity = "warning" if warn else "error"
    return Finding.of(
        "unvouched-skill", where, severity=severity, detail=detail, fix=fix
    )


class RefusalVerifier:
    """Asks the source of a skill first, and then another verifier, if there is one."""

    def __init__(
        self, sources: Iterable[SkillSource], inner: Verifier | None = None
    ) -> None:
        """Take the sources in their order, which gives those of one label a number."""
        self._inner = inner
        # Without another one nobody compares a release with anything.
        self.trusts_lists = inner is None
        self._sources: dict[str, Any] = {}
        labels: Counter[str] = Counter()
        for source in sources:
            labels[source.label] += 1
            count = labels[source.label]
            label = f"{source.label}#{count}" if count > 1 else source.label
            if hasattr(source, "refusal_of"):
                self._sources[label] = source

    def problem_of(self, skill: Descriptor) -> Finding | None:
        """Return why a skill must not be used now."""
        detail = self._refusal_of(skill)
        if not detail:
            return self._inner.problem_of(skill) if self._inner else None
        fix = "use another release of it, or ask its publisher"
        return unvouched(skill, detail, fix, warn=False)

    def verify(self, skill: Descriptor, path: str, digest: str) -> str:
        """Return who vouches for the bytes of this digest.

        Raises:
            DigestMismatchError: They must not be used, or nobody does.
        """
        if detail := self._refusal_of(skill):
            raise DigestMismatchError(skill.id, path, detail=detail)
        if self._inner is not None:
            return self._inner.verify(skill, path, digest)
        source = self._sources.get(skill.origin.source)
        return f"{source.label}, {source.release}" if source is not None else ""

    def _refusal_of(self, skill: Descriptor) -> str:
        source = self._sources.get(skill.origin.source)
        return source.refusal_of(skill.origin.key) if source is not None else ""
