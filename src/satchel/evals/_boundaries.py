"""What a description claims, and what it says the skill is not for."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

# An end of a sentence is no point in "e.g." or in a version.
_SENTENCE: Final = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+|\s+[\u2013\u2014]\s+"
)
_NOT_FOR: Final = re.compile(
    r"""
    \b(?:do\s+not|don['\u2019]t|does\s+not|doesn['\u2019]t|never|should\s*n[o'\u2019]t|must\s+not|
        not\s+to\s+be|cannot|can['\u2019]t|won['\u2019]t)\s+(?:\w+\s+){0,3}?
        (?:use|used|invoke|trigger|load|activate|apply|call|handle|cover|support|
           include|fire|need)\w*\b
  | \bnot\s+(?:intended\s+|meant\s+|suitable\s+|designed\s+|applicable\s+|needed\s+|
        appropriate\s+|used\s+)?(?:for|when|if)\b
  | \b(?:skip|avoid)\s+(?:this|it|for|when|if|using)\b
  | \bout\s+of\s+scope\b | \bnon-?goals?\b
  | \b(?:instead\s+of|rather\s+than|as\s+opposed\s+to|except\s+for|excluding)\b
  | 不要?(?:用于|使用|适用) | 不适用 | 请勿 | 不得用于 | 使用しない | 対象外
  | \bnicht\s+(?:für|bei|wenn|verwenden)\b | \bno\s+usar\b | \bne\s+pas\s+utiliser\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "use X instead" hands the sentence over to X, where X is another skill.
_HAND_OVER: Final = re.compile(
    r"""\b(?:use|see|prefer|try|load|invoke|call|defer\s+to|switch\s+to|go\s+to|
        belongs?\s+to|handled\s+by|covered\s+by|hand\s+(?:it\s+)?(?:over|off)\s+to)
        \s+(?:the\s+|skill\s+)*
        (?P<quote>[`"'\u2018\u201c/@$]*)(?P<name>\w[\w.:-]*\w)
        (?P<after>\W{0,2}\s*(?:instead|skill)\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGN: Final = re.compile(r"[-_:.]")


@dataclass(frozen=True, slots=True)
class Boundary:
    """A sentence on what a skill is not for, and the skills that it names for it."""

    text: str
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claims:
    """What a description says a skill is for, sentence by sentence, and is not for."""

    sentences: tuple[str, ...]
    boundaries: tuple[Boundary, ...]

    @property
    def text(self) -> str:
        """The claims as one text."""
        return " ".join(self.sentences)


def claims_of(
    description: str, skills_named: Callable[[str], tuple[str, ...]]
) -> Claims:
    """Return the claims and the boundaries of a description.

    Args:
        description: The text of a manifest.
        skills_named: Returns the ids of the other skills that have a name.
    """
    sentences: list[str] = []
    boundaries: list[Boundary] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(description))):
        instead = _named(sentence, skills_named)
        cue = _NOT_FOR.search(sentence)
        if cue is None and not instead:
            sentences.append(sentence)
            continue
        start = 0 if cue is None else cue.start()
        # "For X use other-skill" is about X as a whole; "A, not for B" claims A.
        before = "" if instead and cue is None else sentence[:start]
        if before.strip(" ,(:-"):
            sentences.append(before.strip(" ,(:-"))
        boundaries.append(Boundary(sentence[start:], instead))
    return Claims(tuple(sentences), _joined(boundaries))


def _named(
    sentence: str, skills_named: Callable[[str], tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the skills that a sentence hands over to."""
    names = (
        match["name"]
        for match in _HAND_OVER.finditer(sentence)
        # A plain word, such as `review`, may be a name by chance.
        if match["quote"] or match["after"] or _SIGN.search(match["name"])
    )
    return tuple(dict.fromkeys(skill for name in names for skill in skills_named(name)))


def _joined(boundaries: list[Boundary]) -> tuple[Boundary, ...]:
    """Join "Not for X." with a following "Use other-skill instead."."""
    joined: list[Boundary] = []
    for boundary in boundaries:
        last = joined[-1] if joined else None
        if last is not None and not last.instead and boundary.instead:
            joined[-1] = Boundary(f"{last.text} {boundary.text}", boundary.instead)
        else:
            joined.append(boundary)
    return tuple(joined)
