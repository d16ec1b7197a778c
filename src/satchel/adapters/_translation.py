"""What adapters translate: tools, messages and answers in common forms."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, Literal, TypeVar, cast

from satchel.errors import ToolError
from satchel.model import Question, Reply, SeenMessage
from satchel.runtime import question_text
from satchel.tools import Tool, arguments_of

# A tool as a framework has it.
Form = TypeVar("Form")

# The schema of a tool that does not exist, whose call is answered with an error.
NO_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {}}

_ROLES: Final[Mapping[object, Literal["user", "assistant"]]] = {
    "user": "user",
    "assistant": "assistant",
}
_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no"})


class OnlyName(str):
    """A name of which an agent takes one: a second one is an error with the reason."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        """Compare, as a framework does that looks for names that are taken.

        Raises:
            ValueError: The other name is also one of these.
        """
        if isinstance(other, OnlyName) and other is not self:
            raise already_attached()
        return str.__eq__(self, other)


class ToolForms(Generic[Form]):
    """Tools in a framework's form, each made once while the tool stays as it is."""

    def __init__(self, make: Callable[[Tool], Form]) -> None:
        """Take the function that makes the form of a tool."""
        self._make = make
        self._forms: dict[str, tuple[Tool, Form]] = {}

    def of(self, tool: Tool) -> Form:
        """Return the form of a tool; the same object until the tool changes."""
        cached = self._forms.get(tool.name)
        if cached is None or not _is_same(cached[0], tool):
            cached = self._forms[tool.name] = tool, self._make(tool)
        return cached[1]

    def __contains__(self, form: object) -> bool:
        """Tell whether an object is one of these forms, by identity."""
        return any(made is form for _, made in self._forms.values())


class ResultReader:
    """Pairs the results in a history with the calls that they answer."""

    def __init__(self) -> None:
        self._calls: dict[object, tuple[str, Mapping[str, object]]] = {}

    def add_call(self, call_id: object, name: str, arguments: object) -> None:
        """Take in a call of the model."""
        self._calls[call_id] = name, arguments_or_empty(arguments)

    def result(self, call_id: object, text: str, name: str = "") -> SeenMessage:
        """Return a result as a session reads it; ``name`` where its call is missing."""
        # A history may have been cut between a call and its result.
        name, arguments = self._calls.get(call_id, (name, {}))
        return SeenMessage("tool", text, name, arguments)


def arguments_or_empty(given: object) -> Mapping[str, object]:
    """Return what a model gave in a call, an object or its JSON text; else nothing."""
    try:
        return arguments_of("", given)
    except ToolError:
        return {}


def field_of(item: object, name: str) -> Any:  # noqa: ANN401 - of any type
    """Return a field of a dictionary or of an object; None if it has none."""
    if isinstance(item, Mapping):
        return cast("Mapping[str, Any]", item).get(name)
    return getattr(item, name, None)


def name_of(tool: object) -> str:
    """Return the name in a tool's definition, of either form; empty where it has none.

    Tools that a provider runs may have none.
    """
    name = field_of(tool, "name") or field_of(field_of(tool, "function"), "name")
    return name if isinstance(name, str) else ""


def seen_message(role: object, text: str = "") -> SeenMessage:
    """Return a message that is no result; one of an unknown role is the system's."""
    return SeenMessage(_ROLES.get(role, "system"), text)


def text_of(content: object) -> str:
    """Return the text of a message: a string, or the texts of its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = cast("Iterable[object]", content) if isinstance(content, Iterable) else ()
    texts = (field_of(part, "text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


def question_data(
    question: Question, name: str, arguments: Mapping[str, object]
) -> dict[str, object]:
    """Return a question as an application gets it, safe for JSON."""
    return {
        "skill": question.skill,
        "tool": name,
        "arguments": dict(arguments),
        "reason": question.reason,
        "question": question_text(question),
    }


def reply_of(answer: object) -> Reply:
    """Return what a person answered, in any of the forms that applications pass on.

    Yes is True, "yes" or the like, or a mapping with the ``arguments`` to call the tool
    with. Anything else is no: other text, or the ``message`` of a mapping, are words
    for the model.
    """
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, Mapping):
        fields = cast("Mapping[str, object]", answer)
        edited = fields.get("arguments")
        if isinstance(edited, Mapping):
            return Reply("yes_once", arguments=cast("Mapping[str, object]", edited))
        return Reply("no", words=str(fields.get("message", "")))
    text = answer.strip() if isinstance(answer, str) else ""
    # Only True itself: another object that counts as true is no clear yes.
    if answer is True or text.lower() in _YES:
        return Reply("yes_once")
    return Reply("no", words="" if text.lower() in _NO else text)


def already_attached(agent: str = "") -> ValueError:
    """Return the error of an agent that has skills of Satchel already."""
    name = f"agent {agent!r}" if agent else "the agent"
    return ValueError(f"{name} has skills already; give one Satchel all of them")


def _is_same(one: Tool, other: Tool) -> bool:
    return (
        one.native is other.native
        and one.description == other.description
        and one.parameters == other.parameters
    )
