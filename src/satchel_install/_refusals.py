"""What must not be used: withdrawn, by settings or a source, or too old to be sure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from satchel.catalog import PackDigests
from satchel.errors import (
    ConfigError,
    LimitExceededError,
    SkillError,
    SkillExcludedError,
    echo,
)
from satchel.files import tree_digest
from satchel.model import (
    DEFAULT_LIMITS,
    SKILL_FILE,
    Descriptor,
    Finding,
    Origin,
    Severity,
)
from satchel.protocols import SkillSource, Verifier, with_abilities
from satchel.text import clean_line

# Of a file, a release or a manifest; or of a whole skill, as satchel.lock has it.
_DIGEST: Final = re.compile(r"(?:sha256|sha256-tree-v1):[0-9a-f]{64}", re.IGNORECASE)
_EXPECTED: Final = "expected sha256:... or sha256-tree-v1:..., with 64 hex digits"
_WORD: Final = re.compile(r"""[^\s"'\[\],=]+""")
_MOST: Final = DEFAULT_LIMITS.release_bytes
# The most of a reason that is shown, to people and to models.
REASON_CHARS: Final = 200


def unvouched(skill: Descriptor, detail: str, fix: str, *, warn: bool) -> Finding:
    """Return the finding of a skill that nobody vouches for."""
    where = f"{skill.origin.location}/{SKILL_FILE}"
    severity: Severity = "warning" if warn else "error"
    return Finding.of(
        "unvouched-skill", where, severity=severity, detail=detail, fix=fix
    )


def read_withdrawn(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return, by digest, who withdrew it, where that is written, and why.

    ``named`` are digests, with a reason after a space, or files with one on each line;
    each with the file of settings that names it.

    Raises:
        ConfigError: A digest, or a file, is none; says where.
    """
    reasons: dict[str, str] = {}
    words: dict[str, dict[str, int]] = {}
    for text, settings in named:
        if settings not in words:
            rows = reversed([*enumerate(_text_of(settings).splitlines(), 1)])
            words[settings] = {w: at for at, row in rows for w in _WORD.findall(row)}
        places, first = words[settings], text.partition(" ")[0]
        keys = first, Path(text).name, "withdrawn"
        line = next((places[key] for key in keys if key in places), None)
        file, listed = settings, [(line, text)]
        if not text.lower().startswith("sha256"):
            if "://" in text or not Path(text).is_file():
                detail = f"withdrawn: {echo(text, 500)!r} is no digest, and no file"
                raise ConfigError(settings, f"{detail}; an address is not read", line)
            file, listed = text, [*enumerate(_text_of(text).splitlines(), 1)]
        for at, row in listed:
            digest, _, reason = row.strip().partition(" ")
            if file is text and (not digest or digest.startswith("#")):
                continue
            if not _DIGEST.fullmatch(digest):
                raise ConfigError(file, f"{echo(row)!r} is no digest; {_EXPECTED}", at)
            why = clean_line(reason).strip()[:REASON_CHARS] or "no reason is given"
            place = f"{file}, line {at}" if at else file
            reasons.setdefault(digest.lower(), f"is withdrawn by {place}: {why}")
    return reasons


def _text_of(file: str) -> str:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - texts, as settings have them
            data = opened.read(_MOST + 1)
    except OSError as error:
        raise ConfigError(file, error.strerror or str(error)) from error
    if len(data) > _MOST:
        raise LimitExceededError("release_bytes", _MOST, len(data), "bytes", file)
    return data.decode("utf-8-sig", "replace")


class RefusalVerifier:
    """Asks settings and the source of a skill first, and then another verifier.

    Safe across threads.
    """

    def __init__(
        self,
        sources: Iterable[SkillSource],
        inner: Verifier | None = None,
        withdrawn: Iterable[tuple[str, str]] = (),
    ) -> None:
        """Take the sources in their order, which gives those of one label a number.

        ``withdrawn`` is as for `read_withdrawn`.
        """
        self._inner = inner
        # Without another one nobody compares a release with anything.
        self.trusts_lists = inner is None
        self._sources: dict[str, Any] = {}
        self._reasons: Mapping[str, str] = {}
        self._digests: dict[Origin, tuple[object, frozenset[str]]] = {}
        labels: Counter[str] = Counter()
        for source in sources:
            labels[source.label] += 1
            count = labels[source.label]
            label = f"{source.label}#{count}" if count > 1 else source.label
            self._sources[label] = source
        self.withdraw(withdrawn)

    def withdraw(self, named: Iterable[tuple[str, str]]) -> None:
        """Refuse these, too, from now on; a shorter list takes nothing back.

        Raises:
            ConfigError: As `read_withdrawn`; all that was refused still is.
        """
        self._reasons = {**self._reasons, **read_withdrawn(named)}

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
            SkillExcludedError: They must not be used; says who refuses them.
            DigestMismatchError: Nobody does.
        """
        if detail := self._refusal_of(skill, digest):
            # As in the catalog that is about to be made: no client reads the detail.
            raise SkillExcludedError(skill.id, "unverified", detail)
        if self._inner is not None:
            return self._inner.verify(skill, path, digest)
        source = self._sources.get(skill.origin.source)
        vouches = hasattr(source, "refusal_of")
        return f"{source.label}, {source.release}" if source and vouches else ""

    def _refusal_of(self, skill: Descriptor, *digests: str) -> str:
        source, reasons = self._sources.get(skill.origin.source), self._reasons
        refusal_of = getattr(source, "refusal_of", None)
        refusal = str(refusal_of(skill.origin.key)) if refusal_of else ""
        if refusal or not reasons:
            return refusal
        names = (*digests, skill.digest, *self._digests_of(skill, source))
        return next((f"{one} {reasons[one]}" for one in names if one in reasons), "")

    def _digests_of(self, skill: Descriptor, source: Any) -> Iterable[str]:  # noqa: ANN401
        """Return all by which a skill may be named: files, pack, release, manifest."""
        if source is None:
            return ()
        abilities, key = with_abilities(source), skill.origin.key
        names = getattr(source, "digests_of", lambda _: (abilities.release or "",))(key)
        state = skill.digest, skill.files
        last, digests = self._digests.get(skill.origin, (None, frozenset[str]()))
        if last == state:
            return (*names, *digests)
        digests = frozenset(file.digest for file in skill.files)
        # What is far away is not fetched for this.
        if abilities.near or all(digests):
            readers = {skill.origin.source: abilities}
            with suppress(SkillError):  # what cannot be read, nobody gets
                files = PackDigests(DEFAULT_LIMITS).resources(skill, readers)
                digests = frozenset([tree_digest(files), *(f.digest for f in files)])
                self._digests[skill.origin] = state, digests
        return (*names, *digests)
