"""What a conversation remembers, asks and is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args

# What is done with a skill: shown in a prompt, found, its SKILL.md or a file of it
# handed out, one of its tools called, one of its scripts run.
Action = Literal["list", "find", "load", "read", "tool", "script"]

Verdict = Literal["allow", "ask", "deny"]

# What somebody says to a question.
#
# ``yes_once`` is for one call. ``yes_in_session`` holds for the action, the skill and
# the tool, with any arguments, until the session ends.
ApprovalAnswer = Literal["yes_once", "yes_in_session", "no"]

_ANSWERS: Final = frozenset(get_args(ApprovalAnswer))


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says of an action, and why.

    ``by_rule`` says that a rule decided, and not the default.
    """

    verdict: Verdict
    reason: str = ""
    by_rule: bool = False
    action: Action = field(default="load", compare=False)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody is asked before it is done; ``tool`` is empty for a load or read.

    A yes to run a script is for its ``identity``: these bytes, these arguments, this
    kind of runner.

    Everything in it may come from a pack or a model: show it, do not trust it.
    """

    action: Action
    skill: str
    tool: str = ""
    arguments: Mapping[str, object] = field(
        default_factory=dict[str, object], hash=False
    )
    who: Mapping[str, object] = field(default_factory=dict[str, object], hash=False)
    agent: str = ""
    reason: str = ""
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a question, with what somebody adds to it.

    ``words`` are for the model, which reads them with a no. ``arguments`` take the
    place of those that the question showed; None keeps them.

    Raises:
        TypeError: The words are no text, or the arguments are no mapping.
        ValueError: The answer is none of the three.
    """

    answer: ApprovalAnswer
    words: str = ""
    arguments: Mapping[str, object] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        # `is_yes` takes everything but `no` as a yes, so no other value may get in.
        answer, words = cast("object", self.answer), cast("object", self.words)
        if not isinstance(answer, str) or answer not in _ANSWERS:
            answers = ", ".join(sorted(_ANSWERS))
            raise ValueError(f"no such answer: {answer!r}; the answers are {answers}")
        if not isinstance(words, str):
            raise TypeError(f"the words are {type(words).__name__}; expected text")
        if not isinstance(cast("object", self.arguments), (Mapping, type(None))):
            kind = type(self.arguments).__name__
            raise TypeError(f"the arguments are {kind}; expected a mapping")

    @property
    def is_yes(self) -> bool:
        """Whether it may be done."""
        return self.answer != "no"


@dataclass(frozen=True, slots=True)
class Activation:
    """A skill that was loaded in a conversation: what, and no text of it."""

    # `digest` is that of its SKILL.md as it was loaded, empty where only the history of
    # messages tells that it was. `at` is seconds since the epoch, `tokens` what its
    # text costs.

    id: str
    digest: str = ""
    at: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """One message of a conversation, as the next model call will see it.

    For a tool's result ``tool`` is its name and ``arguments`` those of the call, as
    far as the framework tells; ``text`` is the text that the model reads.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    tool: str = ""
    arguments: Mapping[str, object] = field(
        default_factory=dict[str, object], hash=False
    )


@dataclass(frozen=True, slots=True)
class Savings:
    """Tokens that a session did not send again, or kept in the provider's cache."""

    # `prefix_tokens` counts, for each model call after the catalog had moved, the
    # section that stayed as it was; `repeat_tokens` the texts in whose place a one-line
    # note stood.

    prefix_tokens: int = 0
    repeat_tokens: int = 0
