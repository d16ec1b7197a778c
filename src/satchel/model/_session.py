"""What a conversation remembers, asks and is told, and the events of its loads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal, cast, get_args

from satchel.model._pack import Descriptor

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


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """One load.

    Readers of event logs rely on the first six fields, in this order; new fields come
    after them. ``name`` is the id that was asked for (``<invalid>`` if it breaks the
    name rule), ``source`` the label of the source, empty if nothing was found;
    ``duration_s`` is in seconds; ``error`` is a message, None on success, and ``code``
    its kebab-case code.

    ``file`` is the path that was loaded or asked for; ``<invalid>`` if it is no plain
    path. ``digest`` and ``tokens`` are of the loaded bytes, ``tokens`` by the Satchel's
    counter. ``release`` is the release of the skill, ``owner`` its owner, ``agent`` and
    ``client`` the caller; each is empty if unknown. ``at`` is seconds since the epoch.
    ``conversation`` is what acts name their load by; empty where there are no acts.
    ``caller`` is the ``client`` of ``who``: on a server, the name of a token; ``call``
    is the id that it gave to the call, so that one sent again counts once.
    """

    name: str
    reference: str | None
    script: str | None
    source: str
    duration_s: float
    error: str | None
    file: str | None = None
    via: str = "python"
    digest: str = ""
    size_bytes: int = 0
    code: str | None = None
    tokens: int = 0
    release: str = ""
    owner: str = ""
    agent: str = ""
    client: str = ""
    at: float = 0.0
    conversation: str = ""
    caller: str = ""
    call: str = ""
    event: str = "skill_loaded"

    def as_dict(self) -> dict[str, object]:
        """Return a flat mapping, ``event`` first, then the fields in order."""
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        for key in ("conversation", "caller", "call"):
            if not flat[key]:  # most have none
                del flat[key]
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class SkillSynced:
    """A file or a whole pack was fetched to be stored elsewhere."""

    # No model and no user loaded it, so it does not count as use. `name`, `file`,
    # `source`, `via`, `code`, `client` and `at` are as in `UsageEvent`; for a whole
    # pack `file` is its SKILL.md.

    name: str
    file: str | None
    source: str
    via: str = "http"
    code: str | None = None
    client: str = ""
    at: float = 0.0
    event: str = "skill_synced"

    def as_dict(self) -> dict[str, object]:
        flat = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": flat.pop("event"), **flat}


@dataclass(frozen=True, slots=True)
class CatalogSynced:
    """These skills were on offer at this time, loaded or not.

    ``added`` are the ids that were not listed before; ``owners`` are the known owners,
    by id. Without this event, a skill that is never loaded would leave no trace.
    """

    at: float
    entries: tuple[Descriptor, ...]
    added: tuple[str, ...] = ()
    release: str = ""
    via: str = "python"
    owners: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    event: str = "catalog_synced"
